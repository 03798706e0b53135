package check

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Check finds errors in an Idea beyond its syntax, without running anything or asking the LLM. bindings may be nil: a
// Tool without `_activity` may then be of any kind. The Problems are in file order.
func Check(idea *ideafile.Idea, bindings ideafile.ToolBindings) diag.Problems {
	if idea == nil {
		return nil
	}
	c := newChecker(idea, bindings)
	if len(idea.Tools) == 0 && idea.OutputSchema == nil && len(idea.Config.MCPServers) == 0 {
		c.addWarning("$.schema",
			"the file has neither tools nor an output schema: the process could do nothing and have no output")
	}
	c.checkTools()
	c.checkReplySchemaStrictness()
	c.checkStates()
	c.checkSomePlanApplies()
	c.checkSettleConfig()
	c.checkQualityConfig()
	c.checkInstancesPerRequest()
	c.addProblems(ideafile.DuplicateStepIDProblems(idea.Context))
	c.checkDisplay()
	for _, m := range c.messages {
		c.checkMessage(m)
	}
	return c.problems()
}

func newChecker(idea *ideafile.Idea, bindings ideafile.ToolBindings) *checker {
	c := &checker{idea: idea, bindings: bindings, findingIndexByKey: map[string]int{},
		context: ideafile.SplitMessagesByInstance(idea.Context), directPlans: ideafile.FindDirectPlans(idea.Context)}
	c.instanceTokens = slices.DeleteFunc(slices.Clone(c.context.InstanceTokens), c.isForgotten)
	c.readMessages()
	return c
}

// checker collects the findings about one Idea.
type checker struct {
	idea              *ideafile.Idea
	bindings          ideafile.ToolBindings
	instanceTokens    []string
	context           ideafile.ContextByInstance
	view              ideafile.InstanceView
	viewInstanceToken *string // of view; only one is kept, since all would take many times the file's memory
	directPlans       ideafile.DirectPlans
	messages          []locatedMessage
	findings          []finding
	findingIndexByKey map[string]int // index into findings, by path, text and severity
}

// isForgotten reports whether an instance was forgotten: no Call is for it, and nothing of it is checked.
func (c *checker) isForgotten(instanceToken string) bool {
	return ideafile.InstanceEndStatus(c.context.MessagesByInstance[instanceToken],
		instanceToken) == ideafile.InstanceForgotten
}

// locatedMessage is a Message that knows its path in the file. It holds a pointer, since a long table has one Message
// per row.
type locatedMessage struct{ *ideafile.Message }

func (m locatedMessage) jsonPath() string {
	return fmt.Sprintf("$.context[%d]", m.IndexInFile)
}

// givesContext reports whether a Message gives data or a text.
func (m locatedMessage) givesContext() bool {
	return m.PayloadKind != "" || m.Type == ideafile.TypeText
}

// viewOf is what an instance sees.
func (c *checker) viewOf(token string) ideafile.InstanceView {
	if c.viewInstanceToken == nil || *c.viewInstanceToken != token {
		c.view, c.viewInstanceToken = c.context.InstanceView(token), &token
	}
	return c.view
}

// readMessages locates the Messages. A malformed one is in the file but not in idea.Context: it is read again.
func (c *checker) readMessages() {
	validMessages := c.idea.Context
	for index, raw := range jsonval.AsList(c.idea.Source["context"]) {
		if len(validMessages) == 0 || int(validMessages[0].IndexInFile) != index {
			m, _ := ideafile.ReadMessage(raw, "", new(diag.Problems))
			if m.IndexInFile = int32(index); m.Type == ideafile.TypePlan && m.PlanCalls != nil {
				// Errors in its stage, its condition or its record must not hide errors in its Calls.
				m.PlanStage, m.PlanViewCondition, m.PlanRecordByCallID = "", nil, nil
				c.messages = append(c.messages, locatedMessage{&m})
			}
			continue
		}
		m := &validMessages[0]
		validMessages = validMessages[1:]
		c.messages = append(c.messages, locatedMessage{m})
	}
}

func (c *checker) checkMessage(m locatedMessage) {
	switch m.Type {
	case ideafile.TypeInstruction:
		for n, name := range m.InstructionToolNames {
			path := fmt.Sprintf("%s.tools[%d]", m.jsonPath(), n)
			c.addProblems(c.idea.UnknownToolProblems(name, path))
		}
	case ideafile.TypePlan:
		// The Calls of a record are past, even malformed ones: they are not a Plan to run.
		if !m.IsStagelessPlanWithRecord() {
			c.checkPlan(m)
		}
		c.checkPlanOfStageComplete(m)
	}
	if m.InstanceToken != "" && !m.givesContext() && !slices.ContainsFunc(c.context.MessagesByInstance[m.InstanceToken],
		func(ownMessage ideafile.Message) bool { return locatedMessage{&ownMessage}.givesContext() }) {
		c.addWarning(m.jsonPath()+"._instance",
			"instance %q has no text, input, State or data of its own: a misspelt token makes a new instance%s",
			m.InstanceToken, diag.DidYouMean(m.InstanceToken, c.instanceTokens))
	}
}

// bindingsOrDefault returns the bindings or, without any, the most permissive ones: a Tool with neither `_activity` nor
// a delegate may be latent.
func (c *checker) bindingsOrDefault() ideafile.ToolBindings {
	if c.bindings != nil {
		return c.bindings
	}
	out := ideafile.ToolBindings{}
	for _, t := range c.idea.Tools {
		kind := ideafile.KindLatent
		if t.RawActivity != nil {
			kind = ideafile.KindGo
		}
		if t.DelegateFile != "" {
			kind = ideafile.KindDelegate
		}
		out[t.Name] = ideafile.ToolBinding{Kind: kind}
	}
	return out
}
