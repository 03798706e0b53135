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

	connectMu       sync.Mutex // held while connecting
	mu              sync.Mutex
	conn            *conn   // nil while not connected
	abandonedConns  []*conn // still used by calls, but no further call gets them
	activeCallCount int     // calls in progress
	idleTimer       *time.Timer
}

// Before a tool is called, trying again is harmless: a server that is just restarting is waited for.
const (
	maxConnectAttempts = 4
	firstConnectPause  = 200 * time.Millisecond
	// maxConnectPause is the longest pause here. A longer one is left to Temporal, and the process is informed.
	maxConnectPause = 20 * time.Second
)

// acquireConnWithTools returns a working connection, with the server's current tools. The caller calls done when it no
// longer needs it.
func (s *session) acquireConnWithTools(ctx context.Context) (c *conn, toolSpecs []mcppalette.ToolSpec, release func(),
	err error) {
	s.beginUse()
	backoff, hasRetriedSession := firstConnectPause, false
	for attempt := 1; ; attempt++ {
		c, err = s.connect(ctx)
		if err == nil {
			toolSpecs, err = c.listTools(ctx)
			if err == nil {
				return c, toolSpecs, func() { s.releaseConn(c); s.endUse() }, nil
			}
			s.dropUnlessServerError(c, err)
			s.releaseConn(c)
		}
		delay := backoff
		u := asRefusal(err)
		isServerError := serverError(err) != nil
		if u != nil && u.mayBeSessionUnknown && !hasRetriedSession {
			hasRetriedSession = true
			continue
		}
		if u != nil {
			delay = max(backoff, u.retryAfter)
		} else if c != nil { // dial's errors are redacted already
			err = c.redactError(err)
		}
		if attempt == maxConnectAttempts || isDisallowed(err) || u != nil && !u.isRetryable() || isServerError ||
			delay > maxConnectPause ||
			!waitBeforeDeadline(ctx, delay) {
			s.endUse()
			return nil, nil, nil, err
		}
		backoff *= 2
	}
}

// waitBeforeDeadline waits, unless the context's deadline comes before. It reports whether it waited.
func waitBeforeDeadline(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	return pause.For(ctx, d) == nil
}

// connect returns the connection, which it opens if there is none. The caller releases it.
func (s *session) connect(ctx context.Context) (*conn, error) {
	s.connectMu.Lock()
	defer s.connectMu.Unlock()
	if c := s.acquireConn(); c != nil {
		return c, nil
	}
	c, err := s.hub.dial(ctx, s.server)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.conn, c.activeUseCount = c, 1
	s.mu.Unlock()
	s.hub.closingGroup.Add(1)
	safego.Go("mcp.ended", c.session.Wait, func(error) {
		defer s.hub.closingGroup.Done()
		s.dropConn(c)
	})
	return c, nil
}

func (s *session) acquireConn() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.activeUseCount++
	}
	return s.conn
}

// abandonConn makes the next call open another session. This one is closed when its last user releases it: the server
// may still answer other calls.
func (s *session) abandonConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == c {
		s.conn, s.abandonedConns = nil, append(s.abandonedConns, c)
	}
}

func (s *session) releaseConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.activeUseCount--; c.activeUseCount == 0 && s.conn != c {
		s.abandonedConns = slices.DeleteFunc(s.abandonedConns, func(l *conn) bool { return l == c })
		c.close(&s.hub.closingGroup)
	}
}

// dropUnlessServerError drops a connection after an error, unless the error is the server's answer.
func (s *session) dropUnlessServerError(c *conn, err error) {
	switch {
	case asRefusal(err) != nil:
		s.abandonConn(c)
	case serverError(err) == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		s.dropConn(c)
	}
}

// dropConn closes a connection and forgets it; nil means the current one and those that were left.
func (s *session) dropConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil {
		c = s.conn
		for _, l := range s.abandonedConns {
			l.close(&s.hub.closingGroup)
		}
	}
	if c == nil {
		return
	}
	if s.conn == c {
		s.conn = nil
	}
	c.close(&s.hub.closingGroup)
}

func (s *session) beginUse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activeCallCount++
	if s.idleTimer != nil {
		s.idleTimer.Stop()
	}
}

// endUse ends a use of the connection, which is closed after it has been unused for a while.
func (s *session) endUse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activeCallCount--
	if s.activeCallCount == 0 {
		s.idleTimer = safego.AfterFunc(s.hub.options.IdleTimeout, "mcp.idle", s.closeIfIdle)
	}
}

func (s *session) closeIfIdle() {
	s.mu.Lock()
	activeCallCount := s.activeCallCount
	s.mu.Unlock()
	if activeCallCount == 0 {
		s.dropConn(nil)
	}
}
