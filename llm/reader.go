package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"processidea/model/diag"
	"processidea/model/turn"
)

// replyReader is the text of a reply as an io.Reader. It reads a chunk from the stream only if the parser asks for
// more, so that a Call that closes within a chunk is delivered before the next chunk is waited for.
type replyReader struct {
	ctx          context.Context // the caller's; the stream's own also ends with errSilent
	stream       *chunkStream
	idle         *idleTimer
	reply        *Reply
	filter       textFilter
	onReplyBegin func() // called once, when the LLM's reply begins; nil after that

	buffered     bytes.Buffer     // text that the parser has not read yet
	all          *strings.Builder // nil unless all text is kept
	started      bool             // the first chunk, which open has read, was processed
	err          error            // why no more text is accepted: the filter's error
	parsed       bool             // the parser has read the whole solution
	writesBehind bool             // the LLM has written something after the solution
	behind       []byte           // the beginning of that text
	reasons      bool             // thoughts came beside the text
	byFunction   bool             // the reply is the arguments of a function call
	functions    []string         // the names of the functions that the LLM called instead of writing
}

func newReplyReader(ctx context.Context, stream *chunkStream, idle *idleTimer, keepText bool) *replyReader {
	r := &replyReader{ctx: ctx, stream: stream, idle: idle, reply: &Reply{}}
	r.filter.out = &r.buffered
	if keepText {
		r.all = &strings.Builder{}
	}
	return r
}

// Read returns the text of the next chunk that has any.
func (r *replyReader) Read(p []byte) (int, error) {
	for r.buffered.Len() == 0 {
		if r.err != nil || !r.next() {
			return 0, io.EOF
		}
		r.takeChunk(r.stream.chunk)
	}
	return r.buffered.Read(p)
}

// next waits for a chunk; false at the end of the stream.
func (r *replyReader) next() bool {
	if r.started {
		return r.stream.Next()
	}
	r.started = true
	return true
}

// readRemainder reads what follows the solution, for the finish reason and the usage. If the LLM goes on writing,
// reading stops once both are known, or once there is too much.
func (r *replyReader) readRemainder() {
	r.parsed = true
	for r.err == nil && r.next() {
		chunk := r.stream.chunk
		r.takeChunk(chunk)
		if !r.writesBehind {
			continue
		}
		r.filter.bytes += 1 + chunk.bytes
		if r.filter.bytes > maxReplyBytes || (r.reply.Finish != "" && r.reply.Usage.CompletionTokens > 0) {
			return
		}
	}
}

// takeChunk adds a chunk to the reply.
func (r *replyReader) takeChunk(c chunk) {
	if c.usage.PromptTokens+c.usage.CompletionTokens > 0 {
		r.reply.Usage = c.usage
	}
	if r.reply.Served == "" {
		r.reply.Served = c.model
	}
	for _, choice := range c.choices {
		if choice.index != 0 { // only one choice was requested
			continue
		}
		if choice.whole && r.filter.bytes > 0 { // the message came piece by piece before
			choice.content, choice.refusal, choice.functions = "", "", nil
		}
		if r.onReplyBegin != nil && (choice.reasons || choice.content != "" || choice.refusal != "" ||
			len(choice.functions) > 0 || choice.finish != "" && choice.finish != "error") {
			r.onReplyBegin()
			r.onReplyBegin = nil
		}
		r.reasons = r.reasons || choice.reasons
		if choice.finish != "" {
			r.reply.Finish = choice.finish
		}
		if len(r.reply.Refusal) < maxMessage {
			r.reply.Refusal += choice.refusal
		}
		if choice.content != "" {
			r.takeText(choice.content)
		}
		for _, f := range choice.functions {
			r.takeFunction(f)
		}
	}
}

// takeFunction reads the arguments of the first function that the LLM calls as its reply, unless it has begun to write
// a reply.
func (r *replyReader) takeFunction(f function) {
	for len(r.functions) <= min(f.index, maxFunctions) {
		r.functions = append(r.functions, "")
	}
	if f.index < 0 || f.index > maxFunctions {
		return
	}
	if len(r.functions[f.index]) < maxMessage {
		r.functions[f.index] += f.name
	}
	if f.index > 0 || f.arguments == "" || (r.filter.begun && !r.byFunction) {
		return
	}
	if !r.byFunction {
		r.byFunction, r.filter.preamble = true, "" // earlier text is not part of the reply
	}
	r.takeText(f.arguments)
}

// maxFunctions bounds how many function calls of one reply are distinguished.
const maxFunctions = 20

func (r *replyReader) takeText(text string) {
	if r.all != nil {
		r.all.WriteString(text)
	}
	if r.parsed {
		r.writesBehind = true
		r.keepBehind([]byte(text))
		return
	}
	r.idle.start()
	if r.err == nil {
		r.err = r.filter.Write(text)
	}
}

// maxTextBehind bounds how much text after the solution is kept, in bytes.
const maxTextBehind = 64 << 10

func (r *replyReader) keepBehind(text []byte) {
	r.behind = append(r.behind, text[:min(len(text), maxTextBehind-len(r.behind))]...)
}

// secondSolution finds the beginning of a second solution.
var secondSolution = regexp.MustCompile(`\{\s*"(calls|output|finished)"\s*:`)

// secondFault reports a second solution after the first. The first counts, since its Calls have begun to run. The LLM
// must know that, because the second may be a correction.
func (r *replyReader) secondFault() *diag.Fault {
	if !secondSolution.Match(r.behind) {
		return nil
	}
	return newFault(turn.CodeNotJSON, "behind the reply's JSON object stands another one, which was not read: "+
		"the Calls of the first count. Write one object alone; plan now what is still to be changed")
}

// isSilent reports whether a finished reply has no text, without a reason for that.
func (r *replyReader) isSilent() bool {
	why := r.reply.Refusal != "" || isCut(r.reply.Finish) || isFiltered(r.reply.Finish)
	return (r.filter.bytes == 0 || r.filter.onlyThoughts()) && len(r.functions) == 0 && !why
}

// finish returns the reply.
func (r *replyReader) finish() *Reply {
	if r.all != nil {
		r.reply.Text = r.all.String()
	}
	return r.reply
}

// streamError returns why the text ended before the solution did; nil if the stream just ended.
func (r *replyReader) streamError() error {
	if r.err != nil {
		return r.err
	}
	err := r.stream.Err()
	if err == nil {
		return r.filter.Close()
	}
	if errors.Is(err, context.Canceled) && r.ctx.Err() == nil {
		return errSilent // nobody else cancels the stream alone
	}
	return err
}
