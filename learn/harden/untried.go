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
			raw := w.RawObject()
			if raw[ideafile.WhenKey] == nil {
				continue
			}
			planCondition := conditionOf(raw)
			executedCall := h.findExecutedCall(withoutCondition(raw))
			if executedCall == nil {
				h.insertUntriedCall(r, raw, planCondition, plan.PlanCalls[n+1:])
			} else if executedInstances := h.instancesOf(executedCall); executedCall.condition == nil && len(executedInstances) == len(h.instances) {
				h.keepCondition(executedCall, planCondition)
			}
		}
	}
}

// findExecutedCall is the Call that ran in some instance as a Plan had it, or that was kept untried; nil if there is
// none.
func (h *hardener) findExecutedCall(raw jsonval.Object) *mergedCall {
	for _, c := range h.mergedCalls {
		//workflowcheck:ignore -- the order does not matter
		for _, pastCall := range c.pastCallByInstance {
			if pastCall.Key.Request == 0 && jsonval.EqualNumerically(withoutCondition(pastCall.rawCall), raw) {
				return c
			}
		}
		if c.isUntried() && jsonval.EqualNumerically(c.rawCall, raw) {
			return c
		}
	}
	return nil
}

func (h *hardener) keepCondition(c *mergedCall, planCondition refexpr.Condition) {
	c.condition = &callCondition{Condition: planCondition, text: "the Plan that it ran by says so",
		appliesByInstance: map[*instanceRun]bool{}}
	for _, other := range h.mergedCalls {
		other.isFallback = other.isFallback || other != c && other.isAlternativeOf(c)
	}
	h.addNote("kept: %s runs where the processes' own Plan says so: these runs do not show it", c)
}

// insertUntriedCall adds a Call that no instance had, before the Calls that followed it in its Plan.
func (h *hardener) insertUntriedCall(r *instanceRun, raw jsonval.Object, planCondition refexpr.Condition,
	laterCalls []ideafile.WrittenCall) {
	raw = withoutCondition(raw)
	call, fault := h.readCall(r, raw)
	if fault != nil {
		return
	}
	untriedCall := &recordedCall{rawCall: raw, call: call}
	c := &mergedCall{key: untriedCall.alignmentKey(), untriedCall: untriedCall, rawCall: raw}
	c.key.number = 1
	index := len(h.mergedCalls)
	for _, w := range laterCalls {
		if next := slices.Index(h.mergedCalls, h.findExecutedCall(withoutCondition(w.RawObject()))); next >= 0 {
			index = next
			break
		}
	}
	h.mergedCalls = slices.Insert(h.mergedCalls, index, c)
	h.keepCondition(c, planCondition)
}

// isUntried reports whether no instance had the Call, and only a Plan that ran them has it.
func (c *mergedCall) isUntried() bool { return c.untriedCall != nil }
