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

// Summary is a process as List shows it. Path and Version come from its Idea's meta; Ended is nil while the process is
// open.
type Summary struct {
	Process string      `json:"process"`
	Status  loop.Status `json:"status"`
	Path    string      `json:"path"`
	Version string      `json:"version"`
	Started time.Time   `json:"started"`
	Ended   *time.Time  `json:"ended"`
	// Awaiting counts the Calls that wait for a person. It needs registered search attributes, or a worker that
	// answers. Waiting says why the process is paused, or what it waits for beside people. It needs a worker that
	// answers.
	Awaiting int      `json:"awaiting"`
	Waiting  []string `json:"waiting"`
	// NoAnswer: the process was queried, and did not answer in time, so that it is unknown what it waits for.
	NoAnswer bool `json:"noAnswer,omitempty"`
	// FailedCalls counts the Calls that failed or were blocked. It is known once the process has ended, or while a
	// worker answers. A completed process may have failed Calls too.
	FailedCalls int `json:"failedCalls,omitempty"`
	// Undoes is the process whose Calls this one undoes. UndoingProcesses are the processes that have begun to undo
	// this one's Calls, once it has ended. UndoneCalls counts the Calls that it has undone itself.
	Undoes      string   `json:"undoes,omitempty"`
	UndoneBy    []string `json:"undoneBy,omitempty"`
	UndoneCalls int      `json:"undoneCalls,omitempty"`
	// Code is why the process is paused, or has failed; CountHeldUp is what holds it up. Both are empty if no worker
	// answers.
	Code   string        `json:"code,omitempty"`
	HoldUps []turn.HoldUp `json:"heldUp,omitempty"`
}

// Standing describes the process: its status, how many of its Calls failed or are undone, which process it undoes, and
// which processes undo it.
func (s Summary) Standing() string {
	text := loop.StatusText(string(s.Status), s.FailedCalls)
	if s.UndoneCalls > 0 {
		text += ", " + readable.Plural(s.UndoneCalls, "Call") + " undone"
	}
	if s.Undoes != "" {
		text += ", takes back " + s.Undoes
	}
	if len(s.UndoneBy) > 0 {
		text += ", undone by " + diag.SummarizeNames(s.UndoneBy)
	}
	return text
}

// ListOptions say which processes to list.
type ListOptions struct {
	Limit  int  // the maximum length of the list; 0: no limit
	Paused bool // only paused processes
}

// List returns the processes that somebody started, the latest first, without their parts and delegates.
func (c *Client) List(ctx context.Context, o ListOptions) ([]Summary, error) {
	summaries, f := []Summary{}, Filter{}
	if o.Paused { // list all open ones; for one that does not answer, Temporal's status counts
		f.Status = loop.StatusPaused
	}
	for info, err := range c.Executions(ctx, f.query()) {
		if err != nil {
			return nil, fmt.Errorf("list processes: %w", err)
		}
		if !strings.Contains(info.GetExecution().GetWorkflowId(), "/") {
			summaries = append(summaries, c.newSummary(info))
		}
		if !o.Paused && len(summaries) == o.Limit && o.Limit > 0 {
			break
		}
	}
	if !o.Paused {
		queryCtx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		return summaries, errors.Join(c.addWaiting(queryCtx, summaries), c.addUndoingProcesses(queryCtx, summaries))
	}
	if err := c.addWaiting(ctx, summaries); err != nil {
		return nil, err
	}
	summaries = slices.DeleteFunc(summaries, func(s Summary) bool { return s.Status != loop.StatusPaused })
	if o.Limit > 0 {
		summaries = summaries[:min(len(summaries), o.Limit)]
	}
	return summaries, ctx.Err()
}

// Filter selects processes; empty fields select any.
type Filter struct {
	Status   loop.Status
	Path     string // of the Idea's meta
	Awaiting bool   // only processes in which a Call waits for a person
}

// Page is a part of a list. Next begins the next part; nil on the last one.
type Page struct {
	Processes []Summary
	Next      []byte
}

// ListPage returns a part of the list of processes that somebody started, the latest first. It queries no process:
// Awaiting is the search attribute, and Waiting says at most that a process is held up. A part may have fewer than size
// (at most 200) although more follow. The error wraps ErrInvalid if the server does not know the search attributes of a
// filter, or the part.
func (c *Client) ListPage(ctx context.Context, f Filter, size int, pageToken []byte) (Page, error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.namespace, PageSize: int32(min(max(size, 1), 200)), Query: f.query(), NextPageToken: pageToken,
	}
	page := Page{Processes: []Summary{}}
	for {
		answer, err := c.listWorkflow(ctx, request)
		if isRefused(err) {
			return page, kind.Errorf(ErrInvalid, "list processes: %w", err)
		}
		if err != nil {
			return page, fmt.Errorf("list processes: %w", err)
		}
		for _, info := range answer.GetExecutions() {
			s := c.newSummary(info)
			if !strings.Contains(s.Process, "/") && (f.Status == "" || s.Status == f.Status) &&
				(f.Path == "" || s.Path == f.Path) {
				page.Processes = append(page.Processes, s)
			}
		}
		page.Next = answer.GetNextPageToken()
		if len(page.Processes) > 0 || len(page.Next) == 0 {
			c.addNoWorkerHoldUp(ctx, page.Processes)
			queryCtx, cancel := context.WithTimeout(ctx, queryTimeout)
			defer cancel()
			return page, c.addUndoingProcesses(queryCtx, page.Processes)
		}
		request.NextPageToken = page.Next
	}
}

// addNoWorkerHoldUp marks running processes as held up if no worker serves them.
func (c *Client) addNoWorkerHoldUp(ctx context.Context, list []Summary) {
	isRunning := func(s Summary) bool { return s.Status == loop.StatusRunning }
	if !slices.ContainsFunc(list, isRunning) || c.hasWorker(ctx) {
		return
	}
	for n := range list {
		list[n].addHoldUp(noWorkerHoldUp(protocol.TaskQueue))
	}
}

// queryByStatus maps our statuses to a query by Temporal's.
var queryByStatus = map[loop.Status]string{
	loop.StatusRunning: openQuery, loop.StatusPaused: openQuery, loop.StatusCompleted: "ExecutionStatus = 'Completed'",
	loop.StatusFailed:    "ExecutionStatus IN ('Failed', 'TimedOut')",
	loop.StatusCancelled: "ExecutionStatus IN ('Canceled', 'Terminated')",
}

func (f Filter) query() string {
	query := processQuery
	if f.Status != "" {
		query += " AND " + queryByStatus[f.Status]
	}
	if f.Path != "" && !strings.ContainsAny(f.Path, "\"\\\x00\n\r\x1a") { // servers on SQLite find no such path
		query += " AND " + protocol.AttributePath + " = '" + strings.ReplaceAll(f.Path, "'", "\\'") + "'"
	}
	if f.Awaiting {
		query += " AND " + protocol.AttributeAwaiting + " > 0"
	}
	return query
}

// addWaiting queries the open processes for their status and what they wait for. It marks those that do not answer in
// time.
func (c *Client) addWaiting(ctx context.Context, summaries []Summary) error {
	return safego.ForEach(ctx, "client.list", len(summaries), maxQueries, func(ctx context.Context, n int) error {
		s := &summaries[n]
		if s.Ended != nil {
			return nil
		}
		v, err := c.Process(s.Process).Status(ctx)
		if s.NoAnswer = err != nil; s.NoAnswer {
			s.addHoldUp(c.explainNoAnswer(ctx, s.Process, err))
			return nil
		}
		s.Status, s.Awaiting, s.Waiting, s.HoldUps = v.Status, v.Awaiting, waitingTexts(v), v.HoldUps
		s.FailedCalls, s.UndoneCalls = v.Calls.Failed+v.Calls.Blocked, v.Calls.Undone
		if v.Error != nil {
			s.Code = v.Error.Code
		}
		return nil
	})
}

// addUndoingProcesses adds to ended processes which processes undo them, if the store answers in time.
func (c *Client) addUndoingProcesses(ctx context.Context, list []Summary) error {
	return safego.ForEach(ctx, "client.undone", len(list), maxQueries, func(ctx context.Context, n int) error {
		if list[n].Ended != nil {
			list[n].UndoneBy, _ = c.Chain(list[n].Process).UndoingProcesses(ctx)
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
	for _, line := range v.Waiting {
		switch {
		case strings.HasPrefix(line, protocol.WaitingForLLM):
			lines = append(lines, "asking the LLM: "+line)
		case !strings.HasPrefix(line, protocol.WaitingForPerson):
			lines = append(lines, line)
		}
	}
	return lines
}

// newSummary makes a Summary from a list entry. It leaves out a memo that the available keys cannot decrypt.
func (c *Client) newSummary(info *workflowpb.WorkflowExecutionInfo) Summary {
	s := Summary{
		Process: info.GetExecution().GetWorkflowId(), Status: statusOf(info), Started: info.GetStartTime().AsTime(),
		Waiting: []string{},
	}
	if s.Awaiting = countAwaiting(info); searchAttribute[string](info,
		protocol.AttributeStatus) == protocol.StatusHeldUp {
		s.Waiting = []string{protocol.StatusHeldUp}
	}
	if holdUp := unresponsiveCause(info); holdUp != nil {
		s.HoldUps, s.Waiting = []turn.HoldUp{*holdUp}, []string{holdUp.String()}
	}
	memo, dataConverter := info.GetMemo().GetFields(), connect.DataConverter(c.archive.blobStore.Keys())
	_ = dataConverter.FromPayload(memo[protocol.MemoPath], &s.Path)
	_ = dataConverter.FromPayload(memo[protocol.MemoVersion], &s.Version)
	_ = dataConverter.FromPayload(memo[protocol.MemoFailedCalls], &s.FailedCalls)
	_ = dataConverter.FromPayload(memo[protocol.MemoUndoneCalls], &s.UndoneCalls)
	_ = dataConverter.FromPayload(memo[protocol.UndoesMeta], &s.Undoes)
	if end := info.GetCloseTime(); end != nil {
		t := end.AsTime()
		s.Ended = &t
	}
	return s
}

// countAwaiting returns how many Calls of a process wait for people.
func countAwaiting(info *workflowpb.WorkflowExecutionInfo) int {
	return searchAttribute[int](info, protocol.AttributeAwaiting)
}

// searchAttribute returns a search attribute of a process; zero if it is not registered.
func searchAttribute[T any](info *workflowpb.WorkflowExecutionInfo, name string) (v T) {
	_ = converter.GetDefaultDataConverter().FromPayload(info.GetSearchAttributes().GetIndexedFields()[name], &v)
	return v
}

// statusOf returns a process's status as far as Temporal knows it. Paused is a search attribute, so it is known only if
// those are registered.
func statusOf(info *workflowpb.WorkflowExecutionInfo) loop.Status {
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
