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
			rule := conditionOf(raw)
			executed := h.findExecutedCall(withoutCondition(raw))
			if executed == nil {
				h.insertUntried(r, raw, rule, plan.PlanCalls[n+1:])
			} else if runs := h.instancesOf(executed); executed.condition == nil && len(runs) == len(h.instances) {
				h.keepCondition(executed, rule)
			}
		}
	}
}

// findExecutedCall is the Call that ran in some instance as a Plan had it, or that was kept untried; nil if there is
// none.
func (h *hardener) findExecutedCall(raw jsonval.Object) *mergedCall {
	for _, c := range h.mergedCalls {
		//workflowcheck:ignore -- the order does not matter
		for _, recorded := range c.recordedByInstance {
			if recorded.Key.Request == 0 && jsonval.EqualNumerically(withoutCondition(recorded.rawCall), raw) {
				return c
			}
		}
		if c.isUntried() && jsonval.EqualNumerically(c.rawCall, raw) {
			return c
		}
	}
	return nil
}

func (h *hardener) keepCondition(c *mergedCall, rule refexpr.Condition) {
	c.condition = &callCondition{Condition: rule, text: "the Plan that it ran by says so",
		appliesByInstance: map[*instanceRun]bool{}}
	for _, other := range h.mergedCalls {
		other.isFallback = other.isFallback || other != c && other.isAlternativeOf(c)
	}
	h.addNote("kept: %s runs where the processes' own Plan says so: these runs do not show it", c)
}

// insertUntried adds a Call that no instance had, before the Calls that followed it in its Plan.
func (h *hardener) insertUntried(r *instanceRun, raw jsonval.Object, rule refexpr.Condition,
	later []ideafile.WrittenCall) {
	raw = withoutCondition(raw)
	call, fault := h.readCall(r, raw)
	if fault != nil {
		return
	}
	recorded := &recordedCall{rawCall: raw, call: call}
	c := &mergedCall{key: recorded.alignmentKey(), untriedCall: recorded, rawCall: raw}
	c.key.number = 1
	index := len(h.mergedCalls)
	for _, w := range later {
		if next := slices.Index(h.mergedCalls, h.findExecutedCall(withoutCondition(w.RawObject()))); next >= 0 {
			index = next
			break
		}
	}
	h.mergedCalls = slices.Insert(h.mergedCalls, index, c)
	h.keepCondition(c, rule)
}

// isUntried reports whether no instance had the Call, and only a Plan that ran them has it.
func (c *mergedCall) isUntried() bool { return c.untriedCall != nil }
