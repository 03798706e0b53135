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

// Observer is told what became of Requests and Calls, for metrics and traces. It is given no prompt, no parameter, no
// result and no error text.
type Observer interface {
	// Request is told of an attempt at a Request when it is over.
	Request(RequestAttempt)
	// Call is told when a Call begins. The Tool is given the context that it returns, and end is called when it is
	// over, with its outcome: OutcomeDone, OutcomeCutOff, or the code of what went wrong.
	Call(context.Context, CallAttempt) (_ context.Context, end func(outcome string))
}

// HoldUpObserver is an Observer that is told how many processes a worker holds up for a cause.
type HoldUpObserver interface {
	HeldUp(cause string, processes int)
}

// DecisionObserver is an Observer that is told of each decision by which a Call's waiting for people ended.
type DecisionObserver interface{ Decision(approval.Decision) }

// RecheckObserver is an Observer that is told how many instances an LLM was asked about a second time, and how many it
// decided otherwise about.
type RecheckObserver interface {
	Rechecked(llm string, instances, differed int)
}

// HoldUps notes that a process waits for something until a time, and that it goes on.
type HoldUps interface {
	Waits(process, cause string, until time.Time)
	GoesOn(process, cause string)
}

// Outcomes beside the codes of faults (ideafile.CodeToolFailed, turn.CodeTruncated, …).
const (
	OutcomeWhole  = "whole"   // of a Request: the solution is complete
	OutcomeDone   = "done"    // of a Call
	OutcomeCutOff = "cut_off" // of either: the worker stopped
)

// RequestAttempt is what an Observer is told of one attempt at a Request.
type RequestAttempt struct {
	Process         string
	Number, Attempt int // both from 1
	Instances       int // how many it covered
	LLM             string
	Served          string        // the LLM as the server names it; empty where it does not
	Server          string        // host, or host:port; empty where none answered
	Began, Ended    time.Time     // without the time that it waited for a slot
	FirstByte       time.Time     // zero where none came
	Waited          time.Duration // for a slot, before it began
	Usage           turn.TokenUsage
	Finish          string // the LLM's finish reason; empty where the stream broke off
	Outcome         string // OutcomeWhole, OutcomeCutOff, or the code of what went wrong
}

// CallAttempt is what an Observer is told of one attempt at a Call when it begins.
type CallAttempt struct {
	Process, Instance, Call, Tool string
	Kind                          ideafile.ToolKind
	Attempt                       int // from 1
	TakesBack                     bool
}

// observeCall tells the observer of a Call.
func (a *Activities) observeCall(ctx context.Context, in protocol.ExecuteInput) (context.Context, func(error)) {
	n := int(activity.GetInfo(ctx).Attempt) + in.Lost
	if n > 1 {
		activity.GetLogger(ctx).Info("a Call is run again: it failed before, or its worker was lost",
			"process", in.Process, "instance", in.Token, "call", in.Call, "tool", in.Tool, "attempt", n)
	}
	if a.Observer == nil {
		return ctx, func(error) {}
	}
	ctx, end := a.Observer.Call(ctx, CallAttempt{
		Process: in.Process, Instance: in.Token, Call: in.Call, Tool: in.Tool, Kind: in.Binding.Kind,
		Attempt: n, TakesBack: in.Undoes != nil,
	})
	return ctx, func(err error) { end(outcomeOfError(err, OutcomeDone)) }
}

// endRequest tells the observer what became of a Request.
func (a *Activities) endRequest(seen *RequestAttempt, reply *turn.LLMReply, err error) {
	var said *llm.Error
	if a.Observer == nil || (errors.As(err, &said) && said.HeldBack) { // nobody was asked
		return
	}
	seen.Ended, seen.Outcome = time.Now(), outcomeOfError(err, OutcomeWhole)
	if err == nil && reply.Fault != nil {
		seen.Outcome = reply.Fault.Code
	}
	a.Observer.Request(*seen)
}

// describe takes from the LLM's reply what the observer may know.
func (s *RequestAttempt) describe(r *llm.Reply) {
	s.LLM, s.Served, s.Server, s.FirstByte, s.Usage, s.Finish = r.Model, r.Served, r.Server, r.FirstByte,
		r.Usage, r.Finish
}

func outcomeOfError(err error, good string) string {
	var app *temporal.ApplicationError
	var said *llm.Error
	switch {
	case err == nil:
		return good
	case errors.Is(err, activity.ErrResultPending):
		return OutcomeCutOff
	case errors.As(err, &app) && app.Type() != "":
		return app.Type()
	case errors.As(err, &said):
		return said.Code
	}
	return ideafile.CodeToolFailed
}
