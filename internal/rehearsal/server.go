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
	handler         *Handler
	httpServer      *http.Server
	address         string
	acceptLoopGroup sync.WaitGroup // the accept loop
	connectionGroup sync.WaitGroup // the connections
}

// Start listens on 127.0.0.1 and serves the replies until Close.
func Start(replies []Reply, opts ...Option) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("rehearsal: start server: %w", err)
	}
	s := &Server{handler: NewHandler(replies, opts...), address: listener.Addr().String()}
	s.httpServer = &http.Server{Handler: s.handler, ReadHeaderTimeout: time.Minute, ConnState: s.trackConnection}
	s.acceptLoopGroup.Add(1)
	safego.Go("rehearsal.serve", func() error { return s.httpServer.Serve(listener) }, func(error) {
		_ = listener.Close()     // new connections are refused instead of waiting
		s.acceptLoopGroup.Done() // Serve ends with Close and has no other error
	})
	return s, nil
}

// trackConnection tracks the connections, so that Close can wait for them. Only the accept loop adds new ones; Close
// waits for its end first.
func (s *Server) trackConnection(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.connectionGroup.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.connectionGroup.Done()
	}
}

// URL is the base URL for a client, ending in /v1.
func (s *Server) URL() string { return "http://" + s.address + "/v1" }

// Requests returns the requests so far, in order of arrival.
func (s *Server) Requests() []LoggedRequest { return s.handler.Requests() }

// Close drops all connections and returns when nothing runs any more. It may be called twice.
func (s *Server) Close() {
	_ = s.httpServer.Close()
	s.acceptLoopGroup.Wait()
	_ = s.httpServer.Close() // closes a connection that was still being accepted at the first Close
	s.connectionGroup.Wait()
}
