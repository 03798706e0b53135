package ideafiles

import (
	"processidea/activities"
	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/kinds"
)

// Tools is what is known here of the Go tools that the workers have.
type Tools struct {
	// Registry holds the Go tools; nil: the built-in ones are not known either.
	Registry *tools.Registry
	// Elsewhere: the workers belong to another program and may know more tools than the Registry, so that a missing one
	// is a warning.
	Elsewhere bool
}

// Problems reports everything that is wrong with an Idea beyond its form, in the order of its places: unknown tools,
// parameters that do not fit, References that nobody writes.
func (t Tools) Problems(idea *ideafile.Idea) diag.Problems {
	bound := t.Bind(idea)
	for n := range bound.Problems {
		bound.Problems[n].Warning = t.Elsewhere || bound.Problems[n].Warning
		bound.Problems[n].Message += t.suggestion(idea, bound.Problems[n].Path)
	}
	problems := check.Check(idea, bound.Bindings)
	if t.Elsewhere {
		soften(problems, check.CheckDirectPlans(idea, bound.Bindings))
	}
	return append(bound.Problems, problems...).InOrder()
}

// suggestion proposes, for an activity that is not registered, the one that was meant.
func (t Tools) suggestion(idea *ideafile.Idea, at string) string {
	for _, tool := range idea.Tools {
		if name, ok := tool.Activity.(string); ok && at == jsonval.JSONPath("$.schema.tools", tool.Name, "_activity") {
			return diag.Suggest(name, t.registry().Names())
		}
	}
	return ""
}

func (t Tools) registry() *tools.Registry {
	if t.Registry == nil {
		return tools.NewRegistry()
	}
	return t.Registry
}

// Bind says what runs each Tool of an Idea. A Tool that is known elsewhere only, or that is among the problems already,
// is taken for a Go function.
func (t Tools) Bind(idea *ideafile.Idea) *protocol.PrepareResult {
	bound := activities.Bind(idea, t.registry(), kinds.New(kinds.Deps{Tools: t.registry()}))
	for _, tool := range idea.Tools {
		if _, ok := bound.Bindings[tool.Name]; !ok {
			bound.Bindings[tool.Name] = ideafile.Binding{Kind: ideafile.KindGo, Name: tool.Name}
		}
	}
	return bound
}

// soften makes warnings of the problems that only the workers can judge: what is taken for a latent Tool here may be a
// Go function there.
func soften(problems, doubtful diag.Problems) {
	for n := range problems {
		for _, d := range doubtful {
			problems[n].Warning = problems[n].Warning || problems[n] == d
		}
	}
}
