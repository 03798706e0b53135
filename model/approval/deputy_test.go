package approval_test

import (
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/modeltest"
)

const annsDeputy = `"id": "d", "to": "bob", "by": "ann", "until": "2026-01-02T13:00:00Z"`

func TestADeputyHasANameAndAnEnd(t *testing.T) {
	t.Parallel()
	for payload, why := range map[string]string{
		annsDeputy + `, "from": "2026-01-02T12:00:00+01:00", "act": "1", "proof": "a.b.c"`: "",
		`"to": "bob", "until": "2026-01-02T13:00:00Z"`:                                     `"id" is missing`,
		`"id": "d", "by": "ann", "until": "2026-01-02T13:00:00Z"`:                          `"to" is missing`,
		`"id": "d", "to": "bob"`:                                                           `"until" is missing`,
		annsDeputy + `, "from": "2026-01-02T13:00:00Z"`:                                    `is not before "until"`,
		annsDeputy + `, "from": "monday"`:                                                  `"from" is a time such as`,
		annsDeputy + `, "tool": "pay"`:                                                     `unknown key "tool"`,
		`"id": "d", "to": "b\u200bob", "until": "2026-01-02T13:00:00Z"`:                    "invisible character",
		`"to": "bob", "id": "` + strings.Repeat("x", 101) + `"`:                            `longer than 100`,
	} {
		_, err := approval.ReadDeputyOrder(modeltest.DecodeJSON(t, `{`+payload+`}`).(map[string]any))
		if got := modeltest.ErrorText(err); !strings.Contains(got, why) || (why == "") != (err == nil) {
			t.Errorf("%s: %q, want %q", payload, got, why)
		}
	}
	o := deputy(t)
	for by, why := range map[string]string{"": `"by" is missing`, " BOB": "bob cannot be their own deputy", "ann": ""} {
		err := approval.CheckStandingOrder(o, policy.Person{Name: by}, nil, policy.Oversight{}, nil, noon, true)
		if got := modeltest.ErrorText(err); !strings.Contains(got, why) || (why == "") != (err == nil) {
			t.Errorf("%q: %v", by, err)
		}
	}
	if err := approval.CheckStandingOrder(o, policy.Person{Name: "ann"}, nil, policy.Oversight{}, nil,
		noon.Add(time.Hour), true); err == nil {
		t.Error("its time is past")
	}
}

func deputy(t *testing.T) approval.StandingOrder {
	t.Helper()
	o, err := approval.ReadDeputyOrder(modeltest.DecodeJSON(t, `{`+annsDeputy+`}`).(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// told is a Call that was told of a deputy as an order says.
func told(t *testing.T, p approval.PendingCall, o approval.StandingOrder) approval.PendingCall {
	t.Helper()
	d, err := approval.ReadDecision(approval.SteerDeputy, o.ApprovalPayload(p))
	if err != nil {
		t.Fatal(err)
	}
	p.Remarks = append(p.Remarks, d)
	return p
}

func TestEveryCallThatWaitsIsToldOnceOfADeputyAndOfTheEnd(t *testing.T) {
	t.Parallel()
	l := &approval.StandingOrders{}
	if err := l.Add(deputy(t), policy.Person{Name: "ann"}, noon); err != nil {
		t.Fatal(err)
	}
	closed := waits(t, 2, "1")
	closed.AllowedDecisions = []string{policy.Approve, approval.Ask}
	list := []approval.PendingCall{waits(t, 1, "1"), closed}
	first := l.ApproveCovered("①", list, nil, noon)
	if got := approved(first); got != "d 1.1" || first[0].Order.DeputyName != "bob" {
		t.Fatal(got)
	}
	if got := approved(l.ApproveCovered("①", list, nil, noon)); got != "" {
		t.Errorf("told again: %s", got)
	}
	list[0] = told(t, list[0], first[0].Order)
	again := list[0]
	again.TimesAsked++
	again.SetDigest()
	if got := approved(l.ApproveCovered("①", []approval.PendingCall{again}, nil, noon)); got != "" {
		t.Errorf("a Call that was told is told again: %s", got)
	}
	if got := approved(l.ApproveCovered("②", list[1:], nil, noon.Add(time.Hour))); got != "" {
		t.Errorf("told after its time: %s", got)
	}
	if got := approved(l.ApproveCovered("①", []approval.PendingCall{waits(t, 3, "1")}, nil, noon)); got != "d 1.3" {
		t.Errorf("a Call that waits later: %s", got)
	}
	_ = l.End("d", approval.OrderEnding{EndedBy: "ann", EndedAt: noon.Add(time.Minute)})
	end := l.ApproveCovered("①", []approval.PendingCall{list[0], waits(t, 4, "1")}, nil, noon.Add(time.Minute))
	if got := approved(end); got != "d 1.1" || !end[0].Order.Until.Equal(noon.Add(time.Minute)) {
		t.Errorf("the end: %s", got)
	}
	if got := approved(l.ApproveCovered("①", list[:1], nil, noon.Add(time.Minute))); got != "" {
		t.Errorf("told of the end again: %s", got)
	}
	if got := approved(l.ApproveCovered("①", []approval.PendingCall{told(t, list[0], end[0].Order)}, nil,
		noon)); got != "" {
		t.Errorf("told of the end again, once it is known: %s", got)
	}
}

func TestPeopleAreNotifiedOfADeputy(t *testing.T) {
	t.Parallel()
	n := told(t, waits(t, 1, "1"), deputy(t)).Notice("①")
	if n.RemarkCount != 1 || n.Remark.String() != "bob may decide in place of ann until 2026-01-02T13:00:00Z" {
		t.Errorf("%+v", n)
	}
}

// A Call is told of a deputy where the giver may decide on it, and not before.
func TestACallIsToldOfTheDeputyOfWhoMayDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule policy.DeciderRule
		want string
	}{
		"who may":          {policy.DeciderRule{People: []string{"ann"}}, "d 1.1"},
		"who is not named": {policy.DeciderRule{People: []string{"bob"}}, ""},
		"the starter":      {policy.DeciderRule{ExcludesStarter: true}, ""},
	} {
		l := &approval.StandingOrders{}
		if err := l.Add(deputy(t), policy.Person{Name: "ann"}, noon); err != nil {
			t.Fatal(err)
		}
		p := waits(t, 1, "1", c.rule)
		if got := approved(l.ApproveCovered("①", []approval.PendingCall{p}, policy.IdentitiesNamed("ann"),
			noon)); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
		p.Deciders = policy.DeciderRules{{People: []string{"ann"}}}
		if got := approved(l.ApproveCovered("①", []approval.PendingCall{p}, nil, noon)); (got == "") != (c.want != "") {
			t.Errorf("%s: once they may: %q", name, got)
		}
	}
}
