package rehearsal

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// TurnHeader is the HTTP header with the number of a Request, from 1. With it the server need not remember its earlier
// answers.
const TurnHeader = "X-Process-Idea-Turn"

// maxBody bounds a Request's body, in bytes.
const maxBody = 256 << 20

// Message is one entry of a Request's prompt, its text parts joined.
type Message struct {
	Role    string
	Content string
}

// request is a parsed Chat Completions request. Its body and the texts of its messages are in a buffer, which another
// request reuses after release.
type request struct {
	buffer      *buffer
	llm         string
	messages    []message
	wantsStream bool
	wantsUsage  bool
}

// message is a Message whose text has not been copied yet.
type message struct {
	role  string
	texts [][]byte
}

// buffer is the buffer of a request.
type buffer struct {
	body   bytes.Buffer
	parser fastjson.Parser
}

var bufferPool = sync.Pool{New: func() any { return new(buffer) }}

// readRequest parses a large prompt ten times as fast as encoding/json and copies nothing, so that the scripted LLM
// adds little to measurements.
func readRequest(w http.ResponseWriter, r *http.Request) (request, error) {
	req := request{buffer: bufferPool.Get().(*buffer)}
	body := &req.buffer.body
	body.Reset()
	body.Grow(int(min(max(r.ContentLength, 0), maxBody)) + bytes.MinRead)
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		return req, fmt.Errorf("rehearsal: read request: %w", err)
	}
	form, err := req.buffer.parser.ParseBytes(body.Bytes())
	if err != nil {
		return req, fmt.Errorf("rehearsal: read request: %w", err)
	}
	messages := form.GetArray("messages")
	if len(messages) == 0 {
		return req, errors.New("rehearsal: read request: it has no messages")
	}
	req.llm, req.wantsStream = stringOrEmpty(form.Get("model")), form.GetBool("stream")
	req.wantsUsage = form.GetBool("stream_options", "include_usage")
	for _, m := range messages {
		texts, err := textsOf(m.Get("content"))
		if err != nil {
			return req, fmt.Errorf("rehearsal: read request: %w", err)
		}
		req.messages = append(req.messages, message{role: stringOrEmpty(m.Get("role")), texts: texts})
	}
	return req, nil
}

// release frees the request's buffer for another request.
func (r request) release() { bufferPool.Put(r.buffer) }

// copyContents returns copies of the body and the messages, which stay valid after release.
func (r request) copyContents() (body []byte, messages []Message) {
	for _, m := range r.messages {
		messages = append(messages, Message{m.role, string(bytes.Join(m.texts, nil))})
	}
	return bytes.Clone(r.buffer.body.Bytes()), messages
}

// prompt is the text in which When is searched: all messages.
func (r request) prompt() string {
	all := make([][]byte, len(r.messages))
	for i, m := range r.messages {
		all[i] = bytes.Join(m.texts, nil)
	}
	return string(bytes.Join(all, []byte("\n")))
}

// promptChars is the length of the prompt, without the separators between messages.
func (r request) promptChars() (n int) {
	for _, m := range r.messages {
		for _, t := range m.texts {
			n += utf8.RuneCount(t)
		}
	}
	return n
}

// textsOf reads a message's content in any of its forms: a text, parts, or null. Parts without text, such as images,
// count as empty.
func textsOf(v *fastjson.Value) ([][]byte, error) {
	if v == nil || v.Type() == fastjson.TypeNull {
		return nil, nil
	}
	if text, err := v.StringBytes(); err == nil {
		return [][]byte{text}, nil
	}
	parts, err := v.Array()
	if err != nil {
		return nil, fmt.Errorf("content: want a text, an array of parts or null, got %s", v.Type())
	}
	var texts [][]byte
	for n, part := range parts {
		if part.Type() != fastjson.TypeObject {
			return nil, fmt.Errorf("content: part %d: want an object, got %s", n+1, part.Type())
		}
		texts = append(texts, part.GetStringBytes("text"))
	}
	return texts, nil
}

// stringOrEmpty returns a string value; "" for any other type.
func stringOrEmpty(v *fastjson.Value) string { return string(v.GetStringBytes()) }

// headerNumber reads the number of a Request from its header. It is 0 if the header is missing.
func headerNumber(header http.Header) (int, error) {
	text := header.Get(TurnHeader)
	if text == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		return 0, fmt.Errorf("rehearsal: read number: header %s: %q is not a number from 1 on", TurnHeader, text)
	}
	return number, nil
}
