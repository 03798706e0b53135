package dataflow

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// skipReadersOfUntakenBranch skips the blocked Calls of the latest Request that read a branch which was not taken, and
// then the Calls that would have read their results. Every Advance repeats it, since a branch counts as not taken once
// no Call can write it any more.
func (i *Instance) skipReadersOfUntakenBranch() {
	for hasChanged := true; hasChanged; {
		hasChanged = false
		for _, rec := range i.callRecords {
			if !i.isInLatestRequest(rec) || (rec.Status != ideafile.CallBlocked && rec.UntakenBranchReference == "") {
				continue
			}
			if ref, writer := i.findUntakenBranchRead(rec); writer != nil {
				hasChanged = hasChanged || rec.Status == ideafile.CallBlocked
				rec.Status, rec.Fault = ideafile.CallSkipped, nil // it has ended as blocked: this is the better reason
				rec.UntakenBranchReference, rec.SkippedBecauseOf = ref.String(), writer.ID
			}
		}
	}
}

func (i *Instance) isInLatestRequest(rec *CallRecord) bool {
	return rec.Request == i.callRecords[len(i.callRecords)-1].Request
}

// findUntakenBranchRead finds an expression in which every alternative has a term in a branch not taken. It returns the
// first such term and the Call that did not take the branch.
func (i *Instance) findUntakenBranchRead(rec *CallRecord) (refexpr.Reference, *CallRecord) {
	for _, e := range rec.readExpressions {
		var firstRef refexpr.Reference
		var writer *CallRecord
		for n, alternative := range e {
			ref, w := i.termInUntakenBranch(rec, alternative)
			if w == nil {
				writer = nil
				break
			}
			if n == 0 {
				firstRef, writer = ref, w
			}
		}
		if writer != nil {
			return firstRef, writer
		}
	}
	return refexpr.Reference{}, nil
}

func (i *Instance) termInUntakenBranch(rec *CallRecord,
	alternative []refexpr.Reference) (refexpr.Reference, *CallRecord) {
	for _, ref := range i.absentTerms(rec, alternative) {
		if ref.Kind != ideafile.TypeState || len(i.unfinishedWriters(rec, ref)) > 0 {
			continue
		}
		for _, w := range i.callRecords { // not the index: a Call that has just ended is not in it
			if w != rec && w.leftPathUnwrittenByBranch(ref.Path) {
				return ref, w
			}
		}
	}
	return refexpr.Reference{}, nil
}

// leftPathUnwrittenByBranch reports whether the Call ended without writing a path because a branch was not taken: a
// branch of its own, or one that it would have read.
func (r *CallRecord) leftPathUnwrittenByBranch(p jsonval.Path) bool {
	switch {
	case !r.mayWrite(p):
		return false
	case r.Status == ideafile.CallSkipped && r.UntakenBranchReference != "":
		return true
	case !r.OutputPath.HasBranches() || (r.Status != ideafile.CallDone && r.Status != ideafile.CallSkipped):
		return false
	case r.TakenBranchNumber == 0:
		return true
	}
	return !slices.ContainsFunc(r.OutputPath[r.TakenBranchNumber-1], p.Overlaps)
}
