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
	silenceTimer *idleTimer
	reply        *Reply
	filter       textFilter
	onReplyBegin func() // called once, when the LLM's reply begins; nil after that

	pendingText         bytes.Buffer     // text that the parser has not read yet
	fullText            *strings.Builder // nil unless all text is kept
	hasStarted          bool             // the first chunk, which open has read, was processed
	err                 error            // why no more text is accepted: the filter's error
	isSolutionParsed    bool             // the parser has read the whole solution
	hasTrailingText     bool             // the LLM has written something after the solution
	trailingText        []byte           // the beginning of that text
	hasThoughts         bool             // thoughts came beside the text
	isFromFunctionCall  bool             // the reply is the arguments of a function call
	calledFunctionNames []string         // the names of the functions that the LLM called instead of writing
}

func newReplyReader(ctx context.Context, stream *chunkStream, silenceTimer *idleTimer, keepText bool) *replyReader {
	r := &replyReader{ctx: ctx, stream: stream, silenceTimer: silenceTimer, reply: &Reply{}}
	r.filter.objectWriter = &r.pendingText
	if keepText {
		r.fullText = &strings.Builder{}
	}
	return r
}

// Read returns the text of the next chunk that has any.
func (r *replyReader) Read(p []byte) (int, error) {
	for r.pendingText.Len() == 0 {
		if r.err != nil || !r.nextChunk() {
			return 0, io.EOF
		}
		r.addChunk(r.stream.chunk)
	}
	return r.pendingText.Read(p)
}

// nextChunk waits for a chunk; false at the end of the stream.
func (r *replyReader) nextChunk() bool {
	if r.hasStarted {
		return r.stream.Next()
	}
	r.hasStarted = true
	return true
}

// readRemainder reads what follows the solution, for the finish reason and the usage. If the LLM goes on writing,
// reading stops once both are known, or once there is too much.
func (r *replyReader) readRemainder() {
	r.isSolutionParsed = true
	for r.err == nil && r.nextChunk() {
		chunk := r.stream.chunk
		r.addChunk(chunk)
		if !r.hasTrailingText {
			continue
		}
		r.filter.byteCount += 1 + chunk.byteCount
		if r.filter.byteCount > maxReplyBytes || (r.reply.FinishReason != "" && r.reply.Usage.CompletionTokens > 0) {
			return
		}
	}
}

// addChunk adds a chunk to the reply.
func (r *replyReader) addChunk(c chunk) {
	if c.usage.PromptTokens+c.usage.CompletionTokens > 0 {
		r.reply.Usage = c.usage
	}
	if r.reply.ServedModel == "" {
		r.reply.ServedModel = c.model
	}
	for _, choice := range c.choices {
		if choice.index != 0 { // only one choice was requested
			continue
		}
		if choice.isWholeMessage && r.filter.byteCount > 0 { // the message came piece by piece before
			choice.content, choice.refusal, choice.functionCalls = "", "", nil
		}
		if r.onReplyBegin != nil && (choice.hasThoughts || choice.content != "" || choice.refusal != "" ||
			len(choice.functionCalls) > 0 || choice.finishReason != "" && choice.finishReason != "error") {
			r.onReplyBegin()
			r.onReplyBegin = nil
		}
		r.hasThoughts = r.hasThoughts || choice.hasThoughts
		if choice.finishReason != "" {
			r.reply.FinishReason = choice.finishReason
		}
		if len(r.reply.Refusal) < maxErrorMessageChars {
			r.reply.Refusal += choice.refusal
		}
		if choice.content != "" {
			r.addReplyText(choice.content)
		}
		for _, f := range choice.functionCalls {
			r.addFunctionCall(f)
		}
	}
}

// addFunctionCall reads the arguments of the first function that the LLM calls as its reply, unless it has begun to
// write a reply.
func (r *replyReader) addFunctionCall(f functionCall) {
	for len(r.calledFunctionNames) <= min(f.index, maxFunctionCalls) {
		r.calledFunctionNames = append(r.calledFunctionNames, "")
	}
	if f.index < 0 || f.index > maxFunctionCalls {
		return
	}
	if len(r.calledFunctionNames[f.index]) < maxErrorMessageChars {
		r.calledFunctionNames[f.index] += f.name
	}
	if f.index > 0 || f.arguments == "" || (r.filter.isInObject && !r.isFromFunctionCall) {
		return
	}
	if !r.isFromFunctionCall {
		r.isFromFunctionCall, r.filter.preamble = true, "" // earlier text is not part of the reply
	}
	r.addReplyText(f.arguments)
}

// maxFunctionCalls bounds how many function calls of one reply are distinguished.
const maxFunctionCalls = 20

func (r *replyReader) addReplyText(text string) {
	if r.fullText != nil {
		r.fullText.WriteString(text)
	}
	if r.isSolutionParsed {
		r.hasTrailingText = true
		r.keepTrailingText([]byte(text))
		return
	}
	r.silenceTimer.start()
	if r.err == nil {
		r.err = r.filter.Write(text)
	}
}

// maxTrailingTextBytes bounds how much text after the solution is kept, in bytes.
const maxTrailingTextBytes = 64 << 10

func (r *replyReader) keepTrailingText(text []byte) {
	r.trailingText = append(r.trailingText, text[:min(len(text), maxTrailingTextBytes-len(r.trailingText))]...)
}

// secondSolutionPattern finds the beginning of a second solution.
var secondSolutionPattern = regexp.MustCompile(`\{\s*"(calls|output|finished)"\s*:`)

// secondSolutionFault reports a second solution after the first. The first counts, since its Calls have begun to run.
// The LLM must know that, because the second may be a correction.
func (r *replyReader) secondSolutionFault() *diag.Fault {
	if !secondSolutionPattern.Match(r.trailingText) {
		return nil
	}
	return newFault(turn.CodeNotJSON, "behind the reply's JSON object stands another one, which was not read: "+
		"the Calls of the first count. Write one object alone; plan now what is still to be changed")
}

// isEmptyWithoutReason reports whether a finished reply has no text, without a reason for that.
func (r *replyReader) isEmptyWithoutReason() bool {
	hasReason := r.reply.Refusal != "" || isLengthLimit(r.reply.FinishReason) || isContentFiltered(r.reply.FinishReason)
	return (r.filter.byteCount == 0 || r.filter.hasOnlyThoughts()) && len(r.calledFunctionNames) == 0 && !hasReason
}

// finish returns the reply.
func (r *replyReader) finish() *Reply {
	if r.fullText != nil {
		r.reply.Text = r.fullText.String()
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
