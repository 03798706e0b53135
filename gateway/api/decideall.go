package api

import (
	"context"
	"errors"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/internal/safego"
	"processidea/model/jsonval"
)

var errNoOutput = errors.New("an answer needs an output, which may be null")

// maxConcurrentProcesses bounds how many processes one request decides in at a time.
const maxConcurrentProcesses = 8

// Outcomes of decisions.
const (
	OutcomeAccepted = "taken"
	OutcomeRefused  = "refused"
	OutcomeInvalid  = "invalid" // it was not sent
	OutcomeFailed   = "failed"  // its outcome is unknown
)

// decideAll sends decisions to their processes. The decisions on one process are sent together.
func (a *API) decideAll(ctx context.Context, who *access.Person, list []Decision) []DecisionResult {
	results := make([]DecisionResult, len(list))
	decisions := make([]client.Decision, len(list))
	byProcess := map[string][]int{}
	for n, d := range list {
		results[n] = DecisionResult{Process: d.Process, Call: d.Call}
		var err error
		if decisions[n], err = d.read(who); err != nil {
			results[n].fail(OutcomeInvalid, err)
			continue
		}
		byProcess[d.Process] = append(byProcess[d.Process], n)
	}
	processes := jsonval.SortedKeys(byProcess)
	err := safego.Each(ctx, "gateway.decide", len(processes), maxConcurrentProcesses, func(
		ctx context.Context, n int,
	) error {
		a.decideIn(ctx, processes[n], byProcess[processes[n]], decisions, results)
		a.NoteAct(processes[n])
		return nil
	})
	if err != nil {
		for n := range results {
			if results[n].Outcome == "" {
				results[n].fail(OutcomeFailed, err)
			}
		}
	}
	return results
}

// decideIn sends the decisions on one process and records their results; of has their indices.
func (a *API) decideIn(ctx context.Context, id string, of []int, decisions []client.Decision,
	results []DecisionResult) {
	p, err := a.Client.Attach(ctx, id)
	if err == nil && len(of) == 1 {
		var count client.Count
		if count, err = p.DecideAndCount(ctx, decisions[of[0]]); err == nil {
			results[of[0]].take(count)
			return
		}
	}
	if err == nil {
		var sent []client.Decision
		for _, n := range of {
			sent = append(sent, decisions[n])
		}
		var outcomes []client.Outcome
		outcomes, err = p.DecideMany(ctx, sent)
		for k, o := range outcomes {
			switch {
			case o.Refused != "":
				results[of[k]].fail(OutcomeRefused, &client.RefusedError{Process: id, Signal: o.Kind, Call: o.Call,
					Reason: o.Refused})
			case o.Count.Have > 0:
				results[of[k]].take(o.Count)
			}
		}
	}
	for _, n := range of {
		if results[n].Outcome == "" {
			results[n].fail("", err)
		}
	}
}

func (r *DecisionResult) take(count client.Count) {
	r.Outcome, r.Count = OutcomeAccepted, &count
}

// fail records why a decision was not taken. An empty outcome is derived from the error.
func (r *DecisionResult) fail(outcome string, err error) {
	if err == nil {
		err = context.DeadlineExceeded
	}
	var refused *client.RefusedError
	p := ProblemOf(err)
	r.Code, r.Reason = p.Code, p.Detail
	switch {
	case outcome != "":
		r.Outcome = outcome
	case errors.Is(err, client.ErrInvalid), errors.Is(err, client.ErrNotFound):
		r.Outcome = OutcomeInvalid
	case errors.Is(err, client.ErrRefused):
		r.Outcome = OutcomeRefused
	default:
		r.Outcome = OutcomeFailed
	}
	if errors.As(err, &refused) {
		r.Reason = refused.Reason
	}
}
