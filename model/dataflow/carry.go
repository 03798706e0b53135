package dataflow

import (
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// CarriedRun is all that a Run is beyond what it began with, in a form that JSON keeps: its workflow begins again from it
// where its history has grown long.
type Carried struct {
	// Context is the Messages that people corrected it by.
	Context []any `json:"context,omitempty"`
	// Writes are in Plan order; Fresh those that NewWrites has not given yet.
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

// CarriedRecord is a Record with what only its Run knows of it.
type CarriedRecord struct {
	Record
	Written ideafile.WrittenCall `json:"written,omitzero"`
	// Ready is the Call as it was shown to a person, or started; nil where it was neither.
	Ready *CarriedReady `json:"ready,omitempty"`
	// Of the phases that one status has: asking, which is fitting too, landing, and approved.
	AwaitingLLM bool   `json:"asking,omitempty"`
	ResultPending     bool   `json:"arrived,omitempty"`
	Approved    bool   `json:"cleared,omitempty"`
	TimesAsked       int    `json:"asked,omitempty"`
	AnsweredBy      string `json:"author,omitempty"`
}

// CarriedReady is what a Ready holds that its Record does not say.
type CarriedReady struct {
	Params map[string]any `json:"params"`
	Scopes map[string]any `json:"scopes,omitempty"`
}

// Carry gives the Run in a form that ResumeRun takes.
func (r *Instance) Carry() Carried {
	c := Carried{
		Writes: r.state.Writes(), Unreported: r.unreported, OpenRequests: jsonval.SortedIndexes(r.openRequests), ClosedThrough: r.closedThrough, Now: r.now, Overdue: r.overdue,
		Corrections: r.corrections, PlanStarted: r.planStarted,
	}
	for _, m := range r.context[r.baseMessages:] {
		c.Context = append(c.Context, m.Source)
	}
	for _, rec := range r.records {
		c.Records = append(c.Records, rec.carry())
	}
	return c
}

func (r *Record) carry() CarriedRecord {
	c := CarriedRecord{Record: *r, Written: r.Written, TimesAsked: r.asked, AnsweredBy: r.author,
		AwaitingLLM: r.awaitingLLM(), ResultPending: r.phase == landing, Approved: r.phase == approved}
	if r.ready != nil {
		c.Ready = &CarriedReady{Params: r.ready.Params, Scopes: r.ready.Scopes}
	}
	return c
}

// Origin gives what the Run began with: what ResumeRun takes beside what was carried.
func (r *Instance) Origin() (palette ideafile.Palette, context []ideafile.Message, token string) {
	return r.palette, r.context[:r.baseMessages], r.token
}

// ResumeRun goes on with a Run. Palette, context and token are those that it began with.
func Restore(palette ideafile.Palette, context []ideafile.Message, token string, c Carried) *Instance {
	r := New(palette, context, token)
	for _, raw := range c.Context {
		if m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems)); ok {
			r.context = append(r.context[:len(r.context):len(r.context)], m)
		}
	}
	r.look()
	r.state = statelog.Resume(r.state.Initial, c.Writes)
	for _, n := range c.OpenRequests {
		r.openRequests[n] = true
	}
	r.unreported, r.closedThrough, r.now, r.overdue, r.corrections, r.planStarted = c.Unreported, c.ClosedThrough, c.Now, c.Overdue, c.Corrections, c.PlanStarted
	for _, rec := range c.Records {
		r.records = append(r.records, r.resume(rec))
	}
	return r
}

// resume goes on with a Call. What it reads follows from how it is written.
func (r *Instance) resume(c CarriedRecord) *Record {
	rec := c.Record
	rec.Written, rec.phase, rec.asked, rec.author = c.Written, c.phaseOf(), c.TimesAsked, c.AnsweredBy
	_ = r.admit(&rec)
	if c.Ready != nil {
		rec.ready = &ReadyCall{
			Record: &rec, Tool: ideafile.FindTool(r.palette.Tools, rec.Tool), Binding: r.palette.Bindings[rec.Tool],
			Params: c.Ready.Params, Scopes: c.Ready.Scopes,
		}
	}
	return &rec
}

// phase tells the phases of one status apart.
func (c CarriedRecord) phaseOf() phase {
	switch {
	case c.Status.Ended():
		return ended
	case c.Status == ideafile.AwaitingApproval:
		return reviewing
	case c.ResultPending:
		return landing
	case c.Status == ideafile.Running:
		return running
	case c.AwaitingLLM && c.Adapted != nil && !c.Adapted.Answered():
		return fitting
	case c.AwaitingLLM:
		return asking
	case c.Approved:
		return approved
	case c.Adapted.Answered():
		return fitted
	}
	return waiting
}

// StartedCall gives a Call that Next has given before, as it was given.
func (r *Instance) StartedCall(id string) ReadyCall {
	if rec := r.FindCall(id); rec != nil && rec.ready != nil {
		return *rec.ready
	}
	return ReadyCall{}
}
