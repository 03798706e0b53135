package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/turn"
)

// way is how a reply is asked for. What a server refuses is asked for in another way, or not at all.
type way struct {
	format  format
	noUsage bool // a server that knows no stream_options
	oldMax  bool // one that knows max_tokens, and not max_completion_tokens
}

// String names what is not asked for, as logs do; empty where all is.
func (w way) String() string {
	parts := []string{}
	if w.format != formatSchema {
		parts = append(parts, "no json_schema")
	}
	if w.format == formatText {
		parts = append(parts, "no json_object")
	}
	if w.noUsage {
		parts = append(parts, "no stream_options")
	}
	if w.oldMax {
		parts = append(parts, "no max_completion_tokens")
	}
	return strings.Join(parts, ", ")
}

// format is how the form of the reply is said.
type format int

const (
	formatSchema format = iota // json_schema
	formatObject               // json_object, with the schema in the prompt
	formatText                 // the schema in the prompt alone
)

// errNothing says that a server took a request and answered nothing.
var errNothing = errors.New("an answer without a word")

// open begins the stream and waits for its first event.
func (c *chat) open(ctx context.Context) (*chunkStream, error) {
	for {
		c.answer, c.fault = nil, nil
		if err := c.pace.wait(ctx, c.turn, c.size()); err != nil {
			return nil, err
		}
		body, err := c.body()
		if err != nil {
			return nil, err
		}
		s, err := c.send(ctx, body)
		if err == nil {
			return s, nil
		}
		c.fault = faultOf(err, c.answer)
		c.leaveAlone()
		if !c.concede() {
			return nil, err
		}
	}
}

// send asks once.
func (c *chat) send(ctx context.Context, body []byte) (*chunkStream, error) {
	var answer *http.Response
	options := append(c.options[:len(c.options):len(c.options)], option.WithRequestBody("application/json", body))
	if err := c.client.Post(ctx, "chat/completions", nil, &answer, options...); err != nil {
		return nil, err
	}
	s := &chunkStream{events: newEvents(answer, c.alive)}
	if s.Next() {
		return s, nil
	}
	_ = s.Close()
	return nil, cmp.Or(s.Err(), errNothing)
}

// body is the request's JSON. The client would go over the prompt several times, and States make it a megabyte: here the
// prompt is written once, behind the rest, which is small, as the client writes it.
func (c *chat) body() ([]byte, error) {
	params, messages := c.ask()
	b, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	b = append(b[:len(b)-1], `,"stream":true,"messages":`...)
	return append(jsonval.AppendJSON(b, messages), '}'), nil
}

// ask is the request without its messages, and the messages, in the way that the server takes.
func (c *chat) ask() (openai.ChatCompletionNewParams, []any) {
	p := c.params
	schema := json.RawMessage(jsonval.Encode(c.form.Schema))
	messages := c.messages
	switch c.way.format {
	case formatSchema:
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "solution", Schema: schema, Strict: param.NewOpt(c.form.Strict),
		}}
	case formatObject:
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	if c.way.format != formatSchema {
		note := prompt.Message{Role: "system", Content: "Answer with one JSON object of this JSON Schema:\n" + string(schema)}
		messages = append([]prompt.Message{note}, messages...)
	}
	if c.way.noUsage {
		p.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	}
	if c.way.oldMax {
		p.MaxTokens, p.MaxCompletionTokens = p.MaxCompletionTokens, param.Opt[int64]{}
	}
	list := make([]any, len(messages))
	for i, m := range messages {
		list[i] = jsonval.Ordered{{Key: "role", Value: m.Role}, {Key: "content", Value: m.Content}}
	}
	return p, list
}

// concede finds another way to ask a server that refused this one; false where there is none.
func (c *chat) concede() bool {
	f := c.fault
	if f == nil || f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity {
		return false
	}
	switch {
	case f.names("stream_options") && !c.way.noUsage:
		c.way.noUsage = true
	case f.names("max_completion_tokens") && !c.way.oldMax && c.params.MaxCompletionTokens.Valid():
		c.way.oldMax = true
	case c.way.format < formatText && f.names("response_format", "response format", "json_schema", "json schema",
		"json_object", "structured output", "grammar"):
		c.way.format++
	default:
		return false
	}
	return true
}

// names says whether a server's complaint is of one of these.
func (f *fault) names(words ...string) bool {
	text := strings.ToLower(f.raw)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// leaveAlone keeps the worker's other Requests back too, where the server says for how long.
func (c *chat) leaveAlone() {
	if c.fault == nil || !c.fault.transient() {
		return
	}
	if s := c.fault.status; s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable {
		c.pace.pause(retryAfter(c.answer, time.Now()))
	}
}

// bytesPerToken is a rule of thumb, for what no server has counted yet.
const bytesPerToken = 4

// size is about how many tokens the question has.
func (c *chat) size() int {
	n := len(jsonval.Encode(c.form.Schema))
	for _, m := range c.messages {
		n += len(m.Content)
	}
	return n / bytesPerToken
}

// settle counts what the Request has really taken, by the server's count or else by the length of the reply.
func (c *chat) settle(u turn.Usage, said int) {
	if u == (turn.Usage{}) {
		u.CompletionTokens = said / bytesPerToken
	} else {
		u.PromptTokens -= c.size()
	}
	c.pace.settle(u.PromptTokens + u.CompletionTokens)
}
