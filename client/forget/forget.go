package forget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/client"
	"processidea/client/internal/kind"
	"processidea/client/schedules"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// Options say how to forget a process.
type Options struct {
	client.Actor
	// CancelIfRunning ends a running process first; otherwise a running process is refused.
	CancelIfRunning bool
	// WithForks also forgets the forks of the process. Otherwise a process with forks is refused, since they contain
	// its data up to the fork.
	WithForks bool
	// WithSharedHistories is for forgetting one instance. It also deletes the histories of the process itself and of
	// its parts, which concern all instances; afterwards Temporal no longer knows the process. Otherwise the server
	// keeps them until their retention ends.
	WithSharedHistories bool
}

// Result is what was removed, and what was not.
type Result struct {
	ProcessID string `json:"process"`
	// InstanceToken is the forgotten instance; empty: the whole process was forgotten.
	InstanceToken string `json:"instance,omitempty"`
	chain.ForgetResult
	// DeletedRunCount are the runs of workflows that were deleted in Temporal.
	DeletedRunCount int `json:"executions"`
	// KeptWorkflowIDs are workflows that stay because their histories cover all instances of the process.
	KeptWorkflowIDs []string `json:"left,omitempty"`
	// KeptScheduleID is the schedule that started the process: what it starts others from stays until it is ended.
	KeptScheduleID string `json:"schedule,omitempty"`
	// ForkResults are the results for the forks of the process, which were forgotten too, or lost the instance.
	ForkResults []Result `json:"forks,omitempty"`
}

// IsComplete reports whether nothing that may reveal the forgotten data is left.
func (r Result) IsComplete() bool {
	isIncomplete := func(f Result) bool { return !f.IsComplete() }
	return len(r.KeptWorkflowIDs)+len(r.Mentions) == 0 && r.KeptScheduleID == "" &&
		!slices.ContainsFunc(r.ForkResults, isIncomplete)
}

// Process removes the contents of a process, with its instances, parts and delegates: from the store the values that
// nothing else needs, and its histories from Temporal. It returns when the server reports them as deleted. The digests
// of the chain stay, with an Idea that says when, by whom and why. A second call completes an interrupted one. The
// error wraps client.ErrRefused if the process is running or has forks, and client.ErrNotFound if nothing knows it.
func Process(ctx context.Context, c *client.Client, processID string, o Options) (*Result, error) {
	if strings.Contains(processID, "/") {
		return nil, kind.Errorf(client.ErrInvalid, "forget %s: it belongs to another process and is forgotten "+
			"with it: forget %s",
			processID, blobs.RootProcessID(processID))
	}
	if err := o.CheckName(); err != nil {
		return nil, fmt.Errorf("forget %s %w", processID, err)
	}
	forkResults, err := forgetForks(ctx, c, processID, o, func(forkID string) (*Result,
		error) {
		return Process(ctx, c, forkID, o)
	})
	if err != nil {
		return nil, err
	}
	processExecutions := executionsOf(c, processID)
	if err := ensureEnded(ctx, processExecutions, o); err != nil {
		return nil, fmt.Errorf("forget %s: %w", processID, err)
	}
	r := &Result{ProcessID: processID, ForkResults: forkResults}
	return r, r.removeContents(ctx, processExecutions, o, chain.New(c.Archive().Store()).Forget)
}

// removeContents forgets in the store first, and then deletes the histories: the store needs them to find values.
func (r *Result) removeContents(
	ctx context.Context, x *executions, o Options,
	forgetInStore func(context.Context, chain.ForgetOptions) (*chain.ForgetResult, error),
) error {
	var err error
	if r.KeptScheduleID, err = schedules.ForClient(x.Client).StarterOf(ctx, r.ProcessID); err != nil {
		return fmt.Errorf("forget %s: %w", r.ProcessID, err)
	}
	decrypt := x.Archive().Store().Keys().OpenPayload
	storeResult, err := forgetInStore(ctx, chain.ForgetOptions{
		RootProcessID: r.ProcessID, InstanceToken: r.InstanceToken, RemovalNoticePeriod: blobs.RemovalNoticePeriod,
		Decrypt:      decrypt,
		ForgetRecord: chain.ForgetRecord{ForgottenAt: time.Now().UTC(), By: o.Name, Reason: o.Reason},
		ReadReferences: func(ctx context.Context) (own, others *chain.NamespaceContents, err error) {
			return chain.ReadTemporalSeparately(ctx, x.Temporal().WorkflowService(), x.Namespace(), x.includesWorkflow,
				decrypt)
		},
	})
	if err != nil {
		return err
	}
	r.ForgetResult = *storeResult
	if r.DeletedRunCount, err = x.deleteAllRuns(ctx); err != nil {
		return fmt.Errorf("forget %s: delete its histories in Temporal: %w", r.ProcessID, err)
	}
	return nil
}

// forgetForks forgets the forks of a process, or refuses.
func forgetForks(
	ctx context.Context, c *client.Client, processID string, o Options, forgetFork func(fork string) (*Result, error),
) (results []Result, err error) {
	forks, err := chain.New(c.Archive().Store()).Forks(ctx, processID)
	if err != nil {
		return nil, err
	}
	if len(forks) > 0 && !o.WithForks {
		return nil, refusedError(processID, "forks of it still hold its data; forget them too (--with-forks): "+
			strings.Join(forks, ", "))
	}
	for _, fork := range forks {
		result, err := forgetFork(fork)
		switch {
		case errors.Is(err, client.ErrNotFound): // the fork does not have the instance
		case err != nil:
			return nil, err
		default:
			results = append(results, *result)
		}
	}
	return results, nil
}

func refusedError(processID, reason string) error {
	return &client.RefusedError{ProcessID: processID, Signal: "forget", Reason: reason}
}

// ensureEnded refuses an unknown process, and a running process unless it is to be cancelled. Afterwards none of its
// workflows is open.
func ensureEnded(ctx context.Context, processExecutions *executions, o Options) error {
	runs, _, err := processExecutions.runs(ctx)
	if err != nil {
		return err
	}
	ideaCount, err := processExecutions.Chain(processExecutions.processID).Length(ctx)
	if err != nil {
		return err
	}
	if ideaCount == 0 && len(runs) == 0 {
		return kind.Errorf(client.ErrNotFound, "neither Temporal nor the store knows a process with this id")
	}
	for _, r := range runs {
		if r.GetExecution().GetWorkflowId() != processExecutions.processID || !isOpen(r) {
			continue
		}
		if !o.CancelIfRunning {
			return refusedError(processExecutions.processID, "the process is at work: cancel it first, or add --cancel")
		}
		// it may just have ended
		if err := processExecutions.Client.Process(processExecutions.processID).Cancel(ctx); err != nil &&
			!errors.Is(err, client.ErrRefused) {
			return err
		}
	}
	return processExecutions.terminateOpenRuns(ctx)
}
