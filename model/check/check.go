package check

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Check finds what is wrong with an Idea beyond its syntax, without running anything or asking the LLM. bindings may be
// nil: a Tool without `_activity` may then be of any kind. The Problems are in file order.
func Check(idea *ideafile.Idea, bindings map[string]ideafile.Binding) diag.Problems {
	if idea == nil {
		return nil
	}
	c := newChecker(idea, bindings)
	c.checkTools()
	c.checkStrict()
	c.checkStates()
	c.checkSomePlanApplies()
	for _, m := range c.messages {
		c.checkMessage(m)
	}
	return c.problems()
}

func newChecker(idea *ideafile.Idea, bindings map[string]ideafile.Binding) *checker {
	c := &checker{idea: idea, bindings: bindings, tokens: idea.InstanceTokens(), findingIndex: map[string]int{}, hasOwnContext: map[string]bool{}}
	c.views, c.directPlans = ideafile.ViewsOf(idea.Context, c.tokens), ideafile.FindDirectPlans(idea.Context)
	c.readMessages()
	return c
}

// checker collects the findings about one Idea.
type checker struct {
	idea          *ideafile.Idea
	bindings      map[string]ideafile.Binding
	tokens        []string
	views         map[string]ideafile.View
	directPlans   ideafile.DirectPlans
	messagePaths  []string // where the Messages of idea.Context are in the file, by index
	messages      []locatedMessage
	findings      []finding
	findingIndex  map[string]int  // index into findings, by path, text and severity
	hasOwnContext map[string]bool // instances that some Message gives data or a text
}

// locatedMessage is a Message and its path in the file.
type locatedMessage struct {
	ideafile.Message
	path string
}

// readMessages reads the context again to locate its Messages: a malformed Message is in the file but not in
// idea.Context, so the indexes differ.
func (c *checker) readMessages() {
	list, _ := c.idea.Source["context"].([]any)
	for index, raw := range list {
		path := fmt.Sprintf("$.context[%d]", index)
		if m, ok := ideafile.ReadMessage(raw, path, new(diag.Problems)); ok {
			c.messages = append(c.messages, locatedMessage{m, path})
			c.messagePaths = append(c.messagePaths, path)
			c.hasOwnContext[m.Instance] = c.hasOwnContext[m.Instance] || m.Kind != "" || m.Type == ideafile.TypeText
		}
	}
}

func (c *checker) checkMessage(m locatedMessage) {
	switch m.Type {
	case ideafile.TypeInstruction:
		for n, name := range m.Tools {
			path := fmt.Sprintf("%s.tools[%d]", m.path, n)
			if server, ok := c.idea.ServerThatMayOffer(name); ok && c.idea.Tool(name) == nil {
				c.addWarning(path, "%s", ideafile.MayBeOfferedMessage(name, server))
			} else if c.idea.Tool(name) == nil {
				c.addError(path, "unknown tool %q%s", jsonval.Clip(name, 80), c.suggestTool(name))
			}
		}
	case ideafile.TypePlan:
		// The Calls of a record lie in the past, malformed ones among them: they are not a Plan to run.
		if !m.IsPlanRecord() {
			c.checkPlan(m)
		}
		c.checkCompletePlan(m)
	}
	if m.Instance != "" && !c.hasOwnContext[m.Instance] {
		c.addWarning(m.path+"._instance", "instance %q has no text, input, State or data of its own: a misspelt token makes a new instance%s",
			m.Instance, diag.DidYouMean(m.Instance, c.tokens))
	}
}

// bindingsOrDefault returns the bindings, or, where there are none, the most permissive ones: a Tool without
// `_activity` or a delegate may be latent.
func (c *checker) bindingsOrDefault() map[string]ideafile.Binding {
	if c.bindings != nil {
		return c.bindings
	}
	out := map[string]ideafile.Binding{}
	for _, t := range c.idea.Tools {
		kind := ideafile.KindLatent
		if t.Activity != nil {
			kind = ideafile.KindGo
		}
		if t.Delegate != "" {
			kind = ideafile.KindDelegate
		}
		out[t.Name] = ideafile.Binding{Kind: kind}
	}
	return out
}
