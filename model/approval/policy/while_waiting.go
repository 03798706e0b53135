package policy

import (
	"fmt"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// ReminderRules is the part of an approval policy for the time in which nobody decides: its keys `remind` and
// `escalate`. The zero ReminderRules does nothing.
type ReminderRules struct {
	// ReminderDelays are the times from the beginning of the wait to each reminder, ascending.
	ReminderDelays []time.Duration `json:"remindAfter,omitempty"`
	Escalation     *Escalation     `json:"escalation,omitempty"`
}

// Escalation lets others decide too on a Call that has waited for a time.
type Escalation struct {
	Delay time.Duration `json:"after"`
	// AddedDeciders names the additional deciders: only Groups and People of this Rule are used.
	AddedDeciders DeciderRule `json:"by"`
}

// maxReminders bounds the reminders of one policy.
const maxReminders = 20

// IsZero reports whether the policy does nothing.
func (p ReminderRules) IsZero() bool { return len(p.ReminderDelays) == 0 && p.Escalation == nil }

// ReadKey reads `remind`, ["4h", "24h"], or `escalate`, {"after": "48h", "by": {"groups", "people"}}. A value that
// cannot be read is dropped: it must not let anybody decide.
func (p *ReminderRules) ReadKey(key string, v any, path string, ps *diag.Problems) {
	if key == "escalate" {
		p.Escalation = readEscalation(v, path, ps)
		return
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 || len(list) > maxReminders {
		ps.Add(path, `want a list of 1 to %d durations, such as ["4h", "24h"]`, maxReminders)
		return
	}
	for n, raw := range list {
		itemPath := fmt.Sprintf("%s[%d]", path, n)
		delay, err := jsonval.ReadDuration(raw)
		switch {
		case err != nil:
			ps.Add(itemPath, "%s", err)
		case n > 0 && len(p.ReminderDelays) == n && delay <= p.ReminderDelays[n-1]:
			ps.Add(
				itemPath,
				"%s is not after the reminder before it, %s: every duration counts from when the Call began to wait",
				delay, p.ReminderDelays[n-1])
		default:
			p.ReminderDelays = append(p.ReminderDelays, delay)
		}
	}
}

func readEscalation(v any, path string, ps *diag.Problems) *Escalation {
	m, ok := v.(jsonval.Object)
	if !ok {
		ps.Add(path, `want {"after": "48h", "by": {"groups": ["heads"]}}, not %s`, jsonval.TypeOf(v))
		return nil
	}
	e, problems := &Escalation{}, diag.Problems{}
	for k := range jsonval.Sorted(m) {
		if k != "after" && k != "by" {
			problems.Add(jsonval.JSONPathWithKey(path, k), "unknown key %q; escalate has after and by%s",
				jsonval.ClipForError(k), diag.DidYouMean(k, []string{"after", "by"}))
		}
	}
	var err error
	if e.Delay, err = jsonval.ReadDuration(m["after"]); err != nil {
		problems.Add(path+".after", "%s", err)
	}
	decidersObject, isObject := m["by"].(jsonval.Object)
	if !isObject {
		problems.Add(path+".by", `want the people who may decide then: {"groups": ["heads"], "people": `+
			`["ann@example.com"]}`)
	}
	for k := range jsonval.Sorted(decidersObject) {
		if k != "groups" && k != "people" {
			problems.Add(jsonval.JSONPathWithKey(path+".by", k), "unknown key %q; escalate.by has groups and people "+
				"only: an escalation changes neither how many must decide nor who may not", jsonval.ClipForError(k))
		}
	}
	if len(problems) == 0 {
		e.AddedDeciders = *ReadDeciderRule(decidersObject, path+".by", &problems)
	}
	for _, p := range problems {
		ps.Add(p.JSONPath, "%s", p.Message)
	}
	if len(problems) > 0 {
		return nil
	}
	return e
}

// Check reports the parts of a policy that can never take effect. rule says who may decide anyway; timeout is when the
// waiting ends by itself, 0: never.
func (p ReminderRules) Check(rule *DeciderRule, timeout time.Duration, path string, ps *diag.Problems) {
	for n, delay := range p.ReminderDelays {
		if timeout > 0 && delay >= timeout {
			ps.Add(fmt.Sprintf("%s.remind[%d]", path, n), "it never happens: nobody is waited for after %s", timeout)
		}
	}
	e := p.Escalation
	if e == nil {
		return
	}
	if timeout > 0 && e.Delay >= timeout {
		ps.Add(path+".escalate.after", "it never happens: nobody is waited for after %s", timeout)
	}
	if rule == nil || len(rule.Groups)+len(rule.People) == 0 {
		ps.Warn(path+".escalate.by",
			"it has no effect: without people or groups in by, anyone may already decide")
	}
}
