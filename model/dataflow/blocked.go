package dataflow

import (
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/refexpr"
)

// blockUnsatisfiable blocks the first waiting Call that can never become ready, and reports whether there was one. While a
// Request is open it may still write any path; and a Call that an earlier writer holds up may yet find its path closed.
func (i *Instance) blockUnsatisfiable() bool {
	if i.HasOpenRequest() {
		return false
	}
	satisfiable := i.satisfiableCalls()
	for _, rec := range i.records {
		if rec.Status == ideafile.Waiting && !satisfiable[rec] && !i.earlierWriterUnfinished(rec) {
			rec.end(ideafile.Blocked, nil)
			return true
		}
	}
	return false
}

// satisfiableCalls returns the largest set of unfinished Calls that can be satisfied one after the other: each sees what it reads, or
// the set has a writer of it. Calls that only feed each other are not in it.
func (i *Instance) satisfiableCalls() map[*Record]bool {
	satisfiable, unmet := map[*Record]bool{}, map[*Record][]unmetRead{}
	for _, rec := range i.records {
		if rec.isUnstarted() {
			unmet[rec] = i.unmetReads(rec)
		} else if !rec.Status.Ended() {
			satisfiable[rec] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for _, rec := range i.records {
			if list, ok := unmet[rec]; ok && !satisfiable[rec] && allReadsSatisfied(list, satisfiable) {
				satisfiable[rec], grew = true, true
			}
		}
	}
	return satisfiable
}

// unmetRead is an expression of which a Call sees no alternative: by alternative, and by absent term of it, the Calls that may
// still write that term.
type unmetRead [][][]*Record

func (i *Instance) unmetReads(reader *Record) []unmetRead {
	var list []unmetRead
	for _, e := range reader.reads {
		if i.visibleAlternativeIndex(reader, e) >= 0 {
			continue
		}
		var unmet unmetRead
		for _, alternative := range e {
			var writers [][]*Record
			for _, ref := range i.absentTerms(reader, alternative) {
				if ref.Kind == ideafile.TypeState {
					writers = append(writers, i.unfinishedWriters(reader, ref))
				} else {
					writers = append(writers, nil)
				}
			}
			unmet = append(unmet, writers)
		}
		list = append(list, unmet)
	}
	return list
}

// allReadsSatisfied reports whether the set has, for every unmet read, a writer of each absent term of one alternative.
func allReadsSatisfied(list []unmetRead, set map[*Record]bool) bool {
	for _, unmet := range list {
		if !slices.ContainsFunc(unmet, func(terms [][]*Record) bool { return everyTermHasWriter(terms, set) }) {
			return false
		}
	}
	return true
}

func everyTermHasWriter(writersByTerm [][]*Record, set map[*Record]bool) bool {
	for _, writers := range writersByTerm {
		if !slices.ContainsFunc(writers, func(w *Record) bool { return set[w] }) {
			return false
		}
	}
	return true
}

// updateBlockedReasons words why each blocked Call of the latest Request is blocked. It does so anew as long as Calls of that
// Request end, so that the reason depends on how they ended and not on when. Where a person has since set all that was
// missing, the last reason stays.
func (i *Instance) updateBlockedReasons() {
	for _, rec := range i.records {
		if rec.Status != ideafile.Blocked || !i.inLatestRequest(rec) {
			continue
		}
		if why := i.blockedReason(rec); why != "" || rec.Fault == nil {
			rec.Fault = diag.Faultf(ideafile.CodeBlocked, "%s", why)
		}
	}
}

func (i *Instance) blockedReason(rec *Record) string {
	var reasons []string
	for _, e := range rec.reads {
		if i.visibleAlternativeIndex(rec, e) >= 0 {
			continue
		}
		for _, alternative := range e {
			for _, ref := range i.absentTerms(rec, alternative) {
				if why := i.missingReason(rec, ref); !slices.Contains(reasons, why) {
					reasons = append(reasons, why)
				}
			}
		}
	}
	return strings.Join(reasons, "; ")
}

func (i *Instance) missingReason(reader *Record, ref refexpr.Reference) string {
	if ref.Kind != ideafile.TypeState {
		return ref.String() + " is not there"
	}
	reason := " is not there and no Call writes it"
	for _, w := range i.records { // not the index: Calls that have ended count here
		switch {
		case !w.mayWrite(ref.Path):
		case w == reader:
			reason = " is written by the Call itself"
		case w.isUpdate() && !w.before(reader):
			return ref.String() + " is updated by " + w.ID + ", which stands behind the Call in the Plan"
		case w.hasUntakenBranchFor(ref.Path):
			reason = " is a branch that " + w.ID + " did not take"
		case w.Status == ideafile.Done:
			reason = " is not in what " + w.ID + " wrote"
		default:
			return ref.String() + " would come from " + w.ID + " (" + string(w.Status) + ")"
		}
	}
	return ref.String() + reason
}
