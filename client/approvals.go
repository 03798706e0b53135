package client

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"

	"processidea/client/internal/kind"
	"processidea/protocol"
	"processidea/store/blobs"
)

// Approval is a Call that waits for a person: what would run, exactly as it would, since when, and what happens at the
// deadline. Its fields are Process, Instance, those of turn.PendingApproval (Call, Digest, Tool, Params, Since, Deadline, Allow and
// others), and the case: State and Input of the instance.
type Approval = protocol.Approval

// Approvals lists what waits for a person in the process, with every value whole. The error wraps ErrNoWorker or
// ErrUnreachable where nobody answers.
func (p *Process) Approvals(ctx context.Context) ([]Approval, error) {
	ctx = blobs.ForProcess(ctx, p.id)
	v := protocol.ProcessApprovals{Approvals: []Approval{}} // a list even where nothing waits
	err := p.client.queryFor(ctx, silence, p.id, protocol.QueryApprovals, &v)
	if err != nil {
		if down := p.client.health(ctx); down != nil {
			return nil, kind.Errorf(ErrUnreachable, "ask %s: %w", p.id, down)
		}
		return nil, kind.Errorf(ErrNoWorker, "ask %s what waits there: no worker answers: %w", p.id, err)
	}
	p.addMissingCases(ctx, v.Approvals)
	for n := range v.Approvals {
		whole, err := p.client.archive.values.Restore(ctx, v.Approvals[n].Params)
		if err != nil {
			return nil, fmt.Errorf("read parameters of %s: %w", v.Approvals[n].CallID, err)
		}
		v.Approvals[n].Params, _ = whole.(map[string]any)
		if err := p.restoreCase(ctx, &v.Approvals[n].ApprovalContext); err != nil {
			return nil, fmt.Errorf("read the case of %s: %w", v.Approvals[n].CallID, err)
		}
	}
	return v.Approvals, nil
}

// addMissingCases asks the instances whose case the process's answer leaves out: those of a split process, and those beyond what one
// answer holds. Of one that does not answer the case is missing.
func (p *Process) addMissingCases(ctx context.Context, list []Approval) {
	var g errgroup.Group
	g.SetLimit(queriesAtOnce)
	for n := range list {
		a := &list[n]
		if a.State != nil {
			continue
		}
		g.Go(func() error {
			var v protocol.ApprovalsView
			if err := p.client.query(ctx, protocol.InstanceID(a.Process, a.Instance), protocol.QueryApprovals, &v); err == nil {
				a.ApprovalContext = v.ApprovalContext
			}
			return nil
		})
	}
	_ = g.Wait()
}

func (p *Process) restoreCase(ctx context.Context, c *protocol.ApprovalContext) (err error) {
	if c.Input, err = p.client.archive.values.Restore(ctx, c.Input); err == nil {
		c.State, err = p.client.archive.values.Restore(ctx, c.State)
	}
	return err
}

// Approvals lists what waits for a person in all processes.
func (c *Client) Approvals(ctx context.Context) ([]Approval, error) {
	ids, err := c.awaiting(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	found := make([][]Approval, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(queriesAtOnce)
	for n, id := range ids {
		g.Go(func() (err error) {
			found[n], err = c.Process(id).Approvals(ctx)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all := []Approval{} // a list even where nothing waits
	for _, list := range found {
		all = append(all, list...)
	}
	return all, nil
}

// awaiting lists the processes in which somebody is waited for; where the search attributes are not registered, all that
// are open.
func (c *Client) awaiting(ctx context.Context) (ids []string, err error) {
	open := processQuery + " AND ExecutionStatus = 'Running'"
	note := func(info *workflowpb.WorkflowExecutionInfo) bool {
		ids = append(ids, info.GetExecution().GetWorkflowId())
		return true
	}
	err = c.executions(ctx, open+" AND "+protocol.AttributeAwaiting+" > 0", note)
	var unknownAttribute *serviceerror.InvalidArgument
	if errors.As(err, &unknownAttribute) {
		ids = nil
		err = c.executions(ctx, open, note)
	}
	return ids, err
}
