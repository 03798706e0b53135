package chain

import (
	"maps"
	"slices"

	"processidea/model/jsonval"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// join puts a key behind a path, as people read it.
func join(path, key string) string {
	p := jsonval.Path{key}.String()
	if path == "" || p[0] == '[' {
		return path + p
	}
	return path + "." + p
}
