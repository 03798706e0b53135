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

// maxLacks bounds the list of what a worker lacks.
const maxLacks = 20

// missingForTools lists what this worker lacks for the Tools of Ideas, each with the Tools that need it: a host that it
// may not reach, a secret, a program. A process that started without them would stop in the middle of its effects.
func (a *Activities) missingForTools(ideas ...*ideafile.Idea) []string {
	var order []string
	tools := map[string][]string{}
	note := func(tool string, lacks []error) {
		for _, lack := range lacks {
			text := jsonval.Clip(lack.Error(), 300)
			if tools[text] == nil {
				order = append(order, text)
			}
			tools[text] = append(tools[text], tool)
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
			note(t.Name, a.Runners.Lacks(binding.Kind, t.RunnerSpec(binding, idea.Config.MCP)))
		}
		for _, s := range idea.MCPServersToAskForTools() {
			note("MCP server "+s.Name, a.Runners.Lacks(ideafile.KindMCP, ideafile.MCPRunnerSpec{Server: &s}))
		}
	}
	var list []string
	for n, text := range order {
		if n == maxLacks {
			list = append(list, fmt.Sprintf("and %d more", len(order)-n))
			break
		}
		list = append(list, fmt.Sprintf("%s (%s)", text, strings.TrimSpace(diag.FirstNamesAndCount(tools[text]))))
	}
	if len(list) > 0 {
		needs := strings.NewReplacer("where its worker runs, ", "", "\n", "; ").
			Replace(strings.TrimSpace(kinds.Needs(ideas...)))
		list = append(list, jsonval.Clip("in all, "+needs, 2000))
	}
	return list
}

// lacksLLM returns why this worker can ask none of an Idea's LLMs. It is empty if the worker can ask one, if the
// process needs none, or if the process has no effect before it asks.
func (a *Activities) lacksLLM(idea *ideafile.Idea, bindings map[string]ideafile.ToolBinding) string {
	if shouldFakeReplies(idea) || !slices.ContainsFunc(idea.Context, ideafile.Message.IsDirectPlan) {
		return ""
	}
	var why []string
	for _, c := range a.candidates(idea.Config.LLMs) {
		_, err := c.configured()
		if err == nil {
			return ""
		}
		why = append(why, err.Error())
	}
	bind := func(*ideafile.Idea) map[string]ideafile.ToolBinding { return bindings }
	if len(why) == 0 || !(loop.DelegateIdeaFiles{Bind: bind}).IdeaNeedsLLM(idea) {
		return ""
	}
	return strings.Join(slices.Compact(why), "; ")
}
