package loop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// This file reopens instances that have ended. A person reopens an instance with a correction. If instances settle for
// good only together (config.settle "together"), a Call that names an instance reopens it, too.

// endInstancesSettledForNow ends the instances that have settled for now, once every instance has ended, since no Call
// can name them any more.
func (l *Loop) endInstancesSettledForNow() {
	if !l.allInstancesEnded() {
		return
	}
	for _, inst := range l.instancesWhere(func(inst *InstanceProgress) bool { return inst.IsSettledForNow }) {
		inst.IsSettledForNow = false
		l.newlyEndedInstances = append(l.newlyEndedInstances, inst)
	}
}

// reopenableTokens lists the instances that a Call may reopen by naming them.
func (l *Loop) reopenableTokens() []string {
	return tokensOf(l.instancesWhere(func(inst *InstanceProgress) bool {
		return inst.IsSettledForNow && !l.isLLMForbidden(inst) && inst.AckedCorrectionCount >= inst.SentCorrectionCount
	}))
}

// instancesThatMayGetCalls lists the instances to which Calls of a Request may go: those that it covers, and those that
// a Call may reopen.
func (l *Loop) instancesThatMayGetCalls(input *turn.RequestInput) []*InstanceProgress {
	list := l.coveredInstances(input)
	for _, token := range input.ReopenableTokens {
		list = append(list, l.instanceByToken[token])
	}
	return list
}

// reopenNamedInstances reopens the instances that had settled for now and got a Call from a Request.
func (l *Loop) reopenNamedInstances(req *llmRequest) {
	requestNumber := req.RequestNumber
	for _, token := range req.ReopenableTokens {
		inst := l.instanceByToken[token]
		isNamed := req.Reply.IsComplete &&
			slices.ContainsFunc(req.Reply.Calls,
				func(c ideafile.WrittenCall) bool { return slices.Contains(c.TargetTokens, token) })
		if inst.Status.HasFailed() || (!isNamed && !inst.hasCallFromRequest(requestNumber)) {
			continue
		}
		if inst.IsSettledForNow { // if not, a person has reopened it meanwhile
			l.reopenInstance(inst)
		}
		inst.LastCoveringRequest, inst.LastPlanningRequest = requestNumber, requestNumber
		inst.IsIdle = inst.IsIdle && inst.ClosedThroughRequest >= requestNumber
	}
}

// hasCallFromRequest reports whether the instance has reported a Call of a Request.
func (p *InstanceProgress) hasCallFromRequest(requestNumber int) bool {
	//workflowcheck:ignore -- any or none, in any order
	for key := range p.reportByCallKey {
		if key.Request == requestNumber {
			return true
		}
	}
	return false
}

// reopenInstance puts an ended instance back to work. From now on the LLM plans for it.
func (l *Loop) reopenInstance(inst *InstanceProgress) {
	inst.Status, inst.Fault, inst.IsSettledForNow, inst.UnsettledRequestCount = ideafile.InstanceWorking, nil, false, 0
	inst.UndoCause = nil
	inst.ReopenCount++
	inst.StepOutcomes = nil
	inst.HasFallenBackToLLM = inst.DirectPlanPosition > 0
	l.dropOutput()
	l.HasUnsealedChanges = true
}

// instancesToReopen returns the instances that a correction reopens, or why one of them cannot be reopened.
func (l *Loop) instancesToReopen(tokens []string) (list []*InstanceProgress, err error) {
	for _, token := range tokens {
		inst := l.instanceByToken[token]
		switch {
		case inst == nil && token == "":
			return nil, fmt.Errorf("%q stands in a message that names no instance", ideafile.ReopenKey)
		case inst == nil:
			return nil, fmt.Errorf("there is no instance %s; add makes new ones", token)
		case inst.isWorking():
			return nil, fmt.Errorf("instance %s has not ended: there is nothing to reopen", token)
		case l.isLLMForbidden(inst):
			return nil,
				fmt.Errorf("instance %s cannot be reopened: its Plan is declared complete, so the LLM may not be "+
					"asked for another one", token)
		}
		list = append(list, inst)
	}
	return list, nil
}

// reopenByPerson reopens an instance. If the instance's workflow has been notified of its end, it must be started anew,
// and TakeInstancesToRestart returns it.
func (l *Loop) reopenByPerson(inst *InstanceProgress, s approval.SteeringPayload) {
	wasEndReported := !inst.IsSettledForNow && !slices.Contains(l.newlyEndedInstances, inst)
	l.newlyEndedInstances = jsonval.Filter(l.newlyEndedInstances,
		func(e *InstanceProgress) bool { return e != inst })
	l.reopenInstance(inst)
	inst.WasRevisedSinceRequest, inst.ReopenReason = true, "reopened by "+cmp.Or(s.SentBy, "a person")
	if s.Reason != "" {
		inst.ReopenReason += ": " + s.Reason
	}
	if wasEndReported {
		inst.QuotaAllocation.GrantedQuota = inst.QuotaAllocation.GrantReducedToUse() // the rest was free for others
		l.instancesToRestart = append(l.instancesToRestart, inst)
	}
}

// TakeInstancesToRestart returns the reopened instances whose workflows were notified of their end since its last call.
func (l *Loop) TakeInstancesToRestart() []*InstanceProgress {
	return takeAndClear(&l.instancesToRestart)
}

// StateHistory returns an instance's initial State, and every write since, in Plan order.
func (p *InstanceProgress) StateHistory() (initialState any, writes []statelog.Write) {
	return p.state.InitialValue, p.state.Writes()
}

// CallReports lists the instance's Calls in Plan order, as last reported.
func (p *InstanceProgress) CallReports() (list []turn.CallReport) {
	for _, key := range sortedCallKeys(p.reportByCallKey) {
		list = append(list, p.reportByCallKey[key])
	}
	return list
}

// InstanceEndedError returns the error of a message that names an ended instance.
func InstanceEndedError(instanceToken string, status ideafile.InstanceStatus) error {
	text := fmt.Sprintf("instance %s has %s", instanceToken, status)
	if instanceToken == "" {
		text = fmt.Sprintf("the process has %s", status)
	}
	return errors.New(text + fmt.Sprintf(`; with "%s": true in the message it is worked on again`, ideafile.ReopenKey))
}
