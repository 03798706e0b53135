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
	chunk chunk // the chunk that Next has read
	ended bool
}

// Next waits for a chunk. It returns false at the end of the stream; if the stream broke off, Err says why.
func (s *chunkStream) Next() bool {
	s.ended = s.ended || !s.eventReader.Next() || s.event == nil
	if s.ended {
		return false
	}
	s.chunk = newChunk(s.event, len(s.data))
	for _, c := range s.chunk.choices {
		if isServerAbort(c.finish) {
			s.err = errInStream{fmt.Sprintf(`{"error": "the server gave up on the reply (finish_reason: %s)"}`, c.finish)}
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
	return errNoReply{oneLine(s.strayLines)}
}

// maxEndWait is how long Close waits for the end of a response: less than a new connection to a distant LLM takes.
const maxEndWait = 50 * time.Millisecond

// Close ends the stream. A connection can serve the next Request only if its response was read to the very end. The end
// comes a moment after the last chunk, or never if a server forgets to end the response.
func (s *chunkStream) Close() error {
	if s.ended && s.Err() == nil {
		drained := make(chan struct{})
		safego.Go("llm.drain", func() error {
			_, err := io.Copy(io.Discard, s.response.Body)
			return err
		}, func(error) { close(drained) })
		select {
		case <-drained:
		case <-time.After(maxEndWait):
		}
	}
	return s.eventReader.Close()
}

// chunk holds the parts of a chat.completion.chunk that are used.
type chunk struct {
	choices []choice
	usage   turn.TokenUsage
	model   string // the server's name of the model
	bytes   int    // length of the chunk as sent
}

type choice struct {
	index                    int
	content, refusal, finish string
	reasons                  bool // there are thoughts beside the content
	whole                    bool // a complete message, not an addition to one
	functions                []function
}

// function is a piece of a function call, which some LLMs use for their reply.
type function struct {
	index           int
	name, arguments string
}

// newChunk ignores values of the wrong type, as the openai library does.
func newChunk(v *fastjson.Value, bytes int) chunk {
	c := chunk{bytes: bytes, model: stringAt(v, "model"), usage: usageOf(v.Get("usage"))}
	if u := usageOf(v.Get("x_groq", "usage")); c.usage == (turn.TokenUsage{}) { // Groq
		c.usage = u
	}
	for _, o := range v.GetArray("choices") {
		delta, message := o.Get("delta"), o.Get("message")
		whole := !isThere(delta) && isThere(message)
		if whole {
			delta = message
		}
		c.choices = append(c.choices, choice{
			index: o.GetInt("index"), finish: stringAt(o, "finish_reason"), whole: whole,
			content: contentOf(delta.Get("content")) + contentOf(o.Get("text")), refusal: stringAt(delta, "refusal"),
			reasons: isThought(delta), functions: functionsOf(delta),
		})
		if last := &c.choices[len(c.choices)-1]; last.finish == "null" { // DashScope, until the end
			last.finish = ""
		}
		if u := usageOf(o.Get("usage")); c.usage == (turn.TokenUsage{}) { // Moonshot
			c.usage = u
		}
	}
	return c
}

// isThere reports whether a value is neither absent nor null.
func isThere(v *fastjson.Value) bool { return v != nil && v.Type() != fastjson.TypeNull }

// isThought reports whether a message has thoughts beside its text. Servers have several places for them.
func isThought(delta *fastjson.Value) bool {
	for _, part := range delta.GetArray("content") {
		if part.Exists("thinking") { // Mistral
			return true
		}
	}
	return stringAt(delta, "reasoning_content")+stringAt(delta, "reasoning")+stringAt(delta, "thinking") != "" ||
		len(delta.GetArray("reasoning_details")) > 0 // OpenRouter
}

// usageOf counts tokens. Some servers report the cached tokens of the prompt under a key of their own.
func usageOf(v *fastjson.Value) turn.TokenUsage {
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
	found := v.Get(path...)
	if found == nil {
		return 0
	}
	const maxIndex = 1e12
	n, err := strconv.ParseFloat(strings.Trim(found.String(), `"`), 64)
	if err != nil || !(n > 0 && n < maxIndex) {
		return 0
	}
	return int(n)
}

// contentOf returns a message's text, byte for byte. The content is a string, or a list whose text parts count. Some
// servers send the solution as parsed JSON.
func contentOf(v *fastjson.Value) string {
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

// functionsOf reads tool_calls, or its older form function_call.
func functionsOf(delta *fastjson.Value) (list []function) {
	read := func(index int, v *fastjson.Value) {
		f := function{index: index, name: stringAt(v, "name"), arguments: stringAt(v, "arguments")}
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
			read(index, f)
		}
	}
	if f := delta.Get("function_call"); f != nil && f.Type() == fastjson.TypeObject {
		read(0, f)
	}
	return list
}

// stringAt returns a string in a chunk; "" if there is none. Invalid UTF-8 becomes U+FFFD, as in encoding/json.
func stringAt(v *fastjson.Value, path ...string) string {
	return strings.ToValidUTF8(string(v.GetStringBytes(path...)), "\uFFFD")
}
