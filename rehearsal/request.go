package rehearsal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
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

func readRequest(w http.ResponseWriter, r *http.Request) (request, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return request{body: body}, fmt.Errorf("rehearsal: read request: %w", err)
	}
	var form struct {
		LLM      string `json:"model"`
		Messages []struct {
			Role    string   `json:"role"`
			Content contents `json:"content"`
		} `json:"messages"`
		Stream  bool `json:"stream"`
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(body, &form); err != nil {
		return request{body: body}, fmt.Errorf("rehearsal: read request: %w", err)
	}
	if len(form.Messages) == 0 {
		return request{body: body}, errors.New("rehearsal: read request: it has no messages")
	}
	asked := request{body: body, llm: form.LLM, stream: form.Stream, usage: form.Options.Usage}
	for _, m := range form.Messages {
		asked.messages = append(asked.messages, Message{Role: m.Role, Content: string(m.Content)})
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

// contents reads a message's content in any of its forms: a text, parts, or null.
type contents string

// UnmarshalJSON joins the texts of parts; parts without text, such as images, count as empty.
func (c *contents) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return json.Unmarshal(data, (*string)(c))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, part := range parts {
		*c += contents(part.Text)
	}
	return nil
}

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
