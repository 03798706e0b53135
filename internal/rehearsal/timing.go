package rehearsal

import (
	"context"
	"errors"
	"time"

	"processidea/internal/pause"
)

// timedReply is one reply that is being sent.
type timedReply struct {
	options
	reply         Reply
	requestNumber int
	arrivedAt     time.Time
	writer        replyWriter
	logSentChars  func(sent int) // records in the log how much was sent
}

// errClientGone means that the client went away.
var errClientGone = errors.New("rehearsal: send reply: client gone")

// run sends the reply at its pace, and returns how it ended.
func (s timedReply) run(ctx context.Context, promptChars int) EndReason {
	sentChars, err := s.sendPaced(ctx, s.reply.splitIntoChunks(s.chunkChars))
	if err != nil {
		return EndClientGone
	}
	if s.reply.CutAfterChars != nil {
		return EndCut
	}
	tokenUsage := usage{PromptTokens: countTokens(promptChars), CompletionTokens: countTokens(sentChars)}
	tokenUsage.TotalTokens = tokenUsage.PromptTokens + tokenUsage.CompletionTokens
	if s.writer.finish(s.reply.finishReason(), tokenUsage) != nil {
		return EndClientGone
	}
	return EndComplete
}

// sendPaced sends the pieces, each when it is due, up to the gate before the reply's end.
func (s timedReply) sendPaced(ctx context.Context, chunks []replyChunk) (sentChars int, err error) {
	for _, p := range chunks {
		if err := s.sendChunk(ctx, p); err != nil {
			return sentChars, err
		}
		sentChars = p.endOffset()
		if s.onChunkSent != nil {
			s.onChunkSent(s.requestNumber, sentChars)
		}
	}
	// in the past if anything was sent
	if err := s.awaitDue(ctx, sentChars, s.reply.dueAt(s.arrivedAt, 0)); err != nil {
		return sentChars, err
	}
	return sentChars, s.writer.flush()
}

// sendChunk sends one piece. Without a pace nobody can observe when each piece came, so the pieces stay in the buffer,
// which is much faster.
func (s timedReply) sendChunk(ctx context.Context, p replyChunk) error {
	if err := s.awaitDue(ctx, p.startOffset, s.reply.dueAt(s.arrivedAt, p.startOffset)); err != nil {
		return err
	}
	if err := s.writer.write(p); err != nil {
		return err
	}
	s.logSentChars(p.endOffset()) // before the flush, so that a client that has received it finds it in the log
	if s.reply.TPS > 0 || s.hasHook() {
		return s.writer.flush()
	}
	return nil
}

// awaitDue calls the gate for this place, then waits until due. The gate comes first, so that its call at place 0 also
// signals that a Request has arrived.
func (s timedReply) awaitDue(ctx context.Context, sentChars int, due time.Time) error {
	if s.awaitBeforeSending != nil {
		s.awaitBeforeSending(ctx, s.requestNumber, sentChars)
	}
	if remaining := time.Until(due); remaining > 0 {
		_ = pause.For(ctx, remaining)
	}
	if ctx.Err() != nil {
		return errClientGone
	}
	return nil
}
