package mcptool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/internal/safego"
	"processidea/internal/safego/safemcp"
	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/secret"
	"processidea/tools/memory"
)

// conn is a connection to a server.
type conn struct {
	session *mcp.ClientSession
	striker *secret.Striker
	once    sync.Once
	asked   questions
	// tooLarge reports whether the server sent a message that is too large to be read; nil where that is not known.
	tooLarge func() bool
	said     func() string
	// broken ends when the server has sent more in one answer than is read. What waits for that answer waits in vain.
	broken   context.Context
	breakOff context.CancelCauseFunc
}

// within does something that the server must answer, for as long as what it sends can be read.
func (c *conn) within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer safego.AfterDone(c.broken, "mcp.broken", cancel)()
	err := do(ctx)
	if err != nil && c.isTooLarge() {
		return errTooLarge
	}
	return err
}

// close closes the connection, without waiting for the server to end.
func (c *conn) close(closing *sync.WaitGroup) {
	c.once.Do(func() {
		c.breakOff(nil)
		closing.Add(1)
		safego.Go("mcp.close", c.session.Close, func(error) { closing.Done() })
	})
}

// dial connects to a server.
func (h *Hub) dial(ctx context.Context, server ideafile.MCPServer) (*conn, error) {
	c := &conn{}
	c.broken, c.breakOff = context.WithCancelCause(h.ctx)
	transport, said, err := h.transport(server, c)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "processidea", Version: "1"}, &mcp.ClientOptions{
		Capabilities:       &mcp.ClientCapabilities{}, // no roots: a server is shown nothing of the worker
		ElicitationHandler: c.asked.hear,
		MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: true}, // people are asked, and they take their time
	})
	client.AddReceivingMiddleware(safemcp.Middleware("mcp.receive"))
	c.said = said
	err = c.within(ctx, func(ctx context.Context) (err error) {
		c.session, err = client.Connect(ctx, transport, nil)
		return err
	})
	if err != nil {
		c.breakOff(nil)
		return nil, c.struck(fmt.Errorf("connect: %w%s", err, said()))
	}
	return c, nil
}

// transport connects to a server; said is what it wrote on standard error, for the error of a server that does not answer.
func (h *Hub) transport(server ideafile.MCPServer, c *conn) (t mcp.Transport, said func() string, err error) {
	if len(server.Command) > 0 {
		return h.run(server, c)
	}
	address, headers, striker, err := h.options.HTTP.Fill(server.URL, server.Headers)
	if err != nil {
		return nil, nil, refused{fmt.Errorf("url and headers: %w", err)}
	}
	c.striker = striker
	return &mcp.StreamableClientTransport{
		Endpoint: address, DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{
			Transport: &memory.Transport{
				Next: withHeaders{h.options.HTTP.RoundTripper(),
					headers}, Most: maxMessage + maxAround, Over: func() { c.breakOff(errTooLarge) },
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, func() string { return "" }, nil
}

// withHeaders sends the headers of the file with every request.
type withHeaders struct {
	next    http.RoundTripper
	headers map[string]string
}

// RoundTrip is called on goroutines of the SDK.
func (t withHeaders) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	err = safego.Run("mcp.send", func() (err error) {
		r = r.Clone(r.Context())
		for name, value := range t.headers {
			r.Header.Set(name, value)
		}
		answer, err = t.next.RoundTrip(r) //nolint:bodyclose // who asked closes it
		return err
	})
	return answer, err
}

func (c *conn) struck(err error) error {
	if isRefused(err) {
		return refused{struck{c.striker.Text(err.Error()), err}}
	}
	return struck{c.striker.Text(err.Error()), err}
}

// isTooLarge reports whether the server has sent more in one answer than is read.
func (c *conn) isTooLarge() bool { return errors.Is(context.Cause(c.broken), errTooLarge) }

// maxAround is how many bytes one answer may have beside its message: what is told of the progress.
const maxAround = 1 << 20

// maxTools is how many tools a server may offer.
const maxTools = 1000

// list asks for the server's tools.
func (c *conn) list(ctx context.Context) ([]mcppalette.ToolSpec, error) {
	var offers []mcppalette.ToolSpec
	err := c.within(ctx, func(ctx context.Context) error {
		for t, err := range c.session.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			if len(offers) == maxTools {
				return refused{fmt.Errorf("it offers more than %d tools", maxTools)}
			}
			o := mcppalette.ToolSpec{Name: t.Name, Description: t.Description,
				OutputSchema: jsonval.ToJSONValue(t.OutputSchema)}
			o.InputSchema, _ = jsonval.ToJSONValue(t.InputSchema).(map[string]any)
			offers = append(offers, o)
		}
		return nil
	})
	return offers, err
}
