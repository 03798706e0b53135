package client

import (
	"context"
	"errors"

	"processidea/internal/safego"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// ResumeOutcome is the outcome of resuming one process.
type ResumeOutcome struct {
	ProcessID     string `json:"process"`
	PauseCode     string `json:"code,omitempty" doc:"why it was paused"`
	WasResumed    bool   `json:"resumed"`
	FailureReason string `json:"reason,omitempty" doc:"why it was not resumed"`
}

// ResumeAll resumes all paused processes that somebody started, with their parts and delegates. pauseCode selects those
// that were paused with this code; empty: all. It returns the outcome of each; if it returns none, nothing was resumed.
func (c *Client) ResumeAll(ctx context.Context, pauseCode string, actor Actor) ([]ResumeOutcome, error) {
	pausedProcesses, err := c.List(ctx, ListOptions{OnlyPaused: true})
	if err != nil {
		return nil, err
	}
	outcomes := []ResumeOutcome{}
	for _, s := range pausedProcesses {
		switch {
		case pauseCode == "" || s.PauseOrFailureCode == pauseCode:
			outcomes = append(outcomes, ResumeOutcome{ProcessID: s.ProcessID, PauseCode: s.PauseOrFailureCode,
				FailureReason: s.temporalPauseReason()})
		case s.DidNotAnswer:
			outcomes = append(outcomes, ResumeOutcome{ProcessID: s.ProcessID,
				FailureReason: "it does not answer, so that nobody knows why it is paused: try again later"})
		}
	}
	return outcomes, c.resumeEach(ctx, outcomes, actor)
}

// temporalPauseReason says why a process handles no signals, if it was paused through Temporal itself; "": it was not.
func (s ProcessSummary) temporalPauseReason() string {
	for _, h := range s.HoldUps {
		if s.DidNotAnswer && h.CauseCode == turn.CodeTemporalPaused {
			return h.Message + ": " + h.Remedy
		}
	}
	return ""
}

func (c *Client) resumeEach(ctx context.Context, outcomes []ResumeOutcome, actor Actor) error {
	return safego.ForEach(ctx, "client.resume", len(outcomes), maxConcurrentQueries,
		func(ctx context.Context, n int) error {
			if outcomes[n].FailureReason == "" {
				outcomes[n].recordOutcome(c.Process(outcomes[n].ProcessID).Resume(ctx, ideafile.Limits{}, actor))
			}
			return nil
		})
}

func (r *ResumeOutcome) recordOutcome(err error) {
	var refused *RefusedError
	switch {
	case err == nil:
		r.WasResumed = true
	case errors.As(err, &refused):
		r.FailureReason = refused.Reason
	default:
		r.FailureReason = err.Error()
	}
}
