package main

import (
	"processidea/activities"
	"processidea/activities/tools"
	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/worker/engine"
)

// bindings is what can be said here of the tools that a worker knows.
type bindings struct {
	registry *tools.Registry
	// elsewhere says that the workers are another program's: they may know more tools than this one.
	elsewhere bool
}

func knownTools(p place) bindings {
	return bindings{registry: engine.Parts{}.FromEnvironment().Tools, elsewhere: p.remote != nil}
}

// check reports what is wrong with an Idea beyond its form.
func (b bindings) check(idea *ideafile.Idea) diag.Problems {
	bound := b.bind(idea)
	for n := range bound.Problems {
		bound.Problems[n].Warning = b.elsewhere || bound.Problems[n].Warning
		bound.Problems[n].Message += b.mend(idea, bound.Problems[n].Path)
	}
	problems := check.Check(idea, bound.Bindings)
	if b.elsewhere {
		soften(problems, check.CheckDirectPlans(idea, bound.Bindings))
	}
	return append(bound.Problems, problems...).InOrder()
}

// mend proposes, for an activity that is not registered, the one that was meant.
func (b bindings) mend(idea *ideafile.Idea, at string) string {
	for _, t := range idea.Tools {
		if name, ok := t.Activity.(string); ok && at == jsonval.JSONPath("$.schema.tools", t.Name, "_activity") {
			return diag.Suggest(name, b.registry.Names())
		}
	}
	return ""
}

func (b bindings) bind(idea *ideafile.Idea) *protocol.PrepareResult {
	bound := activities.Bind(idea, b.registry)
	// A Tool that is known elsewhere, or that is complained of already, is taken for a Go function.
	for _, t := range idea.Tools {
		if _, ok := bound.Bindings[t.Name]; !ok {
			bound.Bindings[t.Name] = ideafile.Binding{Kind: ideafile.KindGo, Name: t.Name}
		}
	}
	return bound
}

// soften makes warnings of problems that only a worker elsewhere can tell of: what is taken for a latent Tool here may be a
// Go function there.
func soften(problems, doubtful diag.Problems) {
	for n := range problems {
		for _, d := range doubtful {
			problems[n].Warning = problems[n].Warning || problems[n] == d
		}
	}
}
