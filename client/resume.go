package client

import (
	"context"
	"errors"

	"processidea/internal/safego"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// Resumed is the outcome of resuming one process.
type Resumed struct {
	Process string `json:"process"`
	Code    string `json:"code,omitempty" doc:"why it was paused"`
	Resumed bool   `json:"resumed"`
	Reason  string `json:"reason,omitempty" doc:"why it was not resumed"`
}

// ResumeAll resumes all paused processes that somebody started, with their parts and delegates. because selects those
// that were paused with this code; empty: all. It returns the outcome of each; if it returns none, nothing was resumed.
func (c *Client) ResumeAll(ctx context.Context, pauseCode string, actor Actor) ([]Resumed, error) {
	paused, err := c.List(ctx, ListOptions{Paused: true})
	if err != nil {
		return nil, err
	}
	all := []Resumed{}
	for _, s := range paused {
		if pauseCode == "" || s.Code == pauseCode {
			all = append(all, Resumed{Process: s.Process, Code: s.Code, Reason: s.temporalPauseReason()})
		}
	}
	return all, c.resumeEach(ctx, all, actor)
}

// temporalPauseReason says why a process handles no signals, if it was paused through Temporal itself; "": it was not.
func (s Summary) temporalPauseReason() string {
	for _, h := range s.HoldUps {
		if s.NoAnswer && h.Cause == turn.CodeTemporalPaused {
			return h.Message + ": " + h.Remedy
		}
	}
	return ""
}

func (c *Client) resumeEach(ctx context.Context, all []Resumed, actor Actor) error {
	return safego.ForEach(ctx, "client.resume", len(all), maxQueries, func(ctx context.Context, n int) error {
		if all[n].Reason == "" {
			all[n].recordOutcome(c.Process(all[n].Process).Resume(ctx, ideafile.Limits{}, actor))
		}
		return nil
	})
}

func (r *Resumed) recordOutcome(err error) {
	var refused *RefusedError
	switch {
	case err == nil:
		r.Resumed = true
	case errors.As(err, &refused):
		r.Reason = refused.Reason
	default:
		r.Reason = err.Error()
	}
}
