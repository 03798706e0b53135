package dataflow

import (
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// Carried is an Instance as data, without what it was started with: its workflow carries it over when it continues as new.
type Carried struct {
	// Context holds the Messages by which people corrected the instance.
	Context []any `json:"context,omitempty"`
	// Writes are in Plan order; Unreported are those that TakeNewWrites has not returned yet.
	Writes        []statelog.Write `json:"writes,omitempty"`
	Unreported    []statelog.Write `json:"fresh,omitempty"`
	Records       []CarriedRecord  `json:"records,omitempty"`
	OpenRequests  []int            `json:"open,omitempty"`
	ClosedThrough int              `json:"closed,omitempty"`
	Now           time.Time        `json:"now,omitzero"`
	Overdue       *diag.Fault      `json:"overdue,omitempty"`

	Corrections int  `json:"corrections,omitempty"`
	PlanStarted bool `json:"begun,omitempty"`
}

// CarriedRecord is a Record with its unexported fields.
type CarriedRecord struct {
	Record
	Written ideafile.WrittenCall `json:"written,omitzero"`
	// Ready is the Call as it was started or shown to a person; nil where it was neither.
	Ready *CarriedReady `json:"ready,omitempty"`
	// AwaitingLLM, ResultPending and Approved tell apart the phases that share a status; see restorePhase.
	AwaitingLLM   bool   `json:"asking,omitempty"`
	ResultPending bool   `json:"arrived,omitempty"`
	Approved      bool   `json:"cleared,omitempty"`
	TimesAsked    int    `json:"asked,omitempty"`
	AnsweredBy    string `json:"author,omitempty"`
}

// CarriedReady is what a ReadyCall holds that does not follow from its Record.
type CarriedReady struct {
	Params map[string]any `json:"params"`
	Scopes map[string]any `json:"scopes,omitempty"`
}

// Carry returns the Instance as data for Restore.
func (i *Instance) Carry() Carried {
	c := Carried{
		Writes: i.state.Writes(), Unreported: i.unreportedWrites, OpenRequests: jsonval.SortedKeys(i.openRequests),
		ClosedThrough: i.closedThrough, Now: i.now, Overdue: i.overdueFault, Corrections: i.correctionCount, PlanStarted: i.planStarted,
	}
	for _, m := range i.context[i.baseMessages:] {
		c.Context = append(c.Context, m.Source)
	}
	for _, rec := range i.records {
		c.Records = append(c.Records, rec.carry())
	}
	return c
}

func (r *Record) carry() CarriedRecord {
	c := CarriedRecord{Record: *r, Written: r.Written, TimesAsked: r.timesAsked, AnsweredBy: r.answeredBy,
		AwaitingLLM: r.awaitingLLM(), ResultPending: r.phase == resultPending, Approved: r.phase == approved}
	if r.ready != nil {
		c.Ready = &CarriedReady{Params: r.ready.Params, Scopes: r.ready.Scopes}
	}
	return c
}

// Origin returns what the Instance was started with, which Restore takes beside what was carried.
func (i *Instance) Origin() (palette ideafile.Palette, context []ideafile.Message, token string) {
	return i.palette, i.context[:i.baseMessages], i.token
}

// Restore rebuilds an Instance from Carried. Palette, context and token must be those that it was started with.
func Restore(palette ideafile.Palette, context []ideafile.Message, token string, c Carried) *Instance {
	i := New(palette, context, token)
	for _, raw := range c.Context {
		if m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems)); ok {
			i.context = append(i.context[:len(i.context):len(i.context)], m)
		}
	}
	i.deriveContextView()
	i.state = statelog.Resume(i.state.Initial, c.Writes)
	for _, n := range c.OpenRequests {
		i.openRequests[n] = true
	}
	i.unreportedWrites, i.closedThrough, i.now, i.overdueFault = c.Unreported, c.ClosedThrough, c.Now, c.Overdue
	i.correctionCount, i.planStarted = c.Corrections, c.PlanStarted
	for _, rec := range c.Records {
		i.records = append(i.records, i.restoreRecord(rec))
	}
	return i
}

// restoreRecord rebuilds a Record; admit derives again what the Call reads.
func (i *Instance) restoreRecord(c CarriedRecord) *Record {
	rec := c.Record
	rec.Written, rec.phase, rec.timesAsked, rec.answeredBy = c.Written, c.restorePhase(), c.TimesAsked, c.AnsweredBy
	_ = i.admitCall(&rec)
	if c.Ready != nil {
		rec.ready = &ReadyCall{
			Record: &rec, Tool: ideafile.FindTool(i.palette.Tools, rec.Tool), Binding: i.palette.Bindings[rec.Tool],
			Params: c.Ready.Params, Scopes: c.Ready.Scopes,
		}
	}
	return &rec
}

// restorePhase tells apart the phases that share a status.
func (c CarriedRecord) restorePhase() phase {
	switch {
	case c.Status.Ended():
		return ended
	case c.Status == ideafile.AwaitingApproval:
		return reviewing
	case c.ResultPending:
		return resultPending
	case c.Status == ideafile.Running:
		return running
	case c.AwaitingLLM && c.Adapted != nil && !c.Adapted.Answered():
		return adapting
	case c.AwaitingLLM:
		return askingLLM
	case c.Approved:
		return approved
	case c.Adapted.Answered():
		return adapted
	}
	return waiting
}
