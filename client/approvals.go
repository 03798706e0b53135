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
// the context: see WithLanguage), Reasoning, the fields of approval.PendingCall (CallID, Digest, Tool, Params, Since,
// Deadline, AllowedDecisions and others), and the case: State and Input of the instance.
type Approval = protocol.Approval

// WaitingItems is all that waits for a person: Calls, and Plans as a whole.
type WaitingItems struct {
	Approvals []Approval
	Plans     []PendingPlan
	// UnansweredProcessIDs are the processes that did not answer: what waits in them is missing.
	UnansweredProcessIDs []string
}

// unansweredProcessesError says why processes did not answer. It is returned beside the answers of the others.
type unansweredProcessesError struct {
	error
	processIDs        []string
	noProcessAnswered bool // no process answered
}

func (e *unansweredProcessesError) Unwrap() error { return e.error }

// UnansweredProcessIDs returns the processes that did not answer, from the error of a list over several processes. Its
// own error is nil if other processes did answer.
func UnansweredProcessIDs(err error) (processIDs []string, _ error) {
	e, isUnanswered := errors.AsType[*unansweredProcessesError](err)
	switch {
	case !isUnanswered:
		return nil, err
	case e.noProcessAnswered:
		return e.processIDs, err
	}
	return e.processIDs, nil
}

// PendingPlan is a Plan that waits as a whole, as its process reports it. Its fields are Process (the part, in a split
// process) and the fields of approval.Plan.
type PendingPlan = protocol.PlanView

// Approvals lists the Calls that wait for a person in the process, with every value whole. The error wraps ErrNoWorker
// or ErrUnreachable if the process does not answer.
func (p *Process) Approvals(ctx context.Context) ([]Approval, error) {
	w, err := p.ListWaiting(ctx)
	return w.Approvals, err
}

// ListWaiting lists all that waits for a person in the process. It returns the errors of Approvals.
func (p *Process) ListWaiting(ctx context.Context) (WaitingItems, error) {
	ctx = blobs.WithProcess(ctx, p.id)
	v, err := p.queryWaiting(ctx)
	if err != nil {
		return WaitingItems{}, err
	}
	if err := p.addMissingApprovalContexts(ctx, v.Approvals); err != nil {
		return WaitingItems{}, err
	}
	for n := range v.Approvals {
		restored, err := p.client.archive.blobStore.Restore(ctx, v.Approvals[n].Params)
		if err != nil {
			return WaitingItems{}, fmt.Errorf("read parameters of %s: %w", v.Approvals[n].CallID, err)
		}
		v.Approvals[n].Params, _ = restored.(map[string]any)
		if err := p.restoreApprovalContext(ctx, &v.Approvals[n].ApprovalContext); err != nil {
			return WaitingItems{}, fmt.Errorf("read the case of %s: %w", v.Approvals[n].CallID, err)
		}
	}
	p.addDescriptions(ctx, v.Approvals)
	p.addPlanSentences(ctx, v.Plans)
	return WaitingItems{Approvals: v.Approvals, Plans: v.Plans}, nil
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
	err = p.client.queryWithTimeout(ctx, maxServerSilence, p.id, protocol.QueryApprovals, &v)
	if err == nil {
		return v, nil
	}
	_, err = p.client.explainUnreachable(ctx, p.id, err)
	return v, fmt.Errorf("list approvals of %s: %w", p.id, err)
}

// addMissingApprovalContexts queries the instances whose case is not in the process's answer: all instances of a split
// process, and those for which one answer has no space. If an instance does not answer, its case stays missing.
func (p *Process) addMissingApprovalContexts(ctx context.Context, list []Approval) error {
	return safego.ForEach(ctx, "client.cases", len(list), maxConcurrentQueries, func(ctx context.Context, n int) error {
		a := &list[n]
		var v protocol.ApprovalsView
		if a.State == nil && p.client.query(ctx, protocol.InstanceID(a.Process, a.Instance), protocol.QueryApprovals,
			&v) == nil {
			a.ApprovalContext = v.ApprovalContext
		}
		return nil
	})
}

func (p *Process) restoreApprovalContext(ctx context.Context, c *protocol.ApprovalContext) (err error) {
	if c.Input, err = p.client.archive.blobStore.Restore(ctx, c.Input); err == nil {
		c.State, err = p.client.archive.blobStore.Restore(ctx, c.State)
	}
	return err
}

// Approvals lists the Calls that wait for a person in all processes. If some processes do not answer, it returns the
// Calls of the others, and an error that names those processes.
func (c *Client) Approvals(ctx context.Context) ([]Approval, error) {
	w, err := c.listAllWaiting(ctx)
	return w.Approvals, err
}

// ListWaiting lists all that waits for a person in all processes. It fails only if no process can be asked.
func (c *Client) ListWaiting(ctx context.Context) (WaitingItems, error) {
	w, err := c.listAllWaiting(ctx)
	w.UnansweredProcessIDs, err = UnansweredProcessIDs(err)
	return w, err
}

func (c *Client) listAllWaiting(ctx context.Context) (WaitingItems, error) {
	results, err := queryProcessesAwaitingPeople(ctx, c, (*Process).ListWaiting)
	all := WaitingItems{Approvals: []Approval{}, Plans: []PendingPlan{}} // lists even where nothing waits
	for _, w := range results {
		all.Approvals, all.Plans = append(all.Approvals, w.Approvals...), append(all.Plans, w.Plans...)
	}
	return all, err
}

// ApprovalsOf lists the Calls that wait for a person in a process and in its delegates, each with its process. The id
// may be an instance's: refunds/13. The error wraps ErrNotFound if there is no such process; for processes that do not
// answer it is as in Client.Approvals.
func (c *Client) ApprovalsOf(ctx context.Context, processOrInstanceID string) ([]Approval, error) {
	processID, token, isInstance := protocol.ParseInstanceID(processOrInstanceID)
	return queryWithDelegates(ctx, c, processOrInstanceID, func(p *Process, ctx context.Context) ([]Approval, error) {
		list, err := p.Approvals(ctx)
		if isInstance && p.id == processID {
			list = slices.DeleteFunc(list, func(a Approval) bool {
				return !spelling.MatchesInstanceToken(token, a.Instance)
			})
		}
		return list, err
	})
}

// WaitingPlansOf lists the Plans that wait in a process and in its delegates, as ApprovalsOf does; for an instance's
// id, the Plans of its process.
func (c *Client) WaitingPlansOf(ctx context.Context, processOrInstanceID string) ([]DescribedPlan, error) {
	return queryWithDelegates(ctx, c, processOrInstanceID, (*Process).WaitingPlans)
}

// queryWithDelegates queries a process, by its id or that of one of its instances, and those of its delegates at any
// depth that wait for a person. For an instance's id it queries only the delegates of that instance.
func queryWithDelegates[T any](
	ctx context.Context, c *Client, processOrInstanceID string,
	queryProcess func(*Process, context.Context) ([]T, error),
) ([]T, error) {
	processID, token, isInstance := protocol.ParseInstanceID(processOrInstanceID)
	p, err := c.Attach(ctx, processID)
	if err != nil {
		return nil, err
	}
	processesAwaitingPeople, err := c.listProcessesAwaitingPeople(ctx)
	if err != nil {
		return nil, fmt.Errorf("list delegates of %s: %w", processID, err)
	}
	processIDs := []string{processID}
	for _, info := range processesAwaitingPeople {
		awaitingProcessID := info.GetExecution().GetWorkflowId()
		if p.isDelegate(spelling.WholeProcessID(awaitingProcessID)) &&
			(!isInstance || protocol.BelongsToInstance(awaitingProcessID, token)) {
			processIDs = append(processIDs, awaitingProcessID)
		}
	}
	results, err := queryEachProcess(ctx, c, processIDs, queryProcess)
	return append([]T{}, slices.Concat(results...)...), err // a list even where nothing waits
}

// queryProcessesAwaitingPeople queries every process that waits for a person.
func queryProcessesAwaitingPeople[T any](
	ctx context.Context, c *Client, queryProcess func(*Process, context.Context) (T, error),
) (results []T, err error) {
	list, err := c.listProcessesAwaitingPeople(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return queryEachProcess(ctx, c, jsonval.Map(list, func(info *workflowpb.WorkflowExecutionInfo) string {
		return info.GetExecution().GetWorkflowId()
	}), queryProcess)
}

// queryEachProcess queries processes concurrently. If one does not answer, the answers of the others are returned
// beside the error.
func queryEachProcess[T any](
	ctx context.Context, c *Client, processIDs []string, queryProcess func(*Process, context.Context) (T, error),
) (results []T, err error) {
	results, errs := make([]T, len(processIDs)), make([]error, len(processIDs))
	err = safego.ForEach(ctx, "client.waiting", len(processIDs), maxConcurrentQueries,
		func(ctx context.Context, n int) error {
			results[n], errs[n] = queryProcess(c.Process(processIDs[n]), ctx)
			return nil
		})
	if err != nil {
		return nil, err
	}
	unansweredErr := unansweredProcessesError{}
	for n, cause := range errs {
		if cause != nil && !errors.Is(cause, ErrNotFound) && !errors.Is(cause, ErrForgotten) { // these ended meanwhile
			unansweredErr.processIDs, unansweredErr.error = append(unansweredErr.processIDs, processIDs[n]),
				errors.Join(unansweredErr.error, cause)
		}
	}
	if unansweredErr.noProcessAnswered = len(unansweredErr.processIDs) == len(processIDs); unansweredErr.error != nil {
		return results, &unansweredErr
	}
	return results, nil
}

// listProcessesAwaitingPeople lists the processes that wait for a person; without registered search attributes, all
// open processes. For a split process it lists the parts, which have the cases. It lists the whole instead if more
// waits in the whole than in its parts: both report the same Calls.
func (c *Client) listProcessesAwaitingPeople(ctx context.Context) (list []*workflowpb.WorkflowExecutionInfo,
	err error) {
	for _, condition := range []string{" AND " + protocol.AttributePendingDecisions + " > 0", ""} {
		list, err = nil, nil
		for info, listErr := range c.Executions(ctx, processQuery+" AND "+openQuery+condition) {
			list, err = append(list, info), listErr
		}
		if !isInvalidArgument(err) {
			break
		}
	}
	// by the whole: how much waits in the whole beyond its parts
	isSplitByProcessID, callsBeyondPartsByID := map[string]bool{}, map[string]int{}
	for _, info := range list {
		id := info.GetExecution().GetWorkflowId()
		if spelling.IsPartID(id) {
			isSplitByProcessID[spelling.WholeProcessID(id)] = true
			callsBeyondPartsByID[spelling.WholeProcessID(id)] -= awaitingCallCount(info)
		} else {
			callsBeyondPartsByID[id] += awaitingCallCount(info)
		}
	}
	return slices.DeleteFunc(list, func(info *workflowpb.WorkflowExecutionInfo) bool {
		id := info.GetExecution().GetWorkflowId()
		wholeID := spelling.WholeProcessID(id)
		return isSplitByProcessID[wholeID] && spelling.IsPartID(id) == (callsBeyondPartsByID[wholeID] > 0)
	}), err
}
