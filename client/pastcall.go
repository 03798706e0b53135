package client

import (
	"context"
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
}

// DecidedCall returns a decided Call by its id. The error wraps ErrNotFound if the process has no such Call, or nobody
// has decided on it.
func (p *Process) DecidedCall(ctx context.Context, callID string) (DecidedCall, error) {
	var v InstanceStatus
	instanceID, err := p.instanceID(ctx, callID)
	if err == nil {
		err = p.client.query(ctx, instanceID, protocol.QueryStatus, &v)
	}
	if err != nil {
		return DecidedCall{}, kind.Errorf(ErrNotFound, "ask the instance of %s in %s: %w", callID, p.id, err)
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
