package forget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"processidea/client"
	"processidea/client/internal/kind"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// Instance removes the contents of one instance of a process, with its delegates: from every Idea, from the store the
// values that nothing else needs, and its histories from Temporal. The other instances stay unchanged. The process must
// have ended: the error wraps client.ErrRefused if it is running, has forks, or has no other instance, and
// client.ErrNotFound if it has no such instance. A second call completes an interrupted one.
func Instance(ctx context.Context, c *client.Client, processID, typedToken string, o Options) (*Result, error) {
	if strings.Contains(processID, "/") {
		return nil, kind.Errorf(client.ErrInvalid,
			"forget an instance of %s: name the process that it belongs to: %s", processID,
			blobs.RootProcessID(processID))
	}
	if err := o.CheckName(); err != nil {
		return nil, fmt.Errorf("forget an instance of %s %w", processID, err)
	}
	processExecutions := executionsOf(c, processID)
	sharedWorkflowIDs, err := sharedWorkflowIDsIfEnded(ctx, processExecutions)
	if err != nil {
		return nil, err
	}
	chainStore := chain.New(c.Archive().Store())
	token, err := chainStore.FindInstance(ctx, processID, typedToken)
	if err != nil {
		return nil, toClientError(processID, err)
	}
	forkResults, err := forgetForks(ctx, c, processID, o, func(forkID string) (*Result, error) {
		return Instance(ctx, c, forkID, token, o)
	})
	if err != nil {
		return nil, err
	}
	processExecutions.includesWorkflow = func(workflow string) bool {
		isIncluded := protocol.BelongsToInstance(workflow, token) ||
			o.WithSharedHistories && slices.Contains(sharedWorkflowIDs, workflow)
		return isIncluded && blobs.RootProcessID(workflow) == processID
	}
	r := &Result{ProcessID: processID, InstanceToken: token, ForkResults: forkResults}
	if !o.WithSharedHistories {
		r.KeptWorkflowIDs = sharedWorkflowIDs
	}
	if err := processExecutions.terminateOpenRuns(ctx); err != nil {
		return nil, fmt.Errorf("forget %s of %s: %w", token, processID, err)
	}
	return r, toClientError(processID, r.removeContents(ctx, processExecutions, o, chainStore.ForgetInstance))
}

// toClientError turns errors of the chains into this package's kinds of errors.
func toClientError(processID string, err error) error {
	switch {
	case errors.Is(err, chain.ErrNoInstance):
		return kind.WithKind(client.ErrNotFound, err)
	case errors.Is(err, chain.ErrOnlyInstance):
		return refusedError(processID, err.Error())
	}
	return err
}

// sharedWorkflowIDsIfEnded refuses a running process, and returns the workflows whose histories concern all instances:
// the process and its parts.
func sharedWorkflowIDsIfEnded(ctx context.Context, x *executions) (workflowIDs []string, err error) {
	runs, _, err := x.runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		workflowID := r.GetExecution().GetWorkflowId()
		if workflowID == x.processID && isOpen(r) {
			return nil,
				refusedError(x.processID, "the process is at work: wait until it has ended, or cancel it, which "+
					"ends all its instances")
		}
		if protocol.IsRootProcessOrPart(workflowID) && !slices.Contains(workflowIDs, workflowID) {
			workflowIDs = append(workflowIDs, workflowID)
		}
	}
	slices.Sort(workflowIDs)
	return workflowIDs, nil
}
