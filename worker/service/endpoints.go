package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"processidea/internal/safego"
)

// serveHealthAndMetrics offers the endpoints, from before Temporal is reached until after the worker has drained.
func (s *service) serveHealthAndMetrics(ctx context.Context) error {
	if s.healthMetricsAddress == "" {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.healthMetricsAddress)
	if err != nil {
		return fmt.Errorf(
			"serve /healthz, /readyz and /metrics: %w; choose another address with --listen (%s), or none",
			err, envVarOf("listen"))
	}
	server := &http.Server{Handler: s.healthAndMetricsHandler(), ReadHeaderTimeout: 5 * time.Second}
	safego.Go("worker.endpoints", func() error { return server.Serve(l) }, func(err error) {
		if !errors.Is(err, http.ErrServerClosed) {
			_ = l.Close()
			s.log.Error("the endpoints are gone", "error", err)
		}
	})
	s.cleanups = append(s.cleanups, func() { _ = server.Close() })
	s.log.Info("listening", "address", l.Addr().String())
	return nil
}

func (s *service) healthAndMetricsHandler() http.Handler {
	mux := http.NewServeMux()
	for _, name := range []string{"/livez", "/healthz"} {
		mux.HandleFunc("GET "+name, func(w http.ResponseWriter, _ *http.Request) {
			writeHealthAnswer(w, http.StatusOK, "alive", nil)
		})
	}
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		isReady, troubles := s.health.failedConditions(r.Context())
		if !isReady {
			writeHealthAnswer(w, http.StatusServiceUnavailable, "not ready", troubles)
			return
		}
		writeHealthAnswer(w, http.StatusOK, "ready", troubles)
	})
	mux.Handle("GET /metrics", s.metrics.Handler())
	return mux
}

// writeHealthAnswer writes an answer: programs read its HTTP status, people its text.
func writeHealthAnswer(w http.ResponseWriter, httpStatus int, status string, troubles []string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(httpStatus)
	_ = json.NewEncoder(w).Encode(struct {
		Status   string   `json:"status"`
		Troubles []string `json:"troubles,omitempty"`
	}{status, troubles})
}
