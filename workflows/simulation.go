package workflows

import (
	"processidea/model/dataflow"
	"processidea/model/loop"
)

// This file holds what a workflow knows of simulations: next to nothing. A Tool that is played says so in its binding, and
// an Idea in its meta, which travel where everything else does.

// simulated marks the Idea of a delegate whose Call is played: nothing below it is real.
func simulated(r dataflow.ReadyCall, idea map[string]any) map[string]any {
	if r.Binding.Simulated == nil {
		return idea
	}
	return r.Binding.Simulated.MarkIdea(idea)
}

// partsResult is a process that is split, as it stands.
func (p *process) partsResult(status loop.ProcessStatus) loop.Result {
	r := p.parts.Result(p.id, status)
	r.Simulated = p.idea.Simulated
	return r
}
