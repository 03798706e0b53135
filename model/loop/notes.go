package loop

import (
	"slices"

	"processidea/model/turn"
)

// This file keeps what the LLM said, in notes or in an output that did not count, about instances that later Requests
// do not show. As long as that still holds, the output may come with the last Calls.

// otherInstancesFollowPlan reports whether the draft and the notes hold for every instance that is not among some: each
// ended, or may still end, as planned in the reply that described it.
func (l *Loop) otherInstancesFollowPlan(coveredInstances []*InstanceProgress) bool {
	return (l.DraftOutput != nil || len(l.Notes) > 0) &&
		!l.anyInstance(func(inst *InstanceProgress) bool {
			if slices.Contains(coveredInstances, inst) {
				return false
			}
			return inst.Status.HasFailed() || inst.OutputPlanRequest == 0 ||
				l.departsFromPlan(inst, inst.OutputPlanRequest, true)
		})
}

// addNotesAndDraft adds to a Request the LLM's notes and the draft output that the reply may correct. It omits the
// draft if it no longer holds for an instance that the Request does not cover.
func (l *Loop) addNotesAndDraft(input *turn.RequestInput, coveredInstances []*InstanceProgress) {
	input.Notes = l.Notes
	if input.IsOutputOnly || !l.otherInstancesFollowPlan(coveredInstances) {
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
	size := 0
	for _, n := range l.Notes {
		size += len(n.Text)
	}
	if size > maxNotesBytes {
		l.Notes = nil
		l.forgetOutputPlans()
		return
	}
	for _, inst := range l.coveredInstances(req.RequestInput) {
		if !l.hasNoGoal(inst) || slices.Contains(req.Reply.InstancesWithoutCalls, inst.Token) {
			inst.OutputPlanRequest = inst.LastPlanningRequest
		}
	}
}

// forgetOutputPlans clears every OutputPlanRequest, since the LLM will not be shown what it said before.
func (l *Loop) forgetOutputPlans() {
	for _, inst := range l.Instances {
		inst.OutputPlanRequest = 0
	}
}
