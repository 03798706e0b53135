package dataflow

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// callPhase is the current activity of a Call. It determines the Status. In phase ended, the record says how the Call
// ended.
//
//	phase          status             what it waits for
//	waiting        waiting            what it reads; or that its path is closed, or that a value can never come
//	adapting       waiting            the LLM, to adapt its parameters to the Tool's schema
//	adapted        waiting            the next Advance, which resolves it again with the adapted parameters
//	reviewing      awaiting-approval  a person's decision, or the deadline
//	approved       waiting            the next Advance, which starts it as it was shown, or retries it as it was
//	phaseAskingLLM      waiting            the LLM, to write its result
//	running        running            its activity
//	phaseResultPending  running            the earlier Calls that write its path: its result, an update, is there
//	combining      running            an activity, which applies its result, an update, to values in the blob store
//	ended          an end             nothing
//
// nextPhasesByPhase lists the phases that may follow each.
type callPhase int

const (
	phaseWaiting callPhase = iota
	phaseAdapting
	phaseAdapted
	phaseReviewing
	phaseApproved
	phaseAskingLLM
	phaseRunning
	phaseResultPending
	phaseUpdatingBlobs
	phaseEnded
)

var phaseNames = strings.Fields(`waiting adapting adapted reviewing approved askingLLM running resultPending
	combining ended`)

func (p callPhase) String() string { return phaseNames[p] }

// nextPhasesByPhase lists the phases that may follow each. Invariant: a Call that has ended stays so.
var nextPhasesByPhase = map[callPhase][]callPhase{
	phaseWaiting:  {phaseAdapting, phaseReviewing, phaseAskingLLM, phaseRunning, phaseResultPending, phaseEnded},
	phaseAdapting: {phaseAdapted, phaseEnded},
	phaseAdapted:  {phaseReviewing, phaseAskingLLM, phaseRunning, phaseResultPending, phaseEnded},
	// in this order: a person is asked again; replaced the Call; approved or amended it; answered
	phaseReviewing: {phaseReviewing, phaseWaiting, phaseApproved, phaseResultPending, phaseEnded},
	phaseApproved:  {phaseWaiting, phaseAskingLLM, phaseRunning, phaseResultPending, phaseEnded},
	phaseAskingLLM: {phaseResultPending, phaseEnded},
	// reviewing: its effect is unknown, or its Tool asks for a person's answer; approved: its start was reverted
	phaseRunning:       {phaseReviewing, phaseApproved, phaseResultPending, phaseEnded},
	phaseResultPending: {phaseUpdatingBlobs, phaseEnded},
	// the value that it updates has changed meanwhile, or its failure goes to another branch
	phaseUpdatingBlobs: {phaseResultPending, phaseEnded},
}

var statusByPhase = map[callPhase]ideafile.CallStatus{
	phaseWaiting: ideafile.CallWaiting, phaseAdapting: ideafile.CallWaiting, phaseAdapted: ideafile.CallWaiting,
	phaseReviewing: ideafile.CallAwaitingApproval, phaseApproved: ideafile.CallWaiting,
	phaseAskingLLM: ideafile.CallWaiting, phaseRunning: ideafile.CallRunning, phaseResultPending: ideafile.CallRunning,
	phaseUpdatingBlobs: ideafile.CallRunning,
}

// setPhase moves a Call to a phase other than ended. A move that nextPhasesByPhase forbids is a bug in this package and
// panics, so that the workflow task does not go on with it.
func (r *CallRecord) setPhase(next callPhase) {
	r.checkTransition(next)
	r.phase, r.Status = next, statusByPhase[next]
}

// endWithStatus moves a Call to its end.
func (r *CallRecord) endWithStatus(s ideafile.CallStatus, f *diag.Fault) {
	r.checkTransition(phaseEnded)
	r.phase, r.Status, r.Fault = phaseEnded, s, f
	r.PendingResult, r.DelegateValuesByPath, r.readyCall, r.blobUpdatedValues = nil, nil, nil, nil
}

// fail ends a Call with a Fault.
func (r *CallRecord) fail(code, format string, args ...any) {
	r.endWithStatus(ideafile.CallFailed, diag.Faultf(code, format, args...))
}

// skip ends a Call that is not needed; cause is the SkippedBecauseOf.
func (r *CallRecord) skip(cause string) {
	r.endWithStatus(ideafile.CallSkipped, nil)
	r.SkippedBecauseOf = cause
}

func (r *CallRecord) checkTransition(next callPhase) {
	if !slices.Contains(nextPhasesByPhase[r.phase], next) {
		panic(fmt.Sprintf("dataflow: move Call %s: from %s to %s", r.ID, r.phase, next))
	}
}

// isUnstarted reports whether a Call is not under way and waits for nothing outside the Plan.
func (r *CallRecord) isUnstarted() bool {
	return r.phase == phaseWaiting || r.phase == phaseAdapted || r.phase == phaseApproved
}

func (r *CallRecord) isAwaitingLLM() bool {
	return r.phase == phaseAskingLLM || r.phase == phaseAdapting
}

// expectsResult reports whether a result may still come, from the Call's activity or from the LLM.
func (r *CallRecord) expectsResult() bool {
	return r.phase == phaseAskingLLM || r.phase == phaseRunning
}

// hasPendingResult reports whether the result of a Call is there and not applied yet.
func (r *CallRecord) hasPendingResult() bool {
	return r.phase == phaseResultPending || r.phase == phaseUpdatingBlobs
}
