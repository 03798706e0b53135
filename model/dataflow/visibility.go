package dataflow

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// visibility is how much of a value a Call sees at a path that it reads.
type visibility int

const (
	absent  visibility = iota // nothing is there yet
	partial                   // pieces are there, written by later Calls in the Plan: more may come
	stable                    // the value is final for this reader, once the Calls before it have ended
)

// visibleValue returns what a Call sees at a path of State: what earlier Calls in the Plan left there; where they left nothing,
// what later write-once Calls wrote.
func (i *Instance) visibleValue(rec *Record, p jsonval.Path) (any, visibility) {
	if v, ok := refexpr.LookupIn(i.state.Before(rec.Request, rec.Index, p).Current, p); ok {
		return v, stable
	}
	state := i.state.SeenFrom(rec.Request, rec.Index, p)
	v, ok := refexpr.LookupIn(state.Current, p)
	switch {
	case !ok:
		return nil, absent
	case state.WrittenAbove(p):
		return v, stable
	}
	return v, partial
}

func (i *Instance) visibilityOf(rec *Record, ref refexpr.Reference) visibility {
	if ref.Kind == ideafile.TypeState {
		_, visible := i.visibleValue(rec, ref.Path)
		return visible
	}
	if _, ok := i.lookupOutsideState(ref); ok {
		return stable
	}
	return absent
}

// visibleAlternativeIndex returns the index of the first alternative of an expression all of whose terms the Call sees; -1 if none.
func (i *Instance) visibleAlternativeIndex(rec *Record, e refexpr.Expression) int {
	return slices.IndexFunc(e, func(alternative []refexpr.Reference) bool {
		return !slices.ContainsFunc(alternative, func(ref refexpr.Reference) bool { return i.visibilityOf(rec, ref) == absent })
	})
}

// absentTerms lists the terms of which the Call sees nothing.
func (i *Instance) absentTerms(rec *Record, alternative []refexpr.Reference) []refexpr.Reference {
	var list []refexpr.Reference
	for _, ref := range alternative {
		if i.visibilityOf(rec, ref) == absent {
			list = append(list, ref)
		}
	}
	return list
}

// mayBecomeVisible reports whether each absent term of an alternative still has somebody who may write it: an unfinished Call,
// or an open Request.
func (i *Instance) mayBecomeVisible(rec *Record, alternative []refexpr.Reference) bool {
	for _, ref := range i.absentTerms(rec, alternative) {
		if ref.Kind != ideafile.TypeState || (!i.HasOpenRequest() && len(i.unfinishedWriters(rec, ref)) == 0) {
			return false
		}
	}
	return true
}

// allReadsVisible reports whether the Call sees all that it reads. While a Request is open, a partial value does not count, nor
// an alternative behind one that may still become visible: the Request could bring another piece of it.
func (i *Instance) allReadsVisible(rec *Record) bool {
	for _, e := range rec.reads {
		at := i.visibleAlternativeIndex(rec, e)
		if at < 0 {
			return false
		}
		if !i.HasOpenRequest() {
			continue
		}
		if slices.ContainsFunc(e[:at], func(earlier []refexpr.Reference) bool { return i.mayBecomeVisible(rec, earlier) }) {
			return false
		}
		if slices.ContainsFunc(e[at], func(ref refexpr.Reference) bool { return i.visibilityOf(rec, ref) == partial }) {
			return false
		}
	}
	return true
}

// unfinishedWriters lists the unfinished Calls whose writes the reader could see at a Reference: an update counts only where
// it stands before the reader in the Plan.
func (i *Instance) unfinishedWriters(reader *Record, ref refexpr.Reference) []*Record {
	var writers []*Record
	for _, w := range i.candidateWriters(ref.Path) {
		if w != reader && !w.Status.Ended() && w.mayWrite(ref.Path) && (!w.isUpdate() || w.before(reader)) {
			writers = append(writers, w)
		}
	}
	return writers
}
