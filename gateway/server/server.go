package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk"
	"processidea/gateway/feed"
	"processidea/gateway/hooks"
	"processidea/gateway/intake"
	"processidea/gateway/mcp"
	"processidea/internal/safego"
	"processidea/model/ideafile/shown"
	"processidea/store/signing"
)

// Options configure a gateway, and who may use it.
type Options struct {
	Client       *client.Client
	Guard        access.Guard
	OriginPolicy access.OriginPolicy
	Hooks        *hooks.Rules // nil: webhooks start nothing
	Agents       AgentOptions // what agents may use, at /mcp
	Log          *slog.Logger // nil: no log
	// DeciderKeys are the keys that the workers trust, among them people's passkeys for the desk; nil: none are known.
	DeciderKeys *signing.KeySource
	// Simulate runs simulations at the desk; nil: not offered.
	Simulate desk.Simulator
	// ActionTimeout is passed on to api.Options.
	ActionTimeout time.Duration
	// RequestTimeout bounds how long a request may take to arrive; 0: 30 seconds.
	RequestTimeout time.Duration
}

// AgentOptions configure what agents may use.
type AgentOptions struct {
	IdeaFolder     string // the folder of Idea files that agents, and people at the desk, can start; empty: none
	AllowDecisions bool   // agents may decide on Calls
	// Tools are the Go tools of the workers, as far as the gateway knows them.
	Tools ideafiles.WorkerTools
}

// Limits of a connection.
const (
	defaultRequestTimeout = 30 * time.Second
	idleTimeout           = 2 * time.Minute
	maxHeaderBytes        = 64 << 10
)

// Gateway answers requests.
type Gateway struct {
	Options
	api     *api.API
	hasDesk bool // the desk is served
}

// New makes a gateway.
func New(o Options) *Gateway {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if guard, ok := o.Guard.(interface{ LogTo(*slog.Logger) }); ok {
		guard.LogTo(o.Log)
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = defaultRequestTimeout
	}
	g := &Gateway{Options: o}
	g.api = api.New(api.Options{Client: o.Client, Feed: feed.NewForClient(o.Client), Guard: o.Guard, Hooks: o.Hooks,
		Log: o.Log, Tools: o.Agents.Tools, ActionTimeout: o.ActionTimeout, Intake: intake.New(o.RequestTimeout),
		AnonymousIntake: intake.New(o.RequestTimeout)})
	mcpServer := &mcp.Server{API: g.api, IdeaFolder: o.Agents.IdeaFolder, AllowDecisions: o.Agents.AllowDecisions}
	g.api.Handle("/mcp", g.requireAuth(mcpServer.Handler()))
	g.addDesk()
	return g
}

// addDesk serves the desk if people can log in, or else a page about what programs can use.
func (g *Gateway) addDesk() {
	if loginGuard, ok := g.Guard.(desk.LoginGuard); ok {
		pages, err := desk.New(desk.Options{API: g.api, LoginGuard: loginGuard, IdeaFolder: g.Agents.IdeaFolder,
			Simulate: g.Simulate, DeciderKeys: g.DeciderKeys})
		if err == nil {
			g.hasDesk = true
			g.api.Handle("/{$}", pages)
			g.api.Handle("/desk/", pages)
			return
		}
		g.Log.Error("there is no desk", "error", err)
	}
	g.api.Handle("GET /{$}", http.HandlerFunc(api.ServeIndex))
}

// isCrossSiteNavigation reports whether a refused request only follows a link from another site to a page of the desk.
// Browsers send no session cookie with it.
func (g *Gateway) isCrossSiteNavigation(r *http.Request, refusal *access.Refusal) bool {
	return g.hasDesk && refusal.Code == access.CodeForeignPage && desk.IsDeskPath(r.URL.Path) &&
		access.IsPageNavigation(r)
}

// requireAuth serves a page only to callers that the guard identifies.
func (g *Gateway) requireAuth(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		person, err := g.Guard.Identify(r)
		if err == nil && len(person.Rights) == 0 {
			err = access.Forbidden(person, access.Look)
		}
		if err == nil {
			var release func()
			_, release, err = g.api.Intake.Read(w, r, mcp.MaxBodyBytes)
			defer release()
		}
		if err != nil {
			g.api.Refuse(r.Context(), w, "mcp", err)
			return
		}
		next.ServeHTTP(w, r.WithContext(access.WithPerson(r.Context(), person)))
	})
}

// originPolicyFor returns the fence of a page. People have a session at the desk, and browsers send it with every page
// of the same site. So the desk accepts only requests of its own origin, whatever origins the API lists.
func (g *Gateway) originPolicyFor(r *http.Request) access.OriginPolicy {
	f := g.OriginPolicy
	if desk.IsDeskPath(r.URL.Path) {
		f.AllowedOrigins = nil
	}
	return f
}

// ServeHTTP answers a request if the fence lets it pass.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	if r.URL.Path == "/readyz" { // probes may use any host name
		g.serveReadiness(w, r)
		return
	}
	originPolicy := g.originPolicyFor(r)
	if refusal := originPolicy.Check(r); refusal != nil && !g.isCrossSiteNavigation(r, refusal) {
		g.Log.Warn("refused a request", "code", refusal.Code, "method", r.Method)
		api.ProblemOf(refusal).Write(w)
		return
	}
	if origin := r.Header.Get("Origin"); originPolicy.AllowsOrigin(origin) {
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
	h.Add("Vary", "Accept-Language")
	language := shown.LanguageFor(r.Header.Get("Accept-Language"))
	g.api.ServeHTTP(w, r.WithContext(client.WithLanguage(r.Context(), language)))
}

// serveReadiness says whether anybody can use the gateway.
func (g *Gateway) serveReadiness(w http.ResponseWriter, r *http.Request) {
	if err := access.CheckReady(r.Context(), g.Guard); err != nil {
		api.ProblemOf(err).Write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"status":"ready"}`+"\n")
}

// isStream reports whether a request follows events, so that its answer does not end by itself.
func isStream(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "/mcp" || strings.HasSuffix(r.URL.Path, "/events"))
}

// Serve answers on a listener until ctx is done, and then waits at most stopTimeout for requests under way. Streams end
// at once, since their clients can go on at another gateway.
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error {
	baseCtx, cancelBase := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelBase()
	s := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isStream(r) {
				streamCtx, cancel := context.WithCancel(r.Context())
				defer cancel()
				defer safego.AfterDone(ctx, "gateway.letGo", cancel)()
				r = r.WithContext(streamCtx)
			}
			g.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: g.RequestTimeout, ReadTimeout: 2 * g.RequestTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       log.New(serverLog{g.Log}, "", 0),
		BaseContext:    func(net.Listener) context.Context { return baseCtx },
	}
	shutdownResult := make(chan error, 1)
	safego.Go("gateway.shutdown", func() error {
		<-ctx.Done()
		shutdownCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		return s.Shutdown(shutdownCtx)
	}, func(err error) {
		if err != nil {
			cancelBase()
			_ = s.Close()
		}
		shutdownResult <- err
	})
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("gateway: serve at %s: %w", l.Addr(), err)
	}
	if err := <-shutdownResult; err != nil && ctx.Err() == nil { // nobody has stopped it
		return fmt.Errorf("gateway: serve at %s: %w", l.Addr(), err)
	}
	return nil
}

// serverLog logs messages of the HTTP server: errors of connections, which any stranger can cause, for debugging, and
// panics of handlers as errors.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(text []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.HasPrefix(text, []byte("http: panic serving ")) {
		level = slog.LevelError
	}
	l.log.Log(context.Background(), level, strings.TrimSpace(string(text)))
	return len(text), nil
}

// stopTimeout bounds how long requests under way may take once the gateway stops.
const stopTimeout = 2 * time.Second

// IsLocal reports whether an address to listen on can be reached from this machine alone.
func IsLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && access.IsLoopback(strings.Trim(host, "[]"))
}
