package loop

import (
	"slices"

	"processidea/model/turn"
)

// This file keeps what the LLM said, in notes or in an output that did not count, about instances that later Requests
// do not show. As long as that still holds, the output may come with the last Calls.

// draftAndNotesHoldForOthers reports whether the draft and the notes hold for every instance that is not among some:
// each ended, or may still end, as planned in the reply that described it.
func (l *Loop) draftAndNotesHoldForOthers(coveredInstances []*InstanceProgress) bool {
	return (l.DraftOutput != nil || len(l.Notes) > 0) &&
		!l.anyInstance(func(inst *InstanceProgress) bool {
			if slices.Contains(coveredInstances, inst) {
				return false
			}
			return inst.Status.HasFailed() || inst.DescribedPlanRequest == 0 ||
				l.departsFromPlan(inst, inst.DescribedPlanRequest, true)
		})
}

// addNotesAndDraft adds to a Request the LLM's notes and the draft output that the reply may correct. It omits the
// draft if it no longer holds for an instance that the Request does not cover.
func (l *Loop) addNotesAndDraft(input *turn.RequestInput, coveredInstances []*InstanceProgress) {
	input.Notes = l.Notes
	if input.IsOutputOnly || !l.draftAndNotesHoldForOthers(coveredInstances) {
		return
	}
	input.DraftOutput, input.OthersAreKnown = l.DraftOutput, true
}

// maxNotesBytes bounds the notes that a process carries along. If notes grow beyond it they are dropped, and the LLM is
// asked for the output at the end, when every State is shown.
const maxNotesBytes = 32 << 10

// recordNotes keeps the LLM's notes. They count as its last word on covered instances that have a goal or got no Call.
// Later Requests will show it the other instances again.
func (l *Loop) recordNotes(req *llmRequest) {
	if req.Reply.Notes == "" || l.Idea.OutputSchema == nil || !l.IsPatched(DraftOutputChangeID) {
		return
	}
	l.Notes = append(slices.Clip(l.Notes), turn.Note{Request: req.RequestNumber, Text: req.Reply.Notes})
	totalNotesBytes := 0
	for _, n := range l.Notes {
		totalNotesBytes += len(n.Text)
	}
	if totalNotesBytes > maxNotesBytes {
		l.Notes = nil
		l.forgetDescribedPlans()
		return
	}
	for _, inst := range l.coveredInstances(req.RequestInput) {
		if !l.hasNoGoal(inst) || slices.Contains(req.Reply.InstanceTokensWithoutCalls, inst.Token) {
			inst.DescribedPlanRequest = inst.LastPlanningRequest
		}
	}
}

// forgetDescribedPlans clears every DescribedPlanRequest, since the LLM will not be shown what it said before.
func (l *Loop) forgetDescribedPlans() {
	for _, inst := range l.Instances {
		inst.DescribedPlanRequest = 0
	}
}
