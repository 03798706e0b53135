package process

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
)

// sealCurrentState seals the current process as an Idea of the chain.
func (p *unsplitProcess) sealCurrentState(ctx workflow.Context) {
	p.sealIdea(ctx, p.idea, protocol.SealInput{Brief: p.loop.AllInstancesInput(), Log: p.loop.TakeUnsealedLog(),
		Calls: []ideafile.WrittenCall{}, Output: p.loop.Output})
}

// sealAtRest seals the changes when the process comes to rest and, at a pause, once every instance has reported what it
// had done by then.
func (p *unsplitProcess) sealAtRest(ctx workflow.Context) {
	isPauseSealDue := p.pauseReason() != nil && p.loop.HasUnsealedPause() && p.loop.AllReportedSincePause()
	isFirstRest := p.LastSealedIdea.IdeaNumber == 0 && p.loop.PendingPlan != nil
	if (p.loop.HasUnsealedChanges || isFirstRest) && (isPauseSealDue || p.loop.IsAtRest(workflow.Now(ctx))) {
		p.sealCurrentState(ctx)
	}
}

// sealFinalStates seals the final States and how each instance ended, unless the last Idea has them.
func (p *unsplitProcess) sealFinalStates(ctx workflow.Context) {
	_, changed := jsonval.ComputeDelta(p.baseStates, p.loop.AllInstancesInput().States())
	if changed || p.loop.HasUnsealedChanges || !p.areEndStatusesSealed {
		p.sealCurrentState(ctx)
	}
}

// sealIdea adds one Idea to the chain: in, and what the process adds to each. Sealing is content-addressed, so that a
// repetition changes nothing.
func (p *unsplitProcess) sealIdea(ctx workflow.Context, idea *ideafile.Idea, in protocol.SealInput) {
	in.Process, in.At, in.Parent, in.Idea = p.processID, p.LastSealedIdea.IdeaNumber+1, p.LastSealedIdea.Digest,
		idea.Source
	in.LLMUsages, in.Quality, in.Delegation = p.loop.TakeAnsweringLLMs(), p.loop.QualityReport(),
		p.start.Delegation.ForIdea(idea)
	var s protocol.IdeaRef
	err := activity.RunLocallyFirst(ctx, protocol.ActivitySealIdea, fmt.Sprintf("seal Idea %d", in.At), 10*time.Second,
		time.Minute,
		in, &s)
	if err != nil {
		workflow.GetLogger(ctx).Error("an Idea could not be sealed", "error", err)
		p.BaseIdea = protocol.IdeaRef{}
		return
	}
	p.LastSealedIdea, p.BaseIdea, p.baseStates, p.areEndStatusesSealed = s, s, in.Brief.States(),
		in.Brief.AllInstancesEnded()
}
