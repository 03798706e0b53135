package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"processidea/internal/safego"
	"processidea/worker/codecserver"
)

// ServeCodec serves the codec through which the Temporal UI reads payloads, until stop is called. It calls lost if it
// ends before that.
func ServeCodec(ctx context.Context, address string, o codecserver.Options, onFailure func(error)) (endpoint string,
	stop func(), err error) {
	handler, err := codecserver.Handler(o)
	if err != nil {
		return "", nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("serve payloads: %w", err)
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	safego.Go("starter.codec", func() error { return s.Serve(listener) }, func(err error) {
		if !errors.Is(err, http.ErrServerClosed) {
			_ = listener.Close() // new connections are refused instead of waiting
			onFailure(fmt.Errorf("serve payloads: %w", err))
		}
	})
	return "http://" + listener.Addr().String(), func() { _ = s.Close() }, nil
}
