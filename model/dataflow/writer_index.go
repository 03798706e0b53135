package dataflow

import (
	"slices"

	"processidea/model/jsonval"
)

// newWriterIndex indexes the unfinished Calls by the paths that they may write. While Advance runs, Calls end and claim
// fewer paths, so callers check each. The index misses Calls that had ended when it was built.
func newWriterIndex(records []*CallRecord) *jsonval.PathIndex[*CallRecord] {
	return jsonval.NewPathIndex(records, func(rec *CallRecord) []jsonval.Path {
		if rec.Status.IsFinal() {
			return nil
		}
		return rec.possibleWritePaths()
	})
}

// candidateWriters lists, in Plan order, a superset of the unfinished Calls that may write one of the paths, above or
// below it.
func (i *Instance) candidateWriters(paths ...jsonval.Path) []*CallRecord {
	lists, ok := i.writersByKey.Candidates(paths)
	switch {
	case !ok:
		return i.callRecords
	case len(lists) == 1:
		return lists[0]
	}
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b *CallRecord) int { return a.callKey().Compare(b.callKey()) })
	return slices.Compact(all)
}
