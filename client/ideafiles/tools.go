package ideafiles

import (
	"slices"
	"strings"

	"processidea/activities"
	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/kinds"
	"processidea/tools/runner"
)

// Tools is what is known here of the Go tools that the workers have.
type Tools struct {
	// Registry holds the Go tools; nil: the built-in ones are not known either.
	Registry *tools.Registry
	// Runners run kinds of Tools beside those that are built in.
	Runners map[ideafile.ToolKind]runner.Runner
	// Elsewhere: the workers belong to another program and may know more tools than the Registry, so that a missing one
	// is a warning.
	Elsewhere bool
	// OthersPossible: nothing is to be run now, and another worker may have tools that the Registry does not have, so that one is a
	// warning that resembles none of those.
	OthersPossible bool
}

// Problems reports everything that is wrong with an Idea beyond its form, in the order of its places: unknown tools,
// parameters that do not fit, References that nobody writes.
func (t Tools) Problems(idea *ideafile.Idea) diag.Problems {
	bound := t.Bind(idea)
	for n := range bound.Problems {
		problem := &bound.Problems[n]
		name, isActivity := activityAt(idea, problem.JSONPath)
		if isActivity && t.OthersPossible && diag.NearestName(name, t.registry().Names()) == "" {
			problem.IsWarning = true
			problem.Message += "; a worker of your own may have it, and must then run the process"
			continue
		}
		problem.IsWarning = t.Elsewhere || problem.IsWarning
		if isActivity {
			problem.Message += diag.DidYouMeanOrListNames(name, t.registry().Names())
		}
	}
	problems := t.misspelt(idea, bound.Bindings)
	problems.Append(check.Check(idea, bound.Bindings)...)
	if t.Elsewhere {
		soften(problems, check.CheckDirectPlans(idea, bound.Bindings))
	}
	bound.Problems.Append(problems...)
	return bound.Problems.SortedByPath()
}

// misspelt warns of Tools whose name is nearly that of a Go tool: what nothing runs, the LLM writes by itself.
func (t Tools) misspelt(idea *ideafile.Idea, bindings map[string]ideafile.ToolBinding) (ps diag.Problems) {
	if idea.Simulation != nil {
		return nil
	}
	free := t.unused(bindings)
	for _, tool := range idea.Tools {
		if bindings[tool.Name].Kind != ideafile.KindLatent {
			continue
		}
		if near := nearTool(tool.Name, free); near != "" {
			ps.Warn(jsonval.JSONPathWithKey(ideafile.ToolsPath, tool.Name), "no Go tool has this name, so the LLM writes the result by itself; "+
				"did you mean the Go tool %s? Then name the Tool so, or give it \"_activity\": %q", near, near)
		}
	}
	return ps
}

// unused lists the Go tools that no Tool of a file is run by: whoever uses one means another by a name that is like it.
func (t Tools) unused(bindings map[string]ideafile.ToolBinding) []string {
	used := map[string]bool{}
	for _, b := range bindings {
		used[b.GoFunctionName] = true
	}
	return slices.DeleteFunc(t.registry().Names(), func(name string) bool { return used[name] })
}

// fewestLetters is how long a name must be for a letter more or less to be a slip of the pen: "vote" is not meant as "note".
const fewestLetters = 6

// nearTool gives the name that somebody may have meant: one that differs in case and separators alone, or in a few letters.
func nearTool(name string, names []string) string {
	for _, n := range names {
		if plainName(n) == plainName(name) {
			return n
		}
	}
	if len([]rune(name)) < fewestLetters {
		return ""
	}
	return diag.NearestName(name, names)
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "")

func plainName(name string) string { return strings.ToLower(separators.Replace(name)) }

// activityAt gives the name of the Go tool that a Tool names at a place of its file, where there is one.
func activityAt(idea *ideafile.Idea, at string) (name string, ok bool) {
	for _, tool := range idea.Tools {
		if name, ok := tool.RawActivity.(string); ok && at == jsonval.JSONPathWithKeys("$.schema.tools", tool.Name, "_activity") {
			return name, true
		}
	}
	return "", false
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
	runners := kinds.New(kinds.Deps{Tools: t.registry()})
	for kind, x := range t.Runners {
		runners.Register(kind, x)
	}
	bound := activities.BindTools(idea, t.registry(), runners)
	for _, tool := range idea.Tools {
		if _, ok := bound.Bindings[tool.Name]; !ok {
			bound.Bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo, GoFunctionName: tool.Name}
		}
	}
	return bound
}

// soften makes warnings of the problems that only the workers can judge: what is taken for a latent Tool here may be a
// Go function there.
func soften(problems, doubtful diag.Problems) {
	for n := range problems {
		for _, d := range doubtful {
			problems[n].IsWarning = problems[n].IsWarning || problems[n] == d
		}
	}
}
