package model

import "time"

// CarriedRun is all that a Run is beyond what it began with, in a form that JSON keeps: its workflow begins again from it
// where its history has grown long.
type CarriedRun struct {
	// Context is the Messages that people corrected it by.
	Context []any `json:"context,omitempty"`
	// Writes are in Plan order; Fresh those that NewWrites has not given yet.
	Writes  []Write         `json:"writes,omitempty"`
	Fresh   []Write         `json:"fresh,omitempty"`
	Records []CarriedRecord `json:"records,omitempty"`
	Open    []int           `json:"open,omitempty"`
	Closed  int             `json:"closed,omitempty"`
	Now     time.Time       `json:"now,omitzero"`
	Overdue *Fault          `json:"overdue,omitempty"`

	Corrections int  `json:"corrections,omitempty"`
	Begun       bool `json:"begun,omitempty"`
}

// CarriedRecord is a Record with what only its Run knows of it.
type CarriedRecord struct {
	Record
	Written any `json:"written,omitempty"`
	// Ready is the Call as it was shown to a person, or started; nil where it was neither.
	Ready   *CarriedReady `json:"ready,omitempty"`
	Cleared bool          `json:"cleared,omitempty"`
	Asked   int           `json:"asked,omitempty"`
	Author  string        `json:"author,omitempty"`
}

// CarriedReady is what a Ready holds that its Record does not say.
type CarriedReady struct {
	Params map[string]any `json:"params"`
	Scopes map[string]any `json:"scopes,omitempty"`
}

// Carry gives the Run in a form that ResumeRun takes.
func (r *Run) Carry() CarriedRun {
	c := CarriedRun{
		Writes: r.state.Writes(), Fresh: r.fresh, Open: sortedIndexes(r.open), Closed: r.closed, Now: r.now, Overdue: r.overdue,
		Corrections: r.corrections, Begun: r.begun,
	}
	for _, m := range r.context[r.given:] {
		c.Context = append(c.Context, m.Source)
	}
	for _, rec := range r.records {
		c.Records = append(c.Records, rec.carry())
	}
	return c
}

func (r *Record) carry() CarriedRecord {
	c := CarriedRecord{Record: *r, Written: r.Written, Cleared: r.cleared, Asked: r.asked, Author: r.author}
	if r.ready != nil {
		c.Ready = &CarriedReady{Params: r.ready.Params, Scopes: r.ready.Scopes}
	}
	return c
}

// Origin gives what the Run began with: what ResumeRun takes beside what was carried.
func (r *Run) Origin() (palette Palette, context []Message, token string) {
	return r.palette, r.context[:r.given], r.token
}

// ResumeRun goes on with a Run. Palette, context and token are those that it began with.
func ResumeRun(palette Palette, context []Message, token string, c CarriedRun) *Run {
	r := NewRun(palette, context, token)
	for _, raw := range c.Context {
		if m, ok := ReadMessage(raw, "", new(Problems)); ok {
			r.context = append(r.context[:len(r.context):len(r.context)], m)
		}
	}
	r.look()
	r.state = resumeState(r.state.start, c.Writes)
	for _, n := range c.Open {
		r.open[n] = true
	}
	r.fresh, r.closed, r.now, r.overdue, r.corrections, r.begun = c.Fresh, c.Closed, c.Now, c.Overdue, c.Corrections, c.Begun
	for _, rec := range c.Records {
		r.records = append(r.records, r.resume(rec))
	}
	return r
}

// resume goes on with a Call. What it reads follows from how it is written.
func (r *Run) resume(c CarriedRecord) *Record {
	rec := c.Record
	rec.Written, rec.cleared, rec.asked, rec.author = c.Written, c.Cleared, c.Asked, c.Author
	_ = r.admit(&rec)
	if c.Ready != nil {
		rec.ready = &Ready{
			Record: &rec, Tool: findTool(r.palette.Tools, rec.Tool), Binding: r.palette.Bindings[rec.Tool],
			Params: c.Ready.Params, Scopes: c.Ready.Scopes,
		}
	}
	return &rec
}

// Started gives a Call that Next has given before, as it was given.
func (r *Run) Started(id string) Ready {
	if rec := r.Find(id); rec != nil && rec.ready != nil {
		return *rec.ready
	}
	return Ready{}
}
