package dataflow

import (
	"iter"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// canCallAdvance reports whether everything is final that decides a Call's next step: to start, to be skipped, or to
// have its result applied. Because a Call moves only then, the outcome does not depend on the order in which results
// come back.
func (i *Instance) canCallAdvance(rec *CallRecord) bool {
	switch {
	case i.ActiveUndo != nil && !rec.Key().IsUndo():
		return false // undo may remove what it reads
	case rec.phase == phaseResultPending:
		return !i.hasUnfinishedEarlierWriter(rec)
	case rec.hasPendingCondition():
		return len(i.writersAwaitedByCondition(rec)) == 0
	case rec.phase == phaseApproved, rec.phase == phaseAdapted:
		return true // all was final when a person or the LLM was asked, and stays so
	case rec.phase != phaseWaiting, i.hasUnfinishedEarlierWriter(rec):
		return false
	}
	if _, isClosed := i.authorClosingOutput(rec); isClosed {
		return true
	}
	return i.allReadsVisible(rec) && len(i.awaitedCalls(rec)) == 0
}

// awaitedCalls lists the unfinished Calls that must end before a Call can advance: Calls that it comes after, earlier
// Calls that write what it reads or where it writes, and later write-once Calls that may add to what it reads. A Call
// with a result reads nothing more.
func (i *Instance) awaitedCalls(rec *CallRecord) []*CallRecord {
	var list []*CallRecord
	ancestorsOnly := i.waitsForAncestorWritersOnly(rec)
	var readPaths, unstablePaths []jsonval.Path
	if !rec.hasPendingResult() {
		readPaths, unstablePaths = i.readPaths(rec)
		list = append(i.unfinishedPredecessors(rec), i.writersAwaitedByCondition(rec)...)
	}
	if rec.Key().IsUndo() {
		return list // it writes nothing, and no other Call goes on meanwhile
	}
	for _, w := range i.candidateWriters(slices.Concat(rec.possibleWritePaths(), readPaths, unstablePaths)...) {
		switch {
		case w == rec || w.Status.IsFinal():
		case w.precedesInPlan(rec) && (w.mustWriteBefore(rec, ancestorsOnly) || w.mayWriteAny(readPaths)),
			!w.precedesInPlan(rec) && !w.resultUpdatesPath() && w.mayWriteAny(unstablePaths):
			list = append(list, w)
		}
	}
	return list
}

// unfinishedPredecessors lists the unfinished Calls that a Call is to come after by its `_after`.
func (i *Instance) unfinishedPredecessors(rec *CallRecord) []*CallRecord {
	var list []*CallRecord
	for _, e := range rec.readExpressions {
		if ref := e[0][0]; ref.Kind == awaitedCallKind {
			list = append(list, i.unfinishedWriters(rec, ref)...)
		}
	}
	return list
}

// readPaths lists the paths of State on which the values of a Call depend, its scopes included. unstablePaths are those
// where the Call does not see a stable value, so that later Calls may still change it.
func (i *Instance) readPaths(rec *CallRecord) (allPaths, unstablePaths []jsonval.Path) {
	for _, e := range rec.readExpressions {
		for _, ref := range i.termsDecidingValue(rec, e) {
			allPaths = append(allPaths, ref.Path)
			if i.visibilityOf(rec, ref) != visibilityStable {
				unstablePaths = append(unstablePaths, ref.Path)
			}
		}
	}
	return append(allPaths, rec.scopePaths...), unstablePaths
}

// termsDecidingValue lists the State terms on which the value of an expression depends: all terms of the visible
// alternative, and the absent terms of earlier alternatives that may still become visible.
func (i *Instance) termsDecidingValue(rec *CallRecord, e refexpr.Expression) []refexpr.Reference {
	visibleIndex := 0
	if len(e) > 1 {
		visibleIndex = i.visibleAlternativeIndex(rec, e)
	}
	var list []refexpr.Reference
	for n, alternative := range e {
		switch {
		case n == visibleIndex:
			list = append(list, alternative...)
		case (visibleIndex < 0 || n < visibleIndex) && i.mayBecomeVisible(rec, alternative):
			list = append(list, i.absentTerms(rec, alternative)...)
		}
	}
	return slices.DeleteFunc(list, func(ref refexpr.Reference) bool { return ref.Kind != ideafile.TypeState })
}

// unfinishedEarlierWriters lists the earlier Calls that may write the Call's output path and have not ended.
func (i *Instance) unfinishedEarlierWriters(rec *CallRecord) iter.Seq[*CallRecord] {
	return func(yield func(*CallRecord) bool) {
		ancestorsOnly := i.waitsForAncestorWritersOnly(rec)
		for _, earlier := range i.candidateWriters(rec.possibleWritePaths()...) {
			if !earlier.precedesInPlan(rec) || (earlier.mustWriteBefore(rec, ancestorsOnly) && !yield(earlier)) {
				return
			}
		}
	}
}

func (i *Instance) hasUnfinishedEarlierWriter(rec *CallRecord) bool {
	for range i.unfinishedEarlierWriters(rec) {
		return true
	}
	return false
}

// waitsForAncestorWritersOnly reports whether a Call waits only for those earlier writers of its output path that write
// above the path. Updates of one path run side by side: they are applied in Plan order, and fail only once all earlier
// ones have ended.
func (i *Instance) waitsForAncestorWritersOnly(rec *CallRecord) bool {
	_, isClosed := i.authorClosingOutput(rec)
	return rec.resultUpdatesPath() && !rec.hasPendingResult() && !isClosed
}

// mustWriteBefore reports whether a later Call must wait for this one because both write the same path.
func (r *CallRecord) mustWriteBefore(later *CallRecord, onlyIfWritesAncestor bool) bool {
	if r.Status.IsFinal() {
		return false
	}
	for _, p := range later.possibleWritePaths() {
		if r.mayWrite(p) && (!onlyIfWritesAncestor || r.writesAncestorOf(p)) {
			return true
		}
	}
	return false
}
