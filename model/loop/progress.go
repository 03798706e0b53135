package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// InstanceProgress is what the process knows of one instance, from the instance's reports and from what it was sent.
type InstanceProgress struct {
	Token  string                  `json:"token"`
	Status ideafile.InstanceStatus `json:"status"`
	Fault  *diag.Fault             `json:"error,omitempty"` // why it failed
	// Missing lists what the State schema requires and State does not have.
	Missing []string `json:"missing,omitempty"`
	// Pending lists the Calls that wait for a person.
	Pending []turn.PendingApproval `json:"pending,omitempty"`

	carriedProgress

	state       *statelog.State
	calls       map[ideafile.CallKey]turn.CallReport
	errorsShown map[ideafile.CallKey]bool // Calls whose fault the LLM was shown
	planner     planner
}

// carriedProgress is what continue-as-new carries of an instance as it stands: a field that is added here is carried.
type carriedProgress struct {
	// Idle reports whether nothing of the instance runs. Invariant: false from a Request about it until the report that follows.
	Idle bool `json:"quiet,omitempty"`
	// The last Request that covered it, the last that planned for it, and the highest that is closed at it.
	LastRequest   int `json:"covered,omitempty"`
	LastPlanned   int `json:"planned,omitempty"`
	ClosedThrough int `json:"closed,omitempty"`
	// Invariant: CorrectionsAcked <= CorrectionsSent.
	CorrectionsSent  int `json:"corrected,omitempty"`
	CorrectionsAcked int `json:"taken,omitempty"`

	DirectPlan  int         `json:"direct,omitempty"` // the place of its direct Plan in the context, from 1; 0: it has none
	PlanFailure *diag.Fault `json:"unmet,omitempty"`  // see dataflow.Instance.PlanFailure

	// What people did since the last Request that covered it.
	DecidedSinceRequest bool `json:"back,omitempty"`
	RevisedSinceRequest bool `json:"revised,omitempty"`

	Questions      []turn.Question `json:"asking,omitempty"` // for the LLM: latent results to write, parameters to adapt
	MissingRetries int             `json:"lacks,omitempty"`  // Requests that would have settled it, had nothing been missing
	PendingErrors  []int           `json:"untold,omitempty"` // ids of the PendingErrors that its next Request reports

	LastReport [2]int `json:"report,omitzero"` // the last report that was applied: its number, and its sender's count of workflow events
}

// planner is who plans for an instance. A direct Plan may give way to the LLM, once; nothing else changes.
type planner int

const (
	plannedByLLM        planner = iota
	plannedByDirectPlan         // a direct Plan: no Request is made about it
	fellBackToLLM               // its direct Plan did not suffice
	noPlanMatched               // the LLM may not be asked either: it has failed
)

// instancePhase is what an instance is up to, as far as the process knows.
//
//	phase           what it waits for                             what may come next
//	busy            its Calls; the Calls of a Request about it;   awaitingPerson, ready
//	                that it acknowledges a correction
//	awaitingPerson  a person's decision, and nothing else         busy, ready
//	ready           a Request about it                            busy, ended
//	ended           nothing                                       nothing
type instancePhase int

const (
	busy instancePhase = iota
	awaitingPerson
	ready
	ended
)

func (p *InstanceProgress) phase() instancePhase {
	switch {
	case p.Status != ideafile.InstanceWorking:
		return ended
	case !p.Idle || p.ClosedThrough < p.LastRequest || p.CorrectionsAcked < p.CorrectionsSent:
		return busy
	case len(p.Pending) > 0:
		return awaitingPerson
	}
	return ready
}

// DisplayStatus is the status that people are shown: it tells apart an instance that waits for a person.
func (p *InstanceProgress) DisplayStatus() ideafile.InstanceStatus {
	if p.phase() == awaitingPerson {
		return ideafile.InstanceWaiting
	}
	return p.Status
}

// missingForLLM returns what the next Request is told is missing: nothing, before a Request or a Plan was to have brought it.
func (p *InstanceProgress) missingForLLM() []string {
	if p.MissingRetries == 0 && p.planner != fellBackToLLM {
		return nil
	}
	return p.Missing
}

// ApplyReport applies an instance's report, and reports whether it was new: a repeated or overtaken report changes nothing.
func (l *Loop) ApplyReport(r turn.Report) bool {
	inst := l.instance(r.Token)
	if inst == nil {
		return false
	}
	isNew := inst.recordReportNumber(r)
	if !isNew {
		return false
	}
	for _, c := range r.Calls {
		inst.calls[c.Key()] = c
	}
	for _, w := range r.Writes {
		if !inst.state.Has(w) { // else it comes from a report that was made twice
			l.applyWrite(inst, w)
		}
	}
	inst.ClosedThrough = max(inst.ClosedThrough, r.ClosedThrough)
	inst.CorrectionsAcked = max(inst.CorrectionsAcked, r.CorrectionsAcked)
	inst.DecidedSinceRequest = inst.DecidedSinceRequest || (len(inst.Pending) > 0 && len(r.PendingApprovals) == 0)
	inst.Idle, inst.Missing, inst.Questions, inst.Pending, inst.PlanFailure = r.Idle, r.Missing, r.Questions, r.PendingApprovals, r.PlanFailure
	if r.ApprovalOverdue != nil && l.pauseReason == nil {
		l.pauseReason = r.ApprovalOverdue
	}
	return true
}

// recordReportNumber notes the report's number, and reports whether it is higher than those before.
func (p *InstanceProgress) recordReportNumber(r turn.Report) bool {
	now := [2]int{r.Number, r.HistoryLength}
	if slices.Compare(now[:], p.LastReport[:]) <= 0 {
		return false
	}
	p.LastReport = now
	return true
}

func (l *Loop) applyWrite(inst *InstanceProgress, w statelog.Write) {
	inst.state.Apply(w)
	e := inst.logEntry(w)
	if w.Request <= l.priorRequests {
		e.Call = l.resumedCallOfWrite(w) // no Idea of this process has it in its solution
	}
	l.unsealedLog = append(l.unsealedLog, e)
}

// logEntry is a write as the chain of Ideas keeps it, with the decision of the person behind it.
func (p *InstanceProgress) logEntry(w statelog.Write) turn.LogEntry {
	e := turn.LogEntry{
		Instance: p.Token, Path: w.Path, OutputMethod: w.Method, Value: w.Value, By: w.By, Request: w.Request, Index: w.Index,
		Correction: w.Correction, At: w.At,
	}
	call := p.calls[ideafile.CallKey{Request: w.Request, Index: w.Index}]
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
