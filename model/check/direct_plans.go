package check

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/quality"
)

// CheckDirectPlans finds what is wrong with the Plans that run directly, without the LLM, once the bindings are known.
// Check reports the same problems.
func CheckDirectPlans(idea *ideafile.Idea, bindings map[string]ideafile.ToolBinding) diag.Problems {
	if !slices.ContainsFunc(idea.Context, ideafile.Message.IsDirectPlan) {
		return nil
	}
	c := newChecker(idea, bindings)
	c.checkSomePlanApplies()
	c.checkRechecks()
	for _, m := range c.messages {
		c.checkCompletePlan(m)
	}
	return c.problems()
}

// instancesForPlan lists the instances that a Plan is for: those for which its condition holds and, for a Plan that
// runs directly, for which it is the first such Plan.
func (c *checker) instancesForPlan(m locatedMessage, tokens []string) []string {
	return slices.DeleteFunc(slices.Clone(tokens),
		func(token string) bool { return !c.planAppliesToInstance(m, token) })
}

func (c *checker) planAppliesToInstance(m locatedMessage, token string) bool {
	if !m.IsDirectPlan() {
		return m.PlanAppliesTo(c.viewOf(token))
	}
	chosen, _ := c.directPlans.ChooseForInstance(token, c.viewOf(token))
	return chosen >= 0 && m.Message == &c.idea.Context[chosen]
}

// checkCompletePlan reports what a complete Plan would have to ask the LLM for.
func (c *checker) checkCompletePlan(m locatedMessage) {
	if m.PlanStage != ideafile.StageComplete {
		return
	}
	if c.bindings != nil {
		for _, n := range c.latentCallIndexes(m) {
			c.addError(fmt.Sprintf("%s.plan[%d]", m.jsonPath, n),
				"the Call leaves its result to the LLM, and nobody may be asked in a complete Plan: it needs _output")
		}
	}
	if c.idea.OutputSchema != nil && m.PlanOutput == nil {
		c.addError(
			m.jsonPath,
			"the output form wants an output, and nobody may be asked for one in a complete Plan: it needs output")
	}
}

// latentCallIndexes lists the positions of a Plan's Calls whose results the LLM would have to write in one of its
// instances.
func (c *checker) latentCallIndexes(m locatedMessage) (list []int) {
	tokens := c.instancesForPlan(m, c.instanceTokens)
	if len(tokens) == 0 {
		tokens = []string{m.InstanceToken}
	}
	for _, token := range tokens {
		list = append(list, ideafile.UnansweredLatentCalls(*m.Message, token, c.bindings)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// checkSomePlanApplies reports instances for which no Plan's condition holds while the LLM may not be asked.
func (c *checker) checkSomePlanApplies() {
	var unmet []string
	for _, token := range c.instanceTokens {
		if _, noPlanHolds := c.directPlans.ChooseForInstance(token, c.viewOf(token)); noPlanHolds {
			unmet = append(unmet, token)
		}
	}
	if len(unmet) > 0 {
		// One bad row does not keep the others from running.
		c.addFinding(diag.Problem{JSONPath: "$.context", IsWarning: len(unmet) < len(c.instanceTokens),
			Message: "no Plan's condition holds, and nobody may be asked: the instance would fail at once"}, unmet,
			len(c.instanceTokens))
	}
}

// checkSettle reports a wish about how instances settle that nothing can come of: it says when the LLM is asked, and
// nobody may be.
func (c *checker) checkSettle() {
	if !c.idea.Config.AskLLMBeforeSettling && !c.idea.Config.SettleTogether {
		return
	}
	if !c.llmMayPlan() {
		c.addWarning("$.config.settle", "every Plan here is complete, so the LLM is never asked: it has no effect")
	}
}

// checkRechecks reports that answers are to be asked for twice where nobody is asked once.
func (c *checker) checkRechecks() {
	if c.idea.Config.Quality.Recheck > 0 && !c.llmMayPlan() {
		c.addError("$.config.quality.recheck",
			"every Plan here is complete, so the LLM is never asked, and nothing can be asked twice: leave it out")
	}
}

// checkSize reports that a Request covers more instances than is known to be good for what the LLM does for each.
func (c *checker) checkSize() {
	n, because, _ := quality.Kind(c.idea, c.bindings)
	if said := c.idea.Config.MaxInstancesPerPart; said > n && c.llmMayPlan() {
		c.addWarning("$.config.batch", "%d instances a Request are more than %d: %s, and studies find worse answers "+
			"above that; \"quality\" measures it", said, n, because)
	}
}

// llmMayPlan reports whether the LLM may be asked about any instance.
func (c *checker) llmMayPlan() bool {
	return slices.ContainsFunc(c.instanceTokens, func(token string) bool {
		chosen, isForbidden := c.directPlans.ChooseForInstance(token, c.viewOf(token))
		return !isForbidden && (chosen < 0 || c.idea.Context[chosen].PlanStage != ideafile.StageComplete)
	})
}
