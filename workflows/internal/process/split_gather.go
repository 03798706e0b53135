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
	wirings, asksLLM := p.parts.OutputSource(p.idea)
	if asksLLM {
		return false, p.askForOutput(ctx)
	}
	in := p.gatherInput()
	in.Wirings = wirings
	gathered, err := p.gatherParts(ctx, in, "gather what the parts came to")
	if err != nil {
		return false, err
	}
	if len(wirings) > 0 && !p.parts.AcceptOutput(p.idea, gathered.Output, gathered.Fault) {
		return false, nil
	}
	p.finalStatesByToken = gathered.States
	p.inbox.DrainPersonSignals(ctx)
	return p.parts.IsFinished() && p.parts.PauseReason == nil, nil
}

// askForOutput asks the LLM for one output from those of the parts, unless a limit is reached.
func (p *splitProcess) askForOutput(ctx workflow.Context) error {
	if p.parts.PauseAtLimit(workflow.Now(ctx)) {
		return nil
	}
	var states map[string]any
	if p.parts.AnyPartWithoutOutput() {
		in := p.gatherInput()
		in.StatesOnly = true
		g, err := p.gatherParts(ctx, in, "read what the parts came to")
		if err != nil {
			return err
		}
		states = g.States
	}
	input := &turn.RequestInput{ProcessID: p.processID, RequestNumber: p.parts.OwnReport.RequestCount + 1,
		TurnNumber: p.parts.NextTurnNumber(),
		Instances:  p.parts.PartOutputsAsInstances(states), Errors: p.parts.OutputErrors, IsOutputOnly: true,
	}
	changes := protocol.RequestStates{Changes: input.ExtractStates()}
	answer := p.askLLM(ctx, input, input, changes)
	p.inbox.OnFutureReady(answer, func(f workflow.Future) {
		p.parts.ApplyOutputReply(p.idea, p.takeReply(ctx, f))
	})
	p.handleSignalsUntil(ctx, answer.IsReady)
	return nil
}

// finish ends the process.
func (p *splitProcess) finish(ctx workflow.Context) (*loop.Result, error) {
	p.markEnded(p.parts.FinalStatus())
	p.showDetails(ctx, p.outcome)
	r := p.resultWithStates(p.outcome)
	p.reportResultToDelegatingCall(ctx, r, p.parts.QuotaUse())
	return workflowResult(ctx, r)
}

func (p *splitProcess) resultWithStates(status loop.Status) loop.Result {
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
	}), protocol.ActivityGather, in).Get(ctx, &g)
	if err == nil && g.Last.Idea > 0 {
		p.LastSealedIdea = g.Last
		p.parts.MarkSealed(g.Last.Idea)
	}
	return g, err
}

// sealAtRest seals the process's own Idea when it begins, and when all its parts have come to rest.
func (p *splitProcess) sealAtRest(ctx workflow.Context) {
	if p.LastSealedIdea.Idea > 0 && !(p.parts.IsAtRest() && p.parts.HasUnsealedChanges()) {
		return
	}
	in := p.gatherInput()
	in.WithoutStates = true
	_, err := p.gatherParts(ctx, in, fmt.Sprintf("seal Idea %d", in.At))
	if err != nil && ctx.Err() == nil {
		workflow.GetLogger(ctx).Error("an Idea could not be sealed", "error", err)
	}
}

func (p *splitProcess) gatherInput() protocol.GatherInput {
	in := protocol.GatherInput{Process: p.processID, Idea: p.idea.Source, Parent: p.LastSealedIdea.Digest,
		At: p.LastSealedIdea.Idea + 1, Output: p.parts.OwnReport.Output,
		Log: p.parts.UnsealedLog, LLMUsages: p.parts.LLMUsages, Quality: p.parts.Quality(),
		Delegation: p.start.Delegation.ForIdea(p.idea),
	}
	for _, part := range p.parts.Parts {
		r := part.Report
		g := protocol.GatherPart{
			Process: protocol.PartID(p.processID, part.Number),
			Last:    protocol.IdeaRef{Idea: r.IdeaCount, Digest: r.IdeaDigest},
			Tokens:  part.Tokens, GatheredThrough: part.LastGatheredIdea,
		}
		if r.IsFinished() { // until then its latest Idea has the ends
			g.Statuses = r.EndedInstances()
		}
		in.Parts = append(in.Parts, g)
	}
	return in
}

// result is the result of the process so far, without States.
func (p *splitProcess) result(status loop.Status) loop.Result {
	r := p.parts.Result(p.processID, status)
	r.Simulation, r.ToolNotes = p.idea.Simulation, p.idea.MCPNotes()
	return r
}
