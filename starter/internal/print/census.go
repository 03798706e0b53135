package print

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"processidea/model/loop"
)

const (
	censusFrom   = 5  // instances, below which everybody can count for themselves
	censusMost   = 6  // different values, above which a count says nothing
	censusLength = 40 // characters of a value
)

// census counts the values at one path in the States of many instances: what a batch decided.
type census struct {
	key, path string // the State's key, and the place below it
	counts    map[string]int
}

// takeCensus finds the paths where most instances have a text or a boolean, and only a few different ones.
func takeCensus(instances map[string]loop.InstanceResult) []census {
	if len(instances) < censusFrom {
		return nil
	}
	found := map[string]*census{}
	note := func(key, path string, v any) {
		text, isText := v.(string)
		if _, isBool := v.(bool); isBool {
			text = fmt.Sprint(v)
		} else if !isText {
			return
		}
		if found[path] == nil {
			found[path] = &census{key: key, path: path, counts: map[string]int{}}
		}
		found[path].counts[FitWidth(Printable(text), censusLength)]++
	}
	for _, i := range instances {
		state, _ := i.State.(map[string]any)
		for key, v := range state {
			note(key, key, v)
			members, _ := v.(map[string]any)
			for name, m := range members {
				note(key, key+"."+name, m)
			}
		}
	}
	var out []census
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if t := found[path]; t.telling(len(instances)) {
			out = append(out, *t)
		}
	}
	return out
}

// telling reports whether the counts tell more than the States themselves.
func (t *census) telling(instances int) bool {
	total := 0
	for _, n := range t.counts {
		total += n
	}
	return len(t.counts) > 1 && len(t.counts) <= censusMost && 2*total > instances
}

// String lists the values, the most frequent first.
func (t census) String() string {
	values := slices.Sorted(maps.Keys(t.counts))
	sort.SliceStable(values, func(i, j int) bool { return t.counts[values[i]] > t.counts[values[j]] })
	for i, v := range values {
		values[i] = fmt.Sprintf("%d %s", t.counts[v], v)
	}
	return strings.Join(values, " · ")
}

func printSummary(b *strings.Builder, all []census) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\nsummary\n")
	paths, values := []string{}, []string{}
	for _, t := range all {
		paths, values = append(paths, "  "+Printable(t.path)), append(values, t.String())
	}
	Columns(b, [][]string{paths, values})
}

// columnOrder puts the keys that tell instances apart first.
func columnOrder(keys []string, all []census) []string {
	telling := map[string]bool{}
	for _, t := range all {
		telling[t.key] = true
	}
	sort.SliceStable(keys, func(i, j int) bool { return telling[keys[i]] && !telling[keys[j]] })
	return keys
}

// tableCell shows a value in a table: of an object of plain values the values alone, anything else as Compact does.
func tableCell(v any, most int) string {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		return Compact(v, most)
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch x := m[k].(type) {
		case nil:
		case map[string]any, []any:
			return Compact(v, most)
		default:
			parts = append(parts, Compact(x, most))
		}
	}
	return FitWidth(strings.Join(parts, " · "), most)
}
