package client

import (
	"context"
	"errors"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/blobs"
)

func storeOf(t *testing.T) *blobs.Store {
	t.Helper()
	s, err := blobs.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func ideaOf(t *testing.T, text string) *ideafile.Idea {
	t.Helper()
	idea, problems := ideafile.ParseIdea([]byte(text))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	return idea
}

// fakeTemporal is a server on which one process runs. What a test does not set answers that there is nothing.
type fakeTemporal struct {
	sdk.Client
	kind   string // the workflow's type
	status enumspb.WorkflowExecutionStatus
	view   func() (any, error) // what queries get
	signal func(name string, payload map[string]any) error
	// signalled is the workflow that got the latest signal.
	signalled string
	// outcome answers what became of an act; nil: nobody answers.
	outcome func(id string) approval.ActOutcome
	fails   int // how many Updates meet a workflow task that fails
	end     chan loop.ProcessResult
	down    error
	length  func() int64                        // of its history, whenever it is described; nil: 0
	pollers []*taskqueuepb.PollerInfo           // of the task queue
	task    *workflowpb.PendingWorkflowTaskInfo // that no worker has done
	failed  *failurepb.Failure                  // of it
}

// on gives the process of the fake.
func (f *fakeTemporal) on(t *testing.T) *Process {
	t.Helper()
	if f.kind == "" {
		f.kind, f.status = protocol.ProcessType, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	}
	c := New(f, "default", storeOf(t))
	c.pollsFrequently = true
	return c.Process("p")
}

func (f *fakeTemporal) DescribeWorkflowExecution(context.Context, string,
	string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if f.kind == "none" {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	var length int64
	if f.length != nil {
		length = f.length()
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		PendingWorkflowTask: f.task,
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Type: &commonpb.WorkflowType{Name: f.kind},
			Status: f.status, HistoryLength: length},
	}, nil
}

// queue is the task queue of a fake.
type queue struct {
	workflowservice.WorkflowServiceClient
	pollers []*taskqueuepb.PollerInfo
	failed  *failurepb.Failure
}

func (f *fakeTemporal) WorkflowService() workflowservice.WorkflowServiceClient {
	return queue{pollers: f.pollers, failed: f.failed}
}

func (q queue) GetWorkflowExecutionHistoryReverse(
	context.Context, *workflowservice.GetWorkflowExecutionHistoryReverseRequest, ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
	return &workflowservice.GetWorkflowExecutionHistoryReverseResponse{History: &historypb.History{
		Events: []*historypb.HistoryEvent{{}, {Attributes: &historypb.HistoryEvent_WorkflowTaskFailedEventAttributes{
			WorkflowTaskFailedEventAttributes: &historypb.WorkflowTaskFailedEventAttributes{Failure: q.failed}}}}}}, nil
}

func (q queue) DescribeTaskQueue(
	context.Context, *workflowservice.DescribeTaskQueueRequest, ...grpc.CallOption,
) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{Pollers: q.pollers}, nil
}

// DescribeTaskQueue tells of the workers that ask for work: those of f.pollers.
func (f *fakeTemporal) DescribeTaskQueue(
	context.Context, string, enumspb.TaskQueueType,
) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{Pollers: f.pollers}, nil
}

func (f *fakeTemporal) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	if f.view == nil {
		return nil, errors.New("nobody answers")
	}
	v, err := f.view()
	if err != nil {
		return nil, err
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(v)
	return sdk.NewValue(payloads), err
}

func (f *fakeTemporal) SignalWorkflow(_ context.Context, workflow, _, name string, payload any) error {
	f.signalled = workflow
	return f.signal(name, payload.(map[string]any))
}

func (f *fakeTemporal) UpdateWorkflow(
	_ context.Context, o sdk.UpdateWorkflowOptions,
) (sdk.WorkflowUpdateHandle, error) {
	if f.fails > 0 {
		f.fails--
		return nil, serviceerror.NewWorkflowNotReady("the workflow task failed")
	}
	if f.outcome == nil {
		return nil, sdk.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
	}
	answer := protocol.ActOutcomesAnswer{}
	for _, id := range o.Args[0].(protocol.ActOutcomesQuestion).ActIDs {
		answer.Outcomes = append(answer.Outcomes, f.outcome(id))
	}
	return answered{answer: answer}, nil
}

type answered struct {
	sdk.WorkflowUpdateHandle
	answer protocol.ActOutcomesAnswer
}

func (a answered) Get(_ context.Context, to any) error {
	*to.(*protocol.ActOutcomesAnswer) = a.answer
	return nil
}

func (f *fakeTemporal) CheckHealth(context.Context, *sdk.CheckHealthRequest) (*sdk.CheckHealthResponse, error) {
	return nil, f.down
}

func (f *fakeTemporal) GetWorkflow(context.Context, string, string) sdk.WorkflowRun {
	return fakeRun{end: f.end}
}

type fakeRun struct {
	sdk.WorkflowRun
	end chan loop.ProcessResult
}

func (r fakeRun) Get(ctx context.Context, to any) error {
	select {
	case result := <-r.end:
		*to.(*loop.ProcessResult) = result
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// GetWorkflowHistory returns the history of a process whose start cannot be read.
func (f *fakeTemporal) GetWorkflowHistory(context.Context, string, string, bool,
	enumspb.HistoryEventFilterType) sdk.HistoryEventIterator {
	return unreadableHistory{}
}

type unreadableHistory struct{}

func (unreadableHistory) HasNext() bool { return true }

func (unreadableHistory) Next() (*historypb.HistoryEvent, error) {
	return nil, errors.New("the history is gone")
}
