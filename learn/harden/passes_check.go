package harden

import (
	"fmt"
	"strings"

	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// dropInvalidCallsAndOutput drops the Calls, and the output, that the check of the file would refuse. A part that was
// sound in its own Request need not be sound together with the others, or in all instances.
func (h *hardener) dropInvalidCallsAndOutput() {
	for len(h.mergedCalls) > 0 {
		ideaSource, plans := h.buildIdea(false), h.dividePlans()
		firstPlanIndex := len(ideaSource["context"].([]any)) - len(plans)
		idea, problems := ideafile.ReadIdea(ideaSource)
		problems = append(problems, check.Check(idea, h.bindingByTool)...).Errors()
		problemTextByCall := map[*mergedCall]string{}
		for k, plan := range plans {
			for n, c := range plan.calls {
				for _, p := range problems {
					if strings.HasPrefix(p.JSONPath+".", fmt.Sprintf("$.context[%d].plan[%d].", firstPlanIndex+k, n)) &&
						problemTextByCall[c] == "" {
						problemTextByCall[c] = p.Message
					}
				}
			}
		}
		hasDropped := h.dropCalls(func(c *mergedCall) bool {
			if problemTextByCall[c] != "" {
				h.addDifference(nil, "how to write it so that it passes the check: "+jsonval.EncodeToString(c.rawCall),
					"%s: %s", c, problemTextByCall[c])
			}
			return problemTextByCall[c] != ""
		})
		if !hasDropped {
			h.reportRemainingProblems(problems, firstPlanIndex)
			return
		}
		for h.dropCallsWithoutInput() {
		}
		h.dropOutputWithoutInput()
	}
}

// reportRemainingProblems records the problems of the file outside its Calls.
func (h *hardener) reportRemainingProblems(problems diag.Problems, firstPlanIndex int) {
	for _, p := range problems {
		if strings.HasPrefix(p.JSONPath, fmt.Sprintf("$.context[%d].output", firstPlanIndex)) {
			h.planOutput, h.hasPlanOutput = nil, false
		}
		h.addDifference(nil, "how to mend it there", "the file does not pass the check: %s", p)
	}
}
