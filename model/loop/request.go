package loop

import (
	"slices"

	"processidea/model/jsonval"
	"processidea/model/quality"
	"processidea/model/turn"
)

// composeRequest composes the next Request. If ready instances have questions, it asks only these; if every instance
// has ended, only for the output. Otherwise it covers all ready instances that fit.
func (l *Loop) composeRequest() *turn.RequestInput {
	input := &turn.RequestInput{ProcessID: l.ProcessID, RequestNumber: l.PriorRequestCount + l.RequestCount + 1,
		TurnNumber:   l.TurnCount + 1,
		IsOutputOnly: l.allInstancesEnded()}
	candidateInstances := l.limitToRequestSize(l.readyInstances())
	for _, inst := range candidateInstances {
		input.Questions = append(input.Questions, inst.Questions...)
	}
	if input.IsOutputOnly {
		candidateInstances = l.Instances
	}
	for _, inst := range candidateInstances {
		if len(input.Questions) == 0 || len(inst.Questions) > 0 {
			input.Instances = append(input.Instances,
				turn.InstanceInput{Token: inst.Token, State: inst.state.Snapshot(),
					MissingRequiredPaths: inst.missingRequiredPathsForLLM(), ReopenReason: inst.ReopenReason,
					UnfulfilledSteps: l.unfulfilledStepsForLLM(inst),
					HasReachedGoal:   l.isShownOnlyForErrors(inst, input.IsOutputOnly)})
		}
	}
	coveredInstances := l.coveredInstances(input)
	input.Others = l.countUncoveredInstances(coveredInstances)
	if !input.IsOutputOnly && len(input.Questions) == 0 {
		input.ReopenableTokens, input.MayBeLast = l.reopenableTokens(), l.mayBeLastRequest(coveredInstances)
	}
	if len(input.Questions) == 0 {
		l.addNotesAndDraft(input, coveredInstances)
	}
	input.PlanEntries, input.Errors = l.plannedCallSummaries(coveredInstances), l.errorsToReport(coveredInstances)
	return input
}

// requestSizeChangeID names the rule that a Request covers no more instances than quality.RequestSizeFor allows,
// however many were added.
const requestSizeChangeID = "the size of a Request bounds its instances"

// limitToRequestSize picks the ready instances that one Request covers: those who were not asked about for longest,
// since the limits may stop a process before those who are asked about again and again have ended.
func (l *Loop) limitToRequestSize(readyInstances []*InstanceProgress) []*InstanceProgress {
	size := quality.RequestSizeFor(l.Idea, l.bindings).Initial
	if len(readyInstances) <= size || !l.IsPatched(requestSizeChangeID) {
		return readyInstances
	}
	return slices.SortedStableFunc(slices.Values(readyInstances), func(a, b *InstanceProgress) int {
		return a.LastCoveringRequest - b.LastCoveringRequest
	})[:size]
}

// countUncoveredInstances counts the instances that a Request about some of them leaves out.
func (l *Loop) countUncoveredInstances(coveredInstances []*InstanceProgress) (counts turn.OtherInstanceCounts) {
	for _, inst := range l.Instances {
		if slices.Contains(coveredInstances, inst) {
			continue
		}
		switch phase := inst.phase(); {
		case inst.Status.HasFailed():
			counts.Failed++
		case phase == phaseEnded:
			counts.Finished++
		case phase == phaseAwaitingPerson:
			counts.AwaitingPeople++
		default:
			counts.Working++
		}
	}
	return counts
}

func (l *Loop) coveredInstances(input *turn.RequestInput) []*InstanceProgress {
	return jsonval.Map(input.Instances, func(c turn.InstanceInput) *InstanceProgress {
		return l.instanceByToken[c.Token]
	})
}

// AllInstancesInput returns the current process in the form of a Request about every instance, for an Idea.
func (l *Loop) AllInstancesInput() *turn.RequestInput {
	input := &turn.RequestInput{
		ProcessID: l.ProcessID, RequestNumber: l.PriorRequestCount + l.RequestCount, TurnNumber: l.TurnCount,
		PlanEntries: l.plannedCallSummariesForIdea(), Errors: l.errorsToReport(l.Instances),
	}
	for _, inst := range l.Instances {
		c := turn.InstanceInput{Token: inst.Token, State: inst.state.Snapshot(),
			MissingRequiredPaths: inst.MissingRequiredPaths}
		if !inst.isWorking() {
			c.EndStatus, c.Fault, c.StepOutcomes = inst.Status, inst.Fault, inst.StepOutcomes
		}
		if inst.HasFallenBackToLLM {
			c.FailedDirectPlanPosition = inst.DirectPlanPosition
		}
		input.Instances = append(input.Instances, c)
	}
	return input
}

// RequestInFlight returns the Request in flight, or nil.
func (l *Loop) RequestInFlight() *turn.RequestInput {
	if l.requestInFlight == nil {
		return nil
	}
	return l.requestInFlight.RequestInput
}

// ApplyReply records the LLM's reply to the Request in flight, or how the Request failed.
func (l *Loop) ApplyReply(r turn.LLMReply) {
	if l.requestInFlight == nil || l.requestInFlight.Reply != nil {
		return
	}
	l.requestInFlight.Reply = &r
	l.RequestCount++
	l.Usage.Add(r.Usage)
	coveredInstances := l.coveredInstances(l.requestInFlight.RequestInput)
	for n, share := range r.Usage.Cost.SplitEvenly(len(coveredInstances)) {
		coveredInstances[n].LLMCost = coveredInstances[n].LLMCost.Plus(share)
	}
	if r.AnsweringLLM != nil {
		if l.AreAnsweringLLMsSealed {
			l.AnsweringLLMs, l.AreAnsweringLLMsSealed = nil, false
		}
		l.AnsweringLLMs = append(l.AnsweringLLMs, *r.AnsweringLLM)
	}
	l.MarkInstancesGone(r.GoneInstanceTokens)
}
