package dataflow

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// phase is what a Call is up to. Its Status follows from it, but for the ends, which say for themselves how.
//
//	phase      status             what happens next
//	waiting    waiting            what it reads comes, or its path is closed, or neither ever will
//	fitting    waiting            the LLM fits its parameters to the Tool's schema
//	fitted     waiting            it is looked at again, with the fitted parameters
//	reviewing  awaiting-approval  a person decides, or the deadline does
//	approved   waiting            it starts, exactly as it was shown
//	asking     waiting            the LLM writes its result
//	running    running            its activity ends
//	landing    running            the Calls before it that write its path end; its result, an update, is there
//	ended      an end             nothing
type phase int

const (
	waiting phase = iota
	fitting
	fitted
	reviewing
	approved
	asking
	running
	landing
	ended
)

var phaseNames = [...]string{"waiting", "fitting", "fitted", "reviewing", "approved", "asking", "running", "landing", "ended"}

func (p phase) String() string { return phaseNames[p] }

// nextPhases says which phases may follow which. What has ended stays so.
var nextPhases = map[phase][]phase{
	waiting:   {fitting, reviewing, asking, running, landing, ended},
	fitting:   {fitted, ended},
	fitted:    {reviewing, asking, running, landing, ended},
	reviewing: {reviewing, waiting, approved, landing, ended}, // asked again, replaced, approved or amended, answered
	approved:  {asking, running, landing, ended},
	asking:    {landing, ended},
	running:   {reviewing, landing, ended}, // nobody knows whether it had its effect, or its Tool wants a person
	landing:   {ended},
}

var phaseStatus = map[phase]ideafile.CallStatus{
	waiting: ideafile.Waiting, fitting: ideafile.Waiting, fitted: ideafile.Waiting, reviewing: ideafile.AwaitingApproval, approved: ideafile.Waiting,
	asking: ideafile.Waiting, running: ideafile.Running, landing: ideafile.Running,
}

// to moves a Call to a phase that is no end. A move that nextPhases forbids is a mistake in this package: a workflow task
// must not go on with it.
func (r *Record) to(next phase) {
	r.mayMove(next)
	r.phase, r.Status = next, phaseStatus[next]
}

// end moves a Call to its end.
func (r *Record) end(s ideafile.CallStatus, f *diag.Fault) {
	r.mayMove(ended)
	r.phase, r.Status, r.Fault = ended, s, f
	r.Value, r.HandedBack, r.ready = nil, nil, nil
}

func (r *Record) mayMove(next phase) {
	if !slices.Contains(nextPhases[r.phase], next) {
		panic(fmt.Sprintf("dataflow: move Call %s: from %s to %s", r.ID, r.phase, next))
	}
}

// unstarted reports whether a Call is neither under way nor waits for anybody outside the Plan.
func (r *Record) unstarted() bool {
	return r.phase == waiting || r.phase == fitted || r.phase == approved
}

// awaitingLLM reports whether the LLM is asked about the Call.
func (r *Record) awaitingLLM() bool { return r.phase == asking || r.phase == fitting }

// expects reports whether a result of the Call is still to come, from its activity or from the LLM.
func (r *Record) expects() bool { return r.phase == asking || r.phase == running }

// Phase names what the Call is up to, as the table above does.
func (r *Record) Phase() string { return r.phase.String() }
