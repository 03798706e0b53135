package main

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// find describes a process.
func (s *session) find(ctx context.Context, id string) (*workflowpb.WorkflowExecutionInfo, error) {
	d, err := s.DescribeWorkflowExecution(ctx, id, "")
	var unknown *serviceerror.NotFound
	var invalid *serviceerror.InvalidArgument
	switch {
	case errors.As(err, &unknown), errors.As(err, &invalid):
		return nil, misuse("find process %s: there is none of this id", id)
	case err != nil:
		return nil, fmt.Errorf("find process %s: %w", id, err)
	case d.GetWorkflowExecutionInfo().GetType().GetName() != protocol.ProcessType:
		return nil, misuse("find process %s: the workflow of this id is no process", id)
	}
	return d.GetWorkflowExecutionInfo(), nil
}

// look gives a process as it stands, and waits for nothing.
func (s *session) look(ctx context.Context, id string) (loop.Result, error) {
	info, err := s.find(ctx, id)
	if err != nil {
		return loop.Result{}, err
	}
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return s.end(ctx, id)
	}
	v, err := s.status(ctx, id)
	if err == nil {
		return s.withStates(ctx, v.Result)
	}
	if down := s.health(ctx); down != nil {
		return loop.Result{}, noServer("look at %s: %w", id, down)
	}
	s.note("look at %s: no worker answers, so that its status alone is known: %s", id, err)
	return loop.Result{Process: id, Status: statusOf(info), Instances: map[string]loop.InstanceResult{}}, nil
}

// status asks a process where it stands.
func (s *session) status(ctx context.Context, id string) (v protocol.ProcessView, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	answer, err := s.QueryWorkflow(ctx, id, "", protocol.QueryStatus)
	if err == nil {
		err = answer.Get(&v)
	}
	return v, err
}

// end waits for the end of a process and gives its Result, with every value whole.
func (s *session) end(ctx context.Context, id string) (loop.Result, error) {
	var r loop.Result
	err := s.GetWorkflow(ctx, id, "").Get(ctx, &r)
	if r, err = outcome(id, r, err); err != nil {
		return r, err
	}
	return s.whole(ctx, r)
}

// outcome makes a Result of how a Process workflow ended. What the process itself said of its end is in the failure's
// details; where somebody else ended it there is nothing but the error.
func outcome(id string, r loop.Result, err error) (loop.Result, error) {
	var ended *temporal.WorkflowExecutionError
	if err == nil || !errors.As(err, &ended) {
		return r, err
	}
	r = loop.Result{Process: id, Status: loop.StatusFailed, Instances: map[string]loop.InstanceResult{}}
	var failed *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	var terminated *temporal.TerminatedError
	switch {
	case errors.As(err, &failed) && failed.Type() == turn.CodeInvalidIdea:
		return r, invalidIdea(id, failed)
	case errors.As(err, &failed):
		r.Error = &diag.Fault{Code: failed.Type(), Message: failed.Message()}
		_ = failed.Details(&r)
	case errors.As(err, &cancelled):
		r.Status = loop.StatusCancelled
		_ = cancelled.Details(&r)
	case errors.As(err, &terminated):
		r.Status = loop.StatusCancelled
		r.Error = &diag.Fault{Code: "terminated", Message: "the workflow was terminated"}
	default:
		r.Error = &diag.Fault{Code: "failed", Message: ended.Unwrap().Error()}
	}
	return r, nil
}

// invalidIdea is the end of a process whose Idea its worker refused.
func invalidIdea(id string, failed *temporal.ApplicationError) error {
	var problems diag.Problems
	if failed.Details(&problems) != nil || len(problems) == 0 {
		return misuse("start process %s: %s", id, failed.Message())
	}
	return &invalid{id, problems}
}

// whole puts stored values back into a Result.
func (s *session) whole(ctx context.Context, r loop.Result) (loop.Result, error) {
	var err error
	if r.Output, err = s.values.Restore(ctx, r.Output); err != nil {
		return r, fmt.Errorf("read output of %s: %w", r.Process, err)
	}
	for token, i := range r.Instances {
		if i.State, err = s.values.Restore(ctx, i.State); err != nil {
			return r, fmt.Errorf("read State of %s: %w", protocol.InstanceID(r.Process, token), err)
		}
		r.Instances[token] = i
	}
	return r, nil
}

// queriesAtOnce bounds how many instances are asked for their States at a time.
const queriesAtOnce = 16

// withStates asks every instance of a process that is still open for its State. One that cannot answer has none in the
// Result.
func (s *session) withStates(ctx context.Context, r loop.Result) (loop.Result, error) {
	var tokens []string
	for token := range r.Instances {
		tokens = append(tokens, token)
	}
	states := make([]any, len(tokens))
	v := protocol.ProcessView{Result: r}
	_ = s.query(ctx, r.Process, protocol.QueryStatus, &v)
	var g errgroup.Group
	g.SetLimit(queriesAtOnce)
	for n, token := range tokens {
		g.Go(func() error {
			states[n] = s.state(ctx, v.InstanceID(token))
			return nil
		})
	}
	_ = g.Wait()
	for n, token := range tokens {
		i := r.Instances[token]
		i.State = states[n]
		r.Instances[token] = i
	}
	return s.whole(ctx, r)
}

func (s *session) state(ctx context.Context, instance string) any {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	answer, err := s.QueryWorkflow(ctx, instance, "", protocol.QueryStatus)
	var v protocol.InstanceView
	if err != nil || answer.Get(&v) != nil {
		return nil
	}
	return v.State
}
