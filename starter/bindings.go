package main

import (
	"processidea/activities"
	"processidea/activities/tools"
	"processidea/model"
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
	bound := activities.Bind(idea, b.registry)
	for n := range bound.Problems {
		bound.Problems[n].Warning = b.elsewhere
	}
	// A Tool that is known elsewhere, or that is complained of already, is taken for a Go function.
	for _, t := range idea.Tools {
		if _, ok := bound.Bindings[t.Name]; !ok {
			bound.Bindings[t.Name] = model.Binding{Kind: model.KindGo, Name: t.Name}
		}
	}
	return append(bound.Problems, model.Check(idea, bound.Bindings)...)
}
