package mcptool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
	"processidea/tools/runner"
)

// Options configure a Hub.
type Options struct {
	// AllowedCommands lists the commands that may be run, in the form of CommandsVariable.
	AllowedCommands string
	// HTTP reaches servers at a URL, under the rules of HTTP tools, and knows the secrets.
	HTTP *httptool.Client
	// LookupEnv looks up the variables that a command inherits; nil: os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Log receives the standard error of commands, at the level debug; nil: none.
	Log *slog.Logger
	// IdleTimeout is how long an unused server is kept; 0: ten minutes.
	IdleTimeout time.Duration
}

const defaultIdleTimeout = 10 * time.Minute

// Hub holds a worker's sessions with MCP servers, one for each server, and replaces a broken one. It is safe for
// concurrent use.
type Hub struct {
	options            Options
	allowedCommands    []allowedCommand
	allowedCommandsErr error
	ctx                context.Context // ends with the Hub: commands are killed
	cancel             context.CancelFunc
	closingGroup       sync.WaitGroup

	mu              sync.Mutex
	sessionByDigest map[string]*session // by the digest of the server's configuration in the file
	isClosed        bool
}

// New returns a Hub without sessions. If the list of commands is invalid, every command fails; CheckAllowedCommands
// reports that beforehand.
func New(o Options) *Hub {
	if o.HTTP == nil {
		o.HTTP = httptool.New(httptool.Options{})
	}
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = defaultIdleTimeout
	}
	h := &Hub{options: o, sessionByDigest: map[string]*session{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.allowedCommands, h.allowedCommandsErr = parseAllowedCommands(o.AllowedCommands)
	return h
}

// Close ends every session and its program.
func (h *Hub) Close() {
	h.mu.Lock()
	h.isClosed = true
	for _, s := range h.sessionByDigest {
		s.dropConn(nil)
	}
	h.mu.Unlock()
	h.closingGroup.Wait()
	h.cancel()
}

var errHubClosed = errors.New("the worker is stopping")

// session returns the session with a server, one for each.
func (h *Hub) session(server ideafile.MCPServer) (*session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isClosed {
		return nil, errHubClosed
	}
	configDigest := jsonval.Digest(jsonval.Encode(jsonval.ToJSONValue(server)))
	s := h.sessionByDigest[configDigest]
	if s == nil {
		s = &session{hub: h, server: server}
		h.sessionByDigest[configDigest] = s
	}
	return s, nil
}

// ListTools asks a server for its tools. Errors are of type *Error.
func (h *Hub) ListTools(ctx context.Context, server ideafile.MCPServer) ([]mcppalette.ToolSpec, error) {
	action := "list tools of " + server.Name
	s, err := h.session(server)
	if err != nil {
		return nil, unsentError(action, err)
	}
	_, toolSpecs, release, err := s.acquireConnWithTools(ctx)
	if err != nil {
		return nil, unsentError(action, err)
	}
	release()
	return toolSpecs, nil
}

func (h *Hub) runCall(ctx context.Context, server ideafile.MCPServer, tool ideafile.MCPToolRef,
	in runner.Input) (any, error) {
	action := fmt.Sprintf("call %s of %s", tool.ToolNameOnServer, server.Name)
	s, err := h.session(server)
	if err != nil {
		return nil, unsentError(action, err)
	}
	for hasRetriedSession := false; ; {
		value, callErr := s.call(ctx, tool, in)
		if callErr == nil {
			return value, nil
		}
		u := asRefusal(callErr)
		if u != nil && u.mayBeSessionUnknown && !hasRetriedSession {
			hasRetriedSession = true
			continue
		}
		if u == nil || !callErr.IsRetryable || !waitBeforeDeadline(ctx, max(callErr.retryAfter, time.Second)) {
			return nil, callErr.withAction(action)
		}
	}
}

// call calls a tool, if the tool is still the pinned one.
func (s *session) call(ctx context.Context, tool ideafile.MCPToolRef, in runner.Input) (any, *Error) {
	c, toolSpecs, releaseConn, err := s.acquireConnWithTools(ctx)
	if err != nil {
		return nil, unsentError("", err)
	}
	defer releaseConn()
	if err := checkToolUnchanged(toolSpecs, tool); err != nil {
		return nil, &Error{Code: ideafile.CodeToolChanged, Err: err}
	}
	value, callErr := c.call(ctx, tool.ToolNameOnServer, in)
	if callErr != nil {
		if u := asRefusal(callErr); u != nil && (u.isSessionUnknown || u.mayBeSessionUnknown) {
			s.abandonConn(c)
		} else if c.hasTooLargeAnswer() {
			s.dropConn(c)
		}
	}
	return value, callErr
}

// checkToolUnchanged returns an error if the server's current tool differs from the pinned one.
func checkToolUnchanged(specs []mcppalette.ToolSpec, tool ideafile.MCPToolRef) error {
	for _, spec := range specs {
		if spec.Name != tool.ToolNameOnServer {
			continue
		}
		if digest := spec.Digest(); digest != tool.SpecDigest {
			return fmt.Errorf("the server now describes the tool otherwise than when the process was started (digest "+
				"%.12s, pinned is %.12s)",
				digest, tool.SpecDigest)
		}
		return nil
	}
	return errors.New("the server no longer offers the tool")
}
