package check

import (
	"fmt"
	"sort"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Check is the static analysis behind the verb `check`: what is wrong with an Idea beyond its form, found with nothing run
// and nobody asked. bindings may be nil: a Tool without `_activity` may then be of any kind. The Problems stand in the
// order of the file's parts.
func Check(i *ideafile.Idea, bindings map[string]ideafile.Binding) diag.Problems {
	if i == nil {
		return nil
	}
	c := newChecker(i, bindings)
	c.checkTools()
	c.checkStrict()
	c.checkStates()
	c.checkBarred()
	for _, m := range c.messages {
		c.checkMessage(m)
	}
	return c.problems()
}

func newChecker(i *ideafile.Idea, bindings map[string]ideafile.Binding) *checker {
	c := &checker{idea: i, bindings: bindings, tokens: i.Tokens(), known: map[string]int{}, begins: map[string]bool{}}
	c.views, c.plans = ideafile.ViewsOf(i.Context, c.tokens), ideafile.FindDirectPlans(i.Context)
	c.readMessages()
	return c
}

// checker gathers what is wrong with one Idea.
type checker struct {
	idea     *ideafile.Idea
	bindings map[string]ideafile.Binding
	tokens   []string
	views    map[string]ideafile.View
	plans    ideafile.DirectPlans
	places   []string // in the file, of the Idea's Messages
	messages []placed
	findings []finding
	known    map[string]int  // findings by place and text
	begins   map[string]bool // instances that some Message gives something to work on
}

// placed is a Message with its place in the file.
type placed struct {
	ideafile.Message
	path string
}

// readMessages reads the context again, for the places of its Messages: one that breaks the form is in the file and not
// in the Idea.
func (c *checker) readMessages() {
	list, _ := c.idea.Source["context"].([]any)
	for n, raw := range list {
		path := fmt.Sprintf("$.context[%d]", n)
		if m, ok := ideafile.ReadMessage(raw, path, new(diag.Problems)); ok {
			c.messages = append(c.messages, placed{m, path})
			c.places = append(c.places, path)
			c.begins[m.Instance] = c.begins[m.Instance] || m.Kind != "" || m.Type == ideafile.TypeText
		}
	}
}

func (c *checker) checkMessage(m placed) {
	switch m.Type {
	case ideafile.TypeInstruction:
		for n, name := range m.Tools {
			at := fmt.Sprintf("%s.tools[%d]", m.path, n)
			if server, ok := c.idea.ServerThatMayOffer(name); ok && c.idea.Tool(name) == nil {
				c.warn(at, "%s", ideafile.MayBeOfferedMessage(name, server))
			} else if c.idea.Tool(name) == nil {
				c.add(at, "unknown tool %q%s", jsonval.Clip(name, 80), c.otherTools(name))
			}
		}
	case ideafile.TypePlan:
		// What a record tells of has been: broken Calls are among it, and none of it is a Plan to run.
		if !m.IsPlanRecord() {
			c.checkPlan(m)
		}
		c.checkStage(m)
	}
	if m.Instance != "" && !c.begins[m.Instance] {
		c.warn(m.path+"._instance", "instance %q has no text, input, State or data of its own: a misspelt token makes a new instance%s",
			m.Instance, diag.DidYouMean(m.Instance, c.tokens))
	}
}

// assumed is the bindings by which Calls are read: a Tool of which nothing is said may be latent.
func (c *checker) assumed() map[string]ideafile.Binding {
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

// finding is a Problem that may hold for some instances only.
type finding struct {
	diag.Problem
	tokens map[string]bool
	of     int // instances for which it could have held; 0: it has nothing to do with them
}

func (c *checker) add(path, format string, args ...any) {
	c.find(diag.Problem{Path: path, Message: fmt.Sprintf(format, args...)}, nil, 0)
}

func (c *checker) warn(path, format string, args ...any) {
	c.find(diag.Problem{Path: path, Message: fmt.Sprintf(format, args...), Warning: true}, nil, 0)
}

// find notes a Problem once, however many instances have it.
func (c *checker) find(p diag.Problem, tokens []string, of int) {
	key := fmt.Sprintf("%s\x00%s\x00%v", p.Path, p.Message, p.Warning)
	at, ok := c.known[key]
	if !ok {
		at = len(c.findings)
		c.known[key] = at
		c.findings = append(c.findings, finding{Problem: p, tokens: map[string]bool{}, of: of})
	}
	for _, t := range tokens {
		c.findings[at].tokens[t] = true
	}
}

// problems gives the findings by their places in the file, and names the instances where a finding is not of all.
func (c *checker) problems() diag.Problems {
	sort.SliceStable(c.findings, func(a, b int) bool {
		x, y := c.findings[a], c.findings[b]
		if x.Path != y.Path {
			return diag.PlaceBefore(x.Path, y.Path)
		}
		if x.Warning != y.Warning {
			return y.Warning
		}
		return x.Message < y.Message
	})
	var out diag.Problems
	for _, f := range c.findings {
		if len(f.tokens) < f.of {
			f.Message += " (in " + diag.SomeOf(c.ordered(f.tokens)) + ")"
		}
		out = append(out, f.Problem)
	}
	return out
}

func (c *checker) ordered(tokens map[string]bool) []string {
	var out []string
	for _, t := range c.tokens {
		if tokens[t] {
			out = append(out, t)
		}
	}
	return out
}
