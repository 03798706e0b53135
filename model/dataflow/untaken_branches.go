package dataflow

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file holds the rule for branches: a Call that reads one that was not taken is skipped, and so is whoever reads what
// it would have written.

// skipUntaken skips the blocked Calls of the latest Request that wait for a branch that was not taken. Like the reason of
// one that stays blocked it is said anew as long as Calls end: a branch is known not to be taken when nobody can write it
// any more.
func (r *Instance) skipUntaken() {
	for moved := true; moved; {
		moved = false
		for _, rec := range r.records {
			if rec.Request != r.records[len(r.records)-1].Request || rec.Status != ideafile.Blocked && rec.Untaken == "" {
				continue
			}
			if ref, by := r.untakenFor(rec); by != nil {
				moved = moved || rec.Status == ideafile.Blocked
				rec.Status, rec.Fault = ideafile.Skipped, nil // it has ended already: it is said better why
				rec.Untaken, rec.By = ref.String(), by.ID
			}
		}
	}
}

// untakenFor finds an expression of which every alternative has a term that stands in a branch not taken, and gives the
// first such term and the Call that left it.
func (r *Instance) untakenFor(rec *Record) (refexpr.Reference, *Record) {
	for _, e := range rec.reads {
		var first refexpr.Reference
		var by *Record
		for i, all := range e {
			ref, w := r.leftOf(rec, all)
			if w == nil {
				by = nil
				break
			}
			if i == 0 {
				first, by = ref, w
			}
		}
		if by != nil {
			return first, by
		}
	}
	return refexpr.Reference{}, nil
}

func (r *Instance) leftOf(rec *Record, all []refexpr.Reference) (refexpr.Reference, *Record) {
	for _, ref := range r.unseen(rec, all) {
		if ref.Kind != ideafile.TypeState || len(r.writersFor(rec, ref)) > 0 {
			continue
		}
		for _, w := range r.records { // all: the index may miss the branches that one which has just ended did not take
			if w != rec && w.leaves(ref.Path) {
				return ref, w
			}
		}
	}
	return refexpr.Reference{}, nil
}

// leaves says whether a Call has ended without writing a path because of a branch: its own, which it did not take or need
// not take, or one that it would have read.
func (r *Record) leaves(p jsonval.Path) bool {
	switch {
	case !r.writes(p):
		return false
	case r.Status == ideafile.Skipped && r.Untaken != "":
		return true
	case !r.OutputPath.HasBranches() || r.Status != ideafile.Done && r.Status != ideafile.Skipped:
		return false
	}
	if r.Branch == 0 {
		return true
	}
	for _, q := range r.OutputPath[r.Branch-1] {
		if q.Overlaps(p) {
			return false
		}
	}
	return true
}
