package mcptool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/internal/safego"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
)

// exactTransport is a transport that keeps every digit of a server's numbers. The SDK decodes results and schemas into
// `any`, where a number is a float64: 9007199254740993 becomes …992. So each value comes a second time, as the JSON
// text that the server sent, in the field keyExact of the _meta beside it.
type exactTransport struct {
	conn *conn
	mcp.Transport
}

const keyExact = "processidea/exact"

// Connect connects by the transport beneath.
func (t exactTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return exactConnection{c, t.conn}, err
}

type exactConnection struct {
	mcp.Connection
	conn *conn
}

// Read is called on a goroutine of the SDK.
func (c exactConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		return m, err
	}
	return m, safego.Run("mcp.exact", func() error {
		switch m := m.(type) {
		case *jsonrpc.Response:
			m.Result = c.withTools(withExact(m.Result))
		case *jsonrpc.Request:
			m.Params = withExact(m.Params)
		}
		return nil
	})
}

// withTools does for each tool of a list what withExact does for the whole. It also records the protocol version that
// the server agrees to: the SDK passes it to its own connections only, and servers want it with every request.
func (c exactConnection) withTools(result json.RawMessage) json.RawMessage {
	var known struct {
		Tools           []json.RawMessage `json:"tools"`
		ProtocolVersion string            `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &known) != nil {
		return result
	}
	if known.ProtocolVersion != "" {
		c.conn.protocol.Store(&known.ProtocolVersion)
	}
	if len(known.Tools) == 0 {
		return result
	}
	for n, tool := range known.Tools {
		known.Tools[n] = withExact(tool)
	}
	return withKey(result, "tools", known.Tools)
}

// withExact puts the text of an object into its own _meta.
func withExact(object json.RawMessage) json.RawMessage {
	var known struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if len(object) == 0 || object[0] != '{' || json.Unmarshal(object, &known) != nil {
		return object
	}
	text, err := json.Marshal(string(object))
	if err != nil {
		return object
	}
	meta := known.Meta
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta[keyExact] = text
	return withKey(object, "_meta", meta)
}

// withKey is an object with another value for a key.
func withKey(object json.RawMessage, key string, value any) json.RawMessage {
	var all map[string]json.RawMessage
	encoded, err := json.Marshal(value)
	if err != nil || json.Unmarshal(object, &all) != nil {
		return object
	}
	all[key] = encoded
	whole, err := json.Marshal(all)
	if err != nil {
		return object
	}
	return whole
}

// serverBounds are the bounds for answers of HTTP Tools: servers write deeper values than LLMs.
var serverBounds = jsonval.DecodeLimits{MaxDepth: 500, MaxNumberLen: 400, IntegersFitFloat64: true}

// exactly reads what a server sent, from the _meta beside it.
func exactly(meta mcp.Meta) (jsonval.Object, error) {
	text, _ := meta[keyExact].(string)
	v, err := jsonval.DecodeWithBounds([]byte(text), serverBounds)
	return jsonval.AsObject(v), err
}

// specOf is a tool as the server describes it, without the secrets of the connection.
func (c *conn) specOf(t *mcp.Tool) mcppalette.ToolSpec {
	said, err := exactly(t.Meta)
	name := c.striker.StrikeText(t.Name)
	if err == nil && name != t.Name {
		err = errors.New("its name holds a secret")
	}
	if err != nil {
		return mcppalette.ToolSpec{Name: name, Unreadable: c.striker.StrikeText(err.Error())}
	}
	return mcppalette.ToolSpec{
		Name: t.Name, Description: c.striker.StrikeText(t.Description),
		InputSchema:  jsonval.AsObject(c.striker.StrikeValue(said["inputSchema"])),
		OutputSchema: c.striker.StrikeValue(said["outputSchema"]),
	}
}
