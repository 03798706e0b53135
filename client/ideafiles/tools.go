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

// ToolRegistry is a program's knowledge of Tools: kinds.KnownTools is one.
type ToolRegistry interface {
	// FunctionNames are the names of the Go functions.
	FunctionNames() []string
	// Bind returns what runs each Tool of an Idea, and the mistakes in Tools that nothing can run.
	Bind(idea *ideafile.Idea) (map[string]ideafile.ToolBinding, diag.Problems)
}

// WorkerTools is what this program knows about the workers' Tools.
type WorkerTools struct {
	// Registry checks Tools; nil: the workers check them when the process starts.
	Registry ToolRegistry
	// HasOtherWorkers: the workers belong to another program and may have more Tools, so a missing Tool is only a
	// warning.
	HasOtherWorkers bool
	// MayHaveOtherWorkers: nothing is to be run now, and another worker may have more Tools. So an unknown Tool is only
	// a warning if its name resembles no known one.
	MayHaveOtherWorkers bool
	// CheckReplies checks a replies file, with a line for each mistake; nil: the workers check it.
	CheckReplies func(data []byte) (replyCount int, err error)
}

// Problems reports all mistakes in an Idea beyond its form, in the order of its places: unknown tools, parameters that
// do not fit, References to values that nobody writes.
func (t WorkerTools) Problems(idea *ideafile.Idea) diag.Problems {
	bindings, bindProblems := t.bind(idea)
	for n := range bindProblems {
		problem := &bindProblems[n]
		name, isActivity := activityAt(idea, problem.JSONPath)
		if isActivity && t.MayHaveOtherWorkers && diag.NearestName(name, t.goToolNames()) == "" {
			problem.IsWarning = true
			problem.Message += "; a worker of your own may have it, and must then run the process"
			continue
		}
		problem.IsWarning = t.HasOtherWorkers || problem.IsWarning
		if isActivity {
			problem.Message += diag.DidYouMeanOrListNames(name, t.goToolNames())
		}
	}
	problems := t.misspellingWarnings(idea, bindings)
	problems.Append(check.Check(idea, bindings)...)
	if t.HasOtherWorkers {
		certainProblems := check.CheckDirectPlans(idea, nil) // the workers find the same
		demoteToWarnings(problems, slices.DeleteFunc(check.CheckDirectPlans(idea, bindings),
			func(p diag.Problem) bool { return slices.Contains(certainProblems, p) }))
	}
	bindProblems.Append(problems...)
	return bindProblems.SortByPath()
}

// misspellingWarnings warns of Tools whose name resembles a Go tool's: if nothing runs a Tool, the LLM writes its
// results.
func (t WorkerTools) misspellingWarnings(idea *ideafile.Idea,
	bindings map[string]ideafile.ToolBinding) (ps diag.Problems) {
	if idea.Simulation != nil {
		return nil
	}
	unusedNames := t.unusedGoTools(bindings)
	for _, tool := range idea.Tools {
		if bindings[tool.Name].Kind != ideafile.KindLatent {
			continue
		}
		if nearest := nearestToolName(tool.Name, unusedNames); nearest != "" {
			ps.Warn(tool.JSONPath(),
				"no Go tool has this name, so the LLM itself writes the result; did you mean the Go tool %s? Then "+
					"rename the Tool, or give it \"_activity\": %q", nearest, nearest)
		}
	}
	return ps
}

// unusedGoTools lists the Go tools that no Tool of a file uses. A similar name is not a misspelling of a Go tool in
// use.
func (t WorkerTools) unusedGoTools(bindings map[string]ideafile.ToolBinding) []string {
	usedFunctions := map[string]bool{}
	for _, b := range bindings {
		usedFunctions[b.GoFunctionName] = true
	}
	return slices.DeleteFunc(t.goToolNames(), func(name string) bool { return usedFunctions[name] })
}

// minTypoLength is the shortest name in which one letter more or less counts as a typo: "vote" is no typo of "note".
const minTypoLength = 6

// nearestToolName returns the name that was probably meant: it differs only in case and separators, or in a few
// letters.
func nearestToolName(name string, names []string) string {
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

var separatorRemover = strings.NewReplacer("_", "", "-", "", ".", "")

func plainName(name string) string { return strings.ToLower(separatorRemover.Replace(name)) }

// activityAt returns the name of the Go tool at a place in the Idea file, if a Tool names one there.
func activityAt(idea *ideafile.Idea, jsonPath string) (name string, ok bool) {
	for _, tool := range idea.Tools {
		if name, ok := tool.RawActivity.(string); ok && jsonPath == jsonval.JSONPathWithKeys("$.schema.tools",
			tool.Name,
			"_activity") {
			return name, true
		}
	}
	return "", false
}

func (t WorkerTools) goToolNames() []string {
	if t.Registry == nil {
		return nil
	}
	return slices.Clone(t.Registry.FunctionNames())
}

// Bind returns what runs each Tool of an Idea. A Tool that only other workers know, or that nothing can run, counts as
// a Go function.
func (t WorkerTools) Bind(idea *ideafile.Idea) map[string]ideafile.ToolBinding {
	bindings, _ := t.bind(idea)
	return bindings
}

func (t WorkerTools) bind(idea *ideafile.Idea) (bindings map[string]ideafile.ToolBinding, problems diag.Problems) {
	bindings = map[string]ideafile.ToolBinding{}
	if t.Registry != nil {
		bindings, problems = t.Registry.Bind(idea)
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
func demoteToWarnings(problems, doubtfulProblems diag.Problems) {
	for n := range problems {
		for _, d := range doubtfulProblems {
			problems[n].IsWarning = problems[n].IsWarning || problems[n] == d
		}
	}
}

// BatchSizeText says how many instances a Request covers, and why, in one line; empty if there is only one instance.
func (t WorkerTools) BatchSizeText(idea *ideafile.Idea) string {
	if len(idea.InstanceTokens()) < 2 && !idea.IsTemplate {
		return ""
	}
	size := quality.RequestSizeFor(idea, t.Bind(idea))
	if idea.IsLLMForbidden() {
		return size.Reason + "\n"
	}
	return fmt.Sprintf("%d a Request: %s\n", size.Initial, size.Reason)
}
