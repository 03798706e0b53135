package rehearsal

import (
	"context"
	"errors"
	"time"
)

// speech is one reply on its way out.
type speech struct {
	options
	reply   Reply
	turn    int
	started time.Time
	mouth   mouth
	said    func(sent int) // keeps the log
}

// errGone says that the client went away.
var errGone = errors.New("rehearsal: say reply: client gone")

// run says the reply at its pace, and returns how that ended.
func (s speech) run(ctx context.Context, promptChars int) End {
	sent, err := s.pace(ctx, s.reply.pieces(s.chars))
	if err != nil {
		return ClientGone
	}
	if s.reply.Cut != nil {
		return Cut
	}
	used := usage{Prompt: tokens(promptChars), Completion: tokens(sent)}
	used.Total = used.Prompt + used.Completion
	if s.mouth.finish(s.reply.finish(), used) != nil {
		return ClientGone
	}
	return Whole
}

// pace sends the pieces, each when it is due, up to the gate before the reply's end.
func (s speech) pace(ctx context.Context, pieces []piece) (sent int, err error) {
	for _, p := range pieces {
		if err := s.say(ctx, p); err != nil {
			return sent, err
		}
		sent = p.end()
		if s.onChunk != nil {
			s.onChunk(s.turn, sent)
		}
	}
	if err := s.await(ctx, sent, s.reply.due(s.started, 0)); err != nil { // past, if anything was said
		return sent, err
	}
	return sent, s.mouth.flush()
}

// say sends one piece. Without a pace nobody can tell when each came, so they are left
// to the buffer, which is a good deal faster.
func (s speech) say(ctx context.Context, p piece) error {
	if err := s.await(ctx, p.after, s.reply.due(s.started, p.after)); err != nil {
		return err
	}
	if err := s.mouth.say(p); err != nil {
		return err
	}
	s.said(p.end()) // before the flush, so that who heard it finds it in the log
	if s.reply.TPS > 0 || s.hooked() {
		return s.mouth.flush()
	}
	return nil
}

// await passes the gate at this place and waits for the time. The gate comes first, so
// that at the place 0 it also tells that a Request has arrived.
func (s speech) await(ctx context.Context, sent int, due time.Time) error {
	if s.gate != nil {
		s.gate(ctx, s.turn, sent)
	}
	if err := waitUntil(ctx, due); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errGone
	}
	return nil
}

// waitUntil returns at the time, or with an error when the client goes before it.
func waitUntil(ctx context.Context, due time.Time) error {
	left := time.Until(due)
	if left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errGone
	}
}
