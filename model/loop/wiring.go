package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/output"
	"processidea/model/planresult"
	"processidea/model/turn"
)

// KnownOutputChange is the change of the rules by which an output of known values may stand beside Calls, and instances that have reached their
// goal settle while an output waits for others.
const KnownOutputChange = "an output beside Calls may hold what is known"

// doesReplyWireOutput reports whether a reply gives the output of the whole process beside its last Calls: by References alone, or saying so.
func (l *Loop) doesReplyWireOutput(req *llmRequest) bool {
	if l.idea.OutputSchema == nil || !l.coversAllInstances(req) || len(req.reply.CallFaults) > 0 || len(req.reply.Calls) == 0 {
		return false
	}
	written := l.idea.OutputSchema.WithoutNulls(req.reply.Output)
	return output.HasOnlyReferences(written) || (written != nil && req.reply.Finished && l.Knows(KnownOutputChange))
}

// awaitsWiredOutput reports whether an instance reaches its goal if the wired output holds: no Request is made about it before that
// is known.
func (l *Loop) awaitsWiredOutput(inst *InstanceProgress) bool {
	return l.wiredRequest != nil && inst.LastPlanningRequest == l.wiredRequest.input.RequestNumber && len(inst.Questions) == 0
}

// settleOrDropWiredOutput ends the process by the wired output once all its Calls have their values, or drops that output. It is dropped,
// too, rather than have instances that are done wait for another one's person; such as have reached their goal settle, and wait for nobody.
func (l *Loop) settleOrDropWiredOutput() {
	if l.wiredRequest == nil {
		return
	}
	running, done := false, false
	for _, inst := range l.instances {
		switch {
		case inst.Status != ideafile.InstanceWorking:
		case l.breaksWiredOutput(inst):
			l.dropWiredOutput()
			return
		case inst.hasActiveCalls():
			running = true
		case len(inst.PendingApprovals) == 0:
			done = done || !l.settlesWhileOutputWaits(inst)
		}
	}
	_, waiting := l.anyBusyOrAwaitingPerson()
	if running || (waiting && !done) {
		return
	}
	if !waiting {
		l.settleByWiredOutput()
	}
	l.dropWiredOutput()
}

// settlesWhileOutputWaits reports whether an instance settles by its goal, whatever becomes of the output that was given beside its Calls.
func (l *Loop) settlesWhileOutputWaits(inst *InstanceProgress) bool {
	return inst.HasGoal && inst.reachedGoal() && !l.idea.Config.AskLLMBeforeSettling && l.Knows(KnownOutputChange)
}

// dropWiredOutput forgets the wired output; where it was not taken, the next Request is told.
func (l *Loop) dropWiredOutput() {
	if !l.hasOutput {
		l.addError(turn.ContextError{Fault: *diag.Faultf(turn.CodeOutputNotTaken, "the output given in request %d was not taken, since not all Calls brought "+
			"their values: give it again, beside the Calls that mend this or when all is done", l.wiredRequest.input.RequestNumber)})
	}
	l.wiredRequest = nil
}

// addOutputNotTakenError has the next Request told that the output of an earlier one came too early.
func (l *Loop) addOutputNotTakenError(request int) {
	l.addError(turn.ContextError{Fault: *diag.Faultf(turn.CodeOutputNotTaken, "the output given in request %d was not taken: there was more to do. "+
		"An output counts once no call is left to run, or beside Calls where \"finished\" is true", request)})
}

// breaksWiredOutput reports whether a wired output can no longer hold: the instance joined later, was planned for anew or corrected,
// a Call failed and nothing makes up for it, or its Calls ended without all their values. An output that says what is known holds no longer where a
// person decided otherwise than was known.
func (l *Loop) breaksWiredOutput(inst *InstanceProgress) bool {
	plan := l.planOf(inst, l.wiredRequest.input.RequestNumber)
	if inst.LastPlanningRequest != l.wiredRequest.input.RequestNumber || inst.RevisedSinceRequest || plan.Failed() {
		return true
	}
	if !output.HasOnlyReferences(l.idea.OutputSchema.WithoutNulls(l.wiredRequest.reply.Output)) && plan.WasOverruled() {
		return true
	}
	return !inst.hasActiveCalls() && len(inst.PendingApprovals) == 0 && !plan.Succeeded()
}

// hasActiveCalls reports whether Calls run, or wait for the LLM's answer.
func (p *InstanceProgress) hasActiveCalls() bool { return p.phase() == busy || len(p.Questions) > 0 }

// settleByWiredOutput settles every instance, where the output resolves and fits its schema and nothing is missing.
func (l *Loop) settleByWiredOutput() {
	written := l.idea.OutputSchema.WithoutNulls(l.wiredRequest.reply.Output)
	out, f := l.resolveAndCheckOutput(written)
	if f != nil || anyMissesRequiredPaths(l.instances) {
		return
	}
	l.setOutput(out, written)
	for _, inst := range l.instances {
		if inst.Status == ideafile.InstanceWorking {
			l.settleOrAskAgain(inst)
		}
	}
}

func anyMissesRequiredPaths(instances []*InstanceProgress) bool {
	return slices.ContainsFunc(instances, func(inst *InstanceProgress) bool { return len(inst.MissingRequiredPaths) > 0 })
}

// planOf is what is known of the Calls that a Request planned for an instance.
func (l *Loop) planOf(inst *InstanceProgress, request int) planresult.Plan {
	p := planresult.Plan{Idea: l.idea, State: inst.state.CurrentValue, Knows: l.Knows}
	//workflowcheck:ignore -- in any order
	for key, c := range inst.calls {
		if key.Request == request {
			p.Reports = append(p.Reports, c)
		}
	}
	p.WrittenCall = func(key ideafile.CallKey) ideafile.WrittenCall {
		for _, planned := range l.plannedCalls {
			if planned.CallKey == key && planned.isPlannedFor(inst) {
				return planned.call
			}
		}
		return ideafile.WrittenCall{}
	}
	return p
}

func (l *Loop) newOutputWiring(out any, instances []*InstanceProgress) output.Wiring {
	w := output.Wiring{Output: out}
	for _, inst := range instances {
		w.Instances = append(w.Instances, inst.Token)
	}
	return w
}

func (l *Loop) stateOfInstance(token string) any { return l.instance(token).state.Snapshot() }
