package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// pollMonitor knows whether this worker polls for work, and whether the polls succeed. A fully occupied worker does not
// poll, so that only a first poll is required.
type pollMonitor struct {
	mu            sync.Mutex
	stateByMethod map[string]*pollState
}

// pollState is the state of one kind of polls.
type pollState struct {
	startedAt time.Time // the latest
	endedAt   time.Time // the latest failure, if none has succeeded since
	err       error
}

// pollKinds are the gRPC methods that poll, and what each polls for.
var pollKinds = []struct{ method, what string }{
	{workflowservice.WorkflowService_PollWorkflowTaskQueue_FullMethodName, "workflow tasks"},
	{workflowservice.WorkflowService_PollActivityTaskQueue_FullMethodName, "Calls and Requests"},
}

// pollSettleTime is how long a poll must be under way to count as accepted by the server, where it waits for work.
const pollSettleTime = 2 * time.Second

// dialOption makes a client record every poll.
func (p *pollMonitor) dialOption() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		p.recordStart(method)
		err := invoker(ctx, method, req, reply, cc, opts...)
		if ctx.Err() == nil { // else this worker itself ended the poll
			p.recordEnd(method, err)
		}
		return err
	})
}

func (p *pollMonitor) recordStart(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kind := range pollKinds {
		if kind.method != method {
			continue
		}
		if p.stateByMethod == nil {
			p.stateByMethod = map[string]*pollState{}
		}
		if p.stateByMethod[method] == nil {
			p.stateByMethod[method] = &pollState{}
		}
		p.stateByMethod[method].startedAt = time.Now()
	}
}

func (p *pollMonitor) recordEnd(method string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.stateByMethod[method]; k != nil {
		k.err, k.endedAt = err, time.Now()
	}
}

// check returns which polls are missing or fail.
func (p *pollMonitor) check(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kind := range pollKinds {
		k := p.stateByMethod[kind.method]
		if k == nil {
			return errors.New("they have not polled for " + kind.what + " yet")
		}
		if isWaiting := k.startedAt.After(k.endedAt) && time.Since(k.startedAt) > pollSettleTime; k.err != nil &&
			!isWaiting {
			return fmt.Errorf("polling for %s fails: %w", kind.what, k.err)
		}
	}
	return nil
}
