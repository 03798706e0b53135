package policy

import (
	"fmt"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// WhileWaiting is the part of an approval policy for the time in which nobody decides: its keys `remind` and
// `escalate`. The zero WhileWaiting does nothing.
type WhileWaiting struct {
	// RemindAfter are the times from the beginning of the wait to each reminder, ascending.
	RemindAfter []time.Duration `json:"remindAfter,omitempty"`
	Escalation  *Escalation     `json:"escalation,omitempty"`
}

// Escalation lets others decide too on a Call that has waited for a time.
type Escalation struct {
	After time.Duration `json:"after"`
	// To names the additional deciders: only Groups and People of this Rule are used.
	To Rule `json:"by"`
}

// maxReminders bounds the reminders of one policy.
const maxReminders = 20

// IsZero reports whether the policy does nothing.
func (p WhileWaiting) IsZero() bool { return len(p.RemindAfter) == 0 && p.Escalation == nil }

// ReadKey reads `remind`, ["4h", "24h"], or `escalate`, {"after": "48h", "by": {"groups", "people"}}. A value that
// cannot be read is dropped: it must not let anybody decide.
func (p *WhileWaiting) ReadKey(key string, v any, path string, ps *diag.Problems) {
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
		at := fmt.Sprintf("%s[%d]", path, n)
		after, err := jsonval.ReadDuration(raw)
		switch {
		case err != nil:
			ps.Add(at, "%s", err)
		case n > 0 && len(p.RemindAfter) == n && after <= p.RemindAfter[n-1]:
			ps.Add(
				at,
				"%s is not after the reminder before it, %s: every duration counts from when the Call began to wait",
				after, p.RemindAfter[n-1])
		default:
			p.RemindAfter = append(p.RemindAfter, after)
		}
	}
}

func readEscalation(v any, path string, ps *diag.Problems) *Escalation {
	m, ok := v.(jsonval.Object)
	if !ok {
		ps.Add(path, `want {"after": "48h", "by": {"groups": ["heads"]}}, not %s`, jsonval.TypeOf(v))
		return nil
	}
	e, wrong := &Escalation{}, diag.Problems{}
	for k := range jsonval.Sorted(m) {
		if k != "after" && k != "by" {
			wrong.Add(jsonval.JSONPathWithKey(path, k), "unknown key %q; escalate has after and by%s",
				jsonval.ClipForError(k), diag.DidYouMean(k, []string{"after", "by"}))
		}
	}
	var err error
	if e.After, err = jsonval.ReadDuration(m["after"]); err != nil {
		wrong.Add(path+".after", "%s", err)
	}
	names, isObject := m["by"].(jsonval.Object)
	if !isObject {
		wrong.Add(path+".by", `want the people who may decide then: {"groups": ["heads"], "people": `+
			`["ann@example.com"]}`)
	}
	for k := range jsonval.Sorted(names) {
		if k != "groups" && k != "people" {
			wrong.Add(jsonval.JSONPathWithKey(path+".by", k), "unknown key %q; escalate.by has groups and people "+
				"only: an escalation changes neither how many must decide nor who may not", jsonval.ClipForError(k))
		}
	}
	if len(wrong) == 0 {
		e.To = *ReadRule(names, path+".by", &wrong)
	}
	for _, p := range wrong {
		ps.Add(p.JSONPath, "%s", p.Message)
	}
	if len(wrong) > 0 {
		return nil
	}
	return e
}

// Check reports the parts of a policy that can never take effect. rule says who may decide anyway; timeout is when the
// waiting ends by itself, 0: never.
func (p WhileWaiting) Check(rule *Rule, timeout time.Duration, path string, ps *diag.Problems) {
	for n, after := range p.RemindAfter {
		if timeout > 0 && after >= timeout {
			ps.Add(fmt.Sprintf("%s.remind[%d]", path, n), "it never happens: nobody is waited for after %s", timeout)
		}
	}
	e := p.Escalation
	if e == nil {
		return
	}
	if timeout > 0 && e.After >= timeout {
		ps.Add(path+".escalate.after", "it never happens: nobody is waited for after %s", timeout)
	}
	if rule == nil || len(rule.Groups)+len(rule.People) == 0 {
		ps.Warn(path+".escalate.by",
			"it has no effect: without people or groups in by, anyone may already decide")
	}
}
