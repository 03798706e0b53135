package print

import (
	"fmt"
	"sort"
	"strings"

	"processidea/model/jsonval"
	"processidea/model/loop"
)

const (
	minCensusInstances   = 5  // people can count fewer themselves
	maxDistinctValues    = 6  // a path with more distinct values gets no census
	maxCensusValueLength = 40 // characters of a value
)

// census counts the values at one path in the States of many instances. It shows what a batch decided.
type census struct {
	key, path    string // the State's key, and the place below it
	countByValue map[string]int
}

// countValues finds the paths where most instances have a text or a boolean, with few distinct values.
func countValues(instances map[string]loop.InstanceResult) []census {
	if len(instances) < minCensusInstances {
		return nil
	}
	censusByPath := map[string]*census{}
	count := func(key, path string, v any) {
		text, isText := v.(string)
		if _, isBool := v.(bool); isBool {
			text = fmt.Sprint(v)
		} else if !isText {
			return
		}
		if censusByPath[path] == nil {
			censusByPath[path] = &census{key: key, path: path, countByValue: map[string]int{}}
		}
		censusByPath[path].countByValue[Compact(text, maxCensusValueLength)]++
	}
	for _, i := range instances {
		for key, v := range jsonval.AsObject(i.State) {
			count(key, key, v)
			for name, m := range jsonval.AsObject(v) {
				count(key, key+"."+name, m)
			}
		}
	}
	var out []census
	for _, path := range jsonval.SortedKeys(censusByPath) {
		if t := censusByPath[path]; t.isInformative(len(instances)) {
			out = append(out, *t)
		}
	}
	return out
}

// isInformative reports whether the counts say more than the States themselves.
func (t *census) isInformative(instanceCount int) bool {
	total := 0
	for _, n := range t.countByValue {
		total += n
	}
	return len(t.countByValue) > 1 && len(t.countByValue) <= maxDistinctValues && 2*total > instanceCount
}

// String lists the values, the most frequent first.
func (t census) String() string {
	values := jsonval.SortedKeys(t.countByValue)
	sort.SliceStable(values, func(i, j int) bool { return t.countByValue[values[i]] > t.countByValue[values[j]] })
	for i, v := range values {
		values[i] = fmt.Sprintf("%d %s", t.countByValue[v], v)
	}
	return strings.Join(values, " · ")
}

func printCensuses(b *strings.Builder, censuses []census) {
	if len(censuses) == 0 {
		return
	}
	b.WriteString("\nsummary\n")
	paths, values := []string{}, []string{}
	for _, t := range censuses {
		paths, values = append(paths, "  "+Printable(t.path)), append(values, t.String())
	}
	WriteColumns(b, [][]string{paths, values})
}

// columnOrder puts the keys that have a census first.
func columnOrder(keys []string, censuses []census) []string {
	hasCensus := map[string]bool{}
	for _, t := range censuses {
		hasCensus[t.key] = true
	}
	sort.SliceStable(keys, func(i, j int) bool { return hasCensus[keys[i]] && !hasCensus[keys[j]] })
	return keys
}

// tableCell formats a value for a table. An object of plain values becomes its values alone; anything else is as in
// Compact.
func tableCell(v any) string {
	m, ok := v.(jsonval.Object)
	if !ok || len(m) == 0 {
		return Compact(v, maxCellWidth)
	}
	var parts []string
	for _, k := range jsonval.SortedKeys(m) {
		switch x := m[k].(type) {
		case nil:
		case jsonval.Object, []any:
			return Compact(v, maxCellWidth)
		default:
			parts = append(parts, Compact(x, maxCellWidth))
		}
	}
	return FitWidth(strings.Join(parts, " · "), maxCellWidth)
}
