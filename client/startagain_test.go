package client

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"processidea/connect"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// knowing is a server that knows a process by its memo, and counts the starts that it is sent.
type knowing struct {
	workflowservice.UnimplementedWorkflowServiceServer
	memo   *commonpb.Memo
	starts atomic.Int32
}

func (k *knowing) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (
	*workflowservice.GetSystemInfoResponse, error,
) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (k *knowing) DescribeWorkflowExecution(context.Context, *workflowservice.DescribeWorkflowExecutionRequest) (
	*workflowservice.DescribeWorkflowExecutionResponse, error,
) {
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Memo: k.memo,
			SearchAttributes: &commonpb.SearchAttributes{}}}, nil
}

func (k *knowing) StartWorkflowExecution(context.Context, *workflowservice.StartWorkflowExecutionRequest) (
	*workflowservice.StartWorkflowExecutionResponse, error,
) {
	k.starts.Add(1)
	return &workflowservice.StartWorkflowExecutionResponse{}, nil
}

// What such a start left behind would belong to no process that could be forgotten.
func TestAStartOfAProcessThatExistsLeavesNothingInTheStoreOrTheServer(t *testing.T) {
	t.Parallel()
	idea := func(text string) StartOptions {
		return StartOptions{ID: "p", Idea: ideaOf(t, `{"context":[{"type":"state","text":"`+
			strings.Repeat(text, jsonval.LargeValueBytes)+`"}]}`).Source}
	}
	known := idea("a")
	digest, err := connect.DataConverter(nil).ToPayload(known.contentDigest())
	if err != nil {
		t.Fatal(err)
	}
	server := &knowing{memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{protocol.MemoFileDigest: digest}}}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(g, server)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	store := storeOf(t)
	temporal, err := sdk.Dial(connect.ClientOptions(sdk.Options{HostPort: l.Addr().String()}, store))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(temporal.Close)
	c := New(temporal, "default", store)
	if p, err := c.Start(t.Context(), known); err != nil || !p.IsAttached() {
		t.Errorf("the same start gives %v, %v", p, err)
	}
	if _, err := c.Start(t.Context(), idea("b")); !errors.Is(err, ErrIDInUse) {
		t.Errorf("another start gives %v", err)
	}
	values, err := store.ListValues(t.Context())
	owned, ownedErr := store.ListOwnedValues(t.Context(), "p")
	if len(values)+len(owned) > 0 || errors.Join(err, ownedErr) != nil || server.starts.Load() > 0 {
		t.Errorf("it stored %v and %v, and sent %d starts: %v", values, owned, server.starts.Load(), err)
	}
}
