package rehearsal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TurnNumberHeader is the HTTP header with the number of a Request, from 1. With it the server need not remember its
// earlier answers.
const TurnNumberHeader = "X-Process-Idea-Turn"

// maxRequestBodyBytes bounds a Request's body, in bytes.
const maxRequestBodyBytes = 256 << 20

// request is a Chat Completions request.
type request struct {
	LLM           string    `json:"model"`
	Messages      []Message `json:"messages"`
	WantsStream   bool      `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	body []byte
}

// Message is one entry of a Request's prompt, its text parts joined.
type Message struct {
	Role    string
	Content string
}

func readRequest(w http.ResponseWriter, r *http.Request) (req request, err error) {
	if req.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBodyBytes)); err == nil {
		err = json.Unmarshal(req.body, &req)
	}
	if err == nil && len(req.Messages) == 0 {
		err = errors.New("it has no messages")
	}
	if err != nil {
		err = fmt.Errorf("rehearsal: read request: %w", err)
	}
	return req, err
}

// UnmarshalJSON reads a message's content in any of its forms: a text, parts, or null. Parts without text, such as
// images, count as empty.
func (m *Message) UnmarshalJSON(data []byte) error {
	var form struct {
		Role    string
		Content json.RawMessage
	}
	err := json.Unmarshal(data, &form)
	m.Role = form.Role
	var parts []struct{ Text string }
	switch {
	case err != nil || form.Content == nil:
	case bytes.HasPrefix(form.Content, []byte("[")):
		err = json.Unmarshal(form.Content, &parts)
	default:
		err = json.Unmarshal(form.Content, &m.Content)
	}
	for _, part := range parts {
		m.Content += part.Text
	}
	return err
}

// prompt is the text in which When is searched: all messages.
func (r request) prompt() string {
	var messageTexts []string
	for _, m := range r.Messages {
		messageTexts = append(messageTexts, m.Content)
	}
	return strings.Join(messageTexts, "\n")
}

// promptChars is the length of the prompt, without the separators between messages.
func (r request) promptChars() (n int) {
	for _, m := range r.Messages {
		n += utf8.RuneCountInString(m.Content)
	}
	return n
}

// requestNumberFromHeader reads the number of a Request from its header. It is 0 if the header is missing.
func requestNumberFromHeader(header http.Header) (int, error) {
	text := header.Get(TurnNumberHeader)
	if text == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		return 0, fmt.Errorf("rehearsal: read number: header %s: %q is not a number from 1 on", TurnNumberHeader, text)
	}
	return number, nil
}
