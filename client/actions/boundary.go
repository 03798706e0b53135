package actions

import (
	"context"
	"maps"
	"strings"
	"sync"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// RequestCounter counts requests that a connection sends to the server. It is safe for concurrent use.
type RequestCounter struct {
	mu           sync.Mutex
	billedCounts Counts
	pollCount    int
}

// Interceptor returns the interceptor for the connection of a client or worker.
func (b *RequestCounter) Interceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		b.record(method[strings.LastIndexByte(method, '/')+1:], req)
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

func (b *RequestCounter) record(method string, req any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.billedCounts == nil {
		b.billedCounts = Counts{}
	}
	switch method {
	case "QueryWorkflow":
		// The Temporal UI's query for a workflow's details is not billed.
		if q, ok := req.(*workflowservice.QueryWorkflowRequest); !ok ||
			q.GetQuery().GetQueryType() != "__temporal_workflow_metadata" {
			b.billedCounts[KindQueries]++
		}
	case "RecordActivityTaskHeartbeat", "RecordActivityTaskHeartbeatById":
		b.billedCounts[KindHeartbeats]++
	case "PollWorkflowTaskQueue", "PollActivityTaskQueue":
		b.pollCount++
	}
}

// BilledCounts returns the actions that are in no history.
func (b *RequestCounter) BilledCounts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.billedCounts)
}

// PollCount returns how often a worker asked for tasks. Polls are not billed.
func (b *RequestCounter) PollCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pollCount
}
