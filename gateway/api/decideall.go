package api

import (
	"context"
	"errors"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/internal/safego"
	"processidea/model/jsonval"
)

var errAnswerWithoutOutput = errors.New("an answer needs an output, which may be null")

// maxProcessesDecidedAtOnce bounds how many processes one request decides in at a time.
const maxProcessesDecidedAtOnce = 8

// Outcomes of decisions.
const (
	OutcomeAccepted = "taken"
	OutcomeRefused  = "refused"
	OutcomeInvalid  = "invalid" // it was not sent
	OutcomeFailed   = "failed"  // its outcome is unknown
)

// decideAll sends decisions to their processes. The decisions on one process are sent together.
func (a *API) decideAll(ctx context.Context, person *access.Person, requestDecisions []Decision) []DecisionResult {
	results := make([]DecisionResult, len(requestDecisions))
	decisions := make([]client.Decision, len(requestDecisions))
	indicesByProcess := map[string][]int{}
	for n, d := range requestDecisions {
		results[n] = DecisionResult{Process: d.ProcessID, Call: d.CallID}
		var err error
		if decisions[n], err = d.toClientDecision(person); err != nil {
			results[n].fail(OutcomeInvalid, err)
			continue
		}
		indicesByProcess[d.ProcessID] = append(indicesByProcess[d.ProcessID], n)
	}
	processIDs := jsonval.SortedKeys(indicesByProcess)
	err := safego.ForEach(ctx, "gateway.decide", len(processIDs), maxProcessesDecidedAtOnce, func(
		ctx context.Context, n int,
	) error {
		a.decideInProcess(ctx, processIDs[n], indicesByProcess[processIDs[n]], decisions, results)
		a.NoteChange(processIDs[n])
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

// decideInProcess sends the decisions on one process and records their results; indices has their indices.
func (a *API) decideInProcess(ctx context.Context, processID string, indices []int, decisions []client.Decision,
	results []DecisionResult) {
	p, err := a.Client.Attach(ctx, processID)
	if err == nil && len(indices) == 1 {
		var votes client.VoteCount
		if votes, err = p.DecideAndCountVotes(ctx, decisions[indices[0]]); err == nil {
			results[indices[0]].accept(votes)
			return
		}
	}
	if err == nil {
		var batch []client.Decision
		for _, n := range indices {
			batch = append(batch, decisions[n])
		}
		var outcomes []client.DecisionOutcome
		outcomes, err = p.DecideMany(ctx, batch)
		for k, o := range outcomes {
			switch {
			case o.RefusalReason != "":
				results[indices[k]].fail(OutcomeRefused, &client.RefusedError{ProcessID: processID, Signal: o.Kind,
					CallID: o.CallID,
					Reason: o.RefusalReason})
			case o.Votes.Have > 0:
				results[indices[k]].accept(o.Votes)
			}
		}
	}
	for _, n := range indices {
		if results[n].Outcome == "" {
			results[n].fail("", err)
		}
	}
}

func (r *DecisionResult) accept(votes client.VoteCount) {
	r.Outcome, r.Votes = OutcomeAccepted, &votes
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
