package dataflow

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// SkippedByConditionCause is the value of SkippedBecauseOf for a Call whose condition does not hold.
const SkippedByConditionCause = ideafile.WhenKey

// hasPendingCondition reports whether the Call's condition is not evaluated yet.
func (r *CallRecord) hasPendingCondition() bool {
	return r.Condition != nil && !r.IsConditionMet && r.phase == phaseWaiting
}

// writersAwaitedByCondition lists the unfinished Calls that may still write what a Call's condition reads. Only earlier
// Calls count: the condition sees their writes alone, so that it does not depend on which result comes back first.
func (i *Instance) writersAwaitedByCondition(rec *CallRecord) (list []*CallRecord) {
	if !rec.hasPendingCondition() {
		return nil
	}
	readPaths := rec.Condition.PathsRead(ideafile.TypeState)
	return jsonval.Filter(i.candidateWriters(readPaths...), func(w *CallRecord) bool {
		return w.precedesInPlan(rec) && !w.Status.IsFinal() && w.mayWriteAny(readPaths)
	})
}

// applyCondition decides whether a Call runs. Invariant: no earlier Call can still write what its condition reads.
func (i *Instance) applyCondition(rec *CallRecord) {
	readPaths := rec.Condition.PathsRead(ideafile.TypeState)
	payloadByKind := jsonval.WithKey(i.contextView.PayloadByKind, ideafile.TypeState,
		i.state.ValuesBeforeCall(rec.Request, rec.Index, readPaths))
	switch rec.Condition.Decide(payloadByKind) {
	case refexpr.Do:
		rec.IsConditionMet = true
	case refexpr.VerdictOmit:
		rec.skip(SkippedByConditionCause)
		rec.UntakenBranchReference = ideafile.WhenKey
		if len(readPaths) > 0 {
			rec.UntakenBranchReference = refexpr.StateReference(readPaths[0]).String()
		}
	default:
		rec.fail(ideafile.CodeUndecided,
			"neither %s nor %s holds for what is there: it cannot be told whether it is to run",
			ideafile.WhenKey, ideafile.UnlessKey)
	}
}

// failIfAlternativeUndecided fails a Call if an earlier Call for the same value failed because its condition was
// undecided: this Call must not replace it. It reports whether it did.
func (i *Instance) failIfAlternativeUndecided(rec *CallRecord) bool {
	for _, w := range i.callRecords { // not the index: the earlier Call may have ended long before
		isUndecided := w.Fault != nil && w.Fault.Code == ideafile.CodeUndecided
		if isUndecided && w.Request == rec.Request && w.precedesInPlan(rec) && w.mayWriteAny(rec.OutputPath.Paths()) {
			rec.fail(ideafile.CodeUndecided,
				"of %s, which brings the same, it cannot be told whether it is to run", w.ID)
			return true
		}
	}
	return false
}
