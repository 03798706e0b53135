package activities

import (
	"context"
	"errors"

	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/simulate"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/mcptool"
	"processidea/tools/runner"
)

// Prepare binds an Idea's Tools to what this worker knows. It is decided once, when a process starts.
func (a *Activities) Prepare(_ context.Context, idea map[string]any) (*protocol.PrepareResult, error) {
	read, problems := ideafile.ReadIdea(idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return &protocol.PrepareResult{Problems: errs}, nil
	}
	r := Bind(read, a.Tools, a.Runners)
	r.Notify, r.LLM = a.Notices != nil && read.Simulated == nil, a.LLM.Configured() || fakesReplies(read)
	r.Problems = append(r.Problems, check.CheckDirectPlans(read, r.Bindings)...)
	return r, nil
}

// Bind binds an Idea's Tools to Go functions and to the kinds of Tools that are known, and says which of them cannot be
// bound.
func Bind(idea *ideafile.Idea, functions *tools.Registry, runners *runner.Registry) *protocol.PrepareResult {
	r := &protocol.PrepareResult{Bindings: map[string]ideafile.Binding{}}
	for _, t := range idea.Tools {
		b, err := bindTool(idea, t, functions, runners)
		if err != nil {
			path := jsonval.JSONPath("$", "schema", "tools", t.Name, "_activity")
			r.Problems = append(r.Problems, diag.Problem{Path: path, Message: err.Error()})
			continue
		}
		if s := idea.EffectiveSimulation(); s != nil {
			b = s.Bind(b)
			r.Problems = append(r.Problems, checkSimulated(t, b)...)
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

// bindTool binds one Tool. In a simulation, functions and kinds need not be known: nothing is run by them.
func bindTool(idea *ideafile.Idea, t *ideafile.Tool, functions *tools.Registry, runners *runner.Registry) (ideafile.Binding, error) {
	b, err := t.Bind(func(name string) (pure, ok bool) {
		known, ok := functions.Lookup(name)
		return ok && known.Pure, ok
	})
	if err != nil {
		if idea.Simulated != nil {
			return ideafile.Binding{Kind: ideafile.KindGo}, nil
		}
		return b, err
	}
	if !b.Kind.HasRunner() {
		return b, nil
	}
	err = runners.Validate(b.Kind, t.RunSpec(b, idea.Config.MCP))
	var unknown *runner.UnknownKindError
	if idea.Simulated != nil && errors.As(err, &unknown) {
		return b, nil
	}
	return b, err
}

// checkSimulated warns of a Tool for which no result can be made up.
func checkSimulated(t *ideafile.Tool, b ideafile.Binding) (ps diag.Problems) {
	if !b.Kind.HasRunner() || t.Output == nil {
		return nil
	}
	if _, err := simulate.FakeResult(t.Name, t.Output.Source, nil); err != nil {
		ps = append(ps, diag.Problem{
			Path: jsonval.JSONPath("$", "schema", "tools", t.Name, "_output"), Warning: true,
			Message: "the tool cannot be simulated, and its Calls fail: " + err.Error(),
		})
	}
	return ps
}
