package client

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"processidea/client/internal/kind"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/blobs"
)

// Result waits for the end of the process, through pauses too, and returns its result, with every value whole. A failed
// or cancelled process is a Result with that status, and no error. The error is an *InvalidError if a worker refused
// the Idea.
func (p *Process) Result(ctx context.Context) (loop.ProcessResult, error) {
	var r loop.ProcessResult
	err := p.client.temporal.GetWorkflow(ctx, p.id, "").Get(ctx, &r)
	if r, err = resultFromError(p.id, r, err); err == nil {
		err = p.markForgottenInstances(ctx, r)
	}
	if err != nil {
		return r, err
	}
	return p.restoreResult(ctx, r)
}

// markForgottenInstances replaces forgotten instances of an ended process by a result that only says that they were
// forgotten.
func (p *Process) markForgottenInstances(ctx context.Context, r loop.ProcessResult) error {
	forgetRecordByInstance, err := p.Chain().chainStore.ForgottenInstances(ctx, p.id)
	for token := range r.Instances {
		if _, isForgotten := forgetRecordByInstance[token]; isForgotten {
			r.Instances[token] = loop.InstanceResult{Status: ideafile.InstanceForgotten}
		}
	}
	return err
}

// resultFromError makes a Result from the end of a Process workflow. If the process ended itself, its result is in the
// failure's details. If somebody else ended it, there is only the error.
func resultFromError(id string, r loop.ProcessResult, err error) (loop.ProcessResult, error) {
	var execErr *temporal.WorkflowExecutionError
	if err == nil || !errors.As(err, &execErr) {
		return r, err
	}
	r = loop.ProcessResult{ProcessID: id, Status: loop.StatusFailed, Instances: map[string]loop.InstanceResult{}}
	var appErr *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	var terminated *temporal.TerminatedError
	switch {
	case errors.As(err, &appErr) && appErr.Type() == turn.CodeInvalidIdea:
		return r, refusedIdeaError(id, appErr)
	case errors.As(err, &appErr):
		r.Error = &diag.Fault{Code: appErr.Type(), Message: appErr.Message()}
		_ = appErr.Details(&r)
	case errors.As(err, &cancelled):
		r.Status = loop.StatusCancelled
		_ = cancelled.Details(&r)
	case errors.As(err, &terminated):
		r.Status = loop.StatusCancelled
		r.Error = &diag.Fault{Code: "terminated", Message: "the workflow was terminated"}
	default:
		r.Error = &diag.Fault{Code: "failed", Message: execErr.Unwrap().Error()}
	}
	return r, nil
}

// refusedIdeaError returns the error for a process whose Idea its worker refused.
func refusedIdeaError(id string, appErr *temporal.ApplicationError) error {
	var problems diag.Problems
	if appErr.Details(&problems) != nil || len(problems) == 0 {
		return kind.Errorf(ErrInvalid, "start process %s: %s", id, appErr.Message())
	}
	return &InvalidError{Source: id, Problems: problems}
}

// restoreResult replaces references to the store in a Result by their values.
func (p *Process) restoreResult(ctx context.Context, r loop.ProcessResult) (loop.ProcessResult, error) {
	blobStore := p.client.archive.blobStore
	ctx = blobs.WithProcess(ctx, p.id)
	var err error
	if r.Output, err = blobStore.Restore(ctx, r.Output); err != nil {
		return r, fmt.Errorf("read output of %s: %w", r.ProcessID, err)
	}
	for token, i := range r.Instances {
		if i.State, err = blobStore.Restore(ctx, i.State); err != nil {
			return r, fmt.Errorf("read State of %s: %w", protocol.InstanceID(r.ProcessID, token), err)
		}
		r.Instances[token] = i
	}
	return r, nil
}
