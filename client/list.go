package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"processidea/client/internal/kind"
	"processidea/client/readable"
	"processidea/connect"
	"processidea/internal/safego"
	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// ProcessSummary is a process as List shows it. ProcessPath and IdeaVersion come from its Idea's meta; EndedAt is nil
// while the process is open.
type ProcessSummary struct {
	ProcessID   string      `json:"process"`
	Status      loop.Status `json:"status"`
	ProcessPath string      `json:"path"`
	IdeaVersion string      `json:"version"`
	StartedAt   time.Time   `json:"started"`
	EndedAt     *time.Time  `json:"ended"`
	// AwaitingCount counts the Calls that wait for a person. It needs registered search attributes, or a worker that
	// answers. WaitingTexts says why the process is paused, or what it waits for beside people. It needs a worker that
	// answers.
	AwaitingCount int      `json:"awaiting"`
	WaitingTexts  []string `json:"waiting"`
	// DidNotAnswer: the process was queried, and did not answer in time, so that it is unknown what it waits for.
	DidNotAnswer bool `json:"noAnswer,omitempty"`
	// FailedCallCount counts the Calls that failed or were blocked. It is known once the process has ended, or while a
	// worker answers. A completed process may have failed Calls too.
	FailedCallCount int `json:"failedCalls,omitempty"`
	// UndoesProcessID is the process whose Calls this one undoes. UndoingProcessIDs are the processes that have begun
	// to undo this one's Calls, once it has ended. UndoneCallCount counts the Calls that it has undone itself.
	UndoesProcessID   string   `json:"undoes,omitempty"`
	UndoingProcessIDs []string `json:"undoneBy,omitempty"`
	UndoneCallCount   int      `json:"undoneCalls,omitempty"`
	// PauseOrFailureCode is why the process is paused, or has failed; HoldUps is what holds it up. Both are empty if no
	// worker answers.
	PauseOrFailureCode string        `json:"code,omitempty"`
	HoldUps            []turn.HoldUp `json:"heldUp,omitempty"`
}

// StatusText describes the process: its status, how many of its Calls failed or are undone, which process it undoes,
// and which processes undo it.
func (s ProcessSummary) StatusText() string {
	text := loop.InstanceStatusText(string(s.Status), s.FailedCallCount)
	if s.UndoneCallCount > 0 {
		text += ", " + readable.Plural(s.UndoneCallCount, "Call") + " undone"
	}
	if s.UndoesProcessID != "" {
		text += ", takes back " + s.UndoesProcessID
	}
	if len(s.UndoingProcessIDs) > 0 {
		text += ", undone by " + diag.SummarizeNames(s.UndoingProcessIDs)
	}
	return text
}

// ListOptions say which processes to list.
type ListOptions struct {
	Limit      int  // the maximum length of the list; 0: no limit
	OnlyPaused bool // only paused processes
}

// List returns the processes that somebody started, the latest first, without their parts and delegates.
func (c *Client) List(ctx context.Context, o ListOptions) ([]ProcessSummary, error) {
	summaries, f := []ProcessSummary{}, ProcessFilter{}
	if o.OnlyPaused { // list all open ones; for one that does not answer, Temporal's status counts
		f.Status = loop.StatusPaused
	}
	for info, err := range c.Executions(ctx, f.listQuery()) {
		if err != nil {
			return nil, fmt.Errorf("list processes: %w", err)
		}
		if !strings.Contains(info.GetExecution().GetWorkflowId(), "/") {
			summaries = append(summaries, c.newProcessSummary(info))
		}
		if !o.OnlyPaused && len(summaries) == o.Limit && o.Limit > 0 {
			break
		}
	}
	if !o.OnlyPaused {
		queryCtx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		err := errors.Join(c.addLiveStatus(queryCtx, summaries), c.addUndoingProcesses(queryCtx, summaries))
		// A server asks for a worker almost as long as the queries may take, so only now is there time to look for one.
		c.addNoWorkerHoldUp(ctx, summaries, func(s ProcessSummary) bool {
			return s.DidNotAnswer &&
				len(s.HoldUps) == 0
		})
		return summaries, err
	}
	if err := c.addLiveStatus(ctx, summaries); err != nil {
		return nil, err
	}
	summaries = slices.DeleteFunc(summaries, func(s ProcessSummary) bool { return s.Status != loop.StatusPaused })
	if o.Limit > 0 {
		summaries = summaries[:min(len(summaries), o.Limit)]
	}
	return summaries, ctx.Err()
}

// ProcessFilter selects processes; empty fields select any.
type ProcessFilter struct {
	Status             loop.Status
	ProcessPath        string // of the Idea's meta
	OnlyAwaitingPeople bool   // only processes in which a Call waits for a person
}

// ProcessPage is a part of a list. Next begins the next part; nil on the last one.
type ProcessPage struct {
	Processes     []ProcessSummary
	NextPageToken []byte
}

// ListPage returns a part of the list of processes that somebody started, the latest first. It queries no process:
// AwaitingCount is the search attribute, and WaitingTexts says at most that a process is held up. A part may have fewer
// than size (at most 200) although more follow. The error wraps ErrInvalid if the server does not know the search
// attributes of a filter, or the part.
func (c *Client) ListPage(ctx context.Context, f ProcessFilter, pageSize int, pageToken []byte) (ProcessPage, error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.namespace, PageSize: int32(min(max(pageSize, 1), 200)), Query: f.listQuery(),
		NextPageToken: pageToken,
	}
	page := ProcessPage{Processes: []ProcessSummary{}}
	for {
		answer, err := c.listWorkflow(ctx, request)
		if isInvalidArgument(err) {
			return page, kind.Errorf(ErrInvalid, "list processes: %w", err)
		}
		if err != nil {
			return page, fmt.Errorf("list processes: %w", err)
		}
		for _, info := range answer.GetExecutions() {
			s := c.newProcessSummary(info)
			if !strings.Contains(s.ProcessID, "/") && (f.Status == "" || s.Status == f.Status) &&
				(f.ProcessPath == "" || s.ProcessPath == f.ProcessPath) {
				page.Processes = append(page.Processes, s)
			}
		}
		page.NextPageToken = answer.GetNextPageToken()
		if len(page.Processes) > 0 || len(page.NextPageToken) == 0 {
			c.addNoWorkerHoldUp(ctx, page.Processes, func(ProcessSummary) bool { return true })
			queryCtx, cancel := context.WithTimeout(ctx, queryTimeout)
			defer cancel()
			return page, c.addUndoingProcesses(queryCtx, page.Processes)
		}
		request.NextPageToken = page.NextPageToken
	}
}

// addNoWorkerHoldUp marks those running processes as held up for which isCandidate says so, if no worker serves them.
func (c *Client) addNoWorkerHoldUp(ctx context.Context, list []ProcessSummary, isCandidate func(ProcessSummary) bool) {
	isAffected := func(s ProcessSummary) bool { return s.Status == loop.StatusRunning && isCandidate(s) }
	if !slices.ContainsFunc(list, isAffected) || c.hasWorker(ctx) {
		return
	}
	for n := range list {
		if isAffected(list[n]) {
			list[n].addHoldUp(noWorkerHoldUp(protocol.TaskQueue))
		}
	}
}

// queryByStatus maps our statuses to a query by Temporal's.
var queryByStatus = map[loop.Status]string{
	loop.StatusRunning: openQuery, loop.StatusPaused: openQuery, loop.StatusCompleted: "ExecutionStatus = 'Completed'",
	loop.StatusFailed:    "ExecutionStatus IN ('Failed', 'TimedOut')",
	loop.StatusCancelled: "ExecutionStatus IN ('Canceled', 'Terminated')",
}

func (f ProcessFilter) listQuery() string {
	query := processQuery
	if f.Status != "" {
		query += " AND " + queryByStatus[f.Status]
	}
	// servers on SQLite find no such path
	if f.ProcessPath != "" && !strings.ContainsAny(f.ProcessPath, "\"\\\x00\n\r\x1a") {
		query += " AND " + protocol.AttributePath + " = '" + strings.ReplaceAll(f.ProcessPath, "'", "\\'") + "'"
	}
	if f.OnlyAwaitingPeople {
		query += " AND " + protocol.AttributePendingDecisions + " > 0"
	}
	return query
}

// addLiveStatus queries the open processes for their status and what they wait for. It marks those that do not answer
// in time.
func (c *Client) addLiveStatus(ctx context.Context, summaries []ProcessSummary) error {
	return safego.ForEach(ctx, "client.list", len(summaries), maxConcurrentQueries,
		func(ctx context.Context, n int) error {
			s := &summaries[n]
			if s.EndedAt != nil {
				return nil
			}
			v, err := c.Process(s.ProcessID).Status(ctx)
			if s.DidNotAnswer = err != nil; s.DidNotAnswer {
				s.addHoldUp(c.explainNoAnswer(ctx, s.ProcessID, err))
				return nil
			}
			s.Status, s.AwaitingCount, s.WaitingTexts, s.HoldUps = v.Status, v.PendingDecisionCount, waitingTexts(v),
				v.HoldUps
			s.FailedCallCount, s.UndoneCallCount = v.Calls.Failed+v.Calls.Blocked, v.Calls.Undone
			if v.Error != nil {
				s.PauseOrFailureCode = v.Error.Code
			}
			return nil
		})
}

// addUndoingProcesses adds to ended processes which processes undo them, if the store answers in time.
func (c *Client) addUndoingProcesses(ctx context.Context, list []ProcessSummary) error {
	return safego.ForEach(ctx, "client.undone", len(list), maxConcurrentQueries,
		func(ctx context.Context, n int) error {
			if list[n].EndedAt != nil {
				list[n].UndoingProcessIDs, _ = c.Chain(list[n].ProcessID).UndoingProcessIDs(ctx)
			}
			return nil
		})
}

// waitingTexts returns what a process waits for beside people: the LLM, and what holds it up; or, in the last line, why
// it is paused. A paused process may be held up too, for example if the store has no space for its last Idea.
func waitingTexts(v Status) []string {
	lines := []string{}
	if v.Error != nil {
		return append(jsonval.Map(v.HoldUps, turn.HoldUp.String), v.Error.Message)
	}
	for _, line := range v.WaitingFor {
		switch {
		case strings.HasPrefix(line, protocol.WaitingForLLMPrefix):
			lines = append(lines, "asking the LLM: "+line)
		case !strings.HasPrefix(line, protocol.WaitingForPersonPrefix):
			lines = append(lines, line)
		}
	}
	return lines
}

// newProcessSummary makes a Summary from a list entry. It leaves out a memo that the available keys cannot decrypt.
func (c *Client) newProcessSummary(info *workflowpb.WorkflowExecutionInfo) ProcessSummary {
	s := ProcessSummary{
		ProcessID: info.GetExecution().GetWorkflowId(), Status: statusKnownToTemporal(info),
		StartedAt:    info.GetStartTime().AsTime(),
		WaitingTexts: []string{},
	}
	if s.AwaitingCount = awaitingCallCount(info); searchAttribute[string](info,
		protocol.AttributeStatus) == protocol.StatusHeldUp {
		s.WaitingTexts = []string{protocol.StatusHeldUp}
	}
	if holdUp := unresponsiveCause(info); holdUp != nil {
		s.HoldUps, s.WaitingTexts = []turn.HoldUp{*holdUp}, []string{holdUp.String()}
	}
	memo, dataConverter := info.GetMemo().GetFields(), connect.DataConverter(c.archive.blobStore.Keys())
	_ = dataConverter.FromPayload(memo[protocol.MemoPath], &s.ProcessPath)
	_ = dataConverter.FromPayload(memo[protocol.MemoVersion], &s.IdeaVersion)
	_ = dataConverter.FromPayload(memo[protocol.MemoFailedCallCount], &s.FailedCallCount)
	_ = dataConverter.FromPayload(memo[protocol.MemoUndoneCallCount], &s.UndoneCallCount)
	_ = dataConverter.FromPayload(memo[protocol.UndoesMetaKey], &s.UndoesProcessID)
	if end := info.GetCloseTime(); end != nil {
		t := end.AsTime()
		s.EndedAt = &t
	}
	return s
}

// awaitingCallCount returns how many Calls of a process wait for people.
func awaitingCallCount(info *workflowpb.WorkflowExecutionInfo) int {
	return searchAttribute[int](info, protocol.AttributePendingDecisions)
}

// searchAttribute returns a search attribute of a process; zero if it is not registered.
func searchAttribute[T any](info *workflowpb.WorkflowExecutionInfo, name string) (v T) {
	_ = converter.GetDefaultDataConverter().FromPayload(info.GetSearchAttributes().GetIndexedFields()[name], &v)
	return v
}

// statusKnownToTemporal returns a process's status as far as Temporal knows it. Paused is a search attribute, so it is
// known only if those are registered.
func statusKnownToTemporal(info *workflowpb.WorkflowExecutionInfo) loop.Status {
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return loop.StatusCompleted
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return loop.StatusFailed
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return loop.StatusCancelled
	}
	if searchAttribute[loop.Status](info, protocol.AttributeStatus) == loop.StatusPaused {
		return loop.StatusPaused
	}
	return loop.StatusRunning
}
