package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.temporal.io/sdk/converter"

	"processidea/activities/blobs"
)

// serveCodec lets the Temporal UI fetch what history keeps in the store. Only pages from this machine may ask: the store
// holds everything that processes have seen.
func serveCodec(ctx context.Context, store *blobs.Store) (endpoint string, stop func(), err error) {
	payloads, err := converter.NewPayloadHTTPHandler(converter.PayloadHTTPHandlerOptions{ExternalStorage: store.ExternalStorage()})
	if err != nil {
		return "", nil, fmt.Errorf("serve payloads: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve payloads: %w", err)
	}
	s := &http.Server{Handler: forLocalPages(payloads), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = s.Close() }, nil
}

// forLocalPages answers pages that were served from this machine, as browsers tell it, and nobody else.
func forLocalPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if !isLocal(origin) || !isLocal("http://"+r.Host) {
			http.Error(w, "only pages from this machine may ask", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Content-Type, X-Namespace, Authorization")
		h.Set("Vary", "Origin")
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLocal(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
