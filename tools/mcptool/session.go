package mcptool

import (
	"context"
	"errors"
	"sync"
	"time"

	"processidea/internal/pause"
	"processidea/internal/safego"
	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
)

// session is the session with one server. The first call opens it, and it is opened again after it has broken.
type session struct {
	hub    *Hub
	server ideafile.MCPServer

	connecting sync.Mutex // held while connecting
	mu         sync.Mutex
	conn       *conn // nil while not connected
	busy       int   // calls in progress
	idle       *time.Timer
}

// Before a tool is called, trying again is harmless: a server that is just restarting is waited for.
const (
	maxTries   = 4
	firstPause = 200 * time.Millisecond
	// maxPause is the longest pause here. A longer one is left to Temporal, and the process is informed.
	maxPause = 20 * time.Second
)

// connWithTools returns a working connection, with the server's current tools. The caller calls done when it no longer
// needs it.
func (s *session) connWithTools(ctx context.Context) (c *conn, offers []mcppalette.ToolSpec, done func(), err error) {
	s.begin()
	pause := firstPause
	for try := 1; ; try++ {
		c, err = s.connect(ctx)
		if err == nil {
			offers, err = c.list(ctx)
			if err == nil {
				return c, offers, s.end, nil
			}
			s.dropUnlessServerError(c, err)
		}
		later := pause
		u := refusalIn(err)
		isServersError := serverError(err) != nil
		if u != nil {
			later = max(pause, u.wait)
		} else if c != nil { // dial's errors are redacted already
			err = c.strikeError(err)
		}
		if try == maxTries || isRefused(err) || u != nil && !u.isLater() || isServersError || later > maxPause ||
			!waitWithin(ctx, later) {
			s.end()
			return nil, nil, nil, err
		}
		pause *= 2
	}
}

// waitWithin waits, unless the context's deadline comes before. It reports whether it waited.
func waitWithin(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	return pause.For(ctx, d) == nil
}

func (s *session) connect(ctx context.Context) (*conn, error) {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if c := s.current(); c != nil {
		return c, nil
	}
	c, err := s.hub.dial(ctx, s.server)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.conn = c
	s.mu.Unlock()
	s.hub.closing.Add(1)
	safego.Go("mcp.ended", c.session.Wait, func(error) {
		defer s.hub.closing.Done()
		s.drop(c)
	})
	return c, nil
}

func (s *session) current() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// dropUnlessServerError drops a connection after an error, unless the error is the server's answer.
func (s *session) dropUnlessServerError(c *conn, err error) {
	if serverError(err) == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		s.drop(c)
	}
}

// drop closes a connection and forgets it; nil means the current one.
func (s *session) drop(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil {
		c = s.conn
	}
	if c == nil {
		return
	}
	if s.conn == c {
		s.conn = nil
	}
	c.close(&s.hub.closing)
}

func (s *session) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	if s.idle != nil {
		s.idle.Stop()
	}
}

// end ends a use of the connection, which is closed after it has been unused for a while.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if s.busy == 0 {
		s.idle = safego.AfterFunc(s.hub.options.Idle, "mcp.idle", s.closeIfIdle)
	}
}

func (s *session) closeIfIdle() {
	s.mu.Lock()
	busy := s.busy
	s.mu.Unlock()
	if busy == 0 {
		s.drop(nil)
	}
}
