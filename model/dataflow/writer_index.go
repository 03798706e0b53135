package dataflow

import (
	"slices"

	"processidea/model/jsonval"
)

// candidateWriters lists, in Plan order, a superset of the unfinished Calls that may write one of the paths, above or
// below it.
func (i *Instance) candidateWriters(paths ...jsonval.Path) []*CallRecord {
	lists, ok := i.writerIndex.Candidates(paths)
	switch {
	case !ok:
		return i.callRecords
	case len(lists) == 1:
		return lists[0]
	}
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b *CallRecord) int { return a.Key().Compare(b.Key()) })
	return slices.Compact(all)
}
