package activities

import (
	"fmt"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// maxLacks bounds what is said of what a worker lacks.
const maxLacks = 20

// lacks says what this worker lacks for the Tools of Ideas, each with the Tools that need it: a host that it may not
// reach, a secret, a program. A process that starts all the same would stop in the middle of its effects.
func (a *Activities) lacks(ideas ...*ideafile.Idea) []string {
	var order []string
	tools := map[string][]string{}
	for _, idea := range ideas {
		if idea.Simulation != nil {
			continue
		}
		for _, t := range idea.Tools {
			if _, isObject := t.RawActivity.(map[string]any); !isObject {
				continue // a Go function, or the LLM's own
			}
			binding, err := t.BindToRunner(nil)
			if err != nil {
				continue
			}
			for _, lack := range a.Runners.Lacks(binding.Kind, t.RunnerSpec(binding, idea.Config.MCP)) {
				text := jsonval.Clip(lack.Error(), 300)
				if tools[text] == nil {
					order = append(order, text)
				}
				tools[text] = append(tools[text], t.Name)
			}
		}
	}
	var list []string
	for n, text := range order {
		if n == maxLacks {
			return append(list, fmt.Sprintf("and %d more", len(order)-n))
		}
		list = append(list, fmt.Sprintf("%s (%s)", text, strings.TrimSpace(diag.FirstNamesAndCount(tools[text]))))
	}
	return list
}
