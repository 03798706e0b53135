package dataflow

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// A StoredUpdate is the result of a Call that cannot be applied here: what stands at its paths afterwards depends on the content of values that lie
// in the blob store. An activity puts them together.
type StoredUpdate struct {
	CallID       string
	OutputMethod string
	Contract     *statelog.ResultContract // nil: anything goes
	Updates      []statelog.Update        // one for each path of the branch that the result takes
}

// TakeStoredUpdates returns, once, the StoredUpdates of Calls whose turn it is. ApplyStoredUpdate or FailStoredUpdate ends them.
func (i *Instance) TakeStoredUpdates() []StoredUpdate {
	var list []StoredUpdate
	for _, rec := range i.callRecords {
		if rec.phase == combining && !rec.handedOut {
			rec.handedOut = true
			list = append(list, i.storedUpdate(rec, rec.PendingResult))
		}
	}
	return list
}

// ApplyStoredUpdate ends a Call with what stands at its paths after its update. Where a person has changed what stood there meanwhile, the
// update is put together anew.
func (i *Instance) ApplyStoredUpdate(u StoredUpdate, combined []any) {
	rec := i.FindCall(u.CallID)
	if rec == nil || rec.phase != combining {
		return
	}
	rec.moveTo(resultPending)
	if now := i.storedUpdate(rec, rec.PendingResult); len(combined) == len(now.Updates) && sameUpdates(u.Updates, now.Updates) {
		rec.combined = combined
	}
	i.finishSuccessfulCall(rec, rec.PendingResult)
}

// FailStoredUpdate ends a Call whose update cannot be put together, or does not fit. A Call with several branches writes the fault to its
// last branch instead of failing.
func (i *Instance) FailStoredUpdate(id string, f *diag.Fault) {
	rec := i.FindCall(id)
	if rec == nil || rec.phase != combining {
		return
	}
	rec.moveTo(resultPending)
	i.endUnappliedCall(rec, rec.PendingResult, f)
}

// combineFirst moves a Call to the phase combining if its update needs the content of a stored value.
func (i *Instance) combineFirst(rec *CallRecord, value any) bool {
	if !rec.resultUpdatesPath() {
		return false
	}
	u := i.storedUpdate(rec, value)
	if !slices.ContainsFunc(u.Updates, func(at statelog.Update) bool { return statelog.NeedsContent(u.OutputMethod, at.Old, at.Value) }) {
		return false
	}
	rec.PendingResult, rec.handedOut = value, false
	rec.moveTo(combining)
	return true
}

func (i *Instance) storedUpdate(rec *CallRecord, value any) StoredUpdate {
	u := StoredUpdate{CallID: rec.ID, OutputMethod: rec.OutputMethod, Contract: i.ResultContract(rec)}
	for _, p := range rec.takenPaths() {
		old := i.valueBefore(rec, p)
		if len(p) == 0 {
			old = onlyKeysOf(value, old)
		}
		u.Updates = append(u.Updates, statelog.Update{Path: p, Old: old, Value: value})
	}
	return u
}

// takenPaths lists the paths of the branch that the result takes.
func (r *CallRecord) takenPaths() []jsonval.Path { return r.OutputPath[max(r.BranchTaken, 1)-1] }

// valueBefore returns what the Calls before a Call left at a path; nil if nothing.
func (i *Instance) valueBefore(rec *CallRecord, p jsonval.Path) any {
	old, _ := jsonval.ValueAt(i.state.BeforeCall(rec.Request, rec.Index, p).CurrentValue, p)
	return old
}

// onlyKeysOf returns an object with those of its keys that another one has too.
func onlyKeysOf(keys, object any) map[string]any {
	out := map[string]any{}
	m := jsonval.AsObject(object)
	for _, k := range jsonval.SortedKeys(jsonval.AsObject(keys)) {
		if v, there := m[k]; there {
			out[k] = v
		}
	}
	return out
}

func sameUpdates(a, b []statelog.Update) bool {
	return slices.EqualFunc(a, b, func(x, y statelog.Update) bool {
		return slices.Equal(x.Path, y.Path) && jsonval.Equal(x.Old, y.Old) && jsonval.Equal(x.Value, y.Value)
	})
}
