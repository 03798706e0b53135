package client

import (
	"context"
	"errors"
	"slices"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
)

// DecidedCall is a decided Call, which no longer waits, in the words of the business.
type DecidedCall struct {
	shown.Call
	// Tool is the Call's Tool, Status its outcome, Decisions the remarks and decisions on it, in order.
	Tool      string
	Status    ideafile.CallStatus
	Decisions []approval.Decision
	// CurrentOutput is what stands now where a Call that is done wrote its result, and OutputPath is that place in
	// State; nil: it wrote none, or in several places.
	CurrentOutput any
	OutputPath    jsonval.Path
	// IsFromRecord means that the process did not answer: all is as the chain has it, and CurrentOutput is missing.
	IsFromRecord bool
}

// DecidedCall returns a decided Call by its id: as its instance knows it or, if that does not answer or Temporal has
// deleted it, as the chain has it. The error wraps ErrNotFound if neither knows a decision on such a Call.
func (p *Process) DecidedCall(ctx context.Context, callID string) (DecidedCall, error) {
	d, err := p.decidedCallOfInstance(ctx, callID)
	if !errors.Is(err, ErrNotFound) {
		return d, err
	}
	d, isRecorded, recordErr := p.decidedCallOfChain(ctx, callID)
	if isRecorded || errors.Is(recordErr, ErrForgotten) {
		return d, recordErr
	}
	return DecidedCall{}, errors.Join(err, recordErr)
}

// decidedCallOfChain returns a decided Call from the chain; isRecorded is false if the chain has no decision that ended
// the Call's wait.
func (p *Process) decidedCallOfChain(ctx context.Context, callID string) (d DecidedCall, isRecorded bool, err error) {
	decisions, err := p.Chain().Decisions(ctx, 0)
	if err != nil {
		return d, false, err
	}
	d.IsFromRecord = true
	var lastDecision *RecordedDecision
	for n := range decisions {
		one := &decisions[n]
		if one.CallID == "" || !ideafile.MatchesCallID(callID, one.CallID) {
			continue
		}
		d.Decisions = append(d.Decisions, one.Decision)
		if !approval.IsRemark(one.Kind) {
			lastDecision = one
		}
	}
	switch {
	case lastDecision == nil:
		return d, false, nil
	case lastDecision.Outcome != nil:
		d.Status = lastDecision.Outcome.Status
	case lastDecision.WaitingSince.IsZero(): // others must decide too
		return d, false, nil
	}
	d.Tool, d.Call = lastDecision.Tool, lastDecision.call
	return d, true, nil
}

// InstanceOfCall queries the instance of a Call. The error wraps ErrNotFound if nobody answers.
func (p *Process) InstanceOfCall(ctx context.Context, callID string) (InstanceStatus, error) {
	v, _, err := p.queryInstanceOfCall(ctx, callID)
	return v, err
}

func (p *Process) queryInstanceOfCall(ctx context.Context, callID string) (v InstanceStatus, instanceID string,
	err error) {
	instanceID, err = p.instanceID(ctx, callID)
	if err == nil {
		err = p.client.query(ctx, instanceID, protocol.QueryStatus, &v)
	}
	if err != nil {
		err = kind.Errorf(ErrNotFound, "ask the instance of %s in %s: %w", callID, p.id, err)
	}
	return v, instanceID, err
}

// decidedCallOfInstance asks the instance of a decided Call. The error wraps ErrNotFound also if nobody answers.
func (p *Process) decidedCallOfInstance(ctx context.Context, callID string) (DecidedCall, error) {
	v, instanceID, err := p.queryInstanceOfCall(ctx, callID)
	if err != nil {
		return DecidedCall{}, err
	}
	for _, c := range v.Calls {
		if !ideafile.MatchesCallID(callID, c.ID) || len(c.Decisions) == 0 {
			continue
		}
		d := DecidedCall{Tool: c.Tool, Status: c.Status, Decisions: slices.Concat(c.Remarks, c.Decisions)}
		slices.SortStableFunc(d.Decisions,
			func(a, b approval.Decision) int { return a.DecidedAt.Compare(b.DecidedAt) })
		if paths := c.OutputPath.Paths(); c.Status == ideafile.CallDone && len(paths) == 1 && len(paths[0]) > 0 {
			d.OutputPath, d.CurrentOutput = paths[0], jsonval.Lookup(v.State, paths[0]...)
		}
		var approvals protocol.ApprovalsView // without an answer, only names are missing
		_ = p.client.query(ctx, instanceID, protocol.QueryApprovals, &approvals)
		d.Call, err = p.client.archive.describeCall(blobs.WithProcess(ctx, p.id), p.Presenter(ctx), c.Tool,
			approval.LastShownParams(d.Decisions), // what was shown last
			ideafile.InstanceTokenOfCallID(c.ID), shown.InstanceValues{Input: approvals.Input, State: v.State})
		return d, err
	}
	return DecidedCall{}, kind.Errorf(ErrNotFound, "find %s in %s: nobody has decided on such a Call", callID, p.id)
}
