package llm

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"processidea/model/jsonval"
	"processidea/model/prompt"
)

// requestFormat is the part of the API that a request uses. The zero value uses all of it; downgradeFormat removes what
// a server refuses.
type requestFormat struct {
	response         responseFormat
	omitsUsage       bool // the server does not know stream_options
	usesOldMaxTokens bool // the server knows max_tokens and not max_completion_tokens
}

// responseFormat is how the server receives the schema of the reply.
type responseFormat int

const (
	jsonSchemaFormat responseFormat = iota // json_schema
	jsonObjectFormat                       // json_object, with the schema in the prompt
	plainTextFormat                        // only the schema in the prompt
)

// String names what is left out, for logs; empty if nothing is.
func (f requestFormat) String() string {
	parts := []string{}
	if f.response != jsonSchemaFormat {
		parts = append(parts, "no json_schema")
	}
	if f.response == plainTextFormat {
		parts = append(parts, "no json_object")
	}
	if f.omitsUsage {
		parts = append(parts, "no stream_options")
	}
	if f.usesOldMaxTokens {
		parts = append(parts, "no max_completion_tokens")
	}
	return strings.Join(parts, ", ")
}

// downgradeFormat removes what the server complained about, and reports whether there was anything to remove.
func (x *exchange) downgradeFormat() bool {
	e := x.serverError
	if e == nil {
		return false
	}
	// The words by which servers name an output format that they do not support, or that the LLM failed to follow.
	formatWords := []string{"response_format", "response format", "json_schema", "json schema", "json_object",
		"structured output", "grammar", "json_validate_failed"}
	switch e.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		formatWords = append(formatWords, "schema")
	case http.StatusInternalServerError, http.StatusNotImplemented: // llama.cpp, for what it never accepts
	default:
		return false
	}
	f := &x.format
	switch {
	case e.mentions("stream_options") && !f.omitsUsage:
		f.omitsUsage = true
	case e.mentions("max_completion_tokens") && !f.usesOldMaxTokens && x.params.MaxCompletionTokens.Valid():
		f.usesOldMaxTokens = true
	case f.response < plainTextFormat && e.mentions(formatWords...):
		f.response++
	default:
		return false
	}
	return true
}

// encodeBody returns the request's JSON. The prompt, which States can make megabytes long, is encoded once and appended
// to the small rest: the openai library would scan it several times.
func (x *exchange) encodeBody(isStreamed bool) ([]byte, error) {
	params, messages := x.formatRequest()
	b, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	if isStreamed {
		b = append(b, `,"stream":true`...)
	}
	b = append(b, `,"messages":`...)
	return append(jsonval.AppendJSON(b, messages), '}'), nil
}

// formatRequest returns the parameters and the messages in the current requestFormat.
func (x *exchange) formatRequest() (openai.ChatCompletionNewParams, []any) {
	p, messages := x.params, x.request.Messages
	schema := json.RawMessage(jsonval.Encode(x.request.ResponseFormat.Schema))
	switch x.format.response {
	case jsonSchemaFormat:
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "solution", Schema: schema, Strict: param.NewOpt(x.request.ResponseFormat.IsStrict),
			}}
	case jsonObjectFormat:
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	if x.format.response != jsonSchemaFormat {
		note := prompt.Message{Role: "system", Content: "Answer with one JSON object of this JSON Schema:\n" +
			string(schema)}
		messages = append([]prompt.Message{note}, messages...)
	}
	if x.format.omitsUsage {
		p.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	}
	if x.format.usesOldMaxTokens {
		p.MaxTokens, p.MaxCompletionTokens = p.MaxCompletionTokens, param.Opt[int64]{}
	}
	list := make([]any, len(messages))
	for i, m := range messages {
		list[i] = jsonval.OrderedObject{{Key: "role", Value: m.Role}, {Key: "content", Value: m.Content}}
	}
	return p, list
}
