package dataflow

import (
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// CarriedInstance is an Instance as data, without what it was started with: its workflow carries it over when it
// continues as new.
type CarriedInstance struct {
	// AddedMessages holds the Messages by which people corrected the instance.
	AddedMessages []any `json:"context,omitempty"`
	// Writes are in Plan order; Unreported are those that TakeNewWrites has not returned yet.
	Writes               []statelog.Write    `json:"writes,omitempty"`
	Unreported           []statelog.Write    `json:"fresh,omitempty"`
	CallRecords          []CarriedCallRecord `json:"records,omitempty"`
	OpenRequests         []int               `json:"open,omitempty"`
	ClosedThroughRequest int                 `json:"closed,omitempty"`
	// RefusedThroughRequest: see SuspendRequest.
	RefusedThroughRequest int `json:"refused,omitempty"`

	Now        time.Time   `json:"now,omitzero"`
	PauseFault *diag.Fault `json:"overdue,omitempty"`

	Corrections int  `json:"corrections,omitempty"`
	PlanStarted bool `json:"begun,omitempty"`
	PlanAfter   int  `json:"planAfter,omitempty"`

	Undoing *Undoing `json:"undoing,omitempty"`
	Moments int      `json:"moments,omitempty"`
}

// CarriedCallRecord is a Record with its unexported fields.
type CarriedCallRecord struct {
	CallRecord
	WrittenCall ideafile.WrittenCall `json:"written,omitzero"`
	// ReadyCall is the Call as it was started or shown to a person; nil where it was neither.
	ReadyCall *ReadyCall `json:"ready,omitempty"`
	// CallsAwaitingLLM, ResultPending, Combining and Approved tell apart the phases that share a status; see
	// restorePhase.
	AwaitingLLM         bool   `json:"asking,omitempty"`
	ResultPending       bool   `json:"arrived,omitempty"`
	Combining           bool   `json:"combining,omitempty"`
	Approved            bool   `json:"cleared,omitempty"`
	TimesAsked          int    `json:"asked,omitempty"`
	ResultGivenByPerson string `json:"author,omitempty"`
}

// CarryIntoNextRun returns the Instance as data for Restore.
func (i *Instance) CarryIntoNextRun() CarriedInstance {
	c := CarriedInstance{
		Writes: i.state.Writes(), Unreported: i.unreportedWrites, OpenRequests: jsonval.SortedKeys(i.openRequests),
		ClosedThroughRequest: i.closedThroughRequest, RefusedThroughRequest: i.refusedThroughRequest,
		Now: i.currentTime, PauseFault: i.pauseFault,
		Corrections: i.correctionCount, PlanStarted: i.planStarted, PlanAfter: i.planAfter, Undoing: i.undoing,
		Moments: i.moments,
	}
	for _, m := range i.contextMessages[i.initialMessageCount:] {
		c.AddedMessages = append(c.AddedMessages, m.Source)
	}
	for _, rec := range i.callRecords {
		c.CallRecords = append(c.CallRecords, rec.carryIntoNextRun())
	}
	return c
}

func (r *CallRecord) carryIntoNextRun() CarriedCallRecord {
	return CarriedCallRecord{CallRecord: *r, WrittenCall: r.WrittenCall, TimesAsked: r.timesAsked,
		ResultGivenByPerson: r.resultGivenByPerson,
		AwaitingLLM:         r.awaitingLLM(), ResultPending: r.phase == resultPending, Combining: r.phase == combining,
		Approved:  r.phase == approved,
		ReadyCall: r.readyCall}
}

// StartParameters returns what the Instance was started with, which Restore takes beside what was carried.
func (i *Instance) StartParameters() (palette ideafile.Palette, context []ideafile.Message, token string) {
	return i.palette, i.contextMessages[:i.initialMessageCount], i.token
}

// Restore rebuilds an Instance from Carried. Palette, context and token must be those that it was started with.
func Restore(palette ideafile.Palette, context []ideafile.Message, token string, c CarriedInstance) *Instance {
	i := New(palette, context, token)
	for _, raw := range c.AddedMessages {
		if m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems)); ok {
			i.contextMessages = append(i.contextMessages[:len(i.contextMessages):len(i.contextMessages)], m)
		}
	}
	i.refreshContextView()
	i.state = statelog.RestoreState(i.state.InitialValue, c.Writes)
	for _, n := range c.OpenRequests {
		i.openRequests[n] = true
	}
	i.refusedThroughRequest = c.RefusedThroughRequest
	i.unreportedWrites, i.closedThroughRequest, i.currentTime, i.pauseFault = c.Unreported, c.ClosedThroughRequest,
		c.Now, c.PauseFault
	i.correctionCount, i.planStarted, i.planAfter, i.undoing = c.Corrections, c.PlanStarted, c.PlanAfter, c.Undoing
	i.moments = c.Moments
	for _, rec := range c.CallRecords {
		i.callRecords = append(i.callRecords, i.restoreRecord(rec))
	}
	return i
}

// restoreRecord rebuilds a Record; admit derives again what the Call reads.
func (i *Instance) restoreRecord(c CarriedCallRecord) *CallRecord {
	rec := c.CallRecord
	rec.WrittenCall, rec.phase, rec.timesAsked, rec.resultGivenByPerson = c.WrittenCall, c.restorePhase(), c.TimesAsked,
		c.ResultGivenByPerson
	_ = i.acceptOrRefuseCall(&rec)
	if c.ReadyCall != nil {
		rec.readyCall = &ReadyCall{
			Record: &rec, Tool: ideafile.FindTool(i.palette.Tools, rec.Tool),
			Binding: i.palette.BindingByTool[rec.Tool],
			Params:  c.ReadyCall.Params, ScopeValues: c.ReadyCall.ScopeValues,
		}
	}
	return &rec
}

// restorePhase tells apart the phases that share a status.
func (c CarriedCallRecord) restorePhase() phase {
	switch {
	case c.Status.IsFinal():
		return ended
	case c.Status == ideafile.AwaitingApproval:
		return reviewing
	case c.ResultPending:
		return resultPending
	case c.Combining:
		return combining
	case c.Status == ideafile.Running:
		return running
	case c.AwaitingLLM && c.ParamsAdaptation != nil && !c.ParamsAdaptation.IsAnswered():
		return adapting
	case c.AwaitingLLM:
		return askingLLM
	case c.Approved:
		return approved
	case c.ParamsAdaptation.IsAnswered():
		return adapted
	}
	return waiting
}
