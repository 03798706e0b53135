package activities

import (
	"context"
	"errors"

	"processidea/model/check"
	"processidea/model/delegate"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/simulate"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/mcptool"
	"processidea/tools/runner"
)

// PrepareTools checks an Idea and its delegates, and binds its Tools to what this worker knows. It is decided once, when a process starts.
func (a *Activities) PrepareTools(ctx context.Context, idea map[string]any, d protocol.DelegationContext) (*protocol.PrepareResult, error) {
	whole, err := a.restoreIdeaTools(ctx, idea)
	if err != nil {
		return nil, err
	}
	read, problems := ideafile.ReadIdea(whole)
	if read != nil && d.Depth == 0 {
		files, err := a.restoreFiles(ctx, d.Files)
		if err != nil {
			return nil, err
		}
		problems.Append(delegate.CheckFiles(read, d.File, files)...)
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return &protocol.PrepareResult{Problems: errs}, nil
	}
	r := BindTools(read, a.Tools, a.Runners)
	r.Notify, r.LLM = a.Notices != nil && read.Simulation == nil, a.LLM.Configured() || shouldFakeReplies(read)
	r.SaveActions = a.SaveActions
	r.Problems.Append(check.CheckDirectPlans(read, r.Bindings)...)
	r.Palette, err = a.storePalette(ctx, idea)
	return r, err
}

// BindTools binds an Idea's Tools to Go functions and to the kinds of Tools that are known, and says which of them cannot be
// bound.
func BindTools(idea *ideafile.Idea, functions *tools.Registry, runners *runner.Registry) *protocol.PrepareResult {
	r := &protocol.PrepareResult{Bindings: map[string]ideafile.ToolBinding{}}
	for _, t := range idea.Tools {
		b, ps, err := bindTool(idea, t, functions, runners)
		for _, p := range ps {
			p.JSONPath = jsonval.JSONPathWithKeys("$", "schema", "tools", t.Name) + p.JSONPath
			r.Problems.Append(p)
		}
		if err != nil {
			path := jsonval.JSONPathWithKeys("$", "schema", "tools", t.Name, "_activity")
			r.Problems.Append(diag.Problem{JSONPath: path, Message: err.Error()})
			continue
		}
		if s := idea.EffectiveSimulation(); s != nil {
			b = s.SimulateBinding(b)
			r.Problems.Append(checkToolCanBeSimulated(t, b)...)
		}
		r.Bindings[t.Name] = b
	}
	for _, s := range idea.Config.MCP {
		if err := mcptool.Check(s); err != nil {
			r.Problems.Append(diag.Problem{JSONPath: jsonval.JSONPathWithKeys("$", "config", "mcp", s.Name),
				Message: err.Error()})
		}
	}
	return r
}

// bindTool binds one Tool. In a simulation, functions and kinds need not be known: nothing is run by them.
func bindTool(idea *ideafile.Idea, t *ideafile.Tool, functions *tools.Registry, runners *runner.Registry) (ideafile.ToolBinding, diag.Problems, error) {
	b, err := t.BindToRunner(func(name string) (pure, ok bool) {
		known, ok := functions.Lookup(name)
		return ok && known.Pure, ok
	})
	if err != nil {
		if idea.Simulation != nil {
			return ideafile.ToolBinding{Kind: ideafile.KindGo}, nil, nil
		}
		return b, nil, err
	}
	if !b.Kind.HasRunner() {
		return b, nil, nil
	}
	spec := t.RunnerSpec(b, idea.Config.MCP)
	err = runners.Validate(b.Kind, spec)
	var unknown *runner.UnknownKindError
	if idea.Simulation != nil && (err == nil || errors.As(err, &unknown)) {
		return b, nil, nil
	}
	if err != nil {
		return b, nil, err
	}
	return b, runners.CheckTool(b.Kind, t, spec), nil
}

// checkToolCanBeSimulated warns of a Tool for which no result can be made up.
func checkToolCanBeSimulated(t *ideafile.Tool, b ideafile.ToolBinding) (ps diag.Problems) {
	if !b.Kind.HasRunner() || t.OutputSchema == nil {
		return nil
	}
	if _, err := simulate.FakeResult(t.Name, t.OutputSchema.Source, nil); err != nil {
		ps = append(ps, diag.Problem{
			JSONPath: jsonval.JSONPathWithKeys("$", "schema", "tools", t.Name, "_output"), IsWarning: true,
			Message: "the tool cannot be simulated, and its Calls fail: " + err.Error(),
		})
	}
	return ps
}
