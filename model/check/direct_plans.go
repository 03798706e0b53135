package check

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// CheckDirectPlans finds what is wrong with the Plans that run directly, without the LLM, once the bindings are known.
// Check reports the same problems.
func CheckDirectPlans(idea *ideafile.Idea, bindings map[string]ideafile.Binding) diag.Problems {
	c := newChecker(idea, bindings)
	c.checkSomePlanApplies()
	for _, m := range c.messages {
		c.checkCompletePlan(m)
	}
	return c.problems()
}

// instancesOf lists the instances that a Plan is for: those for which its condition holds and, for a Plan that runs
// directly, for which it is the first such Plan.
func (c *checker) instancesOf(m locatedMessage, tokens []string) []string {
	var applicable []string
	for _, token := range tokens {
		if c.isForInstance(m, token) {
			applicable = append(applicable, token)
		}
	}
	return applicable
}

func (c *checker) isForInstance(m locatedMessage, token string) bool {
	if !m.RunsDirectly() {
		return m.AppliesTo(c.views[token])
	}
	chosen, _ := c.directPlans.Choose(token, c.views[token])
	return chosen >= 0 && c.messagePaths[chosen] == m.path
}

// checkCompletePlan reports what a complete Plan would have to ask the LLM for.
func (c *checker) checkCompletePlan(m locatedMessage) {
	if m.Stage != ideafile.StageComplete {
		return
	}
	if c.bindings != nil {
		for _, n := range c.idea.LatentCallsWithoutResult(m.Message, c.bindings) {
			c.addError(fmt.Sprintf("%s.plan[%d]", m.path, n), "the Call leaves its result to the LLM, and nobody may be asked in a complete Plan: it needs _output")
		}
	}
	if c.idea.Output != nil && m.Output == nil {
		c.addError(m.path, "the output form wants an output, and nobody may be asked for one in a complete Plan: it needs output")
	}
}

// checkSomePlanApplies reports instances for which no Plan's condition holds while the LLM may not be asked.
func (c *checker) checkSomePlanApplies() {
	for _, token := range c.tokens {
		if _, noPlanHolds := c.directPlans.Choose(token, c.views[token]); noPlanHolds {
			c.addFinding(diag.Problem{Path: "$.context", Message: "no Plan's condition holds, and nobody may be asked: the instance would fail at once"},
				[]string{token}, len(c.tokens))
		}
	}
}
