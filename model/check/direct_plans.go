package check

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/quality"
)

// CheckDirectPlans finds errors in the Plans that run directly, without the LLM, once the bindings are known. Check
// reports the same problems.
func CheckDirectPlans(idea *ideafile.Idea, bindings ideafile.ToolBindings) diag.Problems {
	if !slices.ContainsFunc(idea.Context, ideafile.Message.IsDirectPlan) {
		return nil
	}
	c := newChecker(idea, bindings)
	c.checkSomePlanApplies()
	c.checkQualityConfig()
	for _, m := range c.messages {
		c.checkPlanOfStageComplete(m)
	}
	return c.problems()
}

// instanceTokensForPlan lists the instances that a Plan is for. The Plan's condition must match them. A Plan that runs
// directly must also be the first such Plan for them.
func (c *checker) instanceTokensForPlan(m locatedMessage, instanceTokens []string) []string {
	return jsonval.Filter(instanceTokens, func(token string) bool { return c.planAppliesToInstance(m, token) })
}

func (c *checker) planAppliesToInstance(m locatedMessage, token string) bool {
	if !m.IsDirectPlan() {
		return m.PlanAppliesTo(c.viewOf(token))
	}
	planIndex, _ := c.directPlans.ChooseForInstance(token, c.viewOf(token))
	return planIndex >= 0 && m.Message == &c.idea.Context[planIndex]
}

// checkPlanOfStageComplete reports what a complete Plan would have to ask the LLM for.
func (c *checker) checkPlanOfStageComplete(m locatedMessage) {
	if m.PlanStage != ideafile.PlanStageComplete {
		return
	}
	if c.bindings != nil {
		for _, n := range c.latentCallIndexes(m) {
			c.addError(fmt.Sprintf("%s.plan[%d]", m.jsonPath(), n),
				"the LLM would have to write the Call's result, but a complete Plan never asks the LLM: give the "+
					"Call _output")
		}
	}
	if c.idea.OutputSchema != nil && m.PlanOutput == nil {
		c.addError(
			m.jsonPath(),
			"the process needs an output, but a complete Plan never asks the LLM for one: give the Plan an output")
	}
}

// latentCallIndexes lists the positions of a Plan's Calls whose results the LLM would have to write in one of its
// instances.
func (c *checker) latentCallIndexes(m locatedMessage) (indexes []int) {
	tokens := c.instanceTokensForPlan(m, c.instanceTokens)
	if len(tokens) == 0 {
		tokens = []string{m.InstanceToken}
	}
	for _, token := range tokens {
		indexes = append(indexes, ideafile.UnansweredLatentCallIndexes(*m.Message, token, c.bindings)...)
	}
	slices.Sort(indexes)
	return slices.Compact(indexes)
}

// checkSomePlanApplies reports instances that no Plan's condition matches, if the LLM may not be asked.
func (c *checker) checkSomePlanApplies() {
	unplannedTokens := jsonval.Filter(c.instanceTokens, func(token string) bool {
		_, noPlanApplies := c.directPlans.ChooseForInstance(token, c.viewOf(token))
		return noPlanApplies
	})
	if len(unplannedTokens) > 0 {
		// One bad row does not keep the others from running.
		c.addFinding(diag.Problem{JSONPath: "$.context", IsWarning: len(unplannedTokens) < len(c.instanceTokens),
			Message: "no Plan's condition holds, and the LLM may not be asked: the instance would fail immediately"},
			unplannedTokens, len(c.instanceTokens))
	}
}

// checkSettleConfig reports a `config.settle` without effect: it says when the LLM is asked, but the LLM is never asked.
func (c *checker) checkSettleConfig() {
	if !c.idea.Config.AskLLMBeforeSettling && !c.idea.Config.SettleInstancesTogether {
		return
	}
	if c.idea.IsLLMForbidden() {
		c.addWarning("$.config.settle", "it has no effect: every Plan here is complete, so the LLM is never asked")
	}
}

// checkQualityConfig reports a recheck of answers if the LLM is never asked, and an onLimit without a limit.
func (c *checker) checkQualityConfig() {
	qualitySource := jsonval.AsObject(jsonval.Lookup(c.idea.Source, "config", "quality"))
	if qualitySource["onLimit"] != nil && qualitySource["limit"] == nil {
		c.addWarning("$.config.quality.onLimit", "it has no effect without a limit: any share may be decided otherwise")
	}
	if c.idea.Config.Quality.RecheckShare > 0 && c.idea.IsLLMForbidden() {
		c.addError("$.config.quality.recheck",
			"it has no effect: every Plan here is complete, so the LLM is never asked; leave it out")
	}
}

// checkInstancesPerRequest reports that a Request covers more instances than is known to be good for the LLM's work on
// each.
func (c *checker) checkInstancesPerRequest() {
	recommendedSize, reason, _ := quality.RecommendedRequestSize(c.idea, c.bindings)
	if limit := c.idea.Config.MaxInstancesPerPart; limit > recommendedSize && !c.idea.IsLLMForbidden() {
		c.addWarning("$.config.batch", "%d instances a Request are more than %d: %s, and studies find worse answers "+
			"above that; \"quality\" measures it", limit, recommendedSize, reason)
	}
}
