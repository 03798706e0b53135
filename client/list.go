package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"processidea/client/internal/kind"
	"processidea/connect"
	"processidea/internal/safego"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// Summary is a process as List shows it. Path and Version are those of its Idea's meta; Ended is nil while it is open.
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
	// FailedCalls counts its Calls that failed or were blocked, once it has ended or while a worker answers: what is
	// completed need not be well.
	FailedCalls int `json:"failedCalls,omitempty"`
	// Undoes is the process of which it takes back what that did.
	Undoes string `json:"undoes,omitempty"`
	// Code is why the process is paused, or has failed; HeldUp is what holds it up. Both are empty where no worker
	// answers.
	Code   string        `json:"code,omitempty"`
	HeldUp []turn.HeldUp `json:"heldUp,omitempty"`
}

// Standing says how the process stands: its status, how many of its Calls failed, and what it takes back.
func (s Summary) Standing() string {
	text := loop.Standing(string(s.Status), s.FailedCalls)
	if s.Undoes != "" {
		text += ", takes back " + s.Undoes
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
	if o.Paused { // whoever is at work is asked: one that does not answer is taken for what Temporal knows of it
		f.Status = loop.StatusPaused
	}
	err := c.executions(ctx, f.query(), func(info *workflowpb.WorkflowExecutionInfo) bool {
		if !strings.Contains(info.GetExecution().GetWorkflowId(), "/") {
			found = append(found, c.summary(info))
		}
		return o.Paused || o.Limit <= 0 || len(found) < o.Limit
	})
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	if !o.Paused {
		asking, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		return found, c.addWaiting(asking, found)
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

// Page is a part of a list. Next begins the part after it; nil: there is none.
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
		answer, err := c.temporal.ListWorkflow(ctx, request)
		var refused *serviceerror.InvalidArgument
		if errors.As(err, &refused) {
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
			return page, nil
		}
		request.NextPageToken = page.Next
	}
}

// addNoWorker says of running processes that no worker serves them, where that is so.
func (c *Client) addNoWorker(ctx context.Context, list []Summary) {
	running := func(s Summary) bool { return s.Status == loop.StatusRunning }
	if !slices.ContainsFunc(list, running) || c.served(ctx) {
		return
	}
	h := noWorker(protocol.TaskQueue)
	for n := range list {
		list[n].addUnseen(&h)
	}
}

// executionStatuses are Temporal's for a status of ours.
var executionStatuses = map[loop.Status]string{
	loop.StatusRunning: "'Running'", loop.StatusPaused: "'Running'", loop.StatusCompleted: "'Completed'",
	loop.StatusFailed: "'Failed', 'TimedOut'", loop.StatusCancelled: "'Canceled', 'Terminated'",
}

func (f Filter) query() string {
	query := processQuery
	if f.Status != "" {
		query += " AND ExecutionStatus IN (" + executionStatuses[f.Status] + ")"
	}
	if f.Path != "" && !strings.ContainsAny(f.Path, "\"\\\x00\n\r\x1a") { // of these servers on SQLite find nothing
		query += " AND " + protocol.AttributePath + " = '" + strings.ReplaceAll(f.Path, "'", "\\'") + "'"
	}
	if f.Awaiting {
		query += " AND " + protocol.AttributeAwaiting + " > 0"
	}
	return query
}

// addWaiting asks the open processes how they stand and what they wait for. What does not answer soon is left without.
func (c *Client) addWaiting(ctx context.Context, found []Summary) error {
	return safego.Each(ctx, "client.list", len(found), queriesAtOnce, func(ctx context.Context, n int) error {
		s := &found[n]
		if s.Ended != nil {
			return nil
		}
		v, err := c.Process(s.Process).Status(ctx)
		if err != nil {
			s.addUnseen(c.whyUnseen(ctx, s.Process, err))
			return nil
		}
		s.Status, s.Awaiting, s.Waiting, s.HeldUp = v.Status, v.Awaiting, waitingOf(v), v.HeldUp
		s.FailedCalls = v.Calls.Failed + v.Calls.Blocked
		if v.Error != nil {
			s.Code = v.Error.Code
		}
		return nil
	})
}

// waitingOf is what a process waits for beside people: whom it is asking and what holds it up, or, in the last line,
// why it is paused. What is paused may be held up too, as where the store has no room for its last Idea.
func waitingOf(v Status) []string {
	lines := []string{}
	if v.Error != nil {
		for _, h := range v.HeldUp {
			lines = append(lines, h.String())
		}
		return append(lines, v.Error.Message)
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
	memo, values := info.GetMemo().GetFields(), connect.DataConverter(c.archive.values.Keys())
	_ = values.FromPayload(memo[protocol.MemoPath], &s.Path)
	_ = values.FromPayload(memo[protocol.MemoVersion], &s.Version)
	_ = values.FromPayload(memo[protocol.MemoFailedCalls], &s.FailedCalls)
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
