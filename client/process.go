package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/client/internal/kind"
	"processidea/connect"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// Process is one process, running or ended. It has no state of its own: every method asks the server. It is safe for
// concurrent use.
type Process struct {
	client     *Client
	id         string
	isAttached bool
}

// Attach finds a process by its id. The error wraps ErrNotFound if Temporal has no such process, or no longer has it;
// its chain may still be in the store.
func (c *Client) Attach(ctx context.Context, id string) (*Process, error) {
	p := c.Process(id)
	if _, err := p.describe(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Process returns a process by its id without a check that it exists: later calls report that.
func (c *Client) Process(id string) *Process { return &Process{client: c, id: id, isAttached: true} }

// ID is the process's id: its workflow id.
func (p *Process) ID() string { return p.id }

// IsAttached reports whether the process existed already.
func (p *Process) IsAttached() bool { return p.isAttached }

// Chain returns the chain of the process.
func (p *Process) Chain() *Chain { return p.client.Chain(p.id) }

// describe returns Temporal's description of the process.
func (p *Process) describe(ctx context.Context) (*workflowpb.WorkflowExecutionInfo, error) {
	d, err := p.client.temporal.DescribeWorkflowExecution(ctx, p.id, "")
	info := d.GetWorkflowExecutionInfo()
	switch name := info.GetType().GetName(); {
	case isNotFound(err), isInvalidArgument(err):
		if _, err := p.Chain().checkIdeaNumber(ctx, "find", 0); errors.Is(err, ErrForgotten) {
			return nil, err
		}
		return nil, kind.Errorf(ErrNotFound, "find process %s: no process has this id", p.id)
	case err != nil:
		return nil, fmt.Errorf("find process %s: %w", p.id, err)
	case name == protocol.InstanceType:
		processID, _, _ := protocol.ParseInstanceID(p.id)
		return nil, kind.Errorf(ErrNotFound, "find process %s: it is not a process, but an instance of %s",
			p.id, processID)
	case name != protocol.ProcessType:
		return nil, kind.Errorf(ErrNotFound, "find process %s: the workflow with this id is not a process", p.id)
	}
	return info, nil
}

// Idea returns the latest Idea of the chain, with a message for each instance that the process has by now. Its input
// schema types the columns of a CSV file, and new instances avoid its tokens. Before the first Request has ended it has
// only the tokens.
func (p *Process) Idea(ctx context.Context) (*ideafile.Idea, error) {
	v, err := p.Status(ctx)
	if err != nil {
		_, err = p.client.explainUnreachable(ctx, p.id, err)
		return nil, fmt.Errorf("ask %s: %w", p.id, err)
	}
	idea := &ideafile.Idea{}
	// the number in a split process's status includes the Ideas of its parts
	latestIdeaNumber, err := p.Chain().Length(ctx)
	if err == nil && latestIdeaNumber > 0 {
		var ideaSource map[string]any
		ideaSource, err = p.Chain().chainStore.Load(ctx, p.id, latestIdeaNumber)
		idea, _ = ideafile.ReadIdea(ideaSource)
	}
	if err != nil {
		return nil, fmt.Errorf("read Idea %d of %s: %w", latestIdeaNumber, p.id, err)
	}
	for token := range v.Instances {
		idea.Context = append(idea.Context, ideafile.Message{InstanceToken: token})
	}
	return idea, nil
}

// DelegateIDs lists the ids of this process's delegates, and of their delegates in turn, sorted.
func (p *Process) DelegateIDs(ctx context.Context) ([]string, error) {
	delegateIDs := map[string]bool{}
	for e, err := range p.client.Executions(ctx, processQuery) {
		if err != nil {
			return nil, fmt.Errorf("list delegates of %s: %w", p.id, err)
		}
		id := e.GetExecution().GetWorkflowId()
		if p.isDelegate(id) && e.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
			delegateIDs[id] = true
		}
	}
	return jsonval.SortedKeys(delegateIDs), nil
}

// isDelegate reports whether a process is a delegate of this one, at any depth.
func (p *Process) isDelegate(id string) bool {
	suffix, isBelow := strings.CutPrefix(id, p.id+"/")
	return isBelow && !spelling.IsPartID(id) && strings.Contains(suffix, "~call/")
}

// cutLast splits an id at the last mark, if only one word follows it; otherwise last is empty.
func cutLast(id, mark string) (before, last string) {
	if index := strings.LastIndex(id, mark); index >= 0 && !strings.Contains(id[index+len(mark):], "/") {
		return id[:index], id[index+len(mark):]
	}
	return id, ""
}

// processQuery is a list query for processes, including parts and delegates.
var processQuery = fmt.Sprintf("WorkflowType = '%s'", protocol.ProcessType)

// openQuery is a list query for open workflows. Older servers do not know the status Paused.
const openQuery, runningQuery = "ExecutionStatus IN ('Running', 'Paused')", "ExecutionStatus = 'Running'"

// listWorkflow lists a page of workflows. Afterwards the request has the query that the server understands.
func (c *Client) listWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	page, err := c.temporal.ListWorkflow(ctx, r)
	if olderQuery := strings.Replace(r.GetQuery(), openQuery, runningQuery, 1); isInvalidArgument(err) &&
		olderQuery != r.GetQuery() {
		r.Query = olderQuery
		page, err = c.temporal.ListWorkflow(ctx, r)
	}
	return page, err
}

// Executions yields every workflow that a query finds, the latest first. An error comes last.
func (c *Client) Executions(ctx context.Context, query string) iter.Seq2[*workflowpb.WorkflowExecutionInfo, error] {
	return connect.Executions(ctx, c.listWorkflow,
		&workflowservice.ListWorkflowExecutionsRequest{Namespace: c.namespace, PageSize: 200, Query: query})
}

// HistoryPosition says how far a process has come, without a worker: while it stays the same, so does the Status.
type HistoryPosition struct {
	RunID      string // the run of the workflow
	EventCount int64  // of that run's history
	HasEnded   bool
}

// HistoryPosition asks Temporal how far the process has come. The error wraps ErrNotFound if there is no such process.
func (p *Process) HistoryPosition(ctx context.Context) (HistoryPosition, error) {
	info, err := p.describe(ctx)
	if err != nil {
		return HistoryPosition{}, err
	}
	return HistoryPosition{RunID: info.GetExecution().GetRunId(), EventCount: info.GetHistoryLength(),
		HasEnded: info.GetCloseTime() != nil}, nil
}
