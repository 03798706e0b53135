package kinds

import (
	"errors"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/simulate"
	"processidea/tools"
	"processidea/tools/mcptool"
	"processidea/tools/runner"
)

// KnownTools holds the Tools that a program knows.
type KnownTools struct {
	Functions *tools.Registry  // written in Go
	Runners   *runner.Registry // of all kinds
}

// NewKnownTools returns what a program knows with these Go functions, and with runners of further kinds. It serves to
// check Ideas, and runs nothing.
func NewKnownTools(functions *tools.Registry, extraRunnerByKind map[ideafile.ToolKind]runner.Runner) KnownTools {
	if functions == nil {
		functions = tools.NewRegistry()
	}
	k := KnownTools{functions, NewRunnerRegistry(Deps{Tools: functions})}
	for kind, r := range extraRunnerByKind {
		k.Runners.Register(kind, r)
	}
	return k
}

// FunctionNames returns the names of the Go functions.
func (k KnownTools) FunctionNames() []string { return k.Functions.Names() }

// Bind binds an Idea's Tools to Go functions and to the known kinds, and returns the problems of Tools that cannot be
// bound.
func (k KnownTools) Bind(idea *ideafile.Idea) (bindings map[string]ideafile.ToolBinding, problems diag.Problems) {
	bindings = map[string]ideafile.ToolBinding{}
	for _, t := range idea.Tools {
		b, ps, err := k.bind(idea, t)
		for _, p := range ps {
			p.JSONPath = t.JSONPath() + p.JSONPath
			problems.Append(p)
		}
		if err != nil {
			problems.Add(t.JSONPath()+"._activity", "%s", err)
			continue
		}
		if s := idea.EffectiveSimulation(); s != nil {
			b = s.SimulateBinding(b)
			problems.Append(warnIfNotSimulatable(t, b)...)
		}
		if f, ok := k.Functions.Lookup(b.GoFunctionName); ok {
			b.Undo = f.Undo
		}
		bindings[t.Name] = b
	}
	for _, s := range idea.Config.MCPServers {
		if err := mcptool.CheckServerConfig(s); err != nil {
			problems.AddAtKey("$.config.mcp", s.Name, "%s", err)
		}
	}
	return bindings, problems
}

// bind binds one Tool. In a simulation, functions and kinds may be unknown, since they do not run.
func (k KnownTools) bind(idea *ideafile.Idea, t *ideafile.Tool) (ideafile.ToolBinding, diag.Problems, error) {
	b, err := t.BindToRunner(func(name string) (isPure, ok bool) {
		function, ok := k.Functions.Lookup(name)
		return ok && function.Pure, ok
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
	spec := t.RunnerSpec(b, idea.Config.MCPServers)
	err = k.Runners.Validate(b.Kind, spec)
	var unknownKindErr *runner.UnknownKindError
	if idea.Simulation != nil && (err == nil || errors.As(err, &unknownKindErr)) {
		return b, nil, nil
	}
	if err != nil {
		return b, nil, err
	}
	return b, k.Runners.CheckTool(b.Kind, t, spec), nil
}

// warnIfNotSimulatable warns about a Tool whose result cannot be made up.
func warnIfNotSimulatable(t *ideafile.Tool, b ideafile.ToolBinding) (ps diag.Problems) {
	if !b.Kind.HasRunner() || t.OutputSchema == nil {
		return nil
	}
	if _, err := simulate.FakeResult(t.Name, t.OutputSchema.Source, nil); err != nil {
		ps.Warn(t.JSONPath()+"._output", "the tool cannot be simulated, and its Calls fail: %s", err)
	}
	return ps
}
