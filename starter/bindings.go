package main

import (
	"processidea/activities"
	"processidea/activities/tools"
	"processidea/model"
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
func (b bindings) check(idea *model.Idea) model.Problems {
	bound := b.bind(idea)
	for n := range bound.Problems {
		bound.Problems[n].Warning = b.elsewhere || bound.Problems[n].Warning
		bound.Problems[n].Message += b.mend(idea, bound.Problems[n].Path)
	}
	problems := model.Check(idea, bound.Bindings)
	if b.elsewhere {
		soften(problems, model.CheckStages(idea, bound.Bindings))
	}
	return append(bound.Problems, problems...).InOrder()
}

// mend proposes, for an activity that is not registered, the one that was meant.
func (b bindings) mend(idea *model.Idea, at string) string {
	for _, t := range idea.Tools {
		if name, ok := t.Activity.(string); ok && at == model.JSONPath("$.schema.tools", t.Name, "_activity") {
			return model.Suggest(name, b.registry.Names())
		}
	}
	return ""
}

func (b bindings) bind(idea *model.Idea) *protocol.PrepareResult {
	bound := activities.Bind(idea, b.registry)
	// A Tool that is known elsewhere, or that is complained of already, is taken for a Go function.
	for _, t := range idea.Tools {
		if _, ok := bound.Bindings[t.Name]; !ok {
			bound.Bindings[t.Name] = model.Binding{Kind: model.KindGo, Name: t.Name}
		}
	}
	return bound
}

// soften makes warnings of problems that only a worker elsewhere can tell of: what is taken for a latent Tool here may be a
// Go function there.
func soften(problems, doubtful model.Problems) {
	for n := range problems {
		for _, d := range doubtful {
			problems[n].Warning = problems[n].Warning || problems[n] == d
		}
	}
}
