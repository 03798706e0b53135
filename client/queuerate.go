package client

import (
	"cmp"
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
	rateLimitHoldUpTTL = 5 * time.Second  // how long the server's answer is cached
	minReportedWait    = 10 * time.Second // shorter waits are not reported
	maxReportedWait    = 365 * 24 * time.Hour
)

// rateLimitHoldUpCache detects that Calls and Requests wait because of the workers' rate limit. Workers do not know
// about waiting tasks, since the server holds them back.
type rateLimitHoldUpCache struct {
	mu           sync.Mutex
	cachedAt     time.Time
	cachedHoldUp *turn.HoldUp
}

// holdUp reports a hold-up if the last task in a queue must wait long; nil if not, or if the server does not say.
func (r *rateLimitHoldUpCache) holdUp(ctx context.Context, c *Client) *turn.HoldUp {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.cachedAt) < rateLimitHoldUpTTL {
		return r.cachedHoldUp
	}
	r.cachedAt, r.cachedHoldUp = time.Now(), nil
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	r.cachedHoldUp = cmp.Or(c.queueHoldUp(ctx, protocol.TaskQueue, "Calls", "--calls-per-second"),
		c.queueHoldUp(ctx, protocol.RequestTaskQueue, "Requests", "OPENAI_RPM, --calls-per-second"))
	return r.cachedHoldUp
}

// queueHoldUp returns what holds up the activities of a task queue. what names them, and settings name their limits.
func (c *Client) queueHoldUp(ctx context.Context, queue, taskNoun, rateLimitSettings string) (holdUp *turn.HoldUp) {
	d, err := c.temporal.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: c.namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue},
		TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, ReportStats: true})
	backlogCount := d.GetStats().GetApproximateBacklogCount()
	if err != nil || backlogCount == 0 {
		return nil
	}
	hasActivePollers := false
	for _, p := range d.GetPollers() {
		tasksPerSecond := p.GetRatePerSecond()
		isActive := time.Since(p.GetLastAccessTime().AsTime()) < maxPollAge
		hasActivePollers = hasActivePollers || isActive
		lastWaitSeconds := min(float64(backlogCount)/tasksPerSecond, maxReportedWait.Seconds())
		if tasksPerSecond <= 0 || !isActive || lastWaitSeconds < minReportedWait.Seconds() {
			continue
		}
		holdUp = &turn.HoldUp{CauseCode: turn.CodeRateLimited,
			Message: fmt.Sprintf("workers begin %.4g %s a second (%s); %d of all processes wait, the last one %s",
				tasksPerSecond, taskNoun, rateLimitSettings, backlogCount, time.Duration(lastWaitSeconds)*time.Second),
			Remedy: "raise the limit of all workers (" + rateLimitSettings + "), or wait"}
	}
	if !hasActivePollers {
		holdUp = noWorkerHoldUp(queue)
	}
	return holdUp
}
