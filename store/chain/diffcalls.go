package chain

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// solved is one Call of an Idea's solution.
type solved struct {
	id, instance, tool string
	call               any
	// place is what makes two Calls with other parameters the same Call that changed: instance, tool and output path.
	place, text string
}

func solutionOf(idea map[string]any) []solved {
	solution, _ := idea["solution"].(map[string]any)
	calls, _ := solution["calls"].([]any)
	meta, _ := idea["meta"].(map[string]any)
	request := (&manifest{Meta: meta}).number("request")
	out := make([]solved, len(calls))
	for i, raw := range calls {
		m, _ := raw.(map[string]any)
		c := solved{call: raw, text: string(jsonval.Encode(raw))}
		c.instance, _ = m["_instance"].(string)
		c.tool, _ = m["_tool"].(string)
		c.place = string(jsonval.Encode([]any{c.instance, c.tool, m["_outputPath"]}))
		if request > 0 {
			c.id = ideafile.CallID(request, i+1, "")
		}
		out[i] = c
	}
	return out
}

// diffCalls compares the solutions of two Ideas: Calls that both have count as the same, wherever they stand.
func diffCalls(from, to map[string]any) []CallChange {
	a, b := solutionOf(from), solutionOf(to)
	a, b = without(a, b), without(b, a)
	changes := []CallChange{}
	for _, c := range b {
		change := CallChange{c.instance, Added, c.id, c.tool, nil, c.call}
		if i := slices.IndexFunc(a, func(o solved) bool { return o.place == c.place }); i >= 0 {
			change.What, change.From = Changed, a[i].call
			a = slices.Delete(a, i, i+1)
		}
		changes = append(changes, change)
	}
	for _, c := range a {
		changes = append(changes, CallChange{c.instance, Removed, c.id, c.tool, c.call, nil})
	}
	slices.SortStableFunc(changes, func(x, y CallChange) int { return strings.Compare(x.Instance, y.Instance) })
	return changes
}

// without leaves out the Calls that another solution has too, each as often as it has it.
func without(calls, others []solved) []solved {
	there := map[string]int{}
	for _, o := range others {
		there[o.text]++
	}
	var left []solved
	for _, c := range calls {
		if there[c.text]--; there[c.text] < 0 {
			left = append(left, c)
		}
	}
	return left
}
