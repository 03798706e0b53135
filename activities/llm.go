package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"
	"go.temporal.io/sdk/temporal"

	"processidea/activities/secret"
	"processidea/model"
	"processidea/rehearsal"
)

// LLM is the worker's way to an OpenAI-compatible server.
type LLM struct {
	BaseURL string // empty: OpenAI's own
	Key     string // empty: sent without one, as local servers take it
	Name    string // the LLM to ask where an Idea names none
}

// Configured says whether there is a server to ask.
func (l LLM) Configured() bool { return l.BaseURL != "" || l.Key != "" }

// DefaultLLM is asked where neither the Idea nor the worker names one.
const DefaultLLM = "gpt-5-mini"

// openAI is where requests go unless said otherwise. It is said here, since the client takes an empty OPENAI_BASE_URL for
// an address.
const openAI = "https://api.openai.com/v1/"

// chat is one exchange with an LLM.
type chat struct {
	client   openai.Client
	params   openai.ChatCompletionNewParams
	form     model.Form
	messages []model.PromptMessage
	options  []option.RequestOption
	answer   *http.Response // the last one, whatever became of its body
	secrets  *secret.Striker
}

func (l LLM) chat(config model.LLM, form model.Form, messages []model.PromptMessage) *chat {
	// Retries are Temporal's: the client's own would hide them, and repeat a stream.
	options := []option.RequestOption{option.WithMaxRetries(0), option.WithBaseURL(openAI)}
	if l.BaseURL != "" {
		options = append(options, option.WithBaseURL(l.BaseURL))
	}
	if l.Key != "" {
		options = append(options, option.WithAPIKey(l.Key))
	} else {
		options = append(options, option.WithHeaderDel("Authorization"))
	}
	c := &chat{form: form, messages: messages, secrets: secret.NewStriker(map[string]string{"OPENAI_API_KEY": l.Key})}
	c.client = openai.NewClient(append(options, option.WithMiddleware(c.note))...)
	c.params = openai.ChatCompletionNewParams{
		Model:         config.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if c.params.Model == "" {
		c.params.Model = l.Name
	}
	if c.params.Model == "" {
		c.params.Model = DefaultLLM
	}
	if config.Temperature != nil {
		c.params.Temperature = param.NewOpt(*config.Temperature)
	}
	if config.MaxTokens > 0 {
		c.params.MaxCompletionTokens = param.NewOpt(int64(config.MaxTokens))
	}
	return c
}

// note keeps the response: of an error whose body is a bare string, the client forgets the status.
func (c *chat) note(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	answer, err := next(r)
	c.answer = answer
	return answer, err
}

// scripted plays a replies file over HTTP on loopback to the real client.
func scripted(replies string, turn int) (l LLM, o option.RequestOption, stop func(), err error) {
	parsed, err := rehearsal.Parse([]byte(replies))
	if err != nil {
		return l, nil, nil, err
	}
	server, err := rehearsal.Start(parsed, rehearsal.WithoutLog())
	if err != nil {
		return l, nil, nil, err
	}
	return LLM{BaseURL: server.URL(), Name: "rehearsal"}, option.WithHeader(rehearsal.TurnHeader, strconv.Itoa(turn)), server.Close, nil
}

// open begins the stream and waits for its first chunk. A server that refuses the schema is asked again without one.
func (c *chat) open(ctx context.Context) (*ssestream.Stream[openai.ChatCompletionChunk], bool, error) {
	c.params.Messages = prompt(c.messages)
	c.params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
		OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "solution", Schema: json.RawMessage(model.Encode(c.form.Schema)), Strict: param.NewOpt(c.form.Strict),
		}},
	}
	s := c.client.Chat.Completions.NewStreaming(ctx, c.params, c.options...)
	more := s.Next()
	if !refusesSchema(s.Err()) {
		return s, more, s.Err()
	}
	_ = s.Close()
	note := model.PromptMessage{Role: "system", Content: "Answer with one JSON object of this JSON Schema:\n" + string(model.Encode(c.form.Schema))}
	c.params.Messages = prompt(append([]model.PromptMessage{note}, c.messages...))
	c.params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONObject: &shared.ResponseFormatJSONObjectParam{}}
	s = c.client.Chat.Completions.NewStreaming(ctx, c.params, c.options...)
	more = s.Next()
	return s, more, s.Err()
}

func prompt(messages []model.PromptMessage) []openai.ChatCompletionMessageParamUnion {
	var out []openai.ChatCompletionMessageParamUnion
	for _, m := range messages {
		if m.Role == "system" {
			out = append(out, openai.SystemMessage(m.Content))
		} else {
			out = append(out, openai.UserMessage(m.Content))
		}
	}
	return out
}

// refusesSchema says whether a server answered that it does not take the response format.
func refusesSchema(err error) bool {
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != http.StatusBadRequest {
		return false
	}
	text := strings.ToLower(e.Message + " " + e.Param + " " + e.Code + " " + e.RawJSON())
	for _, word := range []string{"response_format", "json_schema", "response format", "json schema", "structured output"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// refusal sorts what went wrong before the first byte: what Temporal may try again, and what is final.
func (c *chat) refusal(err error) error {
	var e *openai.Error
	errors.As(err, &e)
	if e == nil && c.answer != nil && c.answer.StatusCode >= 400 {
		e = &openai.Error{StatusCode: c.answer.StatusCode, Message: err.Error()}
	}
	if e == nil {
		return temporal.NewApplicationErrorWithOptions("the LLM cannot be reached: "+c.said(err.Error()), model.CodeLLMUnreachable,
			temporal.ApplicationErrorOptions{})
	}
	text := fmt.Sprintf("the LLM's server answered %d: %s", e.StatusCode, c.said(firstOf(e.Message, e.Code, http.StatusText(e.StatusCode))))
	if !transient(e) {
		return temporal.NewApplicationErrorWithOptions(text, model.CodeLLMRefused, temporal.ApplicationErrorOptions{NonRetryable: true})
	}
	return temporal.NewApplicationErrorWithOptions(text, model.CodeLLMUnreachable,
		temporal.ApplicationErrorOptions{NextRetryDelay: retryAfter(c.answer, time.Now())})
}

// said is what a server said, without the key: some repeat it when they refuse it.
func (c *chat) said(text string) string { return clip(c.secrets.Text(text)) }

func transient(e *openai.Error) bool {
	switch e.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict:
		return true
	case http.StatusTooManyRequests:
		return e.Code != "insufficient_quota" && e.Type != "insufficient_quota"
	}
	return e.StatusCode >= 500
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// retryAfter reads how long the server wants to be left alone: seconds, or a date. It may be minutes, an hour at most.
func retryAfter(r *http.Response, now time.Time) time.Duration {
	if r == nil {
		return 0
	}
	text := r.Header.Get("Retry-After")
	d := time.Duration(0)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		d = time.Duration(seconds * float64(time.Second))
	} else if at, err := http.ParseTime(text); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), time.Hour)
}
