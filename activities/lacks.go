package activities

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/tools/kinds"
)

// maxListedRequirements bounds the list of what a worker lacks.
const maxListedRequirements = 20

// missingToolRequirements lists what this worker lacks for the Tools of Ideas, each with the Tools that need it: a host
// that it may not reach, a secret, a program. A process that started without them would stop in the middle of its
// effects.
func (a *Activities) missingToolRequirements(ideas ...*ideafile.Idea) []string {
	var requirementTexts []string
	toolsByRequirement := map[string][]string{}
	addRequirements := func(tool string, missingErrs []error) {
		for _, missingErr := range missingErrs {
			text := jsonval.Clip(missingErr.Error(), 300)
			if toolsByRequirement[text] == nil {
				requirementTexts = append(requirementTexts, text)
			}
			toolsByRequirement[text] = append(toolsByRequirement[text], tool)
		}
	}
	for _, idea := range ideas {
		if idea.Simulation != nil {
			continue
		}
		for _, t := range idea.Tools {
			if _, isObject := t.RawActivity.(jsonval.Object); !isObject {
				continue // a Go function, or the LLM's own
			}
			binding, err := t.BindToRunner(nil)
			if err != nil {
				continue
			}
			addRequirements(t.Name, a.Runners.MissingRequirements(binding.Kind,
				t.RunnerSpec(binding, idea.Config.MCPServers)))
		}
		for _, s := range idea.MCPServersToAskForTools() {
			addRequirements("MCP server "+s.Name,
				a.Runners.MissingRequirements(ideafile.KindMCP, ideafile.MCPRunnerSpec{Server: &s}))
		}
	}
	var list []string
	for n, text := range requirementTexts {
		if n == maxListedRequirements {
			list = append(list, fmt.Sprintf("and %d more", len(requirementTexts)-n))
			break
		}
		list = append(list, fmt.Sprintf("%s (%s)", text,
			strings.TrimSpace(diag.SummarizeNames(toolsByRequirement[text]))))
	}
	if len(list) > 0 {
		allRequirements := strings.NewReplacer("where its worker runs, ", "", "\n", "; ").
			Replace(strings.TrimSpace(kinds.WorkerRequirements(ideas...)))
		list = append(list, jsonval.Clip("in all, "+allRequirements, 2000))
	}
	return list
}

// noUsableLLMReason returns why this worker can ask none of an Idea's LLMs. It is empty if the worker can ask one, if
// the process needs none, or if the process has no effect before it asks.
func (a *Activities) noUsableLLMReason(idea *ideafile.Idea, bindings map[string]ideafile.ToolBinding) string {
	if fakesLLMReplies(idea) || !slices.ContainsFunc(idea.Context, ideafile.Message.IsDirectPlan) {
		return ""
	}
	var reasons []string
	for _, c := range a.llmCandidates(idea.Config.LLMs) {
		_, err := c.configuredClient()
		if err == nil {
			return ""
		}
		reasons = append(reasons, err.Error())
	}
	bind := func(*ideafile.Idea) map[string]ideafile.ToolBinding { return bindings }
	if len(reasons) == 0 || !(loop.DelegateIdeaFiles{ToolBindingsFor: bind}).IdeaNeedsLLM(idea) {
		return ""
	}
	return strings.Join(slices.Compact(reasons), "; ")
}
