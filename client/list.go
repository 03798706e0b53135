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

// Summary is a process as List shows it. Path and Version come from its Idea's meta; Ended is nil while it is open.
type Summary struct {
	Process string      `json:"process"`
	Status  loop.Status `json:"status"`
	Path    string      `json:"path"`
	Version string      `json:"version"`
	Started time.Time   `json:"started"`
	Ended   *time.Time  `json:"ended"`
	// Awaiting counts the Calls that wait for a person, where the search attributes are registered or a worker answers.
	// Waiting says why the process is paused, or whom it is asking, as far as a worker answers.
	Awaiting int      `json:"awaiting"`
	Waiting  []string `json:"waiting"`
	// NoAnswer: it was asked, and did not answer in time, so that what it waits for is not known.
	NoAnswer bool `json:"noAnswer,omitempty"`
	// FailedCalls counts its Calls that failed or were blocked, once it has ended or while a worker answers: what is
	// completed need not be well.
	FailedCalls int `json:"failedCalls,omitempty"`
	// Undoes is the process of which it takes back what that did. UndoneBy are those that have begun to take back what
	// it did itself, once it has ended; UndoneCalls counts the Calls that it has taken back by itself.
	Undoes      string   `json:"undoes,omitempty"`
	UndoneBy    []string `json:"undoneBy,omitempty"`
	UndoneCalls int      `json:"undoneCalls,omitempty"`
	// Code is why the process is paused, or has failed; HeldUp is what holds it up. Both are empty where no worker
	// answers.
	Code   string        `json:"code,omitempty"`
	HeldUp []turn.HeldUp `json:"heldUp,omitempty"`
}

// Standing says how the process stands: its status, how many of its Calls failed or are undone, what it takes back, and
// what takes it back.
func (s Summary) Standing() string {
	text := loop.Standing(string(s.Status), s.FailedCalls)
	if s.UndoneCalls > 0 {
		text += ", " + readable.Plural(s.UndoneCalls, "Call") + " undone"
	}
	if s.Undoes != "" {
		text += ", takes back " + s.Undoes
	}
	if len(s.UndoneBy) > 0 {
		text += ", undone by " + diag.FirstNamesAndCount(s.UndoneBy)
	}
	return text
}

// ListOptions say which processes to list.
type ListOptions struct {
	Limit  int  // the most that are listed; 0: no limit
	Paused bool // only those that are paused
}

// List gives the processes that somebody started, the latest first, and none that a process started.
func (c *Client) List(ctx context.Context, o ListOptions) ([]Summary, error) {
	found, f := []Summary{}, Filter{}
	if o.Paused { // query those at work; Temporal's knowledge stands in for one that does not answer
		f.Status = loop.StatusPaused
	}
	for info, err := range c.Executions(ctx, f.query()) {
		if err != nil {
			return nil, fmt.Errorf("list processes: %w", err)
		}
		if !strings.Contains(info.GetExecution().GetWorkflowId(), "/") {
			found = append(found, c.summary(info))
		}
		if !o.Paused && len(found) == o.Limit && o.Limit > 0 {
			break
		}
	}
	if !o.Paused {
		asking, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		return found, errors.Join(c.addWaiting(asking, found), c.addUndone(asking, found))
	}
	if err := c.addWaiting(ctx, found); err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(s Summary) bool { return s.Status != loop.StatusPaused })
	if o.Limit > 0 {
		found = found[:min(len(found), o.Limit)]
	}
	return found, ctx.Err()
}

// Filter says which processes are meant; empty fields mean any.
type Filter struct {
	Status   loop.Status
	Path     string // of the Idea's meta
	Awaiting bool   // only those in which a Call waits for a person
}

// Page is a part of a list. Next begins the next part; nil on the last one.
type Page struct {
	Processes []Summary
	Next      []byte
}

// ListPage gives a part of the processes that somebody started, the latest first, without asking any of them:
// Awaiting is as Temporal has it, and Waiting says at most that one is held up. A part may hold fewer than size, up
// to 200, although there are more. The error wraps ErrInvalid where the server does not know the search attributes of
// a filter, or the part.
func (c *Client) ListPage(ctx context.Context, f Filter, size int, from []byte) (Page, error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.namespace, PageSize: int32(min(max(size, 1), 200)), Query: f.query(), NextPageToken: from,
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
			s := c.summary(info)
			if !strings.Contains(s.Process, "/") && (f.Status == "" || s.Status == f.Status) &&
				(f.Path == "" || s.Path == f.Path) {
				page.Processes = append(page.Processes, s)
			}
		}
		page.Next = answer.GetNextPageToken()
		if len(page.Processes) > 0 || len(page.Next) == 0 {
			c.addNoWorker(ctx, page.Processes)
			asking, cancel := context.WithTimeout(ctx, queryTimeout)
			defer cancel()
			return page, c.addUndone(asking, page.Processes)
		}
		request.NextPageToken = page.Next
	}
}

// addNoWorker adds to running processes that no worker serves them, if that is so.
func (c *Client) addNoWorker(ctx context.Context, list []Summary) {
	running := func(s Summary) bool { return s.Status == loop.StatusRunning }
	if !slices.ContainsFunc(list, running) || c.hasWorker(ctx) {
		return
	}
	for n := range list {
		list[n].addHoldUp(noWorker(protocol.TaskQueue))
	}
}

// executionStatuses find, by Temporal's statuses, what has one of ours.
var executionStatuses = map[loop.Status]string{
	loop.StatusRunning: isOpen, loop.StatusPaused: isOpen, loop.StatusCompleted: "ExecutionStatus = 'Completed'",
	loop.StatusFailed:    "ExecutionStatus IN ('Failed', 'TimedOut')",
	loop.StatusCancelled: "ExecutionStatus IN ('Canceled', 'Terminated')",
}

func (f Filter) query() string {
	query := processQuery
	if f.Status != "" {
		query += " AND " + executionStatuses[f.Status]
	}
	if f.Path != "" && !strings.ContainsAny(f.Path, "\"\\\x00\n\r\x1a") { // of these servers on SQLite find nothing
		query += " AND " + protocol.AttributePath + " = '" + strings.ReplaceAll(f.Path, "'", "\\'") + "'"
	}
	if f.Awaiting {
		query += " AND " + protocol.AttributeAwaiting + " > 0"
	}
	return query
}

// addWaiting asks the open processes how they stand and what they wait for. It notes what does not answer soon.
func (c *Client) addWaiting(ctx context.Context, found []Summary) error {
	return safego.Each(ctx, "client.list", len(found), maxQueries, func(ctx context.Context, n int) error {
		s := &found[n]
		if s.Ended != nil {
			return nil
		}
		v, err := c.Process(s.Process).Status(ctx)
		if s.NoAnswer = err != nil; s.NoAnswer {
			s.addHoldUp(c.explainNoAnswer(ctx, s.Process, err))
			return nil
		}
		s.Status, s.Awaiting, s.Waiting, s.HeldUp = v.Status, v.Awaiting, waitingOf(v), v.HeldUp
		s.FailedCalls, s.UndoneCalls = v.Calls.Failed+v.Calls.Blocked, v.Calls.Undone
		if v.Error != nil {
			s.Code = v.Error.Code
		}
		return nil
	})
}

// addUndone adds what the store tells in time of processes that take others back.
func (c *Client) addUndone(ctx context.Context, list []Summary) error {
	return safego.Each(ctx, "client.undone", len(list), maxQueries, func(ctx context.Context, n int) error {
		if list[n].Ended != nil {
			list[n].UndoneBy, _ = c.Chain(list[n].Process).UndoneBy(ctx)
		}
		return nil
	})
}

// waitingOf is what a process waits for beside people: whom it is asking and what holds it up, or, in the last line,
// why it is paused. What is paused may be held up too, as where the store has no room for its last Idea.
func waitingOf(v Status) []string {
	lines := []string{}
	if v.Error != nil {
		return append(jsonval.Map(v.HeldUp, turn.HeldUp.String), v.Error.Message)
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

// summary leaves out a memo that does not open with the keys at hand.
func (c *Client) summary(info *workflowpb.WorkflowExecutionInfo) Summary {
	s := Summary{
		Process: info.GetExecution().GetWorkflowId(), Status: statusOf(info), Started: info.GetStartTime().AsTime(),
		Waiting: []string{},
	}
	if s.Awaiting = awaitingOf(info); attribute[string](info, protocol.AttributeStatus) == protocol.StatusHeldUp {
		s.Waiting = []string{protocol.StatusHeldUp}
	}
	if held := deafness(info); held != nil {
		s.HeldUp, s.Waiting = []turn.HeldUp{*held}, []string{held.String()}
	}
	memo, values := info.GetMemo().GetFields(), connect.DataConverter(c.archive.values.Keys())
	_ = values.FromPayload(memo[protocol.MemoPath], &s.Path)
	_ = values.FromPayload(memo[protocol.MemoVersion], &s.Version)
	_ = values.FromPayload(memo[protocol.MemoFailedCalls], &s.FailedCalls)
	_ = values.FromPayload(memo[protocol.MemoUndoneCalls], &s.UndoneCalls)
	_ = values.FromPayload(memo[protocol.UndoesMeta], &s.Undoes)
	if end := info.GetCloseTime(); end != nil {
		t := end.AsTime()
		s.Ended = &t
	}
	return s
}

// awaitingOf is how many Calls of a process wait for people.
func awaitingOf(info *workflowpb.WorkflowExecutionInfo) int {
	return attribute[int](info, protocol.AttributeAwaiting)
}

// attribute is a search attribute of a process; zero where it is not registered.
func attribute[T any](info *workflowpb.WorkflowExecutionInfo, name string) (v T) {
	_ = converter.GetDefaultDataConverter().FromPayload(info.GetSearchAttributes().GetIndexedFields()[name], &v)
	return v
}

// statusOf is a process's status as far as Temporal knows it. That it is paused is a search attribute, where those are
// registered.
func statusOf(info *workflowpb.WorkflowExecutionInfo) loop.Status {
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return loop.StatusCompleted
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return loop.StatusFailed
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return loop.StatusCancelled
	}
	if attribute[loop.Status](info, protocol.AttributeStatus) == loop.StatusPaused {
		return loop.StatusPaused
	}
	return loop.StatusRunning
}
