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
	rateFreshFor    = 5 * time.Second  // how long the server's answer is cached
	minReportedWait = 10 * time.Second // shorter waits are not reported
	maxReportedWait = 365 * 24 * time.Hour
)

// queueRate detects that Calls and Requests wait because of the workers' rate limit. Workers do not know what waits,
// since the server holds it back.
type queueRate struct {
	mu       sync.Mutex
	cachedAt time.Time
	cached   *turn.HeldUp
}

// heldUp reports it if the last one has long to wait; nil if not, or if the server does not tell.
func (r *queueRate) heldUp(ctx context.Context, c *Client) *turn.HeldUp {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.cachedAt) < rateFreshFor {
		return r.cached
	}
	r.cachedAt, r.cached = time.Now(), nil
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
		last := min(float64(waiting)/rate, maxReportedWait.Seconds())
		if waiting == 0 || rate <= 0 || !isThere || last < minReportedWait.Seconds() {
			continue
		}
		r.cached = &turn.HeldUp{Cause: turn.CodeRateLimited,
			Message: fmt.Sprintf("workers begin %g Calls and Requests a second (--calls-per-second); "+
				"%d of all processes wait, the last for %s", rate, waiting, time.Duration(last)*time.Second),
			Mend: "give the workers a higher --calls-per-second, or wait"}
	}
	return r.cached
}
