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
	// Request is called at the end of each attempt at a Request.
	Request(RequestAttempt)
	// Call is called when a Call begins. The Tool runs with the returned context. end is called at its end with the
	// outcome: OutcomeDone, OutcomeCutOff, or an error code.
	Call(context.Context, CallAttempt) (_ context.Context, end func(outcome string))
}

// HoldUpObserver is an Observer that receives the number of processes that a worker holds up for a cause.
type HoldUpObserver interface {
	HeldUp(cause string, processes int)
}

// DecisionObserver is an Observer that receives each decision that ended a Call's wait for people.
type DecisionObserver interface{ Decision(approval.Decision) }

// RecheckObserver is an Observer that receives the number of instances that an LLM was asked about a second time, and
// how many answers differed.
type RecheckObserver interface {
	Rechecked(llm, again string, instances, differed int)
}

// HoldUpRecorder records that a process waits for something until a time, or that it goes on.
type HoldUpRecorder interface {
	RecordWait(process, cause string, until time.Time)
	ForgetWait(process, cause string)
}

// Outcomes beside the codes of faults (ideafile.CodeToolFailed, turn.CodeTruncated, …).
const (
	OutcomeComplete = "whole"   // of a Request: the solution is complete
	OutcomeDone     = "done"    // of a Call
	OutcomeCutOff   = "cut_off" // of either: the worker stopped
)

// RequestAttempt describes one attempt at a Request to an Observer.
type RequestAttempt struct {
	Process            string
	Number, Attempt    int // both from 1
	InstanceCount      int // how many it covered
	LLM                string
	ServedModel        string        // the server's name of the LLM; empty: not given
	Server             string        // host, or host:port; empty: none answered
	StartedAt, EndedAt time.Time     // without the time that it waited for a slot
	FirstByte          time.Time     // zero where none came
	SlotWait           time.Duration // for a slot, before it began
	Usage              turn.TokenUsage
	FinishReason       string // the LLM's finish reason; empty where the stream broke off
	Outcome            string // OutcomeComplete, OutcomeCutOff, or the code of what went wrong
}

// CallAttempt describes one attempt at a Call to an Observer, when the attempt begins.
type CallAttempt struct {
	Process, Instance, Call, Tool string
	Kind                          ideafile.ToolKind
	Attempt                       int // from 1
	IsUndo                        bool
}

// observeCall reports the beginning of a Call to the observer.
func (a *Activities) observeCall(ctx context.Context, in protocol.ExecuteInput) (context.Context, func(error)) {
	n := int(activity.GetInfo(ctx).Attempt) + in.LostWorkers + in.WaitCount
	if n > 1 {
		activity.GetLogger(ctx).Info("a Call is run again: it failed before, or its worker was lost",
			"process", in.Process, "instance", in.Token, "call", in.Call, "tool", in.Tool, "attempt", n)
	}
	if a.Observer == nil {
		return ctx, func(error) {}
	}
	ctx, end := a.Observer.Call(ctx, CallAttempt{
		Process: in.Process, Instance: in.Token, Call: in.Call, Tool: in.Tool, Kind: in.Binding.Kind,
		Attempt: n, IsUndo: in.Undoes != nil,
	})
	return ctx, func(err error) { end(outcomeOfError(err, OutcomeDone)) }
}

// observeRequestEnd reports the outcome of a Request to the observer.
func (a *Activities) observeRequestEnd(attempt *RequestAttempt, reply *turn.LLMReply, err error) {
	var failure *llm.Error
	if a.Observer == nil || (errors.As(err, &failure) && failure.HeldBack) { // nobody was asked
		return
	}
	attempt.EndedAt, attempt.Outcome = time.Now(), outcomeOfError(err, OutcomeComplete)
	if err == nil && reply.Fault != nil {
		attempt.Outcome = reply.Fault.Code
	}
	a.Observer.Request(*attempt)
}

// describeReply takes from the LLM's reply what the observer may know.
func (s *RequestAttempt) describeReply(r *llm.Reply) {
	s.LLM, s.ServedModel, s.Server, s.FirstByte, s.Usage, s.FinishReason = r.Model, r.ServedModel, r.Server,
		r.FirstByte, r.Usage, r.FinishReason
}

func outcomeOfError(err error, successOutcome string) string {
	var appError *temporal.ApplicationError
	var failure *llm.Error
	switch {
	case err == nil:
		return successOutcome
	case errors.Is(err, activity.ErrResultPending):
		return OutcomeCutOff
	case errors.As(err, &appError) && appError.Type() != "":
		return appError.Type()
	case errors.As(err, &failure):
		return failure.Code
	}
	return ideafile.CodeToolFailed
}
