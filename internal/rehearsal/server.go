package rehearsal

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"processidea/internal/safego"
)

// Server is a Handler that listens on a free port of the loopback interface.
type Server struct {
	handler     *Handler
	http        *http.Server
	address     string
	acceptLoop  sync.WaitGroup // the accept loop
	connections sync.WaitGroup // connections
}

// Start listens on 127.0.0.1 and serves the replies until Close.
func Start(replies []Reply, opts ...Option) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("rehearsal: start server: %w", err)
	}
	s := &Server{handler: NewHandler(replies, opts...), address: listener.Addr().String()}
	s.http = &http.Server{Handler: s.handler, ReadHeaderTimeout: time.Minute, ConnState: s.trackConnection}
	s.acceptLoop.Add(1)
	safego.Go("rehearsal.serve", func() error { return s.http.Serve(listener) }, func(error) {
		_ = listener.Close() // new connections are refused instead of waiting
		s.acceptLoop.Done()  // Serve ends with Close and has no other error
	})
	return s, nil
}

// trackConnection tracks the connections, so that Close can wait for them. Only the accept loop adds new ones; Close
// waits for its end first.
func (s *Server) trackConnection(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.connections.Done()
	}
}

// URL is the base URL for a client, ending in /v1.
func (s *Server) URL() string { return "http://" + s.address + "/v1" }

// Requests returns the requests so far, in order of arrival.
func (s *Server) Requests() []LoggedRequest { return s.handler.Requests() }

// Close drops all connections and returns when nothing runs any more. It may be called twice.
func (s *Server) Close() {
	_ = s.http.Close()
	s.acceptLoop.Wait()
	_ = s.http.Close() // closes a connection that was still being accepted at the first Close
	s.connections.Wait()
}
