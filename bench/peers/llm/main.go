// Command llm serves the scripted LLM of the benchmarks to programs in other languages: the same replies at the same pace,
// timed by the same clock. It writes its address on a line of its own and serves until its standard input ends.
//
//	POST /{work}/{size}/{run}/v1/chat/completions   a run of a work; who asks with a new name of a run begins anew
//	GET  /{work}/{size}/{run}/gaps                  milliseconds from the end of each reply to the next Request
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
	if err := serve(os.Stdin, os.Stdout, *quick); err != nil {
		fmt.Fprintln(os.Stderr, "llm:", err)
		os.Exit(1)
	}
}

// serve answers on a port of loopback until in ends.
func serve(in io.Reader, out io.Writer, quick bool) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve the scripted LLM: %w", err)
	}
	fmt.Fprintf(out, "http://%s\n", l.Addr())
	s := &http.Server{Handler: newRuns(quick), ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = s.Close()
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the scripted LLM: %w", err)
	}
	return nil
}
