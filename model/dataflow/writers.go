package dataflow

import (
	"slices"

	"processidea/model/jsonval"
)

// writers finds the unfinished Calls that may write a path without a look at all of them, by the first step of what they
// claim. Their claims become fewer while Next is at work, and some end: whoever asks looks again. It is no help where
// what Calls that have ended might have written counts.
type writerIndex struct {
	under map[string][]*Record
	whole bool // one writes the whole State: it has to do with every path
}

func indexWriters(records []*Record) *writerIndex {
	w := &writerIndex{under: map[string][]*Record{}}
	for _, rec := range records {
		if rec.Status.Ended() {
			continue
		}
		for _, p := range rec.claims() {
			if len(p) == 0 {
				w.whole = true
				continue
			}
			if list := w.under[p[0]]; len(list) == 0 || list[len(list)-1] != rec {
				w.under[p[0]] = append(list, rec)
			}
		}
	}
	return w
}

// about lists, in Plan order, Calls among which are all unfinished ones that write something that has to do with one of the paths.
func (r *Instance) about(paths ...jsonval.Path) []*Record {
	if r.unfinished == nil || r.unfinished.whole {
		return r.records
	}
	var lists [][]*Record
	for n, p := range paths {
		switch {
		case len(p) == 0:
			return r.records
		case !slices.ContainsFunc(paths[:n], func(q jsonval.Path) bool { return q[0] == p[0] }):
			lists = append(lists, r.unfinished.under[p[0]])
		}
	}
	if len(lists) == 1 {
		return lists[0]
	}
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b *Record) int {
		if a == b {
			return 0
		} else if a.before(b) {
			return -1
		}
		return 1
	})
	return slices.Compact(all)
}
