package process

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
)

// This file makes one result from the results of the parts.

// gatherFinalResult makes one result from the results of the parts, and reports whether the process is over then:
// people's signals in the meantime may keep it at work, and so may an invalid output.
func (p *splitProcess) gatherFinalResult(ctx workflow.Context) (bool, error) {
	wirings, asksLLM := p.splitState.OutputSource(p.idea)
	if asksLLM {
		return false, p.askForOutput(ctx)
	}
	in := p.gatherInput()
	in.Wirings = wirings
	gatherResult, err := p.gatherParts(ctx, in, "gather what the parts came to")
	if err != nil {
		return false, err
	}
	if len(wirings) > 0 && !p.splitState.AcceptOutput(p.idea, gatherResult.Output, gatherResult.Fault) {
		return false, nil
	}
	p.finalStatesByToken = gatherResult.StateByInstance
	p.inbox.DrainPersonSignals(ctx)
	return p.splitState.IsFinished() && p.splitState.PauseReason == nil, nil
}

// askForOutput asks the LLM for one output from those of the parts, unless a limit is reached.
func (p *splitProcess) askForOutput(ctx workflow.Context) error {
	if p.splitState.PauseAtLimit(workflow.Now(ctx)) {
		return nil
	}
	var states map[string]any
	if p.splitState.AnyPartWithoutOutput() {
		in := p.gatherInput()
		in.GathersOnlyStates = true
		g, err := p.gatherParts(ctx, in, "read what the parts came to")
		if err != nil {
			return err
		}
		states = g.StateByInstance
	}
	input := &turn.RequestInput{ProcessID: p.processID, RequestNumber: p.splitState.OwnReport.RequestCount + 1,
		TurnNumber: p.splitState.NextOutputTurnNumber(),
		Instances:  p.splitState.PartOutputsAsInstances(states), Errors: p.splitState.OutputErrors, IsOutputOnly: true,
	}
	requestStates := protocol.RequestStates{DeltaByToken: input.ExtractStates()}
	replyFuture := p.askLLM(ctx, input, input, requestStates)
	p.inbox.OnFutureReady(replyFuture, func(f workflow.Future) {
		p.splitState.ApplyOutputReply(p.idea, p.takeReply(ctx, f))
	})
	p.handleSignalsUntil(ctx, replyFuture.IsReady)
	return nil
}

// finish ends the process.
func (p *splitProcess) finish(ctx workflow.Context) (*loop.ProcessResult, error) {
	p.markEnded(p.splitState.FinalStatus())
	p.showDetails(ctx, p.outcome)
	r := p.resultWithStates(p.outcome)
	p.reportResultToDelegatingCall(ctx, r, p.splitState.QuotaUse())
	return setMemoAndReturnResult(ctx, r)
}

func (p *splitProcess) resultWithStates(status loop.Status) loop.ProcessResult {
	r := p.result(status)
	//workflowcheck:ignore -- each by itself
	for token, i := range r.Instances {
		i.State = p.finalStatesByToken[token]
		r.Instances[token] = i
	}
	return r
}

// gatherParts reads the States of all instances and seals the process's own Idea over the parts, unless it only reads,
// or the Wirings make no output.
func (p *splitProcess) gatherParts(ctx workflow.Context, in protocol.GatherInput,
	summary string) (g protocol.GatherResult, err error) {
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: activity.HeartbeatTimeout(ctx), Summary: summary,
	}), protocol.ActivityGatherParts, in).Get(ctx, &g)
	if err == nil && g.LastIdea.IdeaNumber > 0 {
		p.LastSealedIdea = g.LastIdea
		p.splitState.MarkSealed(g.LastIdea.IdeaNumber)
	}
	return g, err
}

// sealAtRest seals the process's own Idea when it begins, and when all its parts have come to rest.
func (p *splitProcess) sealAtRest(ctx workflow.Context) {
	if p.LastSealedIdea.IdeaNumber > 0 && !(p.splitState.IsAtRest() && p.splitState.HasUnsealedChanges()) {
		return
	}
	in := p.gatherInput()
	in.OmitsStates = true
	_, err := p.gatherParts(ctx, in, fmt.Sprintf("seal Idea %d", in.IdeaNumber))
	if err != nil && ctx.Err() == nil {
		workflow.GetLogger(ctx).Error("an Idea could not be sealed", "error", err)
	}
}

func (p *splitProcess) gatherInput() protocol.GatherInput {
	in := protocol.GatherInput{ProcessID: p.processID, Idea: p.idea.Source, ParentDigest: p.LastSealedIdea.Digest,
		IdeaNumber: p.LastSealedIdea.IdeaNumber + 1, Output: p.splitState.OwnReport.Output,
		Log: p.splitState.UnsealedLog, LLMUsages: p.splitState.LLMUsages, Quality: p.splitState.Quality(),
		Delegation: p.start.Delegation.ForIdea(p.idea),
	}
	for _, part := range p.splitState.Parts {
		r := part.Report
		g := protocol.GatherPart{
			ProcessID:      protocol.PartID(p.processID, part.Number),
			LastIdea:       protocol.IdeaRef{IdeaNumber: r.IdeaCount, Digest: r.LatestIdeaDigest},
			InstanceTokens: part.InstanceTokens, GatheredThroughIdea: part.LastGatheredIdeaNumber,
		}
		if r.IsFinished() { // until then its latest Idea has the ends
			g.StatusByInstance = r.EndedInstanceStatuses()
		}
		in.Parts = append(in.Parts, g)
	}
	return in
}

// result is the result of the process so far, without States.
func (p *splitProcess) result(status loop.Status) loop.ProcessResult {
	r := p.splitState.Result(p.processID, status)
	r.Simulation, r.ToolNotes = p.idea.Simulation, p.idea.MCPOmissionNotes()
	return r
}
