package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"processidea/llm"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
)

// Observer receives the outcomes of Requests and Calls, for metrics and traces. It receives no prompt, parameter,
// result or error text.
type Observer interface {
	// ObserveRequest is called at the end of each attempt at a Request.
	ObserveRequest(RequestAttempt)
	// ObserveCall is called when a Call begins. The Tool runs with the returned context. end is called at its end with
	// the outcome: OutcomeDone, OutcomeWorkerStopped, or an error code.
	ObserveCall(context.Context, CallAttempt) (_ context.Context, end func(outcome string))
}

// HoldUpObserver is an Observer that receives the number of processes that a worker holds up for a cause.
type HoldUpObserver interface {
	ObserveHoldUps(cause string, processes int)
}

// DecisionObserver is an Observer that receives each decision that ended a Call's wait for people.
type DecisionObserver interface{ ObserveDecision(approval.Decision) }

// RecheckObserver is an Observer that receives the number of instances that an LLM was asked about a second time, and
// how many answers differed.
type RecheckObserver interface {
	ObserveRecheck(llm, again string, instances, differed int)
}

// HoldUpRecorder records that a process waits for something until a time, or that it goes on.
type HoldUpRecorder interface {
	RecordHoldUp(process, cause string, until time.Time)
	ForgetHoldUp(process, cause string)
}

// Outcomes beside the codes of faults (ideafile.CodeToolFailed, turn.CodeTruncated, …).
const (
	OutcomeComplete      = "whole"   // of a Request: the solution is complete
	OutcomeDone          = "done"    // of a Call
	OutcomeWorkerStopped = "cut_off" // of either: the worker stopped
)

// RequestAttempt describes one attempt at a Request to an Observer.
type RequestAttempt struct {
	ProcessID                    string
	RequestNumber, AttemptNumber int // both from 1
	InstanceCount                int // how many it covered
	LLMName                      string
	ServedModel                  string        // the server's name of the LLM; empty: not given
	Server                       string        // host, or host:port; empty: none answered
	StartedAt, EndedAt           time.Time     // without the time that it waited for a slot
	FirstByteAt                  time.Time     // zero where none came
	SlotWaitTime                 time.Duration // for a slot, before it began
	Usage                        turn.TokenUsage
	FinishReason                 string // the LLM's finish reason; empty where the stream broke off
	Outcome                      string // OutcomeComplete, OutcomeWorkerStopped, or the code of what went wrong
}

// CallAttempt describes one attempt at a Call to an Observer, when the attempt begins.
type CallAttempt struct {
	ProcessID, InstanceToken, CallID, Tool string
	Kind                                   ideafile.ToolKind
	AttemptNumber                          int // from 1
	IsUndo                                 bool
}

// observeCall reports the beginning of a Call to the observer.
func (a *Activities) observeCall(ctx context.Context, in protocol.ExecuteInput) (context.Context, func(error)) {
	attemptNumber := int(activity.GetInfo(ctx).Attempt) + in.LostWorkerCount + in.RefusalWaitCount
	if attemptNumber > 1 {
		activity.GetLogger(ctx).Info("a Call is run again: it failed before, or its worker was lost",
			"process", in.ProcessID, "instance", in.InstanceToken, "call", in.CallID, "tool", in.Tool, "attempt",
			attemptNumber)
	}
	if a.Observer == nil {
		return ctx, func(error) {}
	}
	ctx, end := a.Observer.ObserveCall(ctx, CallAttempt{
		ProcessID: in.ProcessID, InstanceToken: in.InstanceToken, CallID: in.CallID, Tool: in.Tool,
		Kind:          in.Binding.Kind,
		AttemptNumber: attemptNumber, IsUndo: in.UndoneCall != nil,
	})
	return ctx, func(err error) { end(outcomeOfError(err, OutcomeDone)) }
}

// observeRequestEnd reports the outcome of a Request to the observer.
func (a *Activities) observeRequestEnd(attempt *RequestAttempt, reply *turn.LLMReply, err error) {
	var failure *llm.Error
	if a.Observer == nil || (errors.As(err, &failure) && failure.IsHeldBack) { // nobody was asked
		return
	}
	attempt.EndedAt, attempt.Outcome = time.Now(), outcomeOfError(err, OutcomeComplete)
	if err == nil && reply.Fault != nil {
		attempt.Outcome = reply.Fault.Code
	}
	a.Observer.ObserveRequest(*attempt)
}

// setReplyDetails takes from the LLM's reply what the observer may know.
func (s *RequestAttempt) setReplyDetails(r *llm.Reply) {
	s.LLMName, s.ServedModel, s.Server, s.FirstByteAt, s.Usage, s.FinishReason = r.RequestedModel, r.ServedModel,
		r.ServerHost,
		r.FirstByteAt, r.Usage, r.FinishReason
}

func outcomeOfError(err error, successOutcome string) string {
	var appError *temporal.ApplicationError
	var failure *llm.Error
	switch {
	case err == nil:
		return successOutcome
	case errors.Is(err, activity.ErrResultPending):
		return OutcomeWorkerStopped
	case errors.As(err, &appError) && appError.Type() != "":
		return appError.Type()
	case errors.As(err, &failure):
		return failure.Code
	}
	return ideafile.CodeToolFailed
}
