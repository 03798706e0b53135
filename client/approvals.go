package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	workflowpb "go.temporal.io/api/workflow/v1"

	"processidea/internal/safego"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
)

// Approval is a Call that waits for a person: exactly what would run, since when it waits, and what happens at the
// deadline. Its fields are Process, Instance, its names for people (Sentence, InstanceName, Fields, in the language of
// the context: see WithLanguage), Reasoning, the fields of approval.Pending (CallID, Digest, Tool, Params, Since,
// Deadline, Allow and others), and the case: State and Input of the instance.
type Approval = protocol.Approval

// Waiting is all that waits for a person: Calls, and Plans as a whole.
type Waiting struct {
	Approvals []Approval
	Plans     []PendingPlan
	// UnansweredProcesses are the processes that did not answer: what waits in them is missing.
	UnansweredProcesses []string
}

// unansweredError says why processes did not answer. It is returned beside the answers of the others.
type unansweredError struct {
	error
	processes      []string
	nobodyAnswered bool // no process answered
}

func (e *unansweredError) Unwrap() error { return e.error }

// UnansweredProcesses returns the processes that did not answer, from the error of a list over several processes. Its
// own error is nil if other processes did answer.
func UnansweredProcesses(err error) (processes []string, _ error) {
	e, isUnanswered := errors.AsType[*unansweredError](err)
	switch {
	case !isUnanswered:
		return nil, err
	case e.nobodyAnswered:
		return e.processes, err
	}
	return e.processes, nil
}

// PendingPlan is a Plan that waits as a whole, as its process reports it. Its fields are Process (the part, in a split
// process) and the fields of approval.Plan.
type PendingPlan = protocol.PlanView

// Approvals lists the Calls that wait for a person in the process, with every value whole. The error wraps ErrNoWorker
// or ErrUnreachable if the process does not answer.
func (p *Process) Approvals(ctx context.Context) ([]Approval, error) {
	w, err := p.Waiting(ctx)
	return w.Approvals, err
}

// Waiting lists all that waits for a person in the process. It returns the errors of Approvals.
func (p *Process) Waiting(ctx context.Context) (Waiting, error) {
	ctx = blobs.ForProcess(ctx, p.id)
	v, err := p.queryWaiting(ctx)
	if err != nil {
		return Waiting{}, err
	}
	if err := p.addMissingCases(ctx, v.Approvals); err != nil {
		return Waiting{}, err
	}
	for n := range v.Approvals {
		restored, err := p.client.archive.blobStore.Restore(ctx, v.Approvals[n].Params)
		if err != nil {
			return Waiting{}, fmt.Errorf("read parameters of %s: %w", v.Approvals[n].CallID, err)
		}
		v.Approvals[n].Params, _ = restored.(map[string]any)
		if err := p.restoreCase(ctx, &v.Approvals[n].ApprovalContext); err != nil {
			return Waiting{}, fmt.Errorf("read the case of %s: %w", v.Approvals[n].CallID, err)
		}
	}
	p.addWords(ctx, v.Approvals)
	p.addSentences(ctx, v.Plans)
	return Waiting{Approvals: v.Approvals, Plans: v.Plans}, nil
}

func (p *Process) queryWaiting(ctx context.Context) (protocol.ProcessApprovals, error) {
	v := protocol.ProcessApprovals{Approvals: []Approval{}, Plans: []PendingPlan{}} // lists even where nothing waits
	queryCtx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	info, err := p.describe(queryCtx)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrForgotten):
		return v, err
	case info.GetCloseTime() != nil: // nothing waits in an ended process, even if a worker answers
		return v, nil
	}
	err = p.client.queryFor(ctx, maxSilence, p.id, protocol.QueryApprovals, &v)
	if err == nil {
		return v, nil
	}
	_, err = p.client.explainUnreachable(ctx, p.id, err)
	return v, fmt.Errorf("list approvals of %s: %w", p.id, err)
}

// addMissingCases queries the instances whose case is not in the process's answer: all instances of a split process,
// and those for which one answer has no space. If an instance does not answer, its case stays missing.
func (p *Process) addMissingCases(ctx context.Context, list []Approval) error {
	return safego.ForEach(ctx, "client.cases", len(list), maxQueries, func(ctx context.Context, n int) error {
		a := &list[n]
		var v protocol.ApprovalsView
		if a.State == nil && p.client.query(ctx, protocol.InstanceID(a.Process, a.Instance), protocol.QueryApprovals,
			&v) == nil {
			a.ApprovalContext = v.ApprovalContext
		}
		return nil
	})
}

func (p *Process) restoreCase(ctx context.Context, c *protocol.ApprovalContext) (err error) {
	if c.Input, err = p.client.archive.blobStore.Restore(ctx, c.Input); err == nil {
		c.State, err = p.client.archive.blobStore.Restore(ctx, c.State)
	}
	return err
}

// Approvals lists the Calls that wait for a person in all processes. If some processes do not answer, it returns the
// Calls of the others, and an error that names those processes.
func (c *Client) Approvals(ctx context.Context) ([]Approval, error) {
	w, err := c.allWaiting(ctx)
	return w.Approvals, err
}

// Waiting lists all that waits for a person in all processes. It fails only if no process can be asked.
func (c *Client) Waiting(ctx context.Context) (Waiting, error) {
	w, err := c.allWaiting(ctx)
	w.UnansweredProcesses, err = UnansweredProcesses(err)
	return w, err
}

func (c *Client) allWaiting(ctx context.Context) (Waiting, error) {
	results, err := queryAwaiting(ctx, c, (*Process).Waiting)
	all := Waiting{Approvals: []Approval{}, Plans: []PendingPlan{}} // lists even where nothing waits
	for _, w := range results {
		all.Approvals, all.Plans = append(all.Approvals, w.Approvals...), append(all.Plans, w.Plans...)
	}
	return all, err
}

// ApprovalsOf lists the Calls that wait for a person in a process and in its delegates, each with its process. The id
// may be an instance's: refunds/13. The error wraps ErrNotFound if there is no such process; for processes that do not
// answer it is as in Client.Approvals.
func (c *Client) ApprovalsOf(ctx context.Context, id string) ([]Approval, error) {
	process, token, isInstance := protocol.ParseInstanceID(id)
	return queryWithDelegates(ctx, c, id, func(p *Process, ctx context.Context) ([]Approval, error) {
		list, err := p.Approvals(ctx)
		if isInstance && p.id == process {
			list = slices.DeleteFunc(list, func(a Approval) bool {
				return !spelling.MatchesToken(token, a.Instance)
			})
		}
		return list, err
	})
}

// PlansOf lists the Plans that wait in a process and in its delegates, as ApprovalsOf does; for an instance's id, the
// Plans of its process.
func (c *Client) PlansOf(ctx context.Context, id string) ([]Plan, error) {
	return queryWithDelegates(ctx, c, id, (*Process).Plans)
}

// queryWithDelegates queries a process, by its id or that of one of its instances, and those of its delegates at any
// depth that wait for a person. For an instance's id it queries only the delegates of that instance.
func queryWithDelegates[T any](
	ctx context.Context, c *Client, id string, ask func(*Process, context.Context) ([]T, error),
) ([]T, error) {
	process, token, isInstance := protocol.ParseInstanceID(id)
	p, err := c.Attach(ctx, process)
	if err != nil {
		return nil, err
	}
	awaiting, err := c.listAwaiting(ctx)
	if err != nil {
		return nil, fmt.Errorf("list delegates of %s: %w", process, err)
	}
	ids := []string{process}
	for _, info := range awaiting {
		child := info.GetExecution().GetWorkflowId()
		if p.isDelegate(spelling.WholeProcessID(child)) &&
			(!isInstance || protocol.BelongsToInstance(child, token)) {
			ids = append(ids, child)
		}
	}
	results, err := queryEach(ctx, c, ids, ask)
	return append([]T{}, slices.Concat(results...)...), err // a list even where nothing waits
}

// queryAwaiting queries every process that waits for a person.
func queryAwaiting[T any](
	ctx context.Context, c *Client, ask func(*Process, context.Context) (T, error),
) (results []T, err error) {
	list, err := c.listAwaiting(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return queryEach(ctx, c, jsonval.Map(list, func(info *workflowpb.WorkflowExecutionInfo) string {
		return info.GetExecution().GetWorkflowId()
	}), ask)
}

// queryEach queries processes concurrently. If one does not answer, the answers of the others are returned beside the
// error.
func queryEach[T any](
	ctx context.Context, c *Client, ids []string, ask func(*Process, context.Context) (T, error),
) (results []T, err error) {
	results, errs := make([]T, len(ids)), make([]error, len(ids))
	err = safego.ForEach(ctx, "client.waiting", len(ids), maxQueries, func(ctx context.Context, n int) error {
		results[n], errs[n] = ask(c.Process(ids[n]), ctx)
		return nil
	})
	if err != nil {
		return nil, err
	}
	unanswered := unansweredError{}
	for n, cause := range errs {
		if cause != nil && !errors.Is(cause, ErrNotFound) && !errors.Is(cause, ErrForgotten) { // these ended meanwhile
			unanswered.processes, unanswered.error = append(unanswered.processes, ids[n]),
				errors.Join(unanswered.error, cause)
		}
	}
	if unanswered.nobodyAnswered = len(unanswered.processes) == len(ids); unanswered.error != nil {
		return results, &unanswered
	}
	return results, nil
}

// listAwaiting lists the processes that wait for a person; without registered search attributes, all open processes.
// For a split process it lists the parts, which have the cases. It lists the whole instead if more waits in the whole
// than in its parts: both report the same Calls.
func (c *Client) listAwaiting(ctx context.Context) (list []*workflowpb.WorkflowExecutionInfo, err error) {
	for _, condition := range []string{" AND " + protocol.AttributeAwaiting + " > 0", ""} {
		list, err = nil, nil
		for info, listErr := range c.Executions(ctx, processQuery+" AND "+openQuery+condition) {
			list, err = append(list, info), listErr
		}
		if !isRefused(err) {
			break
		}
	}
	// by the whole: how much waits in the whole beyond its parts
	hasParts, excessByProcess := map[string]bool{}, map[string]int{}
	for _, info := range list {
		id := info.GetExecution().GetWorkflowId()
		if spelling.IsPart(id) {
			hasParts[spelling.WholeProcessID(id)] = true
			excessByProcess[spelling.WholeProcessID(id)] -= countAwaiting(info)
		} else {
			excessByProcess[id] += countAwaiting(info)
		}
	}
	return slices.DeleteFunc(list, func(info *workflowpb.WorkflowExecutionInfo) bool {
		id := info.GetExecution().GetWorkflowId()
		whole := spelling.WholeProcessID(id)
		return hasParts[whole] && spelling.IsPart(id) == (excessByProcess[whole] > 0)
	}), err
}
