package client

import (
	"context"
	"fmt"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/model/turn"
	"processidea/protocol"
)

const (
	rateFreshFor = 5 * time.Second  // how long what the server said of the task queue counts
	worthSaying  = 10 * time.Second // how long the last one waits at least
	maxSaid      = 365 * 24 * time.Hour
)

// queueRate knows whether Calls and Requests wait because workers begin only so many a second. No worker knows which of
// them wait: the server holds them back.
type queueRate struct {
	mu    sync.Mutex
	asked time.Time
	said  *turn.HeldUp
}

// heldUp says so where the last of them waits for long; nil: none does, or the server does not tell.
func (r *queueRate) heldUp(ctx context.Context, c *Client) *turn.HeldUp {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) < rateFreshFor {
		return r.said
	}
	r.asked, r.said = time.Now(), nil
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	d, err := c.temporal.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: c.namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: protocol.TaskQueue},
		TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, ReportStats: true})
	if err != nil {
		return nil
	}
	waiting := d.GetStats().GetApproximateBacklogCount()
	for _, p := range d.GetPollers() {
		rate := p.GetRatePerSecond()
		isThere := time.Since(p.GetLastAccessTime().AsTime()) < pollGrace
		last := min(float64(waiting)/rate, maxSaid.Seconds())
		if waiting == 0 || rate <= 0 || !isThere || last < worthSaying.Seconds() {
			continue
		}
		r.said = &turn.HeldUp{Cause: turn.CodeRateLimited,
			Message: fmt.Sprintf("workers begin %g Calls and Requests a second (--calls-per-second); "+
				"%d of all processes wait, the last for %s", rate, waiting, time.Duration(last)*time.Second),
			Mend: "give the workers a higher --calls-per-second, or wait"}
	}
	return r.said
}
