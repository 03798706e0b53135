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
	reply   Reply
	number  int
	started time.Time
	writer  replyWriter
	logSent func(sent int) // records in the log how much was sent
}

// errClientGone means that the client went away.
var errClientGone = errors.New("rehearsal: send reply: client gone")

// run sends the reply at its pace, and returns how it ended.
func (s timedReply) run(ctx context.Context, promptChars int) End {
	sent, err := s.sendPaced(ctx, s.reply.pieces(s.chunkChars))
	if err != nil {
		return EndClientGone
	}
	if s.reply.CutAfter != nil {
		return EndCut
	}
	used := usage{Prompt: tokensOf(promptChars), Completion: tokensOf(sent)}
	used.Total = used.Prompt + used.Completion
	if s.writer.finish(s.reply.finishReason(), used) != nil {
		return EndClientGone
	}
	return EndComplete
}

// sendPaced sends the pieces, each when it is due, up to the gate before the reply's end.
func (s timedReply) sendPaced(ctx context.Context, pieces []piece) (sent int, err error) {
	for _, p := range pieces {
		if err := s.send(ctx, p); err != nil {
			return sent, err
		}
		sent = p.endOffset()
		if s.onChunk != nil {
			s.onChunk(s.number, sent)
		}
	}
	if err := s.awaitDue(ctx, sent, s.reply.dueAt(s.started, 0)); err != nil { // in the past if anything was sent
		return sent, err
	}
	return sent, s.writer.flush()
}

// send sends one piece. Without a pace nobody can observe when each piece came, so the pieces stay in the buffer, which
// is much faster.
func (s timedReply) send(ctx context.Context, p piece) error {
	if err := s.awaitDue(ctx, p.offset, s.reply.dueAt(s.started, p.offset)); err != nil {
		return err
	}
	if err := s.writer.write(p); err != nil {
		return err
	}
	s.logSent(p.endOffset()) // before the flush, so that a client that has received it finds it in the log
	if s.reply.TPS > 0 || s.isHooked() {
		return s.writer.flush()
	}
	return nil
}

// awaitDue calls the gate for this place, then waits until due. The gate comes first, so that its call at place 0 also
// signals that a Request has arrived.
func (s timedReply) awaitDue(ctx context.Context, sent int, due time.Time) error {
	if s.gate != nil {
		s.gate(ctx, s.number, sent)
	}
	if remaining := time.Until(due); remaining > 0 {
		_ = pause.For(ctx, remaining)
	}
	if ctx.Err() != nil {
		return errClientGone
	}
	return nil
}
