package dataflow

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// readVisibility is how much of a value a Call sees at a path that it reads.
type readVisibility int

const (
	visibilityAbsent  readVisibility = iota // nothing is there yet
	visibilityPartial                       // pieces are there, written by later Calls in the Plan: more may come
	visibilityStable                        // the value is final for this reader, once the Calls before it have ended
)

// visibleValue returns the value that a Call sees at a path of State: what earlier Calls in the Plan wrote or, without
// that, what later write-once Calls wrote.
func (i *Instance) visibleValue(rec *CallRecord, p jsonval.Path) (any, readVisibility) {
	if v, ok := refexpr.ValueOrBlobHandleAt(i.state.StateBeforeCall(rec.Request, rec.Index, p).CurrentValue, p); ok {
		return v, visibilityStable
	}
	state := i.state.StateSeenByCall(rec.Request, rec.Index, p)
	v, ok := refexpr.ValueOrBlobHandleAt(state.CurrentValue, p)
	switch {
	case !ok:
		return nil, visibilityAbsent
	case state.IsWrittenWhole(p):
		return v, visibilityStable
	}
	return v, visibilityPartial
}

func (i *Instance) visibilityOf(rec *CallRecord, ref refexpr.Reference) readVisibility {
	if ref.Kind == ideafile.TypeState {
		_, visibility := i.visibleValue(rec, ref.Path)
		return visibility
	}
	if ref.Kind == awaitedCallKind {
		w := i.callOfReference(ref)
		// A Call skipped because its value existed counts as done; one skipped for a branch not taken does not.
		if w != nil && (w.Status == ideafile.CallDone || (w.Status == ideafile.CallSkipped &&
			w.UntakenBranchReference == "")) {
			return visibilityStable
		}
		return visibilityAbsent
	}
	if _, ok := i.lookupOutsideState(ref); ok {
		return visibilityStable
	}
	return visibilityAbsent
}

// awaitedCallKind is the kind that a Reference of `_after` to a Call has in readExpressions. Parameters have no such
// References.
const awaitedCallKind = "†call"

// isAwaitable reports whether a Reference may still become available: a path in State, or a Call that may still be
// done.
func isAwaitable(ref refexpr.Reference) bool {
	return ref.Kind == ideafile.TypeState || ref.Kind == awaitedCallKind
}

// callOfReference returns the Call that a Reference of `_after` names; nil if there is none.
func (i *Instance) callOfReference(ref refexpr.Reference) *CallRecord {
	key, _ := ideafile.CallOfReference(refexpr.Reference{Kind: strings.TrimPrefix(ref.Kind, refexpr.Dagger),
		Path: ref.Path})
	index, isFound := i.findCallPosition(key)
	if !isFound {
		return nil
	}
	return i.callRecords[index]
}

// visibleAlternativeIndex returns the index of the first alternative of an expression whose terms are all visible to
// the Call; -1: none.
func (i *Instance) visibleAlternativeIndex(rec *CallRecord, e refexpr.Expression) int {
	return slices.IndexFunc(e, func(alternative []refexpr.Reference) bool {
		return len(i.absentTerms(rec, alternative)) == 0
	})
}

// absentTerms lists the terms that the Call cannot see.
func (i *Instance) absentTerms(rec *CallRecord, alternative []refexpr.Reference) []refexpr.Reference {
	return jsonval.Filter(alternative, func(ref refexpr.Reference) bool {
		return i.visibilityOf(rec,
			ref) == visibilityAbsent
	})
}

// mayBecomeVisible reports whether an unfinished Call or an open Request may still write each absent term of an
// alternative.
func (i *Instance) mayBecomeVisible(rec *CallRecord, alternative []refexpr.Reference) bool {
	for _, ref := range i.absentTerms(rec, alternative) {
		if !isAwaitable(ref) || (!i.HasOpenRequest() && len(i.unfinishedWriters(rec, ref)) == 0) {
			return false
		}
	}
	return true
}

// allReadsVisible reports whether the Call sees all that it reads. While a Request is open, a partial value does not
// count, because the Request may bring another piece of it. Nor does an alternative count if one before it may still
// become visible.
func (i *Instance) allReadsVisible(rec *CallRecord) bool {
	for _, e := range rec.readExpressions {
		visibleIndex := i.visibleAlternativeIndex(rec, e)
		if visibleIndex < 0 {
			return false
		}
		if !i.HasOpenRequest() {
			continue
		}
		if slices.ContainsFunc(e[:visibleIndex],
			func(earlier []refexpr.Reference) bool { return i.mayBecomeVisible(rec, earlier) }) {
			return false
		}
		if slices.ContainsFunc(e[visibleIndex], func(ref refexpr.Reference) bool {
			return i.visibilityOf(rec,
				ref) == visibilityPartial
		}) {
			return false
		}
	}
	return true
}

// unfinishedWriters lists the unfinished Calls whose writes the reader could see at a Reference. An update counts only
// if it precedes the reader in the Plan.
func (i *Instance) unfinishedWriters(reader *CallRecord, ref refexpr.Reference) []*CallRecord {
	var writers []*CallRecord
	if ref.Kind == awaitedCallKind {
		if w := i.callOfReference(ref); w != nil && w != reader && !w.Status.IsFinal() {
			writers = append(writers, w)
		}
		return writers
	}
	if reader.Key().IsUndo() {
		return nil // no other Call goes on meanwhile
	}
	return jsonval.Filter(i.candidateWriters(ref.Path), func(w *CallRecord) bool {
		return w != reader && !w.Status.IsFinal() && w.mayWrite(ref.Path) &&
			(!w.resultUpdatesPath() || w.precedesInPlan(reader))
	})
}

// candidateWriters lists, in Plan order, a superset of the unfinished Calls that may write one of the paths, above or
// below it.
func (i *Instance) candidateWriters(paths ...jsonval.Path) []*CallRecord {
	writersByPath, ok := i.writerIndex.Candidates(paths)
	switch {
	case !ok:
		return i.callRecords
	case len(writersByPath) == 1:
		return writersByPath[0]
	}
	writers := slices.Concat(writersByPath...)
	slices.SortFunc(writers, func(a, b *CallRecord) int { return a.Key().Compare(b.Key()) })
	return slices.Compact(writers)
}
