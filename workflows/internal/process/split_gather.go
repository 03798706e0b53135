package process

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file makes one result of what the parts came to.

// ensureOutput asks for one output over those of the parts, if the Idea wants one, and reports whether the process has what it
// ends with.
func (p *splitProcess) ensureOutput(ctx workflow.Context) bool {
	if p.idea.Output == nil || p.parts.Own.Output != nil || p.parts.FinalStatus() != loop.StatusCompleted {
		return true
	}
	input := &turn.RequestInput{Process: p.id, Number: p.parts.Own.Requests + 1, Turn: p.parts.NextTurn(),
		Instances: p.parts.OutputsAsInstances(), OutputOnly: true,
	}
	var r turn.Reply
	states := protocol.RequestStates{Changes: input.DetachStates()}
	err := workflow.ExecuteActivity(p.requestOptions(ctx, input), protocol.ActivityRequest, p.setup, input, states).Get(ctx, &r)
	if err != nil {
		if ctx.Err() != nil {
			return false
		}
		r = replyOfFailedRequest(err)
	}
	p.parts.ApplyOutputReply(p.idea, r)
	return p.parts.Own.Output != nil
}

// gatherResult ends the process: its last Idea is sealed over everybody's State.
func (p *splitProcess) gatherResult(ctx workflow.Context) (*loop.Result, error) {
	var g protocol.Gathered
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: protocol.HeartbeatTimeout, Summary: "gather what the parts came to",
	}), protocol.ActivityGather, p.gatherInput()).Get(ctx, &g)
	if err != nil {
		return nil, err
	}
	p.last = g.Last
	p.parts.Own.Ideas = g.Last.At
	p.markOver(p.parts.FinalStatus())
	p.showDetails(ctx, p.outcome)
	r := p.result(p.outcome)
	//workflowcheck:ignore -- each by itself
	for token, i := range r.Instances {
		i.State = g.States[token]
		r.Instances[token] = i
	}
	p.inbox.Drain(ctx)
	p.reportToCaller(ctx, r)
	return workflowResult(r)
}

func (p *splitProcess) gatherInput() protocol.GatherInput {
	in := protocol.GatherInput{Process: p.id, Idea: p.idea.Source, Parent: p.last.Digest, At: p.last.At + 1, Output: p.parts.Own.Output}
	for _, part := range p.parts.List {
		r := part.Report
		in.Parts = append(in.Parts, protocol.GatherPart{
			Process: protocol.PartID(p.id, part.Number), Last: protocol.Sealed{At: r.Ideas, Digest: r.Digest},
			Tokens: part.Tokens, Statuses: r.Instances,
		})
	}
	return in
}

// result is the process as it stands, without States.
func (p *splitProcess) result(status loop.ProcessStatus) loop.Result {
	r := p.parts.Result(p.id, status)
	r.Simulated = p.idea.Simulated
	return r
}
