package dataflow

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// phase is the current activity of a Call. It determines the Status. In phase ended, the record says how the Call
// ended.
//
//	phase          status             what it waits for
//	waiting        waiting            what it reads; or that its path is closed, or that a value can never come
//	adapting       waiting            the LLM, to adapt its parameters to the Tool's schema
//	adapted        waiting            the next Advance, which resolves it again with the adapted parameters
//	reviewing      awaiting-approval  a person's decision, or the deadline
//	approved       waiting            the next Advance, which starts it as it was shown, or retries it as it was
//	askingLLM      waiting            the LLM, to write its result
//	running        running            its activity
//	resultPending  running            the earlier Calls that write its path: its result, an update, is there
//	combining      running            an activity, which applies its result, an update, to values in the blob store
//	ended          an end             nothing
//
// nextPhases lists the phases that may follow each.
type phase int

const (
	waiting phase = iota
	adapting
	adapted
	reviewing
	approved
	askingLLM
	running
	resultPending
	combining
	ended
)

var phaseNames = strings.Fields(`waiting adapting adapted reviewing approved askingLLM running resultPending
	combining ended`)

func (p phase) String() string { return phaseNames[p] }

// nextPhases lists the phases that may follow each. Invariant: a Call that has ended stays so.
var nextPhases = map[phase][]phase{
	waiting:  {adapting, reviewing, askingLLM, running, resultPending, ended},
	adapting: {adapted, ended},
	adapted:  {reviewing, askingLLM, running, resultPending, ended},
	// in this order: a person is asked again; replaced the Call; approved or amended it; answered
	reviewing: {reviewing, waiting, approved, resultPending, ended},
	approved:  {waiting, askingLLM, running, resultPending, ended},
	askingLLM: {resultPending, ended},
	// reviewing: its effect is unknown, or its Tool asks for a person's answer; approved: its start was reverted
	running:       {reviewing, approved, resultPending, ended},
	resultPending: {combining, ended},
	// the value that it updates has changed meanwhile, or its failure goes to another branch
	combining: {resultPending, ended},
}

var phaseStatus = map[phase]ideafile.CallStatus{
	waiting: ideafile.Waiting, adapting: ideafile.Waiting, adapted: ideafile.Waiting,
	reviewing: ideafile.AwaitingApproval, approved: ideafile.Waiting,
	askingLLM: ideafile.Waiting, running: ideafile.Running, resultPending: ideafile.Running,
	combining: ideafile.Running,
}

// moveTo moves a Call to a phase other than ended. A move that nextPhases forbids is a bug in this package and panics,
// so that the workflow task does not go on with it.
func (r *CallRecord) moveTo(next phase) {
	r.checkTransition(next)
	r.phase, r.Status = next, phaseStatus[next]
}

// endWithStatus moves a Call to its end.
func (r *CallRecord) endWithStatus(s ideafile.CallStatus, f *diag.Fault) {
	r.checkTransition(ended)
	r.phase, r.Status, r.Fault = ended, s, f
	r.PendingResult, r.DelegateValuesByPath, r.readyCall, r.combined = nil, nil, nil, nil
}

// fail ends a Call with a Fault.
func (r *CallRecord) fail(code, format string, args ...any) {
	r.endWithStatus(ideafile.Failed, diag.Faultf(code, format, args...))
}

// skip ends a Call that is not needed; because is the SkippedBecauseOf.
func (r *CallRecord) skip(because string) {
	r.endWithStatus(ideafile.Skipped, nil)
	r.SkippedBecauseOf = because
}

func (r *CallRecord) checkTransition(next phase) {
	if !slices.Contains(nextPhases[r.phase], next) {
		panic(fmt.Sprintf("dataflow: move Call %s: from %s to %s", r.ID, r.phase, next))
	}
}

// isUnstarted reports whether a Call is not under way and waits for nothing outside the Plan.
func (r *CallRecord) isUnstarted() bool {
	return r.phase == waiting || r.phase == adapted || r.phase == approved
}

func (r *CallRecord) awaitingLLM() bool { return r.phase == askingLLM || r.phase == adapting }

// expectsResult reports whether a result may still come, from the Call's activity or from the LLM.
func (r *CallRecord) expectsResult() bool { return r.phase == askingLLM || r.phase == running }

// hasResult reports whether the result of a Call is there and not applied yet.
func (r *CallRecord) hasResult() bool { return r.phase == resultPending || r.phase == combining }
