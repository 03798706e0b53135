package harden

import (
	"fmt"
	"strings"

	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
)

// dropInvalidParts drops the Calls, and the output, that the check of the file would refuse. Each may have been sound in
// its own Request: together, or in all instances, they need not be.
func (h *hardener) dropInvalidParts() {
	for len(h.mergedCalls) > 0 {
		source := h.buildIdea(false)
		plan := fmt.Sprintf("$.context[%d].", len(source["context"].([]any))-1)
		idea, problems := ideafile.ReadIdea(source)
		problems = append(problems, check.Check(idea, h.bindings)...).Errors()
		dropped := h.dropCalls(func(c *mergedCall) bool {
			for _, p := range problems {
				if strings.HasPrefix(p.JSONPath+".", plan+fmt.Sprintf("plan[%d].", h.positionInPlan(c))) {
					h.addDifference(nil, "%s: %s", c, p.Message)
					return true
				}
			}
			return false
		})
		if !dropped {
			h.reportRemainingProblems(problems, plan)
			return
		}
		for h.dropCallsWithoutInput() {
		}
		h.dropOutputWithoutInput()
	}
}

// reportRemainingProblems records what is wrong with the file beside its Calls.
func (h *hardener) reportRemainingProblems(problems diag.Problems, plan string) {
	for _, p := range problems {
		if strings.HasPrefix(p.JSONPath, plan+"output") {
			h.planOutput, h.hasPlanOutput = nil, false
		}
		h.addDifference(nil, "the file does not pass the check: %s", p)
	}
}

func (h *hardener) positionInPlan(c *mergedCall) int {
	for n, other := range h.mergedCalls {
		if other == c {
			return n
		}
	}
	return -1
}
