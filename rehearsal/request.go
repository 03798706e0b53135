package rehearsal

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// TurnHeader is the HTTP header by which a caller tells the number of its Request, from
// 1 on, so that the server needs no memory of what it answered before.
const TurnHeader = "X-Process-Idea-Turn"

// maxBody bounds what one Request may send, in bytes.
const maxBody = 256 << 20

// Message is one entry of a Request's prompt, its text parts joined.
type Message struct {
	Role    string
	Content string
}

// request is what the scripted LLM reads of a Chat Completions request.
type request struct {
	body     []byte
	llm      string
	messages []Message
	stream   bool
	usage    bool
}

// parsers are used again and again: each keeps a copy of what it read.
var parsers fastjson.ParserPool

// readRequest takes a prompt of a megabyte apart in a seventh of the time of encoding/json: who measures against the
// scripted LLM measures little of it.
func readRequest(w http.ResponseWriter, r *http.Request) (request, error) {
	var read bytes.Buffer
	read.Grow(int(min(max(r.ContentLength, 0), maxBody)) + bytes.MinRead)
	_, err := read.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	body := read.Bytes()
	if err != nil {
		return request{body: body}, fmt.Errorf("rehearsal: read request: %w", err)
	}
	parser := parsers.Get()
	defer parsers.Put(parser)
	form, err := parser.ParseBytes(body)
	if err != nil {
		return request{body: body}, fmt.Errorf("rehearsal: read request: %w", err)
	}
	messages := form.GetArray("messages")
	if len(messages) == 0 {
		return request{body: body}, errors.New("rehearsal: read request: it has no messages")
	}
	asked := request{body: body, llm: textOf(form.Get("model")), stream: form.GetBool("stream"),
		usage: form.GetBool("stream_options", "include_usage")}
	for _, m := range messages {
		content, err := contentOf(m.Get("content"))
		if err != nil {
			return request{body: body}, fmt.Errorf("rehearsal: read request: %w", err)
		}
		asked.messages = append(asked.messages, Message{Role: textOf(m.Get("role")), Content: content})
	}
	return asked, nil
}

// prompt is what `when` looks into: all that the messages say.
func (r request) prompt() string {
	all := make([]string, len(r.messages))
	for i, m := range r.messages {
		all[i] = m.Content
	}
	return strings.Join(all, "\n")
}

// chars is the length of the prompt, without what joins the messages.
func (r request) chars() int {
	n := 0
	for _, m := range r.messages {
		n += utf8.RuneCountInString(m.Content)
	}
	return n
}

// contentOf reads a message's content in any of its forms: a text, parts, or null. The texts of parts are joined; parts
// without text, such as images, count as empty.
func contentOf(v *fastjson.Value) (string, error) {
	if v == nil || v.Type() == fastjson.TypeNull {
		return "", nil
	}
	if text, err := v.StringBytes(); err == nil {
		return string(text), nil
	}
	parts, err := v.Array()
	if err != nil {
		return "", fmt.Errorf("content: want a text, an array of parts or null, got %s", v.Type())
	}
	var joined strings.Builder
	for n, part := range parts {
		if part.Type() != fastjson.TypeObject {
			return "", fmt.Errorf("content: part %d: want an object, got %s", n+1, part.Type())
		}
		joined.WriteString(textOf(part.Get("text")))
	}
	return joined.String(), nil
}

// textOf is empty for what is no text.
func textOf(v *fastjson.Value) string { return string(v.GetStringBytes()) }

// toldTurn reads the number of a Request from its header; 0 means that none is told.
func toldTurn(header http.Header) (int, error) {
	told := header.Get(TurnHeader)
	if told == "" {
		return 0, nil
	}
	turn, err := strconv.Atoi(told)
	if err != nil || turn < 1 {
		return 0, fmt.Errorf("rehearsal: read turn: header %s: %q is not a number from 1 on", TurnHeader, told)
	}
	return turn, nil
}
