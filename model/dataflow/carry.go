package dataflow

import (
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// CarriedInstance is an Instance as data, without what it was started with (StartParameters). Its workflow carries it
// over continue-as-new.
type CarriedInstance struct {
	progress
	// AddedMessages holds the Messages by which people corrected the instance.
	AddedMessages []any               `json:"context,omitempty"`
	Writes        []statelog.Write    `json:"writes,omitempty"` // in Plan order
	CallRecords   []CarriedCallRecord `json:"records,omitempty"`
	OpenRequests  []int               `json:"open,omitempty"`
}

// progress holds the fields of an Instance that are carried unchanged.
type progress struct {
	// UnreportedWrites are the writes that TakeNewWrites has not returned yet.
	UnreportedWrites      []statelog.Write `json:"fresh,omitempty"`
	ClosedThroughRequest  int              `json:"closed,omitempty"`  // the highest closed Request, with all before it
	RefusedThroughRequest int              `json:"refused,omitempty"` // the highest refused or closed Request

	Now        time.Time   `json:"now,omitzero"`
	PauseFault *diag.Fault `json:"overdue,omitempty"` // TakePauseFault has not returned it yet

	CorrectionCount int  `json:"corrections,omitempty"` // values of State that people set
	PlanStarted     bool `json:"begun,omitempty"`       // StartDirectPlan was called
	// PlanAfter is the index after which the Calls of the current direct Plan are numbered; 0: it replaced no other
	// Plan.
	PlanAfter int `json:"planAfter,omitempty"`

	Undoing *Undoing `json:"undoing,omitempty"` // the undo under way; nil: none
	Moments int      `json:"moments,omitempty"` // how many times a Call has begun or written its result
}

// CarriedCallRecord is a Record with its unexported fields.
type CarriedCallRecord struct {
	CallRecord
	// ReadyCall is the Call as it was started or shown to a person; nil: neither has happened.
	ReadyCall *ReadyCall `json:"ready,omitempty"`
	// AwaitingLLM, ResultPending, Combining and Approved distinguish the phases that share a status; see restorePhase.
	AwaitingLLM   bool `json:"asking,omitempty"`
	ResultPending bool `json:"arrived,omitempty"`
	Combining     bool `json:"combining,omitempty"`
	Approved      bool `json:"cleared,omitempty"`
}

// CarryIntoNextRun returns the Instance as data for Restore.
func (i *Instance) CarryIntoNextRun() CarriedInstance {
	c := CarriedInstance{progress: i.progress, Writes: i.state.Writes(),
		OpenRequests: jsonval.SortedKeys(i.openRequests)}
	for _, m := range i.contextMessages[i.initialMessageCount:] {
		c.AddedMessages = append(c.AddedMessages, m.Source)
	}
	for _, r := range i.callRecords {
		c.CallRecords = append(c.CallRecords, CarriedCallRecord{CallRecord: *r, ReadyCall: r.readyCall,
			AwaitingLLM: r.awaitingLLM(), ResultPending: r.phase == resultPending, Combining: r.phase == combining,
			Approved: r.phase == approved})
	}
	return c
}

// StartParameters returns what the Instance was started with. Restore needs it beside what was carried.
func (i *Instance) StartParameters() (palette ideafile.Palette, context []ideafile.Message, token string) {
	return i.palette, i.contextMessages[:i.initialMessageCount], i.token
}

// Restore rebuilds an Instance from a CarriedInstance. palette, context and token must be those of StartParameters.
func Restore(palette ideafile.Palette, context []ideafile.Message, token string, c CarriedInstance) *Instance {
	i := New(palette, context, token)
	for _, raw := range c.AddedMessages {
		if m, ok := ideafile.ParseMessage(raw); ok {
			i.contextMessages = append(slices.Clip(i.contextMessages), m)
		}
	}
	i.refreshContextView()
	i.state = statelog.RestoreState(i.state.InitialValue, c.Writes)
	for _, n := range c.OpenRequests {
		i.openRequests[n] = true
	}
	i.progress = c.progress
	i.callRecords = jsonval.Map(c.CallRecords, i.restoreRecord)
	return i
}

// restoreRecord rebuilds a Record; acceptOrRefuseCall derives again what the Call reads.
func (i *Instance) restoreRecord(c CarriedCallRecord) *CallRecord {
	rec := c.CallRecord
	rec.phase = c.restorePhase()
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

// restorePhase distinguishes the phases that share a status.
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
