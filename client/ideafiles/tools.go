package ideafiles

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/quality"
)

// Known is a program's knowledge of Tools: kinds.Known is one.
type Known interface {
	// Names are the names of the Go functions.
	Names() []string
	// Bind returns what runs each Tool of an Idea, and the mistakes in Tools that nothing can run.
	Bind(idea *ideafile.Idea) (map[string]ideafile.ToolBinding, diag.Problems)
}

// Tools is what this program knows about the workers' Tools.
type Tools struct {
	// Known checks Tools; nil: the workers check them when the process starts.
	Known Known
	// OtherWorkers: the workers belong to another program and may have more Tools, so a missing Tool is only a warning.
	OtherWorkers bool
	// OthersPossible: nothing is to be run now, and another worker may have more Tools. So an unknown Tool is only a
	// warning if its name resembles no known one.
	OthersPossible bool
	// Replies checks a replies file, with a line for each mistake; nil: the workers check it.
	Replies func(data []byte) (replies int, err error)
}

// Problems reports all mistakes in an Idea beyond its form, in the order of its places: unknown tools, parameters that
// do not fit, References to values that nobody writes.
func (t Tools) Problems(idea *ideafile.Idea) diag.Problems {
	bindings, found := t.bind(idea)
	for n := range found {
		problem := &found[n]
		name, isActivity := activityAt(idea, problem.JSONPath)
		if isActivity && t.OthersPossible && diag.NearestName(name, t.names()) == "" {
			problem.IsWarning = true
			problem.Message += "; a worker of your own may have it, and must then run the process"
			continue
		}
		problem.IsWarning = t.OtherWorkers || problem.IsWarning
		if isActivity {
			problem.Message += diag.DidYouMeanOrListNames(name, t.names())
		}
	}
	problems := t.misspelt(idea, bindings)
	problems.Append(check.Check(idea, bindings)...)
	if t.OtherWorkers {
		certain := check.CheckDirectPlans(idea, nil) // the workers find the same
		demoteToWarnings(problems, slices.DeleteFunc(check.CheckDirectPlans(idea, bindings),
			func(p diag.Problem) bool { return slices.Contains(certain, p) }))
	}
	found.Append(problems...)
	return found.SortedByPath()
}

// misspelt warns of Tools whose name resembles a Go tool's: if nothing runs a Tool, the LLM writes its results.
func (t Tools) misspelt(idea *ideafile.Idea, bindings map[string]ideafile.ToolBinding) (ps diag.Problems) {
	if idea.Simulation != nil {
		return nil
	}
	free := t.unusedGoTools(bindings)
	for _, tool := range idea.Tools {
		if bindings[tool.Name].Kind != ideafile.KindLatent {
			continue
		}
		if near := nearTool(tool.Name, free); near != "" {
			ps.Warn(tool.Path(),
				"no Go tool has this name, so the LLM itself writes the result; did you mean the Go tool %s? Then "+
					"rename the Tool, or give it \"_activity\": %q", near, near)
		}
	}
	return ps
}

// unusedGoTools lists the Go tools that no Tool of a file uses. A similar name is not a misspelling of a Go tool in
// use.
func (t Tools) unusedGoTools(bindings map[string]ideafile.ToolBinding) []string {
	used := map[string]bool{}
	for _, b := range bindings {
		used[b.GoFunctionName] = true
	}
	return slices.DeleteFunc(t.names(), func(name string) bool { return used[name] })
}

// minTypoLength is the shortest name in which one letter more or less counts as a typo: "vote" is no typo of "note".
const minTypoLength = 6

// nearTool returns the name that was probably meant: it differs only in case and separators, or in a few letters.
func nearTool(name string, names []string) string {
	for _, n := range names {
		if plainName(n) == plainName(name) {
			return n
		}
	}
	if len([]rune(name)) < minTypoLength {
		return ""
	}
	return diag.NearestName(name, names)
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "")

func plainName(name string) string { return strings.ToLower(separators.Replace(name)) }

// activityAt returns the name of the Go tool at a place in the Idea file, if a Tool names one there.
func activityAt(idea *ideafile.Idea, at string) (name string, ok bool) {
	for _, tool := range idea.Tools {
		if name, ok := tool.RawActivity.(string); ok && at == jsonval.JSONPathWithKeys("$.schema.tools", tool.Name,
			"_activity") {
			return name, true
		}
	}
	return "", false
}

func (t Tools) names() []string {
	if t.Known == nil {
		return nil
	}
	return slices.Clone(t.Known.Names())
}

// Bind returns what runs each Tool of an Idea. A Tool that only other workers know, or that nothing can run, counts as
// a Go function.
func (t Tools) Bind(idea *ideafile.Idea) map[string]ideafile.ToolBinding {
	bindings, _ := t.bind(idea)
	return bindings
}

func (t Tools) bind(idea *ideafile.Idea) (bindings map[string]ideafile.ToolBinding, problems diag.Problems) {
	bindings = map[string]ideafile.ToolBinding{}
	if t.Known != nil {
		bindings, problems = t.Known.Bind(idea)
	}
	for _, tool := range idea.Tools {
		if _, ok := bindings[tool.Name]; !ok {
			bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo, GoFunctionName: tool.Name}
		}
	}
	return bindings, problems
}

// demoteToWarnings turns those problems into warnings that only the workers can judge: a latent Tool here may be a Go
// function there.
func demoteToWarnings(problems, doubtful diag.Problems) {
	for n := range problems {
		for _, d := range doubtful {
			problems[n].IsWarning = problems[n].IsWarning || problems[n] == d
		}
	}
}

// SizeText says how many instances a Request covers, and why, in one line; empty if there is only one instance.
func (t Tools) SizeText(idea *ideafile.Idea) string {
	if len(idea.InstanceTokens()) < 2 && !idea.IsTemplate {
		return ""
	}
	size := quality.SizeFor(idea, t.Bind(idea))
	if idea.LLMForbidden() {
		return size.Because + "\n"
	}
	return fmt.Sprintf("%d a Request: %s\n", size.First, size.Because)
}
