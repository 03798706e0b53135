package dataflow

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// HasDirectPlan reports whether the instance has a Plan that runs without a Request.
func (i *Instance) HasDirectPlan() bool {
	at, _ := ideafile.FindDirectPlans(i.context).Choose(i.token, i.view)
	return at >= 0
}

// StartDirectPlan adds the Calls of the instance's direct Plan, if it has one, as Calls of Request 0. It does so once.
func (i *Instance) StartDirectPlan() {
	if i.planStarted {
		return
	}
	i.planStarted = true
	at, _ := ideafile.FindDirectPlans(i.context).Choose(i.token, i.view)
	if at < 0 {
		return
	}
	template := i.palette
	template.UntargetedForAll = true
	for n, call := range i.context[at].Calls {
		if call.TargetsOther(i.token) {
			continue
		}
		rec := i.insertCall(template, ideafile.CallKey{Request: 0, Index: n + 1}, call)
		if i.context[at].RecordedDone(n+1, i.token) {
			rec.end(ideafile.Skipped, nil)
			rec.By = statelog.Start
		}
	}
}

// PlanFailure returns the fault of the first Call of the direct Plan that brought no value and whose value nothing else brought;
// nil if none.
func (i *Instance) PlanFailure() *diag.Fault {
	for _, rec := range i.records {
		if rec.Request == 0 && rec.Fault != nil && rec.Status.Ended() && !i.outputExists(rec) {
			return diag.Faultf(rec.Fault.Code, "%s: %s", rec.ID, rec.Fault.Message)
		}
	}
	return nil
}

// outputExists reports whether State has a value at every path of one of the Call's branches.
func (i *Instance) outputExists(rec *Record) bool {
	if rec.isUpdate() {
		return false
	}
	for _, branch := range rec.OutputPath {
		everyPath := true
		for _, p := range branch {
			_, ok := refexpr.LookupIn(i.state.Current, p)
			everyPath = everyPath && ok
		}
		if everyPath {
			return true
		}
	}
	return false
}
