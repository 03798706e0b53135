package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/feed"
	"processidea/gateway/hooks"
)

// Options say what a gateway is on, and who may use it.
type Options struct {
	Client *client.Client
	Guard  access.Guard
	Fence  access.Fence
	Hooks  *hooks.Rules // nil: webhooks start nothing
	Log    *slog.Logger // nil: nothing is logged
	// Patience is as in api.Options.
	Patience time.Duration
	// RequestTime is how long a request may take to come in; 0: 30 seconds.
	RequestTime time.Duration
}

// What a connection may take.
const (
	requestTime = 30 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 64 << 10
)

// Gateway answers requests.
type Gateway struct {
	Options
	api  *api.API
	feed *feed.Feed
}

// New makes a gateway.
func New(o Options) *Gateway {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RequestTime == 0 {
		o.RequestTime = requestTime
	}
	g := &Gateway{Options: o, feed: feed.Of(o.Client)}
	g.api = api.New(api.Options{Client: o.Client, Feed: g.feed, Guard: o.Guard, Hooks: o.Hooks, Log: o.Log, Patience: o.Patience, BodyTime: o.RequestTime})
	return g
}

// ServeHTTP answers a request of somebody who may ask.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	if refusal := g.Fence.Check(r); refusal != nil {
		g.Log.Warn("refused a request", "code", refusal.Code, "method", r.Method)
		api.ProblemOf(refusal).Write(w)
		return
	}
	if origin := r.Header.Get("Origin"); g.Fence.Allows(origin) {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Location")
		h.Add("Vary", "Origin")
		if r.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	g.api.ServeHTTP(w, r)
}

// Serve answers on a listener until ctx ends, and then lets what is under way come to its end for a moment.
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler: g, ReadHeaderTimeout: g.RequestTime, ReadTimeout: 2 * g.RequestTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(g.Log.Handler(), slog.LevelDebug),
		// Whoever follows events is let go when the gateway stops, and goes on at another one.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if s.Shutdown(soon) != nil {
			_ = s.Close()
		}
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("gateway: serve at %s: %w", l.Addr(), err)
	}
	<-stopped
	return nil
}

// stopTime is how long what is under way may take once the gateway is told to stop.
const stopTime = 2 * time.Second

// IsLocal reports whether an address to listen on can be reached from this machine alone.
func IsLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && access.IsLoopback(strings.Trim(host, "[]"))
}
