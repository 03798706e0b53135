// Package orphans ends instances, parts and delegates whose process is gone: terminated, deleted, or ended without
// them. Temporal does not notify a child of its process's end: children are started to outlive a run of their process,
// since the parent close policy is applied at continue-as-new too. Where actions are billed, a timer in each child
// would cost more the longer it waits. So workers check all children together from time to time, by requests that a
// hosted server does not bill.
//
// Invariant: a workflow is ended only if it is certain that its process is gone. Visibility, which may be late, only
// lists the children.
package orphans

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"processidea/connect"
	"processidea/internal/pause"
	"processidea/internal/safego"
	"processidea/protocol"
)

const (
	// the first look is at a random time before, so that workers do not all look at once
	maxFirstDelay = 5 * time.Minute
	checkInterval = time.Hour
	pageSize      = 1000
	// checkTimeout bounds one look.
	checkTimeout = 10 * time.Minute
)

// WatchAndCancel looks for orphans until ctx ends.
func WatchAndCancel(ctx context.Context, c client.Client, log *slog.Logger) {
	for wait := rand.N(maxFirstDelay); pause.For(ctx, wait) == nil; wait = checkInterval - checkInterval/10 +
		rand.N(checkInterval/5) {
		var cancelledCount int
		err := safego.Run("orphans.look", func() (err error) { // after a panic, the next look may succeed
			cancelledCount, err = CancelOrphans(ctx, c)
			return err
		})
		if cancelledCount > 0 {
			log.Info("cancelled workflows whose process is gone", "workflows", cancelledCount)
		}
		if err != nil && ctx.Err() == nil {
			log.Warn("could not look for workflows whose process is gone", "error", err)
		}
	}
}

// CancelOrphans cancels every instance, part and delegate whose process is gone, and returns their number. The
// cancelled workflows end the rest themselves: a part its instances, an instance its delegates.
func CancelOrphans(ctx context.Context, c client.Client) (cancelledCount int, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	s := orphanCanceller{client: c, isGoneByParent: map[string]bool{}}
	for child, err := range connect.Executions(ctx, c.ListWorkflow, &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: pageSize,
		Query: fmt.Sprintf("TaskQueue = '%s' AND WorkflowType IN ('%s', '%s') AND ExecutionStatus = 'Running'",
			protocol.TaskQueue, protocol.InstanceType, protocol.ProcessType),
	}) {
		if err != nil {
			return cancelledCount, fmt.Errorf("orphans: list workflows: %w", err)
		}
		isCancelled, err := s.cancelIfOrphaned(ctx, child)
		if err != nil {
			return cancelledCount, fmt.Errorf("orphans: look after %s: %w", child.GetExecution().GetWorkflowId(), err)
		}
		if isCancelled {
			cancelledCount++
		}
	}
	return cancelledCount, nil
}

// orphanCanceller remembers, during one look, which processes are gone.
type orphanCanceller struct {
	client         client.Client
	isGoneByParent map[string]bool // by id and run of the workflow that started the child
}

// cancelIfOrphaned cancels the listed run of a child if its process is gone. It never cancels another run of that id,
// which may belong to another process by now.
func (s *orphanCanceller) cancelIfOrphaned(ctx context.Context, child *workflowpb.WorkflowExecutionInfo) (bool, error) {
	parent, execution := child.GetParentExecution(), child.GetExecution()
	if !isStartedByProcess(parent, execution) {
		return false, nil
	}
	parentKey := parent.GetWorkflowId() + " " + parent.GetRunId()
	isGone, isKnown := s.isGoneByParent[parentKey]
	if !isKnown {
		var err error
		if isGone, err = s.isGone(ctx, parent); err != nil {
			return false, err
		}
		s.isGoneByParent[parentKey] = isGone
	}
	if !isGone {
		return false, nil
	}
	err := s.client.CancelWorkflow(ctx, execution.GetWorkflowId(), execution.GetRunId())
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return false, nil
	}
	return err == nil, err
}

// isStartedByProcess reports whether a process, part or instance started a child, by the ids that they give
// (protocol.InstanceID and its like; a delegate is started by an instance, under its process). Somebody's own workflow
// may start processes that are to outlive it.
func isStartedByProcess(parent, child *commonpb.WorkflowExecution) bool {
	if parent.GetWorkflowId() == "" {
		return false
	}
	processID, _, isInstance := protocol.ParseInstanceID(parent.GetWorkflowId())
	return strings.HasPrefix(child.GetWorkflowId(), parent.GetWorkflowId()+"/") ||
		(isInstance && protocol.IsDelegateOf(child.GetWorkflowId(), processID))
}

// isGone reports whether the workflow that a run belonged to is gone: no workflow of its id runs, or one that began
// with another run.
func (s *orphanCanceller) isGone(ctx context.Context, run *commonpb.WorkflowExecution) (bool, error) {
	currentRun, err := s.describe(ctx, run.GetWorkflowId(), "")
	if err != nil || currentRun == nil || !protocol.IsOpen(currentRun.GetStatus()) {
		return err == nil, err
	}
	if currentRun.GetExecution().GetRunId() == run.GetRunId() {
		return false, nil
	}
	previousRun, err := s.describe(ctx, run.GetWorkflowId(), run.GetRunId())
	if err != nil || previousRun == nil { // past its retention: the current holder of the id counts as the same
		return false, err
	}
	return previousRun.GetFirstRunId() != "" && previousRun.GetFirstRunId() != currentRun.GetFirstRunId(), nil
}

// describe returns nil if there is no such workflow.
func (s *orphanCanceller) describe(ctx context.Context, workflowID,
	runID string) (*workflowpb.WorkflowExecutionInfo, error) {
	d, err := s.client.DescribeWorkflowExecution(ctx, workflowID, runID)
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil, nil
	}
	return d.GetWorkflowExecutionInfo(), err
}
