package mcptool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"processidea/internal/safego"
)

// codeUnreadable is the code of the error that stands in place of an answer that cannot be read. No server sends it.
const codeUnreadable = -32799

// Messages of servers have their id first or last.
var reID = regexp.MustCompile(
	`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,|[}\]"]\s*,\s*"id"\s*:\s*(\d+)\s*\}\s*$`)

// isMessage reports whether a line is a message, readable or not. Programs also log objects and lists.
func isMessage(line []byte) bool {
	return len(line) > 0 && (line[0] == '{' || line[0] == '[') &&
		(bytes.Contains(line, []byte(`"jsonrpc"`)) || reID.Match(line))
}

// readable returns a message as it came, or, where it cannot be read, an error in its place: the SDK would end the
// connection, and with it the calls of everybody else. id is the id of the request that it answers; nil: it is looked
// for. Where there is none the message is returned as it came.
func (c *conn) readable(message, id []byte) []byte {
	message = bytes.TrimPrefix(message, byteOrderMark)
	m, err := jsonrpc.DecodeMessage(message)
	if request, _ := m.(*jsonrpc.Request); request != nil && request.Method == "" {
		message = withoutMethod(message)
		m, err = jsonrpc.DecodeMessage(message)
	}
	if err == nil && utf8.Valid(message) {
		return withNumericID(m, message)
	}
	if err == nil {
		err = errors.New("its text is not UTF-8")
	}
	if found := reID.FindSubmatch(message); id == nil && found != nil {
		id = bytes.Join(found[1:], nil)
	}
	if id == nil {
		return message
	}
	text := fmt.Sprintf("the server's answer cannot be read: %v: %s", err,
		c.excerpt(strings.ToValidUTF8(string(message), "\ufffd")))
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id),
		"error": map[string]any{"code": codeUnreadable, "message": text}})
	if err != nil {
		return message
	}
	return answer
}

var byteOrderMark = []byte("\uFEFF")

// withoutMethod is an answer without the null that some servers write for the method that it does not have.
func withoutMethod(message []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(message, &all) != nil {
		return message
	}
	delete(all, "method")
	delete(all, "params")
	again, err := json.Marshal(all)
	if err != nil {
		return message
	}
	return again
}

// withNumericID is a message, or, where it answers with an id in quotes, the same with the number that was sent: the
// SDK would wait for that one's answer.
func withNumericID(m jsonrpc.Message, text []byte) []byte {
	answer, _ := m.(*jsonrpc.Response)
	if answer == nil {
		return text
	}
	quoted, _ := answer.ID.Raw().(string)
	sent, err := strconv.ParseFloat(quoted, 64)
	if err != nil {
		return text
	}
	if answer.ID, err = jsonrpc.MakeID(sent); err != nil {
		return text
	}
	again, err := jsonrpc.EncodeMessage(answer)
	if err != nil {
		return text
	}
	return again
}

// pieces reads what next returns, piece by piece.
type pieces struct {
	io.Closer
	next func() ([]byte, error)
	rest []byte
	err  error
}

// Read is called on a goroutine of the SDK.
func (p *pieces) Read(into []byte) (n int, err error) {
	for len(p.rest) == 0 && p.err == nil {
		if panicked := safego.Run("mcp.read", func() error { p.rest, p.err = p.next(); return nil }); panicked != nil {
			p.err = panicked
		}
	}
	if n = copy(into, p.rest); n > 0 {
		p.rest = p.rest[n:]
		return n, nil
	}
	return 0, p.err
}

// replaceUnreadable has the answer to a request read message by message.
func (c *conn) replaceUnreadable(answer *http.Response, id []byte) {
	in := bufio.NewReader(answer.Body)
	p := &pieces{Closer: answer.Body}
	switch kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind {
	case "application/json":
		p.next = func() ([]byte, error) {
			whole, err := io.ReadAll(in)
			if err != nil {
				return nil, err
			}
			return c.readable(whole, id), io.EOF
		}
	case "text/event-stream":
		p.next = func() ([]byte, error) { return c.nextEvent(in) }
	default:
		return
	}
	answer.Body = p
}

// nextEvent reads an event of a stream, up to the empty line behind it.
func (c *conn) nextEvent(in *bufio.Reader) ([]byte, error) {
	var event, others, data []byte
	for {
		line, err := in.ReadBytes('\n')
		event = append(event, line...)
		text := bytes.TrimRight(line, "\r\n")
		if isData, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			data = append(append(data, isData...), '\n')
		} else if len(text) > 0 {
			others = append(others, line...)
		}
		if len(text) > 0 && err == nil {
			continue
		}
		if message := bytes.TrimSpace(data); len(message) > 0 {
			if mended := c.readable(message, nil); !bytes.Equal(mended, message) {
				return fmt.Appendf(others, "data: %s\n\n", mended), err
			}
		}
		return event, err
	}
}
