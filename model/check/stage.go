package check

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// This file checks the Plans that run directly: what they need and can never have, as nobody may be asked.

// CheckStages is what is wrong with the Plans of an Idea that run directly, once it is known what runs its Tools. Check says
// it too.
func CheckStages(i *ideafile.Idea, bindings map[string]ideafile.Binding) diag.Problems {
	c := newChecker(i, bindings)
	c.checkBarred()
	for _, m := range c.messages {
		c.checkStage(m)
	}
	return c.problems()
}

// meant lists the instances that a Plan is for: those whose condition holds, and of a Plan that runs directly those that
// have no other before it.
func (c *checker) meant(m placed, tokens []string) []string {
	var list []string
	for _, token := range tokens {
		at, _ := c.plans.Choose(token, c.views[token])
		if m.RunsDirectly() && at >= 0 && c.places[at] == m.path || !m.RunsDirectly() && m.AppliesTo(c.views[token]) {
			list = append(list, token)
		}
	}
	return list
}

// checkStage finds what a complete Plan would have to ask for.
func (c *checker) checkStage(m placed) {
	if m.Stage != ideafile.StageComplete {
		return
	}
	if c.bindings != nil {
		for _, n := range c.idea.LatentCallsWithoutResult(m.Message, c.bindings) {
			c.add(fmt.Sprintf("%s.plan[%d]", m.path, n), "the Call leaves its result to the LLM, and nobody may be asked in a complete Plan: it needs _output")
		}
	}
	if c.idea.Output != nil && m.Output == nil {
		c.add(m.path, "the output form wants an output, and nobody may be asked for one in a complete Plan: it needs output")
	}
}

// checkBarred finds instances for which no Plan holds and nobody may be asked.
func (c *checker) checkBarred() {
	for _, token := range c.tokens {
		if _, barred := c.plans.Choose(token, c.views[token]); barred {
			c.find(diag.Problem{Path: "$.context", Message: "no Plan's condition holds, and nobody may be asked: the instance would fail at once"},
				[]string{token}, len(c.tokens))
		}
	}
}
