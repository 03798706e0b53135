package llm

import (
	"io"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"processidea/model/turn"
)

// chunkStream reads a response chunk by chunk. The openai library's Stream takes many times as long to decode one, and would
// limit how fast an LLM that sends single tokens is read.
type chunkStream struct {
	*eventReader
	chunk chunk
	ended bool
}

// Next waits for a chunk; false at the end of the stream, or where it broke off, with the reason in Err.
func (s *chunkStream) Next() bool {
	s.ended = s.ended || !s.eventReader.Next() || s.Event() == nil
	if s.ended {
		return false
	}
	s.chunk = newChunk(s.Event(), len(s.data))
	return true
}

// Current is the chunk that Next has waited for.
func (s *chunkStream) Current() chunk { return s.chunk }

// maxEndWait is how long Close waits for the end of a response: less than a new connection to a distant LLM takes.
const maxEndWait = 50 * time.Millisecond

// Close ends the stream. A connection can serve the next Request only if its response was read to the very end, which comes
// a moment after the last chunk, or, with a server that forgets to end it, never.
func (s *chunkStream) Close() error {
	if s.ended && s.Err() == nil {
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			_, _ = io.Copy(io.Discard, s.response.Body)
		}()
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
	usage   turn.Usage
	bytes   int // its length as sent
}

type choice struct {
	index                    int
	content, refusal, finish string
}

// newChunk leaves out what is of another type than it should be, as the openai library does.
func newChunk(v *fastjson.Value, bytes int) chunk {
	c := chunk{bytes: bytes, usage: turn.Usage{
		PromptTokens: v.GetInt("usage", "prompt_tokens"), CompletionTokens: v.GetInt("usage", "completion_tokens"),
	}}
	for _, o := range v.GetArray("choices") {
		c.choices = append(c.choices, choice{
			index: o.GetInt("index"), finish: stringAt(o, "finish_reason"),
			content: stringAt(o, "delta", "content"), refusal: stringAt(o, "delta", "refusal"),
		})
	}
	return c
}

// stringAt is a string in a chunk; "" where there is none. Invalid UTF-8 becomes U+FFFD, as in encoding/json.
func stringAt(v *fastjson.Value, path ...string) string {
	return strings.ToValidUTF8(string(v.GetStringBytes(path...)), "\uFFFD")
}
