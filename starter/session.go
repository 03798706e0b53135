package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"processidea/store/blobs"
	"processidea/worker/engine"
)

// session is an open way to Temporal and to the store.
type session struct {
	client.Client
	place
	namespace string
	values    *blobs.Store
	ui        string // where the embedded server's web UI is
	embedded  bool   // the server is embedded, in this program or in another
	own       bool   // the server and its worker run in this program
	undo      []func()
}

// close lets go of everything that the session opened, last first.
func (s *session) close() {
	for i := len(s.undo) - 1; i >= 0; i-- {
		s.undo[i]()
	}
	s.undo = nil
}

// dialTimeout bounds one attempt to reach a server.
const dialTimeout = 10 * time.Second

// dial opens a session with the remote server.
func (p place) dial(ctx context.Context) (*session, error) {
	s := &session{place: p}
	if err := s.open(ctx, *p.remote, p.store, slog.New(slog.DiscardHandler)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// join opens a session with the server that another program runs on the folder.
func (p place) join(ctx context.Context) (*session, error) {
	n, ok := p.neighbour()
	if !ok {
		return nil, p.nobody()
	}
	s := &session{place: p, ui: n.UI, embedded: true}
	o := client.Options{HostPort: n.Address, Namespace: n.Namespace}
	if err := s.open(ctx, o, n.Store, slog.New(slog.DiscardHandler)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// open opens the store and connects to the server.
func (s *session) open(ctx context.Context, o client.Options, store string, to *slog.Logger) (err error) {
	if s.values, err = openStore(ctx, store); err != nil {
		return err
	}
	s.undo = append(s.undo, func() { _ = s.values.Close() })
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	o.Logger = log.NewStructuredLogger(to)
	c, err := client.DialContext(ctx, engine.ClientOptions(o, s.values))
	if err != nil {
		return noServer("reach Temporal at %s: %w", o.HostPort, err)
	}
	s.Client = c
	s.undo = append(s.undo, c.Close)
	s.namespace = o.Namespace
	return nil
}

// page is the address of a process in the web UI; empty where there is none.
func (s *session) page(id string) string {
	if s.ui == "" {
		return ""
	}
	return fmt.Sprintf("%s/namespaces/%s/workflows/%s", s.ui, s.namespace, url.PathEscape(id))
}
