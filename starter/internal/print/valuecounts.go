package print

import (
	"fmt"
	"sort"
	"strings"

	"processidea/model/jsonval"
	"processidea/model/loop"
)

const (
	minCountedInstances  = 5  // people can count fewer themselves
	maxDistinctValues    = 6  // a path with more distinct values is not counted
	maxCountedValueChars = 40 // characters of a value
)

// pathValueCounts counts the values at one path in the States of many instances. It shows what a batch decided.
type pathValueCounts struct {
	stateKey, path string // the State's key, and the place below it
	countByValue   map[string]int
}

// countStateValues finds the paths where most instances have a text or a boolean, with few distinct values.
func countStateValues(instances map[string]loop.InstanceResult) []pathValueCounts {
	if len(instances) < minCountedInstances {
		return nil
	}
	countsByPath := map[string]*pathValueCounts{}
	countValue := func(key, path string, v any) {
		text, isText := v.(string)
		if _, isBool := v.(bool); isBool {
			text = fmt.Sprint(v)
		} else if !isText {
			return
		}
		if countsByPath[path] == nil {
			countsByPath[path] = &pathValueCounts{stateKey: key, path: path, countByValue: map[string]int{}}
		}
		countsByPath[path].countByValue[Compact(text, maxCountedValueChars)]++
	}
	for _, i := range instances {
		for key, v := range jsonval.AsObject(i.State) {
			countValue(key, key, v)
			for name, m := range jsonval.AsObject(v) {
				countValue(key, key+"."+name, m)
			}
		}
	}
	var informativeCounts []pathValueCounts
	for _, path := range jsonval.SortedKeys(countsByPath) {
		if t := countsByPath[path]; t.isInformative(len(instances)) {
			informativeCounts = append(informativeCounts, *t)
		}
	}
	return informativeCounts
}

// isInformative reports whether the counts say more than the States themselves.
func (t *pathValueCounts) isInformative(instanceCount int) bool {
	total := 0
	for _, n := range t.countByValue {
		total += n
	}
	return len(t.countByValue) > 1 && len(t.countByValue) <= maxDistinctValues && 2*total > instanceCount
}

// String lists the values, the most frequent first.
func (t pathValueCounts) String() string {
	values := jsonval.SortedKeys(t.countByValue)
	sort.SliceStable(values, func(i, j int) bool { return t.countByValue[values[i]] > t.countByValue[values[j]] })
	for i, v := range values {
		values[i] = fmt.Sprintf("%d %s", t.countByValue[v], v)
	}
	return strings.Join(values, " · ")
}

func printValueCounts(b *strings.Builder, valueCounts []pathValueCounts) {
	if len(valueCounts) == 0 {
		return
	}
	b.WriteString("\nsummary\n")
	paths, values := []string{}, []string{}
	for _, t := range valueCounts {
		paths, values = append(paths, "  "+Printable(t.path)), append(values, t.String())
	}
	WriteColumns(b, [][]string{paths, values})
}

// putCountedKeysFirst puts the keys whose values are counted first.
func putCountedKeysFirst(keys []string, valueCounts []pathValueCounts) []string {
	isKeyCounted := map[string]bool{}
	for _, t := range valueCounts {
		isKeyCounted[t.stateKey] = true
	}
	sort.SliceStable(keys, func(i, j int) bool { return isKeyCounted[keys[i]] && !isKeyCounted[keys[j]] })
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
