package mcptool

import (
	"context"
	"errors"
	"slices"
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

	connectMu   sync.Mutex // held while connecting
	mu          sync.Mutex
	conn        *conn   // nil while not connected
	left        []*conn // still used by calls, but no further call gets them
	activeCalls int     // calls in progress
	idleTimer   *time.Timer
}

// Before a tool is called, trying again is harmless: a server that is just restarting is waited for.
const (
	maxAttempts = 4
	firstPause  = 200 * time.Millisecond
	// maxPause is the longest pause here. A longer one is left to Temporal, and the process is informed.
	maxPause = 20 * time.Second
)

// connWithTools returns a working connection, with the server's current tools. The caller calls done when it no longer
// needs it.
func (s *session) connWithTools(ctx context.Context) (c *conn, specs []mcppalette.ToolSpec, release func(), err error) {
	s.beginUse()
	backoff, isReopened := firstPause, false
	for try := 1; ; try++ {
		c, err = s.connect(ctx)
		if err == nil {
			specs, err = c.listTools(ctx)
			if err == nil {
				return c, specs, func() { s.release(c); s.endUse() }, nil
			}
			s.dropUnlessServerError(c, err)
			s.release(c)
		}
		delay := backoff
		u := asRefusal(err)
		isServersError := serverError(err) != nil
		if u != nil && u.mayBeForgotten && !isReopened {
			isReopened = true
			continue
		}
		if u != nil {
			delay = max(backoff, u.retryAfter)
		} else if c != nil { // dial's errors are redacted already
			err = c.redactError(err)
		}
		if try == maxAttempts || isRefused(err) || u != nil && !u.isRetryable() || isServersError || delay > maxPause ||
			!waitWithin(ctx, delay) {
			s.endUse()
			return nil, nil, nil, err
		}
		backoff *= 2
	}
}

// waitWithin waits, unless the context's deadline comes before. It reports whether it waited.
func waitWithin(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	return pause.For(ctx, d) == nil
}

// connect returns the connection, which it opens if there is none. The caller releases it.
func (s *session) connect(ctx context.Context) (*conn, error) {
	s.connectMu.Lock()
	defer s.connectMu.Unlock()
	if c := s.current(); c != nil {
		return c, nil
	}
	c, err := s.hub.dial(ctx, s.server)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.conn, c.users = c, 1
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
	if s.conn != nil {
		s.conn.users++
	}
	return s.conn
}

// leave makes the next call open another session. This one is closed when its last user releases it: the server may
// still answer other calls.
func (s *session) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == c {
		s.conn, s.left = nil, append(s.left, c)
	}
}

func (s *session) release(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.users--; c.users == 0 && s.conn != c {
		s.left = slices.DeleteFunc(s.left, func(l *conn) bool { return l == c })
		c.close(&s.hub.closing)
	}
}

// dropUnlessServerError drops a connection after an error, unless the error is the server's answer.
func (s *session) dropUnlessServerError(c *conn, err error) {
	switch {
	case asRefusal(err) != nil:
		s.leave(c)
	case serverError(err) == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		s.drop(c)
	}
}

// drop closes a connection and forgets it; nil means the current one and those that were left.
func (s *session) drop(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil {
		c = s.conn
		for _, l := range s.left {
			l.close(&s.hub.closing)
		}
	}
	if c == nil {
		return
	}
	if s.conn == c {
		s.conn = nil
	}
	c.close(&s.hub.closing)
}

func (s *session) beginUse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activeCalls++
	if s.idleTimer != nil {
		s.idleTimer.Stop()
	}
}

// endUse ends a use of the connection, which is closed after it has been unused for a while.
func (s *session) endUse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activeCalls--
	if s.activeCalls == 0 {
		s.idleTimer = safego.AfterFunc(s.hub.options.IdleTimeout, "mcp.idle", s.closeIfIdle)
	}
}

func (s *session) closeIfIdle() {
	s.mu.Lock()
	isBusy := s.activeCalls
	s.mu.Unlock()
	if isBusy == 0 {
		s.drop(nil)
	}
}
