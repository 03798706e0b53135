package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// InstanceProgress is one instance, as its process knows it from its reports.
type InstanceProgress struct {
	Token  string                  `json:"token"`
	Status ideafile.InstanceStatus `json:"status"`
	Fault  *diag.Fault             `json:"error,omitempty"` // why it failed
	// Missing is what its State schema requires and State does not have.
	Missing []string `json:"missing,omitempty"`
	// Pending is what waits for a person there.
	Pending []turn.PendingApproval `json:"pending,omitempty"`

	state *statelog.State
	calls map[ideafile.CallKey]turn.CallReport
	// idle reports whether nothing of the instance runs. Invariant: false from the Request about it until its report.
	idle bool
	// The last Request that was about it, the last that planned for it, and the highest that is closed at it.
	lastRequest, lastPlanned, closedThrough int
	// Corrections that it was sent, and those that it has taken in. Invariant: correctionsAcked <= correctionsSent.
	correctionsSent, correctionsAcked int

	planner     planner
	direct      int         // the place of its Plan that runs directly in the context, from 1; 0: there is none
	planFailure *diag.Fault // what went wrong with that Plan and is covered by no alternative

	// What people did since the last Request about it.
	decidedSinceRequest, revisedSinceRequest bool

	// questions are what the LLM is to be asked by itself: latent results, and values to fit.
	questions      []turn.Question
	missingRetries int                       // Requests that would have settled it, had nothing been missing
	errorsShown    map[ideafile.CallKey]bool // Calls whose fault the LLM was told
	pendingErrors  []int                     // ids of PendingErrors that its next Request is to tell

	report [2]int // the last one taken: its number, and how many events its sender had seen
}

// planner is who plans for an instance. A Plan that runs directly may give way to the LLM, once; nothing else changes.
type planner int

const (
	plannedByLLM          planner = iota
	plannedByPlan                 // its Plan runs directly: no Request is made about it
	plannedByLLMAfterPlan         // its Plan did not suffice
	plannedByNobody               // no Plan's condition holds, and the LLM may not be asked: it has failed
)

// standing is what an instance is up to. It follows from what the instance reported and from what it was sent since.
//
//	standing   what it waits for              what may come next
//	busy       its Calls, a Request about it, onPerson, ready
//	           a correction on its way
//	onPerson   a decision, and nothing else   busy, ready
//	ready      a Request about it             busy, over
//	over       nothing                        nothing
type standing int

const (
	busy standing = iota
	onPerson
	ready
	over
)

func (mem *InstanceProgress) standing() standing {
	switch {
	case mem.Status != ideafile.InstanceWorking:
		return over
	case !mem.idle || mem.closedThrough < mem.lastRequest || mem.correctionsAcked < mem.correctionsSent:
		return busy
	case len(mem.Pending) > 0:
		return onPerson
	}
	return ready
}

// DisplayStatus is the instance's status for people: one that waits for a person says so.
func (mem *InstanceProgress) DisplayStatus() ideafile.InstanceStatus {
	if mem.standing() == onPerson {
		return ideafile.InstanceWaiting
	}
	return mem.Status
}

// reportedMissing is what the next Request is told is missing.
func (mem *InstanceProgress) reportedMissing() []string {
	if mem.missingRetries == 0 && mem.planner != plannedByLLMAfterPlan {
		return nil
	}
	return mem.Missing
}

// isNew reports whether a report tells more than those that were taken.
func (mem *InstanceProgress) isNew(r turn.Report) bool {
	now := [2]int{r.Number, r.HistoryLength}
	if slices.Compare(now[:], mem.report[:]) <= 0 {
		return false
	}
	mem.report = now
	return true
}

// logged is a write as the chain keeps it, with the decision of the person behind it.
func (mem *InstanceProgress) logged(w statelog.Write) turn.LogEntry {
	e := turn.LogEntry{
		Instance: mem.Token, Path: w.Path, OutputMethod: w.Method, Value: w.Value, By: w.By, Request: w.Request, Index: w.Index,
		Correction: w.Correction, At: w.At,
	}
	call := mem.calls[ideafile.CallKey{Request: w.Request, Index: w.Index}]
	decisions := call.Decisions
	if w.Correction == 0 {
		e.Adapted = call.Adapted
	}
	name, _ := e.PersonName()
	switch n := len(decisions); {
	case w.Correction > 0:
		e.Decision = &turn.LogDecision{Kind: SteerRevise, By: name, Reason: w.Reason, At: w.At}
	case n > 0:
		d := decisions[n-1]
		e.Decision = &turn.LogDecision{Kind: d.Kind, By: d.By, Reason: d.Reason, At: d.At, Digest: d.Digest}
	}
	return e
}
