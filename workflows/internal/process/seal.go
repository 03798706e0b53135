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

// sealing is one Idea to be put on the chain.
type sealing struct {
	idea    *ideafile.Idea
	input   *turn.RequestInput
	request int // the Request that it is of; 0: of none
	log     []turn.LogEntry
	calls   []ideafile.WrittenCall
	output  any
}

// sealCurrentState puts the process as it stands on the chain.
func (p *ordinaryProcess) sealCurrentState(ctx workflow.Context, output any) {
	p.sealIdea(ctx, sealing{idea: p.idea, input: p.loop.FullInput(), log: p.loop.TakeLog(), calls: []ideafile.WrittenCall{}, output: output})
}

// sealFinalStates seals the final States, if anything changed since the last Idea.
func (p *ordinaryProcess) sealFinalStates(ctx workflow.Context) {
	_, changed := jsonval.Delta(p.baseStates, p.loop.FullInput().States())
	if changed || p.last.At == 0 {
		p.sealCurrentState(ctx, p.loop.Output())
	}
}

// sealIdea puts one Idea on the chain. Sealing is content-addressed, so that doing it twice is doing it once.
func (p *ordinaryProcess) sealIdea(ctx workflow.Context, what sealing) {
	in := protocol.SealInput{
		Process: p.id, At: p.last.At + 1, Parent: p.last.Digest,
		Idea: what.idea.Source, Brief: what.input, Calls: what.calls, Output: what.output, Request: what.request, Log: what.log,
	}
	s, err := appendToChain(ctx, in)
	if err != nil {
		workflow.GetLogger(ctx).Error("an Idea could not be sealed", "error", err)
		p.base = protocol.Sealed{}
		return
	}
	p.last, p.base, p.baseStates = s, s, what.input.States()
}

// appendToChain seals within the workflow task if it can. If the store does not answer it waits in an activity, which an
// operator sees, for as long as it takes.
func appendToChain(ctx workflow.Context, in protocol.SealInput) (s protocol.Sealed, err error) {
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
