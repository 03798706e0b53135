package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/internal/safego"
	"processidea/internal/safego/safemcp"
	"processidea/internal/secret"
	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
	"processidea/tools/memory"
)

// conn is a connection to a server.
type conn struct {
	session        *mcp.ClientSession
	redactor       *secret.Redactor
	closeOnce      sync.Once
	activeUseCount int // held by the session
	questions      questionRecorder
	// hasSentTooLargeMessage reports whether the server sent a message that is too large to be read; nil if that is
	// unknown.
	hasSentTooLargeMessage func() bool
	stderrText             func() string
	// brokenCtx ends when an answer of the server exceeds the limit. That answer will never be complete.
	brokenCtx       context.Context
	cancelBrokenCtx context.CancelCauseFunc
	// protocolVersion is the version of the protocol that the server agreed to; nil before that.
	protocolVersion atomic.Pointer[string]
	// initializeID is the id of the request initialize.
	initializeID atomic.Pointer[jsonrpc.ID]
}

// runExchange runs an exchange with the server, until an answer exceeds the limit.
func (c *conn) runExchange(ctx context.Context, exchange func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer safego.AfterDone(c.brokenCtx, "mcp.broken", cancel)()
	err := exchange(ctx)
	if err != nil && c.hasTooLargeAnswer() {
		return errMessageTooLarge
	}
	return err
}

// close closes the connection, without waiting for the server to end.
func (c *conn) close(closing *sync.WaitGroup) {
	c.closeOnce.Do(func() {
		c.cancelBrokenCtx(nil)
		closing.Add(1)
		safego.Go("mcp.close", c.session.Close, func(error) { closing.Done() })
	})
}

// dial connects to a server.
func (h *Hub) dial(ctx context.Context, server ideafile.MCPServer) (*conn, error) {
	c := &conn{}
	c.brokenCtx, c.cancelBrokenCtx = context.WithCancelCause(h.ctx)
	transport, stderrText, err := h.transport(server, c)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "processidea", Version: "1"}, &mcp.ClientOptions{
		Capabilities:       &mcp.ClientCapabilities{}, // no roots: a server sees nothing of the worker
		ElicitationHandler: c.questions.recordQuestion,
		MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: true}, // people are asked, which takes time
	})
	client.AddReceivingMiddleware(safemcp.Middleware("mcp.receive"))
	c.stderrText = stderrText
	err = c.runExchange(ctx, func(ctx context.Context) (err error) {
		c.session, err = client.Connect(ctx, exactTransport{c, transport}, nil)
		return err
	})
	if err != nil {
		c.cancelBrokenCtx(nil)
		if u := asRefusal(err); u != nil {
			return nil, u
		}
		return nil, c.redactError(fmt.Errorf("connect: %w%s", err, stderrText()))
	}
	return c, nil
}

// transport returns the transport to a server. stderrText returns the server's standard error, for the error of a
// server that does not answer.
func (h *Hub) transport(server ideafile.MCPServer, c *conn) (t mcp.Transport, stderrText func() string, err error) {
	if len(server.Command) > 0 {
		return h.newProgramTransport(server, c)
	}
	address, headers, redactor, err := h.options.HTTP.FillSecrets(server.URL, server.Headers)
	if err != nil {
		return nil, nil, disallowedError{fmt.Errorf("url and headers: %w", err)}
	}
	c.redactor = redactor
	return &mcp.StreamableClientTransport{
		Endpoint: address, DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{
			Transport: headerTransport{&memory.Transport{
				Next: h.options.HTTP.RoundTripper(), MaxBytes: maxMessageBytes + maxProgressReportBytes,
				OnTooLarge: func() { c.cancelBrokenCtx(errMessageTooLarge) },
			}, headers, c},
			CheckRedirect: func(to *http.Request, via []*http.Request) error {
				if !isSameServerRedirect(to.Response) || len(via) > maxRedirects {
					return http.ErrUseLastResponse
				}
				return nil
			},
		},
	}, func() string { return "" }, nil
}

const maxRedirects = 3

// isSameServerRedirect reports whether an answer is a redirect that keeps the request and stays on the same server,
// such as to a final slash. No other server may receive the headers of the file.
func isSameServerRedirect(answer *http.Response) bool {
	from, keepsMethod := answer.Request.URL, answer.StatusCode == 307 || answer.StatusCode == 308
	to, err := answer.Location()
	return keepsMethod && err == nil && to.Scheme == from.Scheme && to.Host == from.Host
}

const protocolVersionHeader = "MCP-Protocol-Version"

// headerTransport sends the headers of the file with every request, and the version of the protocol once it is agreed
// on. If the server refuses a request unread, the error is a *refusedRequest.
type headerTransport struct {
	next        http.RoundTripper
	fileHeaders map[string]string
	conn        *conn
}

// RoundTrip is called on goroutines of the SDK.
func (t headerTransport) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	err = safego.Run("mcp.send", func() (err error) {
		r = r.Clone(r.Context())
		for name, value := range t.fileHeaders {
			r.Header.Set(name, value)
		}
		if version := t.conn.protocolVersion.Load(); version != nil && r.Header.Get(protocolVersionHeader) == "" {
			r.Header.Set(protocolVersionHeader, *version)
		}
		answer, err = t.next.RoundTrip(r) //nolint:bodyclose // who asked closes it
		if err != nil {
			return err
		}
		id, method := requestIDAndMethod(r)
		if isSameServerRedirect(answer) {
			return nil
		}
		if err = t.conn.closeIfRefused(answer, method); err == nil {
			t.conn.wrapAnswerBody(answer, id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// requestIDAndMethod returns the JSON-RPC id and method of an HTTP request.
func requestIDAndMethod(r *http.Request) (id json.RawMessage, method string) {
	var fields struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			_ = json.NewDecoder(body).Decode(&fields)
		}
	}
	return fields.ID, fields.Method
}

func (c *conn) redactError(err error) error {
	redactedErr := httptool.RedactError(c.redactor, err)
	if isDisallowed(err) {
		return disallowedError{redactedErr}
	}
	return redactedErr
}

// hasTooLargeAnswer reports whether an answer of the server exceeded the limit.
func (c *conn) hasTooLargeAnswer() bool {
	return errors.Is(context.Cause(c.brokenCtx), errMessageTooLarge)
}

// maxProgressReportBytes bounds the bytes of an answer beside its message: progress reports.
const maxProgressReportBytes = 1 << 20

// maxToolsPerServer bounds how many tools a server may offer.
const maxToolsPerServer = 1000

// maxToolListPages bounds how many pages a server's list of tools may have.
const maxToolListPages = 200

// maxToolListBytes bounds all pages of a server's list of tools together.
const maxToolListBytes = 16 << 20

// listTools asks for the server's tools.
func (c *conn) listTools(ctx context.Context) ([]mcppalette.ToolSpec, error) {
	var specs []mcppalette.ToolSpec
	err := c.runExchange(ctx, func(ctx context.Context) error {
		seenCursors, bytesLeft := map[string]bool{}, maxToolListBytes
		for cursor := ""; ; {
			page, err := c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
			if err != nil {
				return err
			}
			for _, t := range page.Tools {
				toolJSON, _ := t.Meta[exactJSONKey].(string)
				if bytesLeft -= len(toolJSON); bytesLeft < 0 {
					return disallowedError{fmt.Errorf("its list of tools is larger than %d MB", maxToolListBytes>>20)}
				}
				specs = append(specs, c.toolSpec(t))
			}
			cursor = page.NextCursor
			switch {
			case len(specs) > maxToolsPerServer:
				return disallowedError{fmt.Errorf("it offers more than %d tools", maxToolsPerServer)}
			case cursor == "":
				return nil
			case seenCursors[cursor]:
				return disallowedError{fmt.Errorf("its list of tools never ends: the cursor %q comes again",
					jsonval.ClipForError(c.redactor.RedactText(cursor)))}
			case len(seenCursors) == maxToolListPages:
				return disallowedError{fmt.Errorf("its list of tools has more than %d pages", maxToolListPages)}
			}
			seenCursors[cursor] = true
		}
	})
	return specs, err
}
