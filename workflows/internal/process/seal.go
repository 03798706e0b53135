package process

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
)

// ideaToSeal is one Idea to be put on the chain.
type ideaToSeal struct {
	idea          *ideafile.Idea
	input         *turn.RequestInput
	requestNumber int // the Request that it is of; 0: of none
	log           []turn.LogEntry
	calls         []ideafile.WrittenCall
	output        any
	finished      bool // the LLM said so
	notes         string
}

// sealCurrentState puts the process as it stands on the chain.
func (p *unsplitProcess) sealCurrentState(ctx workflow.Context) {
	p.sealIdea(ctx, ideaToSeal{
		idea: p.idea, input: p.loop.AllInstancesInput(), log: p.loop.TakeUnsealedLog(), calls: []ideafile.WrittenCall{},
		output: p.loop.Output,
	})
}

// sealAtRest seals what has changed when the process comes to rest, and at a pause, once every instance has told what
// it had done by then.
func (p *unsplitProcess) sealAtRest(ctx workflow.Context) {
	pauseDue := p.pauseReason() != nil && p.loop.HasUnsealedPause() && p.loop.AllReportedSincePause()
	firstRest := p.lastSealed.At == 0 && p.loop.PendingPlan != nil
	if (p.loop.HasUnsealedChanges || firstRest) && (pauseDue || p.loop.IsAtRest(workflow.Now(ctx))) {
		p.sealCurrentState(ctx)
	}
}

// sealFinalStates seals the final States and how each instance ended, unless the last Idea tells them.
func (p *unsplitProcess) sealFinalStates(ctx workflow.Context) {
	_, changed := jsonval.ComputeDelta(p.baseStates, p.loop.AllInstancesInput().States())
	if changed || p.loop.HasUnsealedChanges || !p.endStatusesSealed {
		p.sealCurrentState(ctx)
	}
}

// sealIdea puts one Idea on the chain. Sealing is content-addressed, so that doing it twice is doing it once.
func (p *unsplitProcess) sealIdea(ctx workflow.Context, what ideaToSeal) {
	in := protocol.SealInput{
		Process: p.processID, At: p.lastSealed.At + 1, Parent: p.lastSealed.Digest,
		Idea: what.idea.Source, Brief: what.input, Calls: what.calls, Output: what.output, Finished: what.finished,
		Notes: what.notes, Request: what.requestNumber,
		Log: what.log, LLM: p.loop.TakeLLMUsages(), Quality: p.loop.Quality(),
		Delegation: p.start.Delegation.ForIdea(what.idea),
	}
	s, err := appendToChain(ctx, in)
	if err != nil {
		workflow.GetLogger(ctx).Error("an Idea could not be sealed", "error", err)
		p.baseIdea = protocol.IdeaRef{}
		return
	}
	p.lastSealed, p.baseIdea, p.baseStates, p.endStatusesSealed = s, s, what.input.States(),
		what.input.AllInstancesEnded()
}

// appendToChain seals within the workflow task if it can. If the store does not answer it waits in an activity, which
// an operator sees, for as long as it takes.
func appendToChain(ctx workflow.Context, in protocol.SealInput) (s protocol.IdeaRef, err error) {
	summary := fmt.Sprintf("seal Idea %d", in.At)
	err = workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 10 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 2}, Summary: summary,
	}), protocol.ActivitySeal, in).Get(ctx, &s)
	if err == nil || ctx.Err() != nil {
		return s, err
	}
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: summary,
	}), protocol.ActivitySeal, in).Get(ctx, &s)
	return s, err
}
