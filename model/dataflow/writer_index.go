package dataflow

import (
	"slices"

	"processidea/model/jsonval"
)

// writerIndex finds the unfinished Calls that may write a path by the first key of the path, without a search through all Calls.
// It may list too many: while Advance runs, Calls end and claim fewer paths, so callers check each. It misses Calls that had
// ended when it was built.
type writerIndex struct {
	byFirstKey          map[string][]*CallRecord
	hasWholeStateWriter bool // one writes the whole State: it has to do with every path
}

func newWriterIndex(records []*CallRecord) *writerIndex {
	w := &writerIndex{byFirstKey: map[string][]*CallRecord{}}
	for _, rec := range records {
		if rec.Status.IsFinal() {
			continue
		}
		for _, p := range rec.possibleWritePaths() {
			if len(p) == 0 {
				w.hasWholeStateWriter = true
				continue
			}
			if list := w.byFirstKey[p[0]]; len(list) == 0 || list[len(list)-1] != rec {
				w.byFirstKey[p[0]] = append(list, rec)
			}
		}
	}
	return w
}

// candidateWriters lists, in Plan order, a superset of the unfinished Calls that may write one of the paths, above or below it.
func (i *Instance) candidateWriters(paths ...jsonval.Path) []*CallRecord {
	if i.writersByKey == nil || i.writersByKey.hasWholeStateWriter {
		return i.callRecords
	}
	var lists [][]*CallRecord
	for n, p := range paths {
		switch {
		case len(p) == 0:
			return i.callRecords
		case !slices.ContainsFunc(paths[:n], func(q jsonval.Path) bool { return q[0] == p[0] }):
			lists = append(lists, i.writersByKey.byFirstKey[p[0]])
		}
	}
	if len(lists) == 1 {
		return lists[0]
	}
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b *CallRecord) int {
		if a == b {
			return 0
		} else if a.precedes(b) {
			return -1
		}
		return 1
	})
	return slices.Compact(all)
}
