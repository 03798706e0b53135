package harden

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// keepUntriedConditions keeps the conditions that Calls had in Plans that ran directly, if these runs show nothing of
// them: every instance had such a Call, or none had it. A Call that none had stays too. So does an alternative for the
// same path that was skipped everywhere.
func (h *hardener) keepUntriedConditions() {
	for _, r := range h.instances {
		plan, _ := r.directPlan()
		for n, w := range plan.PlanCalls {
			rawCall := w.RawObject()
			if rawCall[ideafile.WhenKey] == nil {
				continue
			}
			planCondition := conditionOf(rawCall)
			executedCall := h.findExecutedCall(withoutCondition(rawCall))
			if executedCall == nil {
				h.insertUntriedCall(r, rawCall, planCondition, plan.PlanCalls[n+1:])
			} else if executedInstances := h.instancesWithCall(executedCall); executedCall.condition == nil &&
				len(executedInstances) == len(h.instances) {
				h.keepPlanCondition(executedCall, planCondition)
			}
		}
	}
}

// findExecutedCall is the Call that ran in some instance as a Plan had it, or that was kept untried; nil if there is
// none.
func (h *hardener) findExecutedCall(rawCall jsonval.Object) *mergedCall {
	for _, c := range h.mergedCalls {
		//workflowcheck:ignore -- the order does not matter
		for _, pastCall := range c.pastCallByInstance {
			if pastCall.Key.Request == 0 && jsonval.EqualNumerically(withoutCondition(pastCall.rawCall), rawCall) {
				return c
			}
		}
		if c.isUntried() && jsonval.EqualNumerically(c.rawCall, rawCall) {
			return c
		}
	}
	return nil
}

func (h *hardener) keepPlanCondition(c *mergedCall, planCondition refexpr.Condition) {
	c.condition = &callCondition{Condition: planCondition, conditionText: "the Plan that it ran by says so",
		appliesByInstance: map[*instanceRun]bool{}}
	for _, other := range h.mergedCalls {
		other.isFallback = other.isFallback || other != c && other.isAlternativeOf(c)
	}
	h.addNote("kept: %s runs where the processes' own Plan says so: these runs do not show it", c)
}

// insertUntriedCall adds a Call that no instance had, before the Calls that followed it in its Plan.
func (h *hardener) insertUntriedCall(r *instanceRun, rawCall jsonval.Object, planCondition refexpr.Condition,
	laterCalls []ideafile.WrittenCall) {
	rawCall = withoutCondition(rawCall)
	call, fault := h.readCall(r, rawCall)
	if fault != nil {
		return
	}
	untriedCall := &recordedCall{rawCall: rawCall, parsedCall: call}
	c := &mergedCall{key: untriedCall.alignmentKey(), untriedCall: untriedCall, rawCall: rawCall}
	c.key.occurrenceNumber = 1
	insertIndex := len(h.mergedCalls)
	for _, w := range laterCalls {
		if laterIndex := slices.Index(h.mergedCalls,
			h.findExecutedCall(withoutCondition(w.RawObject()))); laterIndex >= 0 {
			insertIndex = laterIndex
			break
		}
	}
	h.mergedCalls = slices.Insert(h.mergedCalls, insertIndex, c)
	h.keepPlanCondition(c, planCondition)
}

// isUntried reports whether no instance had the Call, and only a Plan that ran them has it.
func (c *mergedCall) isUntried() bool { return c.untriedCall != nil }
