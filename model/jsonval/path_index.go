package jsonval

import "slices"

// PathIndex finds the items that have a path with a given first key, without searching all items. It may list too many.
type PathIndex[T comparable] struct {
	itemsByFirstKey map[string][]T
	hasRootPath     bool // an item has the empty path: every path is below it
}

// NewPathIndex indexes items by their paths.
func NewPathIndex[T comparable](items []T, pathsOf func(T) []Path) *PathIndex[T] {
	x := &PathIndex[T]{itemsByFirstKey: map[string][]T{}}
	for _, item := range items {
		for _, p := range pathsOf(item) {
			if len(p) == 0 {
				x.hasRootPath = true
				continue
			}
			if list := x.itemsByFirstKey[p[0]]; len(list) == 0 || list[len(list)-1] != item {
				x.itemsByFirstKey[p[0]] = append(list, item)
			}
		}
	}
	return x
}

// Candidates lists, for each first key of the paths, the items that have a path of that key, in their order. ok is
// false where all items are candidates.
func (x *PathIndex[T]) Candidates(paths []Path) (lists [][]T, ok bool) {
	if x == nil || x.hasRootPath {
		return nil, false
	}
	for n, p := range paths {
		switch {
		case len(p) == 0:
			return nil, false
		case !slices.ContainsFunc(paths[:n], func(q Path) bool { return q[0] == p[0] }):
			lists = append(lists, x.itemsByFirstKey[p[0]])
		}
	}
	return lists, true
}
