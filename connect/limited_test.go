package connect_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/errordetails/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"processidea/connect"
	"processidea/store/blobs"
)

// busy is a server that has taken too many requests, for the first few of them.
type busy struct {
	workflowservice.UnimplementedWorkflowServiceServer
	asked   atomic.Int32
	refusal error
}

func (b *busy) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (
	*workflowservice.GetSystemInfoResponse, error,
) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (b *busy) refuse() error {
	if b.asked.Add(1) <= 3 {
		return b.refusal
	}
	return nil
}

func (b *busy) ListWorkflowExecutions(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error,
) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, b.refuse()
}

func (b *busy) QueryWorkflow(context.Context, *workflowservice.QueryWorkflowRequest) (
	*workflowservice.QueryWorkflowResponse, error,
) {
	return &workflowservice.QueryWorkflowResponse{}, b.refuse()
}

func TestWhatTheServerRefusesForTheMomentIsAskedForAgain(t *testing.T) {
	t.Parallel()
	limited, err := status.New(codes.ResourceExhausted, "namespace rate limit exceeded").
		WithDetails(&errordetails.ResourceExhaustedFailure{Cause: enumspb.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT})
	if err != nil {
		t.Fatal(err)
	}
	list := func(ctx context.Context, c client.Client) error {
		_, err := c.WorkflowService().ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{})
		return err
	}
	query := func(ctx context.Context, c client.Client) error {
		_, err := c.QueryWorkflow(ctx, "p", "", "status")
		return err
	}
	abandoned := status.Error(codes.Canceled, "context canceled")
	for name, row := range map[string]struct {
		ask     func(context.Context, client.Client) error
		refusal error
		asked   int32
	}{
		"too many lists":          {list, limited.Err(), 4},
		"too large a list":        {list, status.Error(codes.ResourceExhausted, "message larger than max"), 1},
		"a list of nothing":       {list, status.Error(codes.NotFound, "no such namespace"), 1},
		"an abandoned list":       {list, abandoned, 1},
		"an abandoned query":      {query, abandoned, 4},
		"a query without a right": {query, status.Error(codes.PermissionDenied, "it may not be asked"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			g, b := grpc.NewServer(), &busy{refusal: row.refusal}
			workflowservice.RegisterWorkflowServiceServer(g, b)
			go func() { _ = g.Serve(l) }()
			t.Cleanup(g.Stop)
			store, err := blobs.Open(t.Context(), "mem://")
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.Dial(connect.ClientOptions(client.Options{HostPort: l.Addr().String()}, store))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = row.ask(t.Context(), c)
			if n := b.asked.Load(); n != row.asked || (err == nil) != (row.asked > 1) {
				t.Errorf("it is asked %d times, and answers %v", n, err)
			}
		})
	}
}
