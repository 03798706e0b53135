package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	quick := flag.Bool("quick", false, "say everything at once")
	flag.Parse()
	if err := serveUntilEOF(os.Stdin, os.Stdout, *quick); err != nil {
		fmt.Fprintln(os.Stderr, "llm:", err)
		os.Exit(1)
	}
}

// serveUntilEOF answers on a loopback port until in ends.
func serveUntilEOF(in io.Reader, out io.Writer, sendsAtOnce bool) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve the scripted LLM: %w", err)
	}
	fmt.Fprintf(out, "http://%s\n", l.Addr())
	s := &http.Server{Handler: newRunServer(sendsAtOnce), ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = s.Close()
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the scripted LLM: %w", err)
	}
	return nil
}
