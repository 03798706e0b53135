package loop

import (
	"fmt"
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// This file holds back whole Plans until a person has decided on them: the Plan of a Request, and the Plan that a
// process begins with. No Call of a held Plan has been sent to an instance.

// HoldReplyPlan holds the Plan in the reply to the Request in flight, and reports whether it does. It holds no Plan
// that has no Call for any instance, since there is nothing to decide on.
func (l *Loop) HoldReplyPlan(now time.Time) bool {
	req := l.requestInFlight
	if !l.RequiresPlanReview || req == nil || req.Reply == nil || !req.Reply.IsComplete ||
		!AsksForCalls(req.RequestInput) {
		return false
	}
	p, isDeliverable := turn.PlanOfRequest(req.RequestInput, req.Reply.Calls)
	if !isDeliverable {
		return false
	}
	l.holdPlan(p, now, l.coveredInstances(req.RequestInput))
	// Ideas may be sealed while the Plan waits: they take the changes.
	l.UnsealedLog = append(req.LogBeforeRequest, l.UnsealedLog...)
	l.HasUnsealedChanges, req.LogBeforeRequest = l.HasUnsealedChanges || req.hadUnsealedChanges, nil
	return true
}

// AsksForCalls reports whether the reply to a Request may have Calls for instances.
func AsksForCalls(input *turn.RequestInput) bool {
	return !input.IsOutputOnly && len(input.Questions) == 0
}

func (l *Loop) holdPlan(p approval.PlanAwaitingDecision, now time.Time, waitingInstances []*InstanceProgress) {
	p.Since, p.Deciders = now, l.PlanDeciders
	p.SetDigest(l.ProcessID)
	l.PendingPlan = &p
	for _, inst := range waitingInstances {
		inst.IsPlanHeld = true
	}
}

// HoldStartPlan holds the Calls with which a process begins before any Request: those of its instances' direct Plans,
// and those that an earlier process left unfinished. It reports whether there are any.
func (l *Loop) HoldStartPlan(now time.Time) bool {
	var p approval.PlanAwaitingDecision
	var waitingInstances []*InstanceProgress
	planPositions := map[int]bool{}
	for _, inst := range l.Instances {
		isDirect := inst.runsDirectPlan()
		hasCallsToResume := slices.ContainsFunc(l.callsToResume,
			func(r CallDelivery) bool { return r.InstanceToken == inst.Token })
		if !isDirect && !hasCallsToResume {
			continue
		}
		waitingInstances = append(waitingInstances, inst)
		if inst.Token != "" {
			p.Instances = append(p.Instances, inst.Token)
		}
		if isDirect {
			planPositions[inst.DirectPlanPosition] = true
		}
	}
	p.Calls = append(l.callsThatStart(l.isUnfinishedDirectCall), l.callsThatStart(l.isCallToResume)...)
	switch {
	case len(p.Calls) == 0:
		return false
	case len(l.callsToResume) > 0:
		p.NotAmendableReason =
			"it has unfinished Calls of an earlier process: it can be approved or rejected, not amended"
	case slices.ContainsFunc(l.Idea.Context,
		func(m ideafile.Message) bool { return m.IsDirectPlan() && len(m.PlanRecordByCallID) > 0 }):
		p.NotAmendableReason =
			"an earlier process has begun it: what is left can be approved or rejected, not amended"
	case len(planPositions) > 1:
		p.NotAmendableReason = fmt.Sprintf("it is %d Plans at once, to approve or reject; to amend them, start again "+
			"from a changed file", len(planPositions))
	}
	l.holdPlan(p, now, waitingInstances)
	return true
}

// callsThatStart lists the Calls for which begins returns true for at least one instance, with these instances.
func (l *Loop) callsThatStart(mayStart func(*InstanceProgress, PlannedCall) bool) (list []approval.PlanCall) {
	for _, plannedCall := range l.PlannedCalls {
		c := approval.PlanCall{CallID: plannedCall.key().ID(""), WrittenCall: plannedCall.Call}
		isFound := false
		for _, inst := range l.Instances {
			if mayStart(inst, plannedCall) {
				isFound = true
				if inst.Token != "" {
					c.Instances = append(c.Instances, inst.Token)
				}
			}
		}
		if isFound {
			list = append(list, c)
		}
	}
	return list
}

// isUnfinishedDirectCall reports whether a Call of a direct Plan has not ended in an instance.
func (l *Loop) isUnfinishedDirectCall(inst *InstanceProgress, p PlannedCall) bool {
	if !inst.runsDirectPlan() || p.DirectPlanPosition == 0 || !p.isPlannedFor(inst) {
		return false
	}
	c, isReported := inst.reportByCallKey[p.key()]
	return !(isReported && c.Status.IsFinal()) &&
		slices.Contains(p.Call.TargetTokensOrAll([]string{inst.Token}), inst.Token)
}

// isCallToResume reports whether an earlier process left a Call unfinished in an instance.
func (l *Loop) isCallToResume(inst *InstanceProgress, p PlannedCall) bool {
	return slices.ContainsFunc(l.callsToResume, func(r CallDelivery) bool {
		return r.InstanceToken == inst.Token && r.RequestNumber == p.Request &&
			slices.ContainsFunc(r.Calls, func(c turn.DeliveredCall) bool { return c.Index == p.Index })
	})
}

// DecidePlan applies a decision on the waiting Plan, and reports whether the Plan is decided. The decision must have
// been checked before.
func (l *Loop) DecidePlan(d approval.Decision) (isDecided bool) {
	p := l.PendingPlan
	d.ApprovalDigest = p.Digest
	if d.Kind != approval.SteerApprovePlan {
		d.PlannedCalls = p.OriginalCalls()
	}
	if d.Kind == approval.SteerAmendPlan {
		p = l.amendPendingPlan(d)
	}
	needsMoreVotes := d.Kind != approval.SteerRejectPlan && p.AddVote(d)
	if needsMoreVotes {
		l.LogSteering(d)
		return false
	}
	l.PendingPlan = nil
	for _, inst := range l.Instances {
		inst.IsPlanHeld = false
	}
	if p.RequestNumber == 0 {
		l.LogSteering(d)
		l.applyStartDecision(*p, d)
		return true
	}
	l.applyReplyDecision(*p, d)
	return true
}

// amendPendingPlan replaces the waiting Calls by those of an amendment.
func (l *Loop) amendPendingPlan(d approval.Decision) *approval.PlanAwaitingDecision {
	var calls []approval.PlanCall
	if l.PendingPlan.RequestNumber > 0 {
		amendedPlan, _ := turn.PlanOfRequest(l.requestInFlight.RequestInput, d.AmendedCalls)
		calls = amendedPlan.Calls
	} else {
		l.replaceDirectPlanCalls(d.AmendedCalls)
		calls = l.callsThatStart(l.isUnfinishedDirectCall)
	}
	l.PendingPlan = l.PendingPlan.WithAmendment(l.ProcessID, calls)
	return l.PendingPlan
}

// applyReplyDecision applies a person's decision to the reply to the Request in flight. The Idea of the Request records
// the process as it is now, since other Ideas may have been sealed meanwhile.
func (l *Loop) applyReplyDecision(p approval.PlanAwaitingDecision, d approval.Decision) {
	req := l.requestInFlight
	// "finished" and the notes refer to the Plan as the LLM made it
	if d.Kind != approval.SteerApprovePlan && l.IsPatched(DraftOutputChangeID) {
		req.Reply.SaysFinished, req.Reply.Notes = false, ""
	}
	switch {
	case d.Kind == approval.SteerRejectPlan:
		turn.RejectPlan(p, req.Reply, d)
	case p.CallsBeforeAmendment != nil:
		turn.AmendPlan(req.RequestInput, req.Reply, p.WrittenCalls())
		req.amendmentText = p.ExplainAmendment(d)
	}
	req.hadUnsealedChanges = true
	req.LogBeforeRequest = append(l.TakeUnsealedLog(), turn.LogEntry{Decision: &d})
	req.AllInstancesInput = l.AllInstancesInput()
	req.AllInstancesInput.RequestNumber = req.RequestNumber - 1
}

// applyStartDecision applies a person's decision to the Calls with which the process begins. If they are rejected, the
// LLM plans instead; instances for which it may not be asked fail.
func (l *Loop) applyStartDecision(p approval.PlanAwaitingDecision, d approval.Decision) {
	switch {
	case d.Kind == approval.SteerRejectPlan:
		l.rejectResumedCalls(d)
		l.rejectDirectPlans(diag.Faultf(approval.CodePlanRejected, "%s", p.ExplainRejection(d)))
	case p.CallsBeforeAmendment != nil:
		l.addError(diag.Faultf(approval.CodePlanAmended, "%s", p.ExplainAmendment(d)))
	}
}

// rejectResumedCalls ends the Calls that an earlier process left unfinished, as rejected by a person.
func (l *Loop) rejectResumedCalls(d approval.Decision) {
	// d becomes the decision on each Call. The proof belongs to the decision on the Plan, which is in the log.
	d.Kind, d.PlanRequest, d.PlannedCalls, d.Proof, d.Signature = policy.Reject, nil, nil, "", nil
	for _, r := range l.TakeCallsToResume() {
		inst := l.instanceByToken[r.InstanceToken]
		for _, c := range r.Calls {
			key := ideafile.CallKey{Request: r.RequestNumber, Index: c.Index}
			decision := d
			decision.CallID = key.ID(r.InstanceToken)
			inst.reportByCallKey[key] = turn.CallReport{Request: r.RequestNumber, Index: c.Index,
				CallState: turn.CallState{
					Status: ideafile.CallRejected, Decisions: []approval.Decision{decision},
					Fault: diag.Faultf(string(ideafile.CallRejected), "%s", decision.Describe())}}
		}
		inst.IsIdle = true
	}
}

// rejectDirectPlans takes the direct Plans from their instances. The LLM plans for these instead; instances for which
// it may not be asked fail.
func (l *Loop) rejectDirectPlans(fault *diag.Fault) {
	rejectedPositions := map[int]bool{}
	var fallbackInstances []*InstanceProgress
	for _, inst := range l.instancesWhere((*InstanceProgress).runsDirectPlan) {
		rejectedPositions[inst.DirectPlanPosition], inst.IsIdle = true, true
		if l.isLLMForbidden(inst) {
			inst.HasNoMatchingPlan = true
			l.endInstance(inst, ideafile.InstanceFailed, fault)
			continue
		}
		inst.HasFallenBackToLLM = true
		fallbackInstances = append(fallbackInstances, inst)
	}
	context := slices.Clone(l.Idea.Context)
	//workflowcheck:ignore -- each by itself
	for position := range rejectedPositions {
		context[position-1] = context[position-1].WithPlanDisabled()
	}
	l.Idea = l.Idea.WithContextReplaced(context)
	if len(fallbackInstances) > 0 {
		l.addErrorsFor(fallbackInstances, turn.ContextError{Fault: *fault})
	}
}

// replaceDirectPlanCalls puts other Calls into the only direct Plan that is about to run.
func (l *Loop) replaceDirectPlanCalls(calls []ideafile.WrittenCall) {
	position := l.startingPlanPosition()
	context, _ := l.ContextWithStartPlan(calls)
	l.Idea = l.Idea.WithContextReplaced(context)
	l.PlannedCalls = slices.DeleteFunc(l.PlannedCalls, func(p PlannedCall) bool {
		return p.DirectPlanPosition == position
	})
	l.addDirectPlanCalls(position - 1)
}

// startingPlanPosition returns the position in the context, from 1, of the direct Plan that is about to run; 0 if there
// is none.
func (l *Loop) startingPlanPosition() int {
	for _, inst := range l.instancesWhere((*InstanceProgress).runsDirectPlan) {
		return inst.DirectPlanPosition
	}
	return 0
}

// ContextWithStartPlan returns the context that the process would begin with if its direct Plan had these Calls, and
// the number after which the Calls are numbered.
func (l *Loop) ContextWithStartPlan(calls []ideafile.WrittenCall) (context []ideafile.Message, callIndexOffset int) {
	context = slices.Clone(l.Idea.Context)
	if position := l.startingPlanPosition(); position > 0 {
		context[position-1] = context[position-1].WithPlanCalls(calls)
		callIndexOffset = context[position-1].CallIndexOffset
	}
	return context, callIndexOffset
}

// DecidedPlanDeliveries returns the Calls of a decided Plan by instance. A covered instance has an entry even if it
// gets none.
func (l *Loop) DecidedPlanDeliveries() (list []CallDelivery) {
	req := l.requestInFlight
	callsByToken := callsByInstance(req.RequestInput, req.Reply.Calls)
	for _, token := range slices.Concat(req.InstanceTokens(), req.ReopenableTokens) {
		if calls := callsByToken[token]; len(calls) > 0 || slices.Contains(req.InstanceTokens(), token) {
			list = append(list, CallDelivery{InstanceToken: token, RequestNumber: req.RequestNumber, Calls: calls})
		}
	}
	return list
}

// callsByInstance returns the Calls of a reply, by the tokens of the instances that they are for.
func callsByInstance(input *turn.RequestInput, calls []ideafile.WrittenCall) map[string][]turn.DeliveredCall {
	callsByToken := map[string][]turn.DeliveredCall{}
	for n, w := range calls {
		tokens, _ := turn.TargetInstances(input, w)
		for _, token := range tokens {
			callsByToken[token] = append(callsByToken[token], turn.DeliveredCall{Index: n + 1, Call: w})
		}
	}
	return callsByToken
}

// MarkInstancesGone records the instances whose workflows somebody has terminated or deleted. Their Calls no longer
// wait for anybody.
func (l *Loop) MarkInstancesGone(goneTokens []string) {
	for _, token := range goneTokens {
		if inst := l.instanceByToken[token]; inst != nil && inst.CanReceiveCalls() {
			inst.InstanceStatusDetails = turn.InstanceStatusDetails{IsIdle: true}
			if inst.UndoOrder != nil {
				inst.UndoResult = &turn.UndoResult{Summary: "its workflow was terminated or deleted", HasFailed: true}
			}
			l.endInstance(inst, ideafile.InstanceFailed,
				diag.Faultf(turn.CodeInstanceGone, "its workflow was terminated or deleted"))
		}
	}
}

func (p *InstanceProgress) isWorkflowGone() bool {
	return p.Fault != nil && p.Fault.Code == turn.CodeInstanceGone
}

// checkPlansWereApproved returns why instances that people add may not join: they would run a direct Plan of the Idea
// that no person has approved.
func (l *Loop) checkPlansWereApproved(addedMessages []ideafile.Message, addedInstanceTokens []string) error {
	if !l.RequiresPlanReview {
		return nil
	}
	context := l.Idea.WithMessagesAdded(addedMessages).Context
	plans, splitMessages := ideafile.FindDirectPlans(context), ideafile.SplitMessagesByInstance(context)
	for _, token := range addedInstanceTokens {
		planIndex, _ := plans.ChooseForInstance(token, splitMessages.InstanceView(token))
		runsPlan := func(inst *InstanceProgress) bool { return inst.DirectPlanPosition == planIndex+1 }
		if planIndex >= 0 && planIndex < len(l.Idea.Context) && !slices.ContainsFunc(l.Instances, runsPlan) {
			return fmt.Errorf(
				"instance %s would run a Plan of the file that nobody has approved: start a process for it", token)
		}
	}
	return nil
}
