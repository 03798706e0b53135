package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/serviceerror"

	"processidea/protocol"
)

// signalID names a signal, so that its fate can be told from that of others.
func signalID() string { return uuid.NewString() }

// gone says whether a signal found nobody: no workflow of the id, or one that has ended.
func gone(err error) bool {
	var none *serviceerror.NotFound
	return errors.As(err, &none)
}

// query asks a workflow and reads its answer.
func (s *session) query(ctx context.Context, workflow, name string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	answer, err := s.QueryWorkflow(ctx, workflow, "", name)
	if err != nil {
		return err
	}
	return answer.Get(to)
}

// until asks again and again until it is done. Where nobody answers it says so, and goes on waiting as long as there is a
// server: what was signalled takes effect when a worker is back.
func (s *session) until(ctx context.Context, process string, ask func() (done bool, err error)) error {
	began, said, every := time.Now(), false, 20*time.Millisecond
	for {
		done, err := ask()
		switch {
		case done:
			return nil
		case ctx.Err() != nil:
			return errInterrupted
		case err == nil:
			began = time.Now()
		default:
			down := s.health(ctx)
			if time.Since(began) > silence && down != nil {
				return noServer("reach %s: %w", process, down)
			}
			if !said && down == nil && time.Since(began) > workersGrace {
				said = true
				s.note("no worker answers for %s: it takes effect when one runs: %s", process, err)
			}
		}
		pause(ctx, every)
		every = min(2*every, pollEvery)
	}
}

// fate is what became of a signal, as --json prints it.
type fate struct {
	Process  string `json:"process"`
	Signal   string `json:"signal"`
	Call     string `json:"call,omitempty"`
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"` // why it was refused
}

// told says what became of a signal. One that was refused is a misuse.
func (a *app) told(process, signal, call, why string, err error) error {
	if err != nil {
		return err
	}
	if a.json {
		if err := writeJSON(a.out, fate{process, signal, call, why == "", why}); err != nil {
			return err
		}
	}
	subject := process
	if call != "" {
		subject += " " + call
	}
	switch {
	case why != "":
		return misuse("%s %s: refused: %s", signal, subject, why)
	case !a.json:
		_, err = fmt.Fprintf(a.out, "%s: %s taken\n", printable(subject), signal)
	}
	return err
}

// steer signals a process and waits until the signal has taken effect. why is the reason for which it was refused.
func (s *session) steer(ctx context.Context, process, kind string, payload map[string]any) (why string, err error) {
	if _, err := s.find(ctx, process); err != nil {
		return "", err
	}
	id := signalID()
	payload["id"] = id
	switch err := s.SignalWorkflow(ctx, process, "", kind, payload); {
	case gone(err):
		return "the process has ended", nil
	case err != nil:
		return "", fmt.Errorf("signal %s: %w", process, err)
	}
	err = s.until(ctx, process, func() (done bool, err error) {
		var v protocol.ProcessView
		if err := s.query(ctx, process, protocol.QueryStatus, &v); err != nil {
			return false, err
		}
		for _, a := range v.Accepted {
			done = done || a.ID == id
		}
		for _, r := range v.Refusals {
			if r.ID == id {
				done, why = true, r.Reason
			}
		}
		return done || s.ended(ctx, process), nil
	})
	return why, err
}

// ended says whether a process is over, so that nothing will take effect any more.
func (s *session) ended(ctx context.Context, process string) bool {
	info, err := s.find(ctx, process)
	return err == nil && info.GetCloseTime() != nil
}
