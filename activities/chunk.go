package activities

import (
	"io"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"processidea/model/turn"
)

// chunkStream is what an LLM says, chunk by chunk. The openai client's Stream and its ChatCompletionChunk take many times
// as long: an LLM that speaks a token at a time would be heard no faster than it is decoded.
type chunkStream struct {
	*events
	chunk chunk
	over  bool
}

// Next waits for a chunk; false where the stream is over, or Err says why it broke off.
func (s *chunkStream) Next() bool {
	if s.over = s.over || !s.events.Next() || s.Event() == nil; s.over {
		return false
	}
	s.chunk = chunkOf(s.Event(), len(s.data))
	return true
}

// Close ends the stream. The connection of an answer that is over serves the next Request too, once the answer has been read
// to its very end: that is a moment behind the last chunk, or with a server that forgets to end it, never.
func (s *chunkStream) Close() error {
	if s.over && s.Err() == nil {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, s.answer.Body)
		}()
		select {
		case <-ended:
		case <-time.After(endPatience):
		}
	}
	return s.events.Close()
}

// endPatience is how long the end of an answer is waited for: less than another connection takes, where the LLM is far away.
const endPatience = 50 * time.Millisecond

// Current is the chunk that Next has waited for.
func (s *chunkStream) Current() chunk { return s.chunk }

// chunk is what is wanted of a chunk.
type chunk struct {
	choices []choice
	usage   turn.Usage
	bytes   int
}

type choice struct {
	index                    int
	content, refusal, finish string
}

// chunkOf leaves out what is of another type than it should be, as the openai client does.
func chunkOf(v *fastjson.Value, bytes int) chunk {
	c := chunk{bytes: bytes, usage: turn.Usage{
		PromptTokens: v.GetInt("usage", "prompt_tokens"), CompletionTokens: v.GetInt("usage", "completion_tokens"),
	}}
	for _, o := range v.GetArray("choices") {
		c.choices = append(c.choices, choice{
			index: o.GetInt("index"), finish: textOf(o, "finish_reason"),
			content: textOf(o, "delta", "content"), refusal: textOf(o, "delta", "refusal"),
		})
	}
	return c
}

// textOf is a text in a chunk; "" where there is none. What is no UTF-8 becomes U+FFFD, as in encoding/json.
func textOf(v *fastjson.Value, path ...string) string {
	return strings.ToValidUTF8(string(v.GetStringBytes(path...)), "\uFFFD")
}
