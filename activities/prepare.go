package activities

import (
	"context"

	"processidea/activities/httptool"
	"processidea/activities/mcptool"
	"processidea/activities/tools"
	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// Prepare binds an Idea's Tools to what this worker knows. It is decided once, when a process starts.
func (a *Activities) Prepare(_ context.Context, idea map[string]any) (*protocol.PrepareResult, error) {
	read, problems := ideafile.ReadIdea(idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return &protocol.PrepareResult{Problems: errs}, nil
	}
	r := Bind(read, a.Tools)
	r.Notify, r.LLM = a.Notices != nil && read.Simulated == nil, a.LLM.Configured() || sketched(read)
	r.Problems = append(r.Problems, check.CheckStages(read, r.Bindings)...)
	return r, nil
}

// Bind binds an Idea's Tools to a registry, and says which of them cannot be bound.
func Bind(idea *ideafile.Idea, registry *tools.Registry) *protocol.PrepareResult {
	r := &protocol.PrepareResult{Bindings: map[string]ideafile.Binding{}}
	for _, t := range idea.Tools {
		path := jsonval.JSONPath("$", "schema", "tools", t.Name, "_activity")
		b, err := t.Bind(func(name string) (pure, ok bool) {
			known, ok := registry.Lookup(name)
			return ok && known.Pure, ok
		})
		if err != nil && idea.Simulated != nil { // it need not be known where nothing runs
			b, err = ideafile.Binding{Kind: ideafile.KindGo}, nil
		}
		if err == nil && b.Kind == ideafile.KindHTTP {
			spec, _ := t.Activity.(map[string]any)
			_, err = httptool.ParseSpec(spec["http"])
		}
		if err != nil {
			r.Problems = append(r.Problems, diag.Problem{Path: path, Message: err.Error()})
			continue
		}
		if s := idea.EffectiveSimulation(); s != nil {
			b = s.Bind(b)
			r.Problems = append(r.Problems, unplayable(t, b)...)
		}
		r.Bindings[t.Name] = b
	}
	for _, s := range idea.Config.MCP {
		if err := mcptool.Check(s); err != nil {
			r.Problems = append(r.Problems, diag.Problem{Path: jsonval.JSONPath("$", "config", "mcp", s.Name), Message: err.Error()})
		}
	}
	return r
}
