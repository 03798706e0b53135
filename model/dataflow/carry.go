package dataflow

import (
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// CarriedInstance is an Instance as data, without what it was started with (StartParameters). Its workflow carries it
// over continue-as-new.
type CarriedInstance struct {
	carriedInstanceFields
	// AddedMessages holds the Messages by which people corrected the instance.
	AddedMessages      []any               `json:"context,omitempty"`
	Writes             []statelog.Write    `json:"writes,omitempty"` // in Plan order
	CallRecords        []CarriedCallRecord `json:"records,omitempty"`
	OpenRequestNumbers []int               `json:"open,omitempty"`
}

// carriedInstanceFields holds the fields of an Instance that are carried unchanged.
type carriedInstanceFields struct {
	// UnreportedWrites are the writes that TakeUnreportedWrites has not returned yet.
	UnreportedWrites      []statelog.Write `json:"fresh,omitempty"`
	ClosedThroughRequest  int              `json:"closed,omitempty"`  // the highest closed Request, with all before it
	RefusedThroughRequest int              `json:"refused,omitempty"` // the highest refused or closed Request

	CurrentTime time.Time   `json:"now,omitzero"`
	PauseFault  *diag.Fault `json:"overdue,omitempty"` // TakePauseFault has not returned it yet

	CorrectedValueCount int  `json:"corrections,omitempty"` // values of State that people set
	IsDirectPlanStarted bool `json:"begun,omitempty"`       // StartDirectPlan was called
	// DirectPlanCallIndexOffset is the index after which the Calls of the current direct Plan are numbered; 0: it
	// replaced no other Plan.
	DirectPlanCallIndexOffset int `json:"planAfter,omitempty"`

	ActiveUndo  *InstanceUndo `json:"undoing,omitempty"` // the undo under way; nil: none
	LogicalTime int           `json:"moments,omitempty"` // how many times a Call has begun or written its result
}

// CarriedCallRecord is a Record with its unexported fields.
type CarriedCallRecord struct {
	CallRecord
	// ReadyCall is the Call as it was started or shown to a person; nil: neither has happened.
	ReadyCall *ReadyCall `json:"ready,omitempty"`
	// IsAwaitingLLM, IsResultPending, Combining and Approved distinguish the phases that share a status; see
	// restorePhase.
	IsAwaitingLLM   bool `json:"asking,omitempty"`
	IsResultPending bool `json:"arrived,omitempty"`
	IsUpdatingBlobs bool `json:"combining,omitempty"`
	IsApproved      bool `json:"cleared,omitempty"`
}

// CarryIntoNextRun returns the Instance as data for Restore.
func (i *Instance) CarryIntoNextRun() CarriedInstance {
	c := CarriedInstance{carriedInstanceFields: i.carriedInstanceFields, Writes: i.state.Writes(),
		OpenRequestNumbers: jsonval.SortedKeys(i.isRequestOpen)}
	for _, m := range i.contextMessages[i.initialMessageCount:] {
		c.AddedMessages = append(c.AddedMessages, m.Source)
	}
	for _, r := range i.callRecords {
		c.CallRecords = append(c.CallRecords, CarriedCallRecord{CallRecord: *r, ReadyCall: r.readyCall,
			IsAwaitingLLM: r.isAwaitingLLM(), IsResultPending: r.phase == phaseResultPending,
			IsUpdatingBlobs: r.phase == phaseUpdatingBlobs, IsApproved: r.phase == phaseApproved})
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
	for _, n := range c.OpenRequestNumbers {
		i.isRequestOpen[n] = true
	}
	i.carriedInstanceFields = c.carriedInstanceFields
	i.callRecords = jsonval.Map(c.CallRecords, i.restoreRecord)
	return i
}

// restoreRecord rebuilds a Record; prepareCall derives again what the Call reads.
func (i *Instance) restoreRecord(c CarriedCallRecord) *CallRecord {
	rec := c.CallRecord
	rec.phase = c.restorePhase()
	_ = i.prepareCall(&rec)
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
func (c CarriedCallRecord) restorePhase() callPhase {
	switch {
	case c.Status.IsFinal():
		return phaseEnded
	case c.Status == ideafile.CallAwaitingApproval:
		return phaseReviewing
	case c.IsResultPending:
		return phaseResultPending
	case c.IsUpdatingBlobs:
		return phaseUpdatingBlobs
	case c.Status == ideafile.CallRunning:
		return phaseRunning
	case c.IsAwaitingLLM && c.ParamsAdaptation != nil && !c.ParamsAdaptation.IsAnswered():
		return phaseAdapting
	case c.IsAwaitingLLM:
		return phaseAskingLLM
	case c.IsApproved:
		return phaseApproved
	case c.ParamsAdaptation.IsAnswered():
		return phaseAdapted
	}
	return phaseWaiting
}

// RebuildFromReports returns what an ended Instance would have carried, rebuilt from its reports: its writes, and its
// ended Calls. Restore turns it into the Instance that goes on. Its context must have no direct Plan.
func RebuildFromReports(token string, closedThroughRequest int, stateWrites []statelog.Write,
	callReports []turn.CallReport) CarriedInstance {
	c := CarriedInstance{Writes: stateWrites, carriedInstanceFields: carriedInstanceFields{
		ClosedThroughRequest: closedThroughRequest, RefusedThroughRequest: closedThroughRequest,
		IsDirectPlanStarted: true}}
	for _, w := range stateWrites {
		c.CorrectedValueCount = max(c.CorrectedValueCount, w.CorrectionNumber)
	}
	for _, call := range callReports {
		if !call.Status.IsFinal() {
			continue
		}
		rec := CallRecord{
			Call: ideafile.Call{ID: call.CallKey().ID(token), Tool: call.Tool, Request: call.Request,
				Index: call.Index},
			CallState: call.CallState, WrittenCall: call.Call,
		}
		c.CallRecords = append(c.CallRecords, CarriedCallRecord{CallRecord: rec})
	}
	return c
}
