package policy_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/modeltest"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, text string) (p policy.ReminderRules, ps diag.Problems) {
	t.Helper()
	m := modeltest.DecodeJSON(t, text).(map[string]any)
	for _, k := range []string{"remind", "escalate"} {
		if v, has := m[k]; has {
			p.ReadKey(k, v, "$."+k, &ps)
		}
	}
	return p, ps
}

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"remind": ["4h", "24h"], "escalate": {"after": "48h", "by": {"groups": ["heads"]}}}`: "",
		`{"remind": [3600]}`: "",
		`{"remind": "4h"}`:   `$.remind: want a list of 1 to 20 durations`,
		`{"remind": []}`:     `$.remind: want a list of 1 to 20 durations`,
		`{"remind": ["1s","2s","3s","4s","5s","6s","7s","8s","9s","10s","11s","12s","13s","14s","15s","16s","17s","18s","19s","20s","21s"]}`: `want a list of 1 to 20`,
		`{"remind": ["4 hours"]}`:                                                                 `$.remind[0]: want a duration`,
		`{"remind": ["4h", "-1h"]}`:                                                               `$.remind[1]: want a duration`,
		`{"remind": ["24h", "4h"]}`:                                                               `$.remind[1]: 4h0m0s is not after the reminder before it`,
		`{"remind": ["4h", "240m"]}`:                                                              `$.remind[1]: 4h0m0s is not after`,
		`{"remind": ["1000000h"]}`:                                                                `$.remind[0]: want a duration from 1ms to 10 years`,
		`{"escalate": "48h"}`:                                                                     `$.escalate: want {"after": "48h"`,
		`{"escalate": {"by": {"groups": ["heads"]}}}`:                                             `$.escalate.after: want a duration`,
		`{"escalate": {"after": "soon", "by": {"groups": ["heads"]}}}`:                            `$.escalate.after: want a duration`,
		`{"escalate": {"after": "48h"}}`:                                                          `$.escalate.by: want the people who may decide then`,
		`{"escalate": {"after": "48h", "by": {}}}`:                                                `$.escalate.by: it is empty`,
		`{"escalate": {"after": "48h", "by": {"groups": []}}}`:                                    `$.escalate.by.groups: want a list of 1 to 1000 names`,
		`{"escalate": {"after": "48h", "by": {"groups": ["heads"], "count": 1}}}`:                 `$.escalate.by.count: unknown key "count"; escalate.by has groups and people`,
		`{"escalate": {"after": "48h", "by": {"groups": ["heads"], "notStarter": false}}}`:        `$.escalate.by.notStarter: unknown key`,
		`{"escalate": {"after": "48h", "by": {"groups": ["heads"]}, "proof": "declared"}}`:        `$.escalate.proof: unknown key "proof"; escalate has after and by`,
		`{"escalate": {"after": "48h", "by": {"people": ["ann", "ann "]}}}`:                       `is listed twice`,
		`{"escalate": {"aftr": "48h", "after": "48h", "by": {"people": ["ann"], "groups": [7]}}}`: `$.escalate.aftr: unknown key "aftr"`,
	} {
		p, ps := read(t, text)
		if got := ps.Error(); (want == "") != (len(ps) == 0) || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if want != "" && p.Escalation != nil {
			t.Errorf("%s lets %+v decide", text, p.Escalation)
		}
	}
}

func TestWhatNeverHappensIsSaid(t *testing.T) {
	t.Parallel()
	p, _ := read(t, `{"remind": ["4h", "72h"], "escalate": {"after": "80h", "by": {"groups": ["heads"]}}}`)
	var ps diag.Problems
	p.Check(&policy.DeciderRule{Groups: []string{"finance"}}, 72*time.Hour, "$._approval", &ps)
	if len(ps.Errors()) != 2 || !strings.Contains(ps.Error(), "$._approval.remind[1]: it never happens") ||
		!strings.Contains(ps.Error(), "$._approval.escalate.after: it never happens") {
		t.Error(ps)
	}
	ps = nil
	p.Check(&policy.DeciderRule{RequiredApprovalCount: 2}, 0, "$._approval", &ps)
	if len(ps.Errors()) != 0 || len(ps) != 1 ||
		!strings.Contains(ps.Error(), "it has no effect: without people or groups in by") {
		t.Error(ps)
	}
}

func schedule(t *testing.T, text string) *policy.ReminderSchedule {
	t.Helper()
	p, ps := read(t, text)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	var g policy.RemindersByRule
	g.Add(p, 0)
	return g.Schedule(noon)
}

func TestPeopleAreRemindedOnceForAllThatIsDue(t *testing.T) {
	t.Parallel()
	s := schedule(t, `{"remind": ["1h", "2h", "4h"]}`)
	if next, ok := s.NextDueTime(); !ok || !next.Equal(noon.Add(time.Hour)) {
		t.Error(next, ok)
	}
	early, _ := s.AdvancedTo(noon.Add(time.Hour-1), nil)
	if early != s || early.NotificationProgressKey() != "" || early.SentNotifications() != nil {
		t.Errorf("%+v", early)
	}
	// Nobody worked for three hours: two reminders are due, and people are told once.
	late, _ := s.AdvancedTo(noon.Add(3*time.Hour), nil)
	if late.NotificationProgressKey() != "r1e0" || s.NotificationProgressKey() != "" ||
		!late.SentReminderTimes[0].Equal(noon.Add(3*time.Hour)) {
		t.Errorf("%+v, and what was before %+v", late, s)
	}
	if next, ok := late.NextDueTime(); !ok || !next.Equal(noon.Add(4*time.Hour)) {
		t.Error(next, ok)
	}
	last, _ := late.AdvancedTo(noon.Add(4*time.Hour), nil)
	if _, ok := last.NextDueTime(); ok || last.NotificationProgressKey() != "r2e0" ||
		last.SentNotifications().String() != "reminded twice" {
		t.Errorf("%+v", last)
	}
}

func TestAnEscalationAddsPeopleAndLoosensNothingElse(t *testing.T) {
	t.Parallel()
	s := schedule(t, `{"escalate": {"after": "48h", "by": {"groups": ["heads", "Finance"], "people": ["eve"]}}}`)
	other := policy.DeciderRule{People: []string{"zoe"}}
	rules := policy.DeciderRules{{Groups: []string{"finance"}, RequiredApprovalCount: 2, ExcludesStarter: true,
		CallsWithExcludedDeciders: []string{"1.1"},
		RequiresSignature:         true}, other}
	after, widened := s.AdvancedTo(noon.Add(48*time.Hour), rules)
	want := policy.DeciderRule{Groups: []string{"finance", "heads"}, People: []string{"eve"}, RequiredApprovalCount: 2,
		ExcludesStarter:           true,
		CallsWithExcludedDeciders: []string{"1.1"}, RequiresSignature: true}
	if got := widened[0]; !slices.Equal(got.Groups, want.Groups) || !slices.Equal(got.People, want.People) ||
		got.RequiredApprovalCount != 2 || !got.ExcludesStarter || !got.RequiresSignature ||
		len(got.CallsWithExcludedDeciders) != 1 {
		t.Errorf("%+v", got)
	}
	if len(rules[0].Groups) != 1 || len(widened[1].People) != 1 {
		t.Errorf("what was before is %+v, the other rule %+v", rules, widened[1])
	}
	if again, rules := after.AdvancedTo(noon.Add(100*time.Hour), widened); again != after || len(rules[0].Groups) != 2 {
		t.Errorf("it happens again: %+v", again)
	}
	if after.SentNotifications().String() != "escalated to eve and people of heads, Finance" {
		t.Error(after.SentNotifications())
	}
	// Where anybody may decide, nobody becomes the only one who may.
	if _, open := s.AdvancedTo(noon.Add(48*time.Hour),
		policy.DeciderRules{{RequiredApprovalCount: 2}}); len(open[0].Groups)+
		len(open[0].People) != 0 {
		t.Errorf("%+v", open)
	}
	// One that stands beside no rule changes none.
	var g policy.RemindersByRule
	p, _ := read(t, `{"escalate": {"after": "1h", "by": {"groups": ["heads"]}}}`)
	g.Add(p, -1)
	if _, same := g.Schedule(noon).AdvancedTo(noon.Add(time.Hour), rules); len(same[0].Groups) != 1 {
		t.Errorf("%+v", same)
	}
}

func TestAScheduleTravels(t *testing.T) {
	t.Parallel()
	s, rules := schedule(t, `{"remind": ["1h", "2h"], "escalate": {"after": "1h", "by": {"groups": ["heads"]}}}`).AdvancedTo(
		noon.Add(time.Hour), policy.DeciderRules{{Groups: []string{"finance"}}})
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back *policy.ReminderSchedule
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if _, same := back.AdvancedTo(noon.Add(time.Hour), rules); back.NotificationProgressKey() != "r1e1" ||
		len(same[0].Groups) != 2 {
		t.Errorf("%s: %+v", data, same)
	}
	format := func(at time.Time) string { return at.Format("15:04") }
	if got := strings.Join(back.DescriptionLines(format),
		"; "); got != "people were reminded once, last at 13:00; the next reminder is at 14:00; since 13:00 people "+
		"of heads may decide too" {
		t.Error(got)
	}
	var none *policy.ReminderSchedule
	if _, ok := none.NextDueTime(); ok || none.NotificationProgressKey() != "" ||
		none.DescriptionLines(format) != nil || none.SentNotifications().String() != "" {
		t.Error("nothing is to happen, and something does")
	}
}
