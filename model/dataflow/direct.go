package dataflow

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// HasDirectPlan says whether the instance has a Plan that runs with no Request.
func (r *Instance) HasDirectPlan() bool {
	at, _ := ideafile.FindDirectPlans(r.context).Choose(r.token, r.view)
	return at >= 0
}

// StartDirectPlan takes in the Calls of the instance's Plan, if one runs directly, as those of Request 0. It is done once: later
// calls change nothing.
func (r *Instance) StartDirectPlan() {
	if r.planStarted {
		return
	}
	r.planStarted = true
	at, _ := ideafile.FindDirectPlans(r.context).Choose(r.token, r.view)
	if at < 0 {
		return
	}
	template := r.palette
	template.UntargetedForAll = true
	for n, call := range r.context[at].Calls {
		if call.TargetsOther(r.token) {
			continue
		}
		rec := r.take(template, 0, n+1, call)
		if r.context[at].RecordedDone(n+1, r.token) {
			rec.end(ideafile.Skipped, nil)
			rec.By = statelog.Start
		}
	}
}

// Unmet says what went wrong with the Plan that ran directly and is covered by no alternative: a Call that did not come to
// its value, which nobody else brought. nil where nothing did.
func (r *Instance) PlanFailure() *diag.Fault {
	for _, rec := range r.records {
		if rec.Request == 0 && rec.Fault != nil && rec.Status.Ended() && !r.covered(rec) {
			return diag.Faultf(rec.Fault.Code, "%s: %s", rec.ID, rec.Fault.Message)
		}
	}
	return nil
}

// covered says whether the value that a Call did not bring is there all the same.
func (r *Instance) covered(rec *Record) bool {
	if rec.update() {
		return false
	}
	for _, branch := range rec.OutputPath {
		there := true
		for _, p := range branch {
			_, ok := refexpr.LookupIn(r.state.Current, p)
			there = there && ok
		}
		if there {
			return true
		}
	}
	return false
}
