package jsonval

import (
	"encoding/json"
	"fmt"
	"sort"
)

func SortedIndexes[V any](known map[int]V) []int {
	indexes := make([]int, 0, len(known))
	//workflowcheck:ignore -- sorted below
	for i := range known {
		indexes = append(indexes, i)
	}
	sort.Ints(indexes)
	return indexes
}

func StringList(v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, len(list))
	for i, e := range list {
		if out[i], ok = e.(string); !ok {
			return nil, false
		}
	}
	return out, true
}

func FloatOf(v any) (float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, fmt.Errorf("want a number, not %s", TypeOf(v))
	}
	return n.Float64()
}

// Merge lays b over a: objects deeply, anything else as a whole.
func Merge(a, b any) any { return MergeWith(a, b, Merge) }

// overlay lays b over a, whole top-level keys.
func Overlay(a, b any) any { return MergeWith(a, b, func(_, v any) any { return v }) }

// lay lays one object over another; join decides what becomes of a key that both have. What is no object replaces.
func MergeWith(a, b any, join func(old, new any) any) any {
	am, aok := a.(map[string]any)
	bm, bok := b.(map[string]any)
	if !aok || !bok {
		return b
	}
	out := make(map[string]any, len(am)+len(bm))
	//workflowcheck:ignore -- a map again
	for k, v := range am {
		out[k] = v
	}
	//workflowcheck:ignore -- a map again
	for k, v := range bm {
		if before, ok := out[k]; ok {
			v = join(before, v)
		}
		out[k] = v
	}
	return out
}

func AsObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func ContainsValue(list []any, v any) bool {
	for _, e := range list {
		if Equal(e, v) {
			return true
		}
	}
	return false
}

func AsText(v any) string {
	s, _ := v.(string)
	return s
}

func WithoutKey(m map[string]any, key string) map[string]any {
	out := make(map[string]any, len(m))
	//workflowcheck:ignore -- a map again
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}
