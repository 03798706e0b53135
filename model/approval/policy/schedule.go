package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/jsonval"
)

// ReminderSchedule holds what is due, and what was done, while one Call waits; nil: nothing. It is never changed, only
// replaced, so that copies stay valid.
type ReminderSchedule struct {
	// ReminderTimes are the reminders to come, and SentReminderTimes when people were reminded.
	ReminderTimes     []time.Time         `json:"remindAt,omitempty"`
	SentReminderTimes []time.Time         `json:"reminded,omitempty"`
	Escalations       []PlannedEscalation `json:"escalations,omitempty"`
}

// PlannedEscalation is an escalation of one Call.
type PlannedEscalation struct {
	DueAt time.Time `json:"at"`
	// AddedDeciders names the people who may decide too from then on. RuleIndex is the index of the Call's rule that
	// they are added to; -1: none, because anybody may decide.
	AddedDeciders DeciderRule `json:"by"`
	RuleIndex     int         `json:"rule"`
	// DoneAt is when it happened; zero: not yet.
	DoneAt time.Time `json:"done,omitzero"`
}

// RemindersByRule are the policies for the Calls of one Tool, each with the index of the Rule that it belongs to.
type RemindersByRule []ruleReminders

type ruleReminders struct {
	ReminderRules
	ruleIndex int
}

// Add adds a policy; ruleIndex is the index of the Rule that it belongs to, or -1.
func (g *RemindersByRule) Add(p ReminderRules, ruleIndex int) {
	if !p.IsZero() {
		*g = append(*g, ruleReminders{p, ruleIndex})
	}
}

// Schedule returns the Schedule of a Call that begins to wait; nil if nothing is to happen.
func (g RemindersByRule) Schedule(since time.Time) *ReminderSchedule {
	if len(g) == 0 {
		return nil
	}
	s := &ReminderSchedule{}
	for _, p := range g {
		for _, delay := range p.ReminderDelays {
			s.ReminderTimes = append(s.ReminderTimes, since.UTC().Add(delay))
		}
		if e := p.Escalation; e != nil {
			s.Escalations = append(s.Escalations,
				PlannedEscalation{DueAt: since.UTC().Add(e.Delay), AddedDeciders: e.AddedDeciders,
					RuleIndex: p.ruleIndex})
		}
	}
	slices.SortFunc(s.ReminderTimes, time.Time.Compare)
	s.ReminderTimes = slices.CompactFunc(s.ReminderTimes, time.Time.Equal)
	return s
}

// EscalatedRules returns who may decide once every escalation has come.
func (g RemindersByRule) EscalatedRules(rules DeciderRules) DeciderRules {
	_, rules = g.Schedule(time.Time{}).AdvancedTo(time.Time{}.Add(2*jsonval.MaxDuration), rules)
	return rules
}

// NextDueTime returns when the next reminder or escalation is due; ok is false if none is.
func (s *ReminderSchedule) NextDueTime() (next time.Time, ok bool) {
	if s == nil {
		return next, false
	}
	times := slices.Clone(s.ReminderTimes)
	for _, e := range s.Escalations {
		if e.DoneAt.IsZero() {
			times = append(times, e.DueAt)
		}
	}
	if len(times) == 0 {
		return next, false
	}
	return slices.MinFunc(times, time.Time.Compare), true
}

// AdvancedTo returns the Schedule, and who may decide, once all that is due at a moment has happened.
func (s *ReminderSchedule) AdvancedTo(now time.Time, rules DeciderRules) (*ReminderSchedule, DeciderRules) {
	if next, ok := s.NextDueTime(); !ok || now.Before(next) {
		return s, rules
	}
	advancedSchedule := ReminderSchedule{SentReminderTimes: slices.Clone(s.SentReminderTimes),
		Escalations: slices.Clone(s.Escalations)}
	dueReminderCount := 0
	for dueReminderCount < len(s.ReminderTimes) && !now.Before(s.ReminderTimes[dueReminderCount]) {
		dueReminderCount++
	}
	if advancedSchedule.ReminderTimes = s.ReminderTimes[dueReminderCount:]; dueReminderCount > 0 {
		advancedSchedule.SentReminderTimes = append(advancedSchedule.SentReminderTimes, now.UTC())
	}
	for n := range advancedSchedule.Escalations {
		e := &advancedSchedule.Escalations[n]
		if !e.DoneAt.IsZero() || now.Before(e.DueAt) {
			continue
		}
		e.DoneAt = now.UTC()
		if e.RuleIndex >= 0 && e.RuleIndex < len(rules) {
			rules = slices.Clone(rules)
			rules[e.RuleIndex] = rules[e.RuleIndex].WithAddedDeciders(e.AddedDeciders)
		}
	}
	return &advancedSchedule, rules
}

// NotificationRecord records how people were notified while a Call waited. The record of a decision keeps it.
type NotificationRecord struct {
	SentReminderTimes []time.Time `json:"reminded,omitempty"`
	// Escalations are the escalations that had happened.
	Escalations []PlannedEscalation `json:"escalated,omitempty"`
}

// SentNotifications returns how people were notified so far; nil: not at all.
func (s *ReminderSchedule) SentNotifications() *NotificationRecord {
	if s == nil {
		return nil
	}
	t := NotificationRecord{SentReminderTimes: s.SentReminderTimes}
	for _, e := range s.Escalations {
		if !e.DoneAt.IsZero() {
			t.Escalations = append(t.Escalations, e)
		}
	}
	if len(t.SentReminderTimes)+len(t.Escalations) == 0 {
		return nil
	}
	return &t
}

// WasEscalatedTo reports whether an escalation after a moment has let a person decide.
func (s *ReminderSchedule) WasEscalatedTo(p Person, since time.Time) bool {
	return s != nil && slices.ContainsFunc(s.Escalations, func(e PlannedEscalation) bool {
		return e.DoneAt.After(since) && e.AddedDeciders.denialReason(p, nil, nil) == ""
	})
}

// NotificationProgressKey identifies the progress of a Schedule; "" before anything has happened.
func (s *ReminderSchedule) NotificationProgressKey() string {
	sentNotifications := s.SentNotifications()
	if sentNotifications == nil {
		return ""
	}
	return fmt.Sprintf("r%de%d", len(sentNotifications.SentReminderTimes), len(sentNotifications.Escalations))
}

// DescriptionLines describe what has happened and what happens next; format formats a time.
func (s *ReminderSchedule) DescriptionLines(formatTime func(time.Time) string) (lines []string) {
	if s == nil {
		return nil
	}
	if n := len(s.SentReminderTimes); n > 0 {
		lines = append(lines, fmt.Sprintf("people were reminded %s, last at %s", timesWord(n),
			formatTime(s.SentReminderTimes[n-1])))
	}
	if len(s.ReminderTimes) > 0 {
		lines = append(lines, "the next reminder is at "+formatTime(s.ReminderTimes[0]))
	}
	for _, e := range s.Escalations {
		deciders := DeciderRules{e.AddedDeciders}.String()
		if e.DoneAt.IsZero() {
			lines = append(lines, fmt.Sprintf("from %s %s may decide too", formatTime(e.DueAt), deciders))
		} else {
			lines = append(lines, fmt.Sprintf("since %s %s may decide too", formatTime(e.DoneAt), deciders))
		}
	}
	return lines
}

// String describes it: "reminded twice, escalated to people of heads".
func (t *NotificationRecord) String() string {
	if t == nil {
		return ""
	}
	var parts []string
	if n := len(t.SentReminderTimes); n > 0 {
		parts = append(parts, "reminded "+timesWord(n))
	}
	for _, e := range t.Escalations {
		parts = append(parts, "escalated to "+DeciderRules{e.AddedDeciders}.String())
	}
	return strings.Join(parts, ", ")
}

func timesWord(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
