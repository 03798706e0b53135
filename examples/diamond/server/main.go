// Command server runs the tool server of the diamond example on loopback until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"processidea/examples/diamond/shop"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8765", "`host:port` to listen on")
	delay := flag.Duration("delay", 200*time.Millisecond, "how long every answer takes at least")
	flag.Parse()
	if err := serve(*addr, *delay); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func serve(addr string, delay time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	s := &http.Server{Handler: shop.Slow(shop.Handler(), delay), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
