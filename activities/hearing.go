package activities

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// hearing is the text of a reply, read from the stream as far as the parser asks for it: a Call that closes in a chunk is
// handed on before the next is waited for.
type hearing struct {
	*request
	stream *chunkStream
	begun  bool // the first chunk, which is there, was taken
	text   bytes.Buffer
	guard  guard
	ended  error // why the rest is not taken
	whole  bool  // the parser has all it wants
	beyond bool  // the LLM goes on nevertheless
}

func newHearing(r *request, stream *chunkStream) *hearing {
	h := &hearing{request: r, stream: stream}
	h.guard.to = &h.text
	return h
}

// Read gives the text of the next chunk that has any.
func (h *hearing) Read(p []byte) (int, error) {
	for h.text.Len() == 0 {
		if h.ended != nil || !h.next() {
			return 0, io.EOF
		}
		h.take(h.stream.Current())
	}
	return h.text.Read(p)
}

// next waits for a chunk.
func (h *hearing) next() bool {
	if h.begun {
		return h.stream.Next()
	}
	h.begun = true
	return true
}

// hearOut reads what comes after the solution: only how it ended and the usage are still wanted, and a server that goes on
// talking is left alone.
func (h *hearing) hearOut() {
	h.whole = true
	for h.ended == nil && h.next() {
		chunk := h.stream.Current()
		h.take(chunk)
		if !h.beyond {
			continue
		}
		h.guard.bytes += 1 + chunk.bytes
		if h.guard.bytes > maxReplyBytes || h.finish != "" && h.reply.Usage.CompletionTokens > 0 {
			return
		}
	}
}

// take notes what a chunk says.
func (h *hearing) take(chunk chunk) {
	if u := chunk.usage; u.PromptTokens+u.CompletionTokens > 0 {
		h.reply.Usage = u
	}
	for _, c := range chunk.choices {
		if c.index != 0 { // one was asked for
			continue
		}
		if c.finish != "" {
			h.finish = c.finish
		}
		h.refused += c.refusal
		if c.content != "" {
			h.hear(c.content)
		}
	}
}

func (h *hearing) hear(text string) {
	if h.a.Heard != nil {
		h.said.WriteString(text)
	}
	if h.whole {
		h.beyond = true
		return
	}
	h.silence.begin()
	if h.ended == nil {
		h.ended = h.guard.Write(text)
	}
}

// why says how the stream ended before the solution did; nil where it did not.
func (h *hearing) why() error {
	if h.ended != nil {
		return h.ended
	}
	switch err := h.stream.Err(); {
	case err == nil:
		return h.guard.Close()
	case !errors.Is(err, context.Canceled) || h.ctx.Err() != nil:
		return err
	}
	return errSilent
}
