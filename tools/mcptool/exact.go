package mcptool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/internal/safego"
	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// exactTransport is a transport that preserves the exact JSON of a server. The SDK decodes results and schemas into
// types of its own, and into `any`, where a number is a float64: 9007199254740993 becomes …992, and a value that fits
// no type ends the connection. So the SDK gets an object that it can read, with the server's JSON text in the field
// exactJSONKey of its _meta.
type exactTransport struct {
	conn *conn
	mcp.Transport
}

const exactJSONKey = "processidea/exact"

// Connect connects through the wrapped transport.
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
			if initializeID := c.conn.initializeID.Load(); initializeID != nil && m.ID == *initializeID &&
				m.Error == nil {
				m.Result, m.Error = c.initializeResultForSDK(m.Result)
				return nil
			}
			m.Result = c.resultForSDK(m.Result)
			if replacedErr := replaceSDKErrorCode(m.Error); replacedErr != nil {
				m.Error = replacedErr
			}
		case *jsonrpc.Request:
			m.Params = withExactJSON[struct{}](m.Params)
		}
		return nil
	})
}

// Write is called on a goroutine of the SDK.
func (c exactConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == methodInitialize {
		c.conn.initializeID.Store(&r.ID)
	}
	return c.Connection.Write(ctx, m)
}

// protocolVersionPattern is the form of the protocol's versions.
var protocolVersionPattern = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

// assumedProtocolVersion is the version of a server that names none, as servers assume it of a client that names none.
const assumedProtocolVersion = "2025-03-26"

// firstProtocolVersion is the first version of the protocol that was published.
const firstProtocolVersion = "2024-10-07"

// initializeResultForSDK returns the form of an answer to initialize that the SDK gets: the version alone, since
// servers write the rest in odd forms, and it is not used. An earlier version that the SDK does not know is spoken like
// the one before it. The version is also recorded: the SDK passes it only to its own connections, and servers want it
// with every request.
func (c exactConnection) initializeResultForSDK(result json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil || fields == nil {
		return nil, disallowedError{fmt.Errorf("its answer to initialize is no JSON object: %s",
			c.conn.excerpt(string(result)))}
	}
	rawVersion, versionText := fields["protocolVersion"], ""
	isText := rawVersion == nil || json.Unmarshal(rawVersion, &versionText) == nil
	supportedVersions := mcp.SupportedProtocolVersions()
	slices.Sort(supportedVersions)
	switch {
	case isText && versionText == "":
		versionText = assumedProtocolVersion
	case !protocolVersionPattern.MatchString(versionText), versionText < firstProtocolVersion,
		versionText > slices.Max(supportedVersions):
		return nil, disallowedError{fmt.Errorf("it speaks version %s of the protocol, not one of %s",
			c.conn.excerpt(string(rawVersion)), strings.Join(supportedVersions, ", "))}
	default:
		c.conn.protocolVersion.Store(&versionText)
	}
	versionIndex, isKnown := slices.BinarySearch(supportedVersions, versionText)
	if !isKnown {
		versionIndex = max(versionIndex-1, 0)
	}
	return json.Marshal(jsonval.Object{"protocolVersion": supportedVersions[versionIndex],
		"capabilities": jsonval.Object{}})
}

// replaceSDKErrorCode replaces the code of a server's error if it is one of the SDK's own codes; nil for any other
// error.
func replaceSDKErrorCode(err error) *jsonrpc.Error {
	var failure *jsonrpc.Error
	if !errors.As(err, &failure) || failure.Code < sdkCodeRejected || failure.Code > sdkCodeUnknown {
		return nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failure.Message, Data: failure.Data}
}

// resultForSDK returns the form of a result that the SDK gets.
func (c exactConnection) resultForSDK(result json.RawMessage) json.RawMessage {
	var fields struct {
		Tools             []json.RawMessage `json:"tools"`
		Content           json.RawMessage   `json:"content"`
		StructuredContent json.RawMessage   `json:"structuredContent"`
	}
	_ = json.Unmarshal(result, &fields) // members of other types are ignored
	switch {
	case fields.Content != nil || fields.StructuredContent != nil:
		return withExactJSON[mcp.CallToolResult](result)
	case len(fields.Tools) == 0:
		return withExactJSON[struct{}](result)
	}
	// one more than are allowed shows that there are too many
	fields.Tools = fields.Tools[:min(len(fields.Tools), maxToolsPerServer+1)]
	for n, tool := range fields.Tools {
		fields.Tools[n] = withExactJSON[mcp.Tool](tool)
	}
	return replaceMember(result, "tools", fields.Tools)
}

// withExactJSON puts the text of an object into its own _meta. If the SDK cannot read the object as a T, only its name
// and this _meta are left.
func withExactJSON[T any](object json.RawMessage) json.RawMessage {
	if len(object) == 0 {
		return object
	}
	quotedJSON, err := json.Marshal(string(object))
	if err != nil {
		return object
	}
	meta := map[string]json.RawMessage{}
	var fields struct {
		Meta json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(object, &fields) == nil {
		_ = json.Unmarshal(fields.Meta, &meta) // another type remains in the text
	}
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta[exactJSONKey] = quotedJSON
	extendedObject := replaceMember(object, "_meta", meta)
	if json.Unmarshal(extendedObject, new(T)) == nil {
		return extendedObject
	}
	var fieldsWithName struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(object, &fieldsWithName)
	minimalObject, err := json.Marshal(jsonval.Object{"name": fieldsWithName.Name,
		"_meta": map[string]json.RawMessage{exactJSONKey: quotedJSON}})
	if err != nil {
		return object
	}
	return minimalObject
}

// replaceMember returns an object with another value for a key.
func replaceMember(object json.RawMessage, key string, value any) json.RawMessage {
	var members map[string]json.RawMessage
	encoded, err := json.Marshal(value)
	if err != nil || json.Unmarshal(object, &members) != nil || members == nil { // null is no object
		return object
	}
	members[key] = encoded
	result, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return result
}

// serverDecodeLimits are the bounds for values of servers, as for answers of HTTP tools: servers write deeper values
// than LLMs.
var serverDecodeLimits = jsonval.DecodeLimits{MaxDepth: 500, MaxNumberBytes: 400, IntegersFitFloat64: true,
	RefusesLoneSurrogates: true}

// decodeExactJSON reads the object that a server sent, from the _meta that withExactJSON has made.
func decodeExactJSON(meta mcp.Meta) (jsonval.Object, jsonval.KeyOrder, error) {
	text, isSent := meta[exactJSONKey].(string)
	if !isSent {
		text = "null"
	}
	v, keyOrder, err := jsonval.DecodeWithKeyOrder([]byte(text), serverDecodeLimits)
	object, ok := v.(jsonval.Object)
	if err == nil && !ok {
		err = errors.New("it is no JSON object")
	}
	return object, keyOrder, err
}

// maxToolTitleChars bounds a tool's title, in characters, since every list shows it.
const maxToolTitleChars = 100

// toolSpec returns a tool as the server describes it, without the secrets of the connection.
func (c *conn) toolSpec(t *mcp.Tool) mcppalette.ToolSpec {
	toolFields, keyOrder, err := decodeExactJSON(t.Meta)
	name := c.redactor.RedactText(t.Name)
	switch {
	case err == nil && name == "":
		err = errors.New("it has no name")
	case err == nil && name != t.Name:
		err = errors.New("its name holds a secret")
	case err == nil && jsonval.AsText(toolFields["inputSchema"]) != "":
		err = errors.New("the schema of its parameters is a text")
	}
	if err != nil {
		return mcppalette.ToolSpec{Name: name, UnreadableReason: c.redactor.RedactText(err.Error())}
	}
	jsonschema.StoreSourceKeyOrder(toolFields["inputSchema"], keyOrder)
	spec := mcppalette.ToolSpec{
		Name: t.Name, InputSchema: jsonval.AsObject(c.redactor.RedactValue(toolFields["inputSchema"])),
		OutputSchema: c.redactor.RedactValue(toolFields["outputSchema"]),
	}
	hints := jsonval.AsObject(toolFields["annotations"])
	redactedText := func(v any) string { s, _ := v.(string); return c.redactor.RedactText(s) }
	spec.Description = redactedText(toolFields["description"])
	spec.Title = jsonval.Clip(cmp.Or(redactedText(toolFields["title"]), redactedText(hints["title"])),
		maxToolTitleChars)
	switch {
	case hints["readOnlyHint"] == true:
		spec.Undo = ideafile.UndoNotNeeded
	case hints["destructiveHint"] == true:
		spec.Undo = ideafile.UndoImpossible
	}
	return spec
}
