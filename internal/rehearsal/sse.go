package rehearsal

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// replyWriter writes a reply in one of the two forms that a client may ask for.
type replyWriter interface {
	write(replyChunk) error
	flush() error // sends what was written
	// finish writes the end, but leaves it to be sent when the handler returns, so that a client that has received it
	// finds it in the log.
	finish(reason string, used usage) error
}

// eventStreamWriter writes each piece as an event of a text/event-stream.
type eventStreamWriter struct {
	w              http.ResponseWriter
	completionHead completion // repeated in every chunk: clients drop chunks with another id
	wantsUsage     bool       // whether the client asked for usage
	isHeaderSent   bool
	// chunkEnvelope is the JSON around each text. It is encoded only once, since encoding every chunk would dominate
	// the cost with a fast LLM.
	chunkEnvelope [2][]byte
}

func (s *eventStreamWriter) write(p replyChunk) error {
	if err := s.sendHeaderOnce(); err != nil {
		return err
	}
	if p.isRefusal {
		return s.writeChunk(choice{Delta: &delta{Refusal: &p.text}})
	}
	text, err := json.Marshal(p.text)
	if err == nil {
		_, err = s.w.Write(slices.Concat(s.chunkEnvelope[0], text, s.chunkEnvelope[1]))
	}
	return err
}

// sendHeaderOnce sends the header and the role. It is called with the first piece: if a reply is cut before that, the
// connection drops without any answer.
func (s *eventStreamWriter) sendHeaderOnce() error {
	if s.isHeaderSent {
		return nil
	}
	s.isHeaderSent = true
	s.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	s.w.Header().Set("Cache-Control", "no-cache")
	emptyEvent, err := encodeEvent(s.chunkOf(choice{Delta: &delta{Content: new(string)}}))
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(emptyEvent, []byte(`"content":""`))
	s.chunkEnvelope = [2][]byte{slices.Concat(before, []byte(`"content":`)), after}
	return s.writeChunk(choice{Delta: &delta{Role: "assistant", Content: new(string)}})
}

func (s *eventStreamWriter) writeChunk(c choice) error { return s.writeEvent(s.chunkOf(c)) }

// chunkOf makes a chunk with one choice.
func (s *eventStreamWriter) chunkOf(c choice) completion {
	chunk := s.completionHead
	chunk.Choices = []choice{c}
	if s.wantsUsage {
		chunk.Usage = json.RawMessage("null")
	}
	return chunk
}

func (s *eventStreamWriter) writeEvent(chunk completion) error {
	data, err := encodeEvent(chunk)
	if err == nil {
		_, err = s.w.Write(data)
	}
	return err
}

// encodeEvent encodes a chunk as an event.
func encodeEvent(chunk completion) ([]byte, error) {
	chunk.Object = "chat.completion.chunk"
	data, err := json.Marshal(chunk)
	return slices.Concat([]byte("data: "), data, []byte("\n\n")), err
}

func (s *eventStreamWriter) finish(reason string, tokens usage) error {
	if err := s.sendHeaderOnce(); err != nil {
		return err
	}
	if err := s.writeChunk(choice{Delta: &delta{}, FinishReason: &reason}); err != nil {
		return err
	}
	if s.wantsUsage {
		usageChunk := s.completionHead
		usageChunk.Choices = []choice{}
		usageChunk.Usage, _ = json.Marshal(tokens)
		if err := s.writeEvent(usageChunk); err != nil {
			return err
		}
	}
	_, err := s.w.Write([]byte("data: [DONE]\n\n"))
	return err
}

// flush does nothing before the first piece, since it would send only the header.
func (s *eventStreamWriter) flush() error {
	if !s.isHeaderSent {
		return nil
	}
	err := http.NewResponseController(s.w).Flush()
	if errors.Is(err, http.ErrNotSupported) { // then nothing is buffered
		return nil
	}
	return err
}

// jsonWriter writes everything as one JSON body at the end, for a request that does not ask for a stream.
type jsonWriter struct {
	w                http.ResponseWriter
	completionHead   completion
	content, refusal strings.Builder
}

func (c *jsonWriter) write(p replyChunk) error {
	if p.isRefusal {
		c.refusal.WriteString(p.text)
	} else {
		c.content.WriteString(p.text)
	}
	return nil
}

func (c *jsonWriter) flush() error { return nil }

func (c *jsonWriter) finish(reason string, tokens usage) error {
	message := answerMessage{Role: "assistant"}
	if refusal := c.refusal.String(); refusal != "" {
		message.Refusal = &refusal
	}
	if content := c.content.String(); content != "" || message.Refusal == nil {
		message.Content = &content
	}
	body := c.completionHead
	body.Object = "chat.completion"
	body.Choices = []choice{{Message: &message, FinishReason: &reason}}
	body.Usage, _ = json.Marshal(tokens)
	c.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(c.w).Encode(body)
}
