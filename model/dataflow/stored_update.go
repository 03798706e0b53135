package dataflow

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// A BlobUpdate is the result of a Call that cannot be applied here, since the new value at its paths depends on the
// content of values in the blob store. An activity combines them.
type BlobUpdate struct {
	CallID         string
	OutputMethod   string
	ResultContract *statelog.ResultContract // nil: anything goes
	Updates        []statelog.Update        // one for each path of the branch that the result takes
}

// TakeBlobUpdates returns, once, each BlobUpdate to be combined now. ApplyBlobUpdate or FailBlobUpdate ends their
// Calls.
func (i *Instance) TakeBlobUpdates() []BlobUpdate {
	var list []BlobUpdate
	for _, rec := range i.callRecords {
		if rec.phase == phaseUpdatingBlobs && !rec.isBlobUpdateTaken {
			rec.isBlobUpdateTaken = true
			list = append(list, i.newBlobUpdate(rec, rec.PendingResult))
		}
	}
	return list
}

// ApplyBlobUpdate ends a Call with the new values at its paths after its update. If a person has changed the old values
// meanwhile, the update is combined anew.
func (i *Instance) ApplyBlobUpdate(u BlobUpdate, updatedValues []any) {
	rec := i.FindCall(u.CallID)
	if rec == nil || rec.phase != phaseUpdatingBlobs {
		return
	}
	rec.setPhase(phaseResultPending)
	if currentUpdate := i.newBlobUpdate(rec, rec.PendingResult); len(updatedValues) == len(currentUpdate.Updates) &&
		areUpdatesEqual(u.Updates, currentUpdate.Updates) {
		rec.blobUpdatedValues = updatedValues
	}
	i.finishSuccessfulCall(rec, rec.PendingResult)
}

// FailBlobUpdate ends a Call whose update cannot be combined, or does not fit. A Call with several branches writes the
// fault to its last branch instead of failing.
func (i *Instance) FailBlobUpdate(callID string, f *diag.Fault) {
	rec := i.FindCall(callID)
	if rec == nil || rec.phase != phaseUpdatingBlobs {
		return
	}
	rec.setPhase(phaseResultPending)
	i.endCallWithUnappliedResult(rec, rec.PendingResult, f)
}

// startBlobUpdateIfNeeded moves a Call to the phase combining if its update needs the content of a stored value.
func (i *Instance) startBlobUpdateIfNeeded(rec *CallRecord, resultValue any) bool {
	if !rec.resultUpdatesPath() {
		return false
	}
	u := i.newBlobUpdate(rec, resultValue)
	if !slices.ContainsFunc(u.Updates,
		func(update statelog.Update) bool {
			return statelog.NeedsBlobContent(u.OutputMethod, update.OldValue, update.ResultValue)
		}) {
		return false
	}
	rec.PendingResult, rec.isBlobUpdateTaken = resultValue, false
	rec.setPhase(phaseUpdatingBlobs)
	return true
}

func (i *Instance) newBlobUpdate(rec *CallRecord, resultValue any) BlobUpdate {
	u := BlobUpdate{CallID: rec.ID, OutputMethod: rec.OutputMethod, ResultContract: i.ResultContract(rec)}
	for _, p := range rec.branchOutputPaths() {
		oldValue := i.valueBeforeCall(rec, p)
		if len(p) == 0 {
			oldValue = pickKeys(resultValue, oldValue)
		}
		u.Updates = append(u.Updates, statelog.Update{Path: p, OldValue: oldValue, ResultValue: resultValue})
	}
	return u
}

// branchOutputPaths lists the paths of the branch that the result takes.
func (r *CallRecord) branchOutputPaths() []jsonval.Path {
	return r.OutputPath[max(r.TakenBranchNumber, 1)-1]
}

// valueBeforeCall returns the value at a path before a Call; nil if there is none.
func (i *Instance) valueBeforeCall(rec *CallRecord, p jsonval.Path) any {
	oldValue, _ := jsonval.ValueAt(i.state.StateBeforeCall(rec.Request, rec.Index, p).CurrentValue, p)
	return oldValue
}

// pickKeys returns a copy of object with only those keys that keyObject has too.
func pickKeys(keyObject, object any) jsonval.Object {
	picked := jsonval.Object{}
	m := jsonval.AsObject(object)
	for k := range jsonval.Sorted(jsonval.AsObject(keyObject)) {
		if v, exists := m[k]; exists {
			picked[k] = v
		}
	}
	return picked
}

func areUpdatesEqual(a, b []statelog.Update) bool {
	return slices.EqualFunc(a, b, func(x, y statelog.Update) bool {
		return slices.Equal(x.Path, y.Path) && jsonval.Equal(x.OldValue, y.OldValue) &&
			jsonval.Equal(x.ResultValue, y.ResultValue)
	})
}
