package llm

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"processidea/internal/safego"
	"processidea/model/turn"
)

// chunkStream reads a response chunk by chunk. The openai library's Stream takes many times as long to decode a chunk,
// and would limit the reading of a fast LLM that sends single tokens.
type chunkStream struct {
	*eventReader
	chunk    chunk // the chunk that Next has read
	hasEnded bool
}

// Next waits for a chunk. It returns false at the end of the stream; if the stream broke off, Err says why.
func (s *chunkStream) Next() bool {
	s.hasEnded = s.hasEnded || !s.eventReader.Next() || s.eventValue == nil
	if s.hasEnded {
		return false
	}
	s.chunk = newChunk(s.eventValue, len(s.data))
	for _, c := range s.chunk.choices {
		if isServerAbort(c.finishReason) {
			s.err = inStreamError{fmt.Sprintf(`{"error": "the server gave up on the reply (finish_reason: %s)"}`, c.finishReason)}
			return false
		}
	}
	return true
}

// noReplyError returns why the stream ended before its first chunk.
func (s *chunkStream) noReplyError() error {
	if err := s.Err(); err != nil {
		return err
	}
	return missingReplyError{toOneLine(s.strayLines)}
}

// maxDrainWait is how long Close waits for the end of a response: less than a new connection to a distant LLM takes.
const maxDrainWait = 50 * time.Millisecond

// Close ends the stream. A connection can serve the next Request only if its response was read to the very end. The end
// comes a moment after the last chunk, or never if a server forgets to end the response.
func (s *chunkStream) Close() error {
	if s.hasEnded && s.Err() == nil {
		drained := make(chan struct{})
		safego.Go("llm.drain", func() error {
			_, err := io.Copy(io.Discard, s.response.Body)
			return err
		}, func(error) { close(drained) })
		select {
		case <-drained:
		case <-time.After(maxDrainWait):
		}
	}
	return s.eventReader.Close()
}

// chunk holds the parts of a chat.completion.chunk that are used.
type chunk struct {
	choices   []choice
	usage     turn.TokenUsage
	model     string // the server's name of the model
	byteCount int    // length of the chunk as sent
}

type choice struct {
	index                          int
	content, refusal, finishReason string
	hasThoughts                    bool // there are thoughts beside the content
	isWholeMessage                 bool // a complete message, not an addition to one
	functionCalls                  []functionCall
}

// functionCall is a piece of a function call, which some LLMs use for their reply.
type functionCall struct {
	index           int
	name, arguments string
}

// newChunk ignores values of the wrong type, as the openai library does.
func newChunk(v *fastjson.Value, byteCount int) chunk {
	c := chunk{byteCount: byteCount, model: stringAt(v, "model"), usage: parseUsage(v.Get("usage"))}
	if u := parseUsage(v.Get("x_groq", "usage")); c.usage == (turn.TokenUsage{}) { // Groq
		c.usage = u
	}
	for _, o := range v.GetArray("choices") {
		delta, message := o.Get("delta"), o.Get("message")
		isWholeMessage := !isPresent(delta) && isPresent(message)
		if isWholeMessage {
			delta = message
		}
		c.choices = append(c.choices, choice{
			index: o.GetInt("index"), finishReason: stringAt(o, "finish_reason"), isWholeMessage: isWholeMessage,
			content:     contentText(delta.Get("content")) + contentText(o.Get("text")),
			refusal:     stringAt(delta, "refusal"),
			hasThoughts: hasThoughts(delta), functionCalls: parseFunctionCalls(delta),
		})
		if lastChoice := &c.choices[len(c.choices)-1]; lastChoice.finishReason == "null" { // DashScope, until the end
			lastChoice.finishReason = ""
		}
		if u := parseUsage(o.Get("usage")); c.usage == (turn.TokenUsage{}) { // Moonshot
			c.usage = u
		}
	}
	return c
}

// isPresent reports whether a value is neither absent nor null.
func isPresent(v *fastjson.Value) bool { return v != nil && v.Type() != fastjson.TypeNull }

// hasThoughts reports whether a message has thoughts beside its text. Servers have several places for them.
func hasThoughts(delta *fastjson.Value) bool {
	for _, part := range delta.GetArray("content") {
		if part.Exists("thinking") { // Mistral
			return true
		}
	}
	return stringAt(delta, "reasoning_content")+stringAt(delta, "reasoning")+stringAt(delta, "thinking") != "" ||
		len(delta.GetArray("reasoning_details")) > 0 // OpenRouter
}

// parseUsage counts tokens. Some servers report the cached tokens of the prompt under a key of their own.
func parseUsage(v *fastjson.Value) turn.TokenUsage {
	u := turn.TokenUsage{
		PromptTokens:     cmp.Or(countAt(v, "prompt_tokens"), countAt(v, "input_tokens")),
		CompletionTokens: cmp.Or(countAt(v, "completion_tokens"), countAt(v, "output_tokens")),
		ReasoningTokens:  countAt(v, "completion_tokens_details", "reasoning_tokens"),
	}
	u.CachedTokens = min(u.PromptTokens,
		max(countAt(v, "prompt_tokens_details", "cached_tokens"), countAt(v, "prompt_cache_hit_tokens")))
	return u
}

// countAt returns a count, which some servers write as 12.0 or "12"; 0 if there is none.
func countAt(v *fastjson.Value, path ...string) int {
	value := v.Get(path...)
	if value == nil {
		return 0
	}
	const maxCount = 1e12
	n, err := strconv.ParseFloat(strings.Trim(value.String(), `"`), 64)
	if err != nil || !(n > 0 && n < maxCount) {
		return 0
	}
	return int(n)
}

// contentText returns a message's text, byte for byte. The content is a string, or a list whose text parts count. Some
// servers send the solution as parsed JSON.
func contentText(v *fastjson.Value) string {
	if v.Exists("calls") {
		return v.String()
	}
	if v == nil || v.Type() != fastjson.TypeArray {
		return string(v.GetStringBytes())
	}
	var text strings.Builder
	for _, part := range v.GetArray() {
		if part.Type() == fastjson.TypeString {
			text.Write(part.GetStringBytes())
		} else {
			text.Write(part.GetStringBytes("text")) // parts of other types, such as thoughts, have none
		}
	}
	return text.String()
}

// parseFunctionCalls reads tool_calls, or its older form function_call.
func parseFunctionCalls(delta *fastjson.Value) (list []functionCall) {
	addCall := func(index int, v *fastjson.Value) {
		f := functionCall{index: index, name: stringAt(v, "name"), arguments: stringAt(v, "arguments")}
		if a := v.Get("arguments"); a != nil && a.Type() == fastjson.TypeObject { // Ollama
			f.arguments = a.String()
		}
		list = append(list, f)
	}
	for n, call := range delta.GetArray("tool_calls") {
		if f := call.Get("function"); f != nil {
			index := n
			if call.Exists("index") {
				index = call.GetInt("index")
			}
			addCall(index, f)
		}
	}
	if f := delta.Get("function_call"); f != nil && f.Type() == fastjson.TypeObject {
		addCall(0, f)
	}
	return list
}

// stringAt returns a string in a chunk; "" if there is none. Invalid UTF-8 becomes U+FFFD, as in encoding/json.
func stringAt(v *fastjson.Value, path ...string) string {
	return strings.ToValidUTF8(string(v.GetStringBytes(path...)), "\uFFFD")
}
