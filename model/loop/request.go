package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// composeRequest composes the next Request: questions alone where a ready instance has some; the output alone where
// every instance has ended; all ready instances otherwise.
func (l *Loop) composeRequest() *turn.RequestInput {
	input := &turn.RequestInput{ProcessID: l.processID, RequestNumber: l.priorRequests + l.requestCount + 1,
		Turn:       l.turnCount + 1,
		OutputOnly: l.allInstancesEnded()}
	instances := l.readyInstances()
	for _, inst := range instances {
		input.Questions = append(input.Questions, inst.Questions...)
	}
	if input.OutputOnly {
		instances = l.instances
	}
	for _, inst := range instances {
		if len(input.Questions) == 0 || len(inst.Questions) > 0 {
			input.Instances = append(input.Instances,
				turn.InstanceInput{Token: inst.Token, State: inst.state.Snapshot(),
					MissingRequiredPaths: inst.missingRequiredPathsForLLM(), ReopenReason: inst.ReopenReason,
					UnfulfilledSteps: l.unfulfilledForLLM(inst),
					HasReachedGoal:   l.isShownForErrorsAlone(inst, input.OutputOnly)})
		}
	}
	about := l.coveredInstances(input)
	input.Others = l.countUncoveredInstances(about)
	if !input.OutputOnly && len(input.Questions) == 0 {
		input.ReopenableTokens, input.MayBeLast = l.reopenableTokens(), l.mayBeLast(about)
	}
	if len(input.Questions) == 0 {
		l.tellWhatIsKnown(input, about)
	}
	input.PlanEntries, input.Errors = l.planEntries(about), l.errorsToReport(about)
	return input
}

// countUncoveredInstances counts the instances that a Request about some of them leaves out.
func (l *Loop) countUncoveredInstances(covered []*InstanceProgress) (others turn.OtherInstanceCounts) {
	for _, inst := range l.instances {
		if slices.Contains(covered, inst) {
			continue
		}
		switch phase := inst.phase(); {
		case inst.Status.HasFailed():
			others.Failed++
		case phase == ended:
			others.Finished++
		case phase == awaitingPerson:
			others.AwaitingPeople++
		default:
			others.Working++
		}
	}
	return others
}

func (l *Loop) coveredInstances(input *turn.RequestInput) []*InstanceProgress {
	var list []*InstanceProgress
	for _, c := range input.Instances {
		list = append(list, l.instance(c.Token))
	}
	return list
}

// AllInstancesInput returns the process as it stands, in the form of a Request about every instance: for an Idea.
func (l *Loop) AllInstancesInput() *turn.RequestInput {
	input := &turn.RequestInput{
		ProcessID: l.processID, RequestNumber: l.priorRequests + l.requestCount, Turn: l.turnCount,
		PlanEntries: l.planEntriesForIdea(), Errors: l.errorsToReport(l.instances),
	}
	for _, inst := range l.instances {
		c := turn.InstanceInput{Token: inst.Token, State: inst.state.Snapshot(),
			MissingRequiredPaths: inst.MissingRequiredPaths}
		if inst.Status != ideafile.InstanceWorking {
			c.Status, c.Fault, c.Steps = inst.Status, inst.Fault, inst.Steps
		}
		if inst.plannerKind == fellBackToLLM {
			c.FailedDirectPlanPosition = inst.DirectPlanPosition
		}
		input.Instances = append(input.Instances, c)
	}
	return input
}

// RequestInFlight returns the Request in flight, nil where there is none.
func (l *Loop) RequestInFlight() *turn.RequestInput {
	if l.requestInFlight == nil {
		return nil
	}
	return l.requestInFlight.input
}

// ApplyReply records the LLM's reply to the Request in flight, or how the Request failed.
func (l *Loop) ApplyReply(r turn.LLMReply) {
	if l.requestInFlight == nil || l.requestInFlight.reply != nil {
		return
	}
	l.requestInFlight.reply = &r
	l.requestCount++
	l.usage.Add(r.Usage)
	covered := l.coveredInstances(l.requestInFlight.input)
	for n, share := range r.Usage.Cost.Shares(len(covered)) {
		covered[n].LLMCost = covered[n].LLMCost.Plus(share)
	}
	if r.AnsweringLLM != nil {
		if l.answeringLLMsSealed {
			l.answeringLLMs, l.answeringLLMsSealed = nil, false
		}
		l.answeringLLMs = append(l.answeringLLMs, *r.AnsweringLLM)
	}
	for _, token := range r.GoneInstances {
		if inst := l.instance(token); inst != nil && inst.CanReceiveCalls() {
			l.endInstance(inst, ideafile.InstanceFailed,
				diag.Faultf(turn.CodeInstanceGone, "its workflow was terminated or deleted"))
		}
	}
}
