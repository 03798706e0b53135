package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"processidea/connect"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// A process that does not answer is told from one that no worker serves, and from one that its worker cannot go on
// with.
func TestWhyAProcessDoesNotAnswerIsSaid(t *testing.T) {
	t.Parallel()
	polled := func(ago time.Duration) []*taskqueuepb.PollerInfo {
		return []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.New(time.Now().Add(-ago))}}
	}
	first := &workflowpb.PendingWorkflowTaskInfo{Attempt: 1}
	fails := &workflowpb.PendingWorkflowTaskInfo{Attempt: 7, OriginalScheduledTime: timestamppb.Now()}
	noKey := serviceerror.NewQueryFailed("the worker: encrypted with key k2")
	for name, row := range map[string]struct {
		pollers []*taskqueuepb.PollerInfo
		task    *workflowpb.PendingWorkflowTaskInfo
		says    error
		cause   string
		text    string
	}{
		"nobody asks for work": {nil, nil, nil, turn.CodeNoWorker,
			"no worker serves the task queue process-idea"},
		"who asked is gone": {polled(5 * time.Minute), fails, nil, turn.CodeNoWorker, "no worker serves"},
		"a worker fails at it": {polled(time.Second), fails, nil, turn.CodeWorkerFails,
			"continue the process (attempt 7)"},
		"it is only slow": {polled(time.Second), nil, nil, "", "does not answer yet"},
		"a value of it is gone": {polled(time.Second), nil, serviceerror.NewQueryFailed("the store has no such value"),
			turn.CodeWorkerFails, "cannot read the process: the store has no such value"},
		"its first attempt is at it": {polled(time.Second), first, nil, "", "does not answer yet"},
		"the worker lacks the key":   {polled(time.Second), fails, noKey, turn.CodeKeysMissing, "key k2"},
		"its task lacks the key":     {polled(time.Second), fails, nil, turn.CodeKeysMissing, "key k3"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			f := &fakeTemporal{pollers: row.pollers, task: row.task}
			if row.cause == turn.CodeKeysMissing {
				f.failed = &failurepb.Failure{Source: connect.RefusalSource, Message: "encrypted with key k3"}
			}
			if row.says != nil {
				f.view = func() (any, error) { return nil, row.says }
			}
			p := f.on(t)
			r, err := p.Snapshot(t.Context())
			if !errors.Is(err, ErrNoWorker) || (row.cause == "") != (len(r.HoldUps) == 0) {
				t.Fatalf("%+v, %v", r, err)
			}
			for _, h := range r.HoldUps {
				if h.CauseCode != row.cause || !strings.Contains(h.Message, row.text) || h.Remedy == "" {
					t.Errorf("%+v", h)
				}
				if text, _ := json.Marshal(h); strings.Contains(string(text), "0001-01-01") {
					t.Errorf("nobody knows since when, and it says %s", text)
				}
			}
			_, unanswered := p.Status(t.Context())
			if _, err := p.client.explainUnreachable(t.Context(), "p", unanswered); !errors.Is(err, ErrNoWorker) ||
				!strings.Contains(err.Error(), row.text) {
				t.Errorf("%v", err)
			}
		})
	}
}

// It answers no query, and has not ended: nobody waits for its end.
func TestAProcessThatSomebodyPausedInTemporalIsHeldUp(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{kind: protocol.ProcessType, status: enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED,
		pollers: []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.Now()}}}
	p := f.on(t)
	held, err := p.HoldUps(t.Context())
	if err != nil || len(held) != 1 || held[0].CauseCode != turn.CodeTemporalPaused || !held[0].Since.IsZero() {
		t.Fatalf("%+v, %v", held, err)
	}
	r, err := p.Snapshot(t.Context())
	if !errors.Is(err, ErrNoWorker) || len(r.HoldUps) != 1 || r.HoldUps[0].CauseCode != turn.CodeTemporalPaused {
		t.Errorf("%+v, %v", r, err)
	}
	s := p.client.newProcessSummary(&workflowpb.WorkflowExecutionInfo{Status: f.status})
	if s.EndedAt != nil || len(s.HoldUps) != 1 || s.HoldUps[0].CauseCode != turn.CodeTemporalPaused {
		t.Errorf("listed as %+v", s)
	}
}

// crowd lists what runs, and whether it is held up: more than one workflow of some processes.
type crowd struct{ *fakeTemporal }

func (crowd) ListWorkflow(
	_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	found := []string{"a", "a/parts/1", "b", "c/go", "d", "e"}
	switch {
	case strings.Contains(r.Query, protocol.AttributeStatus+" = 'held up'"):
		found = []string{"a", "a/parts/1", "c/go"}
	case strings.Contains(r.Query, protocol.ProblemsAttribute):
		return nil, serviceerror.NewInvalidArgument("invalid search attribute")
	case strings.Contains(r.Query, "ExecutionStatus = 'Paused'"):
		found = []string{"a", "d"}
	}
	answer := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range found {
		answer.Executions = append(answer.Executions,
			&workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id}})
	}
	return answer, nil
}

func TestProcessesThatAreHeldUpAreCountedAndAllThatRunWhereNoWorkerIs(t *testing.T) {
	t.Parallel()
	there := []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.Now()}}
	for _, row := range []struct {
		pollers    []*taskqueuepb.PollerInfo
		most, want int
	}{{there, 9, 3}, {there, 1, 1}, {nil, 9, 5}, {nil, 2, 2}} {
		f := &fakeTemporal{pollers: row.pollers}
		p := f.on(t)
		p.client.temporal = crowd{f}
		if n, err := p.client.CountHeldUpProcesses(t.Context(), row.most); err != nil || n != row.want {
			t.Errorf("%d of at most %d, %v", n, row.most, err)
		}
	}
}

// older is a server before there was anything paused: it refuses the word.
type older struct {
	*fakeTemporal
	asked []string
}

func (s *older) ListWorkflow(
	_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.asked = append(s.asked, r.Query)
	if strings.Contains(r.Query, "Paused") {
		return nil, serviceerror.NewInvalidArgument("invalid ExecutionStatus value 'Paused'")
	}
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{
		{Execution: &commonpb.WorkflowExecution{WorkflowId: "p"}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}}}, nil
}

func TestListsOfWhatIsOpenAskForWhatIsPausedWholeWhereTheServerKnowsOfThat(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{pollers: []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.Now()}}}
	p, server := f.on(t), &older{fakeTemporal: f}
	p.client.temporal = server
	for what, list := range map[string]func() (int, error){
		"a page": func() (int, error) {
			page, err := p.client.ListPage(t.Context(), ProcessFilter{Status: loop.StatusRunning}, 9, nil)
			return len(page.Processes), err
		},
		"what waits": func() (int, error) {
			found, err := p.client.listProcessesAwaitingPeople(t.Context())
			return len(found), err
		},
		"what is held up": func() (int, error) { return p.client.CountHeldUpProcesses(t.Context(), 9) },
	} {
		server.asked = nil
		n, err := list()
		paused := slices.ContainsFunc(server.asked, func(q string) bool { return strings.Contains(q, "'Paused'") })
		if n != 1 || err != nil || !paused {
			t.Errorf("%s: %d found, %v, by %q", what, n, err, server.asked)
		}
	}
}

// still is a server on which somebody paused a process that had paused itself.
type still struct{ *fakeTemporal }

func (still) ListWorkflow(
	context.Context, *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	paused, err := converter.GetDefaultDataConverter().ToPayload(loop.StatusPaused)
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{
		{Execution: &commonpb.WorkflowExecution{WorkflowId: "p"}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED,
			SearchAttributes: &commonpb.SearchAttributes{
				IndexedFields: map[string]*commonpb.Payload{protocol.AttributeStatus: paused}}}}}, err
}

func TestWhatIsPausedWholeIsNotWaitedForWhereAllAreResumed(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{kind: protocol.ProcessType, status: enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED,
		pollers: []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.Now()}},
		signal: func(name string, _ map[string]any) error {
			t.Errorf("it is sent %s, which nobody takes", name)
			return serviceerror.NewNotFound("it has ended")
		}}
	p := f.on(t)
	p.client.temporal = still{f}
	all, err := p.client.ResumeAll(t.Context(), "", Actor{})
	if err != nil || len(all) != 1 || all[0].WasResumed || !strings.Contains(all[0].FailureReason,
		"temporal workflow unpause") {
		t.Errorf("%+v, %v", all, err)
	}
	all, err = p.client.ResumeAll(t.Context(), "llm_unreachable", Actor{})
	if err != nil || len(all) != 1 || all[0].WasResumed || !strings.Contains(all[0].FailureReason,
		"nobody knows why it is paused") {
		t.Errorf("by its reason: %+v, %v", all, err)
	}
}

// A process whose tasks fail says nothing of itself: Temporal does.
func TestAListTellsThatAProcessCannotBeContinued(t *testing.T) {
	t.Parallel()
	p := (&fakeTemporal{}).on(t)
	fails, err := converter.GetDefaultDataConverter().ToPayload([]string{"category=WorkflowTaskFailed"})
	if err != nil {
		t.Fatal(err)
	}
	info := &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
		SearchAttributes: &commonpb.SearchAttributes{
			IndexedFields: map[string]*commonpb.Payload{protocol.ProblemsAttribute: fails}}}
	s := p.client.newProcessSummary(info)
	if len(s.HoldUps) != 1 || s.HoldUps[0].CauseCode != turn.CodeWorkerFails || len(s.WaitingTexts) != 1 {
		t.Errorf("listed as %+v", s)
	}
	info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	if s := p.client.newProcessSummary(info); len(s.HoldUps) > 0 {
		t.Errorf("it has ended, and is listed as %+v", s)
	}
}

// lateCrowd is a crowd on a server that waits for a worker for as long as a query may take.
type lateCrowd struct{ crowd }

func (lateCrowd) QueryWorkflow(ctx context.Context, _, _, _ string, _ ...any) (converter.EncodedValue, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (c lateCrowd) DescribeTaskQueue(ctx context.Context, queue string,
	kind enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c.crowd.DescribeTaskQueue(ctx, queue, kind)
}

func TestAListSaysThatNoWorkerServesWhatDidNotAnswer(t *testing.T) {
	t.Parallel()
	there := []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.Now()}}
	for _, row := range []struct {
		pollers []*taskqueuepb.PollerInfo
		want    bool
	}{{nil, true}, {there, false}} {
		t.Run(fmt.Sprint(row.want), func(t *testing.T) {
			t.Parallel()
			f := &fakeTemporal{pollers: row.pollers}
			c := f.on(t).client
			c.temporal = lateCrowd{crowd{f}}
			list, err := c.List(t.Context(), ListOptions{})
			for _, s := range list {
				if isSaid := len(s.HoldUps) == 1 && s.HoldUps[0].CauseCode == turn.CodeNoWorker; isSaid != row.want {
					t.Errorf("%+v", s)
				}
			}
			if err != nil || len(list) == 0 {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

// A list says which processes did not answer: of those it does not know what they wait for.
func TestAListNotesWhatDidNotAnswer(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{}
	c := f.on(t).client
	ended := time.Now()
	list := []ProcessSummary{{ProcessID: "silent"}, {ProcessID: "ended", EndedAt: &ended}}
	if err := c.addLiveStatus(t.Context(), list); err != nil || !list[0].DidNotAnswer || list[1].DidNotAnswer {
		t.Errorf("%+v: %v", list, err)
	}
	f.view = func() (any, error) { return Status{}, nil }
	list = []ProcessSummary{{ProcessID: "quick"}}
	if err := c.addLiveStatus(t.Context(), list); err != nil || list[0].DidNotAnswer {
		t.Errorf("%+v: %v", list, err)
	}
}
