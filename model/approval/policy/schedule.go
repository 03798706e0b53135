package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/jsonval"
)

// Schedule holds what is due, and what was done, while one Call waits; nil: nothing. It is never changed, only
// replaced, so that copies stay valid.
type Schedule struct {
	// RemindAt are the reminders to come, and RemindedAt when people were reminded.
	RemindAt    []time.Time         `json:"remindAt,omitempty"`
	RemindedAt  []time.Time         `json:"reminded,omitempty"`
	Escalations []PlannedEscalation `json:"escalations,omitempty"`
}

// PlannedEscalation is an escalation of one Call.
type PlannedEscalation struct {
	At time.Time `json:"at"`
	// To names the people who may decide too from then on. Rule is the index of the Call's rule that they are added to;
	// -1: none, because anybody may decide.
	To   Rule `json:"by"`
	Rule int  `json:"rule"`
	// DoneAt is when it happened; zero: not yet.
	DoneAt time.Time `json:"done,omitzero"`
}

// Governing are the policies for the Calls of one Tool, each with the index of the Rule that it belongs to.
type Governing []governed

type governed struct {
	WhileWaiting
	rule int
}

// Add adds a policy; rule is the index of the Rule that it belongs to, or -1.
func (g *Governing) Add(p WhileWaiting, rule int) {
	if !p.IsZero() {
		*g = append(*g, governed{p, rule})
	}
}

// Schedule returns the Schedule of a Call that begins to wait; nil if nothing is to happen.
func (g Governing) Schedule(since time.Time) *Schedule {
	if len(g) == 0 {
		return nil
	}
	s := &Schedule{}
	for _, p := range g {
		for _, after := range p.RemindAfter {
			s.RemindAt = append(s.RemindAt, since.UTC().Add(after))
		}
		if e := p.Escalation; e != nil {
			s.Escalations = append(s.Escalations, PlannedEscalation{At: since.UTC().Add(e.After), To: e.To,
				Rule: p.rule})
		}
	}
	slices.SortFunc(s.RemindAt, time.Time.Compare)
	s.RemindAt = slices.CompactFunc(s.RemindAt, time.Time.Equal)
	return s
}

// EscalatedRules returns who may decide once every escalation has come.
func (g Governing) EscalatedRules(rules Rules) Rules {
	_, rules = g.Schedule(time.Time{}).AdvancedTo(time.Time{}.Add(2*jsonval.MaxDuration), rules)
	return rules
}

// Next returns when the next reminder or escalation is due; ok is false if none is.
func (s *Schedule) Next() (at time.Time, ok bool) {
	if s == nil {
		return at, false
	}
	times := slices.Clone(s.RemindAt)
	for _, e := range s.Escalations {
		if e.DoneAt.IsZero() {
			times = append(times, e.At)
		}
	}
	if len(times) == 0 {
		return at, false
	}
	return slices.MinFunc(times, time.Time.Compare), true
}

// AdvancedTo returns the Schedule, and who may decide, once all that is due at a moment has happened.
func (s *Schedule) AdvancedTo(now time.Time, rules Rules) (*Schedule, Rules) {
	if next, ok := s.Next(); !ok || now.Before(next) {
		return s, rules
	}
	after := Schedule{RemindedAt: slices.Clone(s.RemindedAt), Escalations: slices.Clone(s.Escalations)}
	due := 0
	for due < len(s.RemindAt) && !now.Before(s.RemindAt[due]) {
		due++
	}
	if after.RemindAt = s.RemindAt[due:]; due > 0 {
		after.RemindedAt = append(after.RemindedAt, now.UTC())
	}
	for n := range after.Escalations {
		e := &after.Escalations[n]
		if !e.DoneAt.IsZero() || now.Before(e.At) {
			continue
		}
		e.DoneAt = now.UTC()
		if e.Rule >= 0 && e.Rule < len(rules) {
			rules = slices.Clone(rules)
			rules[e.Rule] = rules[e.Rule].Widened(e.To)
		}
	}
	return &after, rules
}

// Notified records how people were notified while a Call waited. The record of a decision keeps it.
type Notified struct {
	RemindedAt []time.Time `json:"reminded,omitempty"`
	// Escalated are the escalations that had happened.
	Escalated []PlannedEscalation `json:"escalated,omitempty"`
}

// Notified returns how people were notified so far; nil: not at all.
func (s *Schedule) Notified() *Notified {
	if s == nil {
		return nil
	}
	t := Notified{RemindedAt: s.RemindedAt}
	for _, e := range s.Escalations {
		if !e.DoneAt.IsZero() {
			t.Escalated = append(t.Escalated, e)
		}
	}
	if len(t.RemindedAt)+len(t.Escalated) == 0 {
		return nil
	}
	return &t
}

// EscalatedTo reports whether an escalation after a moment has let a person decide.
func (s *Schedule) EscalatedTo(p Person, since time.Time) bool {
	return s != nil && slices.ContainsFunc(s.Escalations, func(e PlannedEscalation) bool {
		return e.DoneAt.After(since) && e.To.whyNot(p, nil, nil) == ""
	})
}

// Key identifies the progress of a Schedule; "" before anything has happened.
func (s *Schedule) Key() string {
	notified := s.Notified()
	if notified == nil {
		return ""
	}
	return fmt.Sprintf("r%de%d", len(notified.RemindedAt), len(notified.Escalated))
}

// Lines describe what has happened and what happens next; format formats a time.
func (s *Schedule) Lines(format func(time.Time) string) (lines []string) {
	if s == nil {
		return nil
	}
	if n := len(s.RemindedAt); n > 0 {
		lines = append(lines, fmt.Sprintf("people were reminded %s, last at %s", timesText(n),
			format(s.RemindedAt[n-1])))
	}
	if len(s.RemindAt) > 0 {
		lines = append(lines, "the next reminder is at "+format(s.RemindAt[0]))
	}
	for _, e := range s.Escalations {
		who := Rules{e.To}.String()
		if e.DoneAt.IsZero() {
			lines = append(lines, fmt.Sprintf("from %s %s may decide too", format(e.At), who))
		} else {
			lines = append(lines, fmt.Sprintf("since %s %s may decide too", format(e.DoneAt), who))
		}
	}
	return lines
}

// String describes it: "reminded twice, escalated to people of heads".
func (t *Notified) String() string {
	if t == nil {
		return ""
	}
	var parts []string
	if n := len(t.RemindedAt); n > 0 {
		parts = append(parts, "reminded "+timesText(n))
	}
	for _, e := range t.Escalated {
		parts = append(parts, "escalated to "+Rules{e.To}.String())
	}
	return strings.Join(parts, ", ")
}

func timesText(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
