package loop

import (
	"cmp"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/turn"
)

// notWrittenResults lists what State did not take, instance by instance.
func (l *Loop) notWrittenResults() (list []UnwrittenResult) {
	for _, inst := range l.instances {
		for _, key := range sortedCallKeys(inst.calls) {
			for _, n := range inst.calls[key].NotWrittenPaths {
				n.WrittenBy, _, _ = strings.Cut(n.WrittenBy, "@")
				list = AddUnwrittenResult(list,
					UnwrittenResult{CallID: key.ID(""), UnwrittenPath: n, Instances: []string{inst.Token}})
			}
		}
	}
	return list
}

// CallCounts counts the ends of the Calls in all instances.
func (l *Loop) CallCounts() turn.CallCounts {
	c := turn.CallCounts{Failed: l.unassignedCalls}
	for _, inst := range l.instances {
		c.Add(inst.callCounts())
	}
	return c
}

func (p *InstanceProgress) callCounts() (c turn.CallCounts) {
	//workflowcheck:ignore -- a sum
	for _, r := range p.calls {
		if !r.FromEarlierProcess {
			c.Increment(r.Status)
		}
	}
	return c
}

// FailedCallCount counts the Calls of the instance that failed or were blocked.
func (p *InstanceProgress) FailedCallCount() int {
	c := p.callCounts()
	return c.Failed + c.Blocked
}

// Failures returns why Calls did not succeed, in the order of the instances.
func (l *Loop) Failures() turn.Failures {
	list := slices.Clone(l.unassignedFailures)
	for _, inst := range l.instances {
		list = inst.addFailures(list, func(c turn.CallReport) bool { return !c.FromEarlierProcess })
	}
	return list
}

// addFailures adds the Calls of one instance that did not succeed, as far as they are of interest.
func (p *InstanceProgress) addFailures(list turn.Failures, ofInterest func(turn.CallReport) bool) turn.Failures {
	var failed []turn.CallReport
	//workflowcheck:ignore -- sorted below
	for _, c := range p.calls {
		if c.IsUnsuccessful() && ofInterest(c) {
			failed = append(failed, c)
		}
	}
	slices.SortFunc(failed, func(a, b turn.CallReport) int { return a.CallKey().Compare(b.CallKey()) })
	for _, c := range failed {
		list = list.AddFailedCall(c.CallKey().ID(p.Token), c.Status, c.Tool, *c.Fault)
	}
	return list
}

// Result returns the process as it stands.
func (l *Loop) Result(status Status, withStates bool) Result {
	r := Result{
		ProcessID: l.processID, Status: status, Output: l.output, Instances: map[string]InstanceResult{},
		Requests: l.requestCount, Calls: l.CallCounts(), Failures: l.Failures(), Usage: l.usage, Error: l.pauseReason,
		Simulated:         l.idea.Simulation,
		NotWrittenResults: l.notWrittenResults(), Instructions: l.StepCounts(),
		Quality: l.Quality(),
	}
	for _, inst := range l.instances {
		i := InstanceResult{Status: inst.DisplayStatus(), Cost: inst.LLMCost, FailedCalls: inst.FailedCallCount()}
		if withStates {
			i.State = inst.state.Snapshot()
		}
		r.Instances[inst.Token] = i
	}
	if f := l.firstFailure(); f != nil && status == StatusFailed {
		r.Error = f
	}
	return r
}

// FinalStatus is the status of a process that is finished.
func (l *Loop) FinalStatus() Status {
	if l.firstFailure() != nil {
		return StatusFailed
	}
	return StatusCompleted
}

func (l *Loop) firstFailure() *diag.Fault {
	var first *InstanceProgress
	failed := 0
	for _, inst := range l.instances {
		if inst.Status.HasFailed() {
			failed++
			first = cmp.Or(first, inst)
		}
	}
	switch {
	case failed == 0:
		return l.outputFault
	case first.Token == "":
		return first.Fault
	}
	return diag.Faultf(first.Fault.Code, "%d of %d instances failed; the first, %s: %s", failed, len(l.instances),
		first.Token, first.Fault.Message)
}
