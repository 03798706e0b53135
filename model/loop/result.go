package loop

import (
	"cmp"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/turn"
)

// unwrittenResults lists what was not written to State, instance by instance.
func (l *Loop) unwrittenResults() (list []UnwrittenResult) {
	for _, inst := range l.Instances {
		for _, c := range inst.CallReports() {
			for _, n := range c.UnwrittenPaths {
				n.EarlierAuthor, _, _ = strings.Cut(n.EarlierAuthor, "@")
				list = AddUnwrittenResult(list,
					UnwrittenResult{CallID: c.CallKey().ID(""), UnwrittenPath: n, Instances: []string{inst.Token}})
			}
		}
	}
	return list
}

// CallCounts counts the ends of the Calls in all instances.
func (l *Loop) CallCounts() turn.CallCounts {
	c := turn.CallCounts{Failed: l.UnassignedCallCount}
	for _, inst := range l.Instances {
		c.Add(inst.callCounts())
	}
	return c
}

func (p *InstanceProgress) callCounts() (c turn.CallCounts) {
	//workflowcheck:ignore -- a sum
	for _, r := range p.reportByCallKey {
		if !r.IsFromEarlierProcess {
			c.Increment(r.Status)
		}
	}
	return c
}

// UnsuccessfulCallCounts counts the Calls of the instance that failed or were blocked, and those that were rejected.
func (p *InstanceProgress) UnsuccessfulCallCounts() (failedCount, rejectedCount int) {
	c := p.callCounts()
	return c.Failed + c.Blocked, c.Rejected
}

// Failures returns why Calls did not succeed, in the order of the instances.
func (l *Loop) Failures() turn.Failures {
	list := slices.Clone(l.UnassignedFailures)
	for _, inst := range l.Instances {
		list = inst.addFailures(list, func(c turn.CallReport) bool { return !c.IsFromEarlierProcess })
	}
	return list
}

// addFailures adds the unsuccessful Calls of one instance for which include returns true.
func (p *InstanceProgress) addFailures(list turn.Failures, include func(turn.CallReport) bool) turn.Failures {
	for _, c := range p.CallReports() {
		if c.IsUnsuccessful() && include(c) {
			list = list.AddFailedCall(c.CallKey().ID(p.Token), c.Status, c.Tool, *c.Fault)
		}
	}
	return list
}

// Result returns the result of the process so far.
func (l *Loop) Result(status Status, includesStates bool) ProcessResult {
	r := ProcessResult{
		ProcessID: l.ProcessID, Status: status, Output: l.Output, Instances: map[string]InstanceResult{},
		RequestCount: l.RequestCount, Calls: l.CallCounts(), Failures: l.Failures(), Usage: l.Usage,
		Error:            l.PauseReason,
		Simulation:       l.Idea.Simulation,
		UnwrittenResults: l.unwrittenResults(), InstructionStepCounts: l.InstructionStepCounts(),
		Quality: l.QualityReport(),
	}
	for _, inst := range l.Instances {
		i := InstanceResult{Status: inst.DisplayStatus(), Cost: inst.LLMCost}
		i.FailedCallCount, i.RejectedCallCount = inst.UnsuccessfulCallCounts()
		if includesStates {
			i.State = inst.state.Snapshot()
		}
		r.Instances[inst.Token] = i
	}
	if f := l.finalFault(); f != nil && status == StatusFailed {
		r.Error = f
	}
	return r
}

// FinalStatus returns the status of a finished process.
func (l *Loop) FinalStatus() Status {
	if l.finalFault() != nil {
		return StatusFailed
	}
	return StatusCompleted
}

func (l *Loop) finalFault() *diag.Fault {
	var firstFailedInstance *InstanceProgress
	failedCount := 0
	for _, inst := range l.Instances {
		if inst.Status.HasFailed() {
			failedCount++
			firstFailedInstance = cmp.Or(firstFailedInstance, inst)
		}
	}
	switch {
	case failedCount == 0:
		return l.OutputFault
	case firstFailedInstance.Token == "":
		return firstFailedInstance.Fault
	}
	return diag.Faultf(firstFailedInstance.Fault.Code, "%d of %d instances failed; the first, %s: %s", failedCount,
		len(l.Instances),
		firstFailedInstance.Token, firstFailedInstance.Fault.Message)
}
