package approval_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func order(t *testing.T, text string) approval.StandingOrder {
	t.Helper()
	o, err := approval.ReadStandingOrder(modeltest.DecodeJSON(t, text).(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func given(t *testing.T, texts ...string) *approval.StandingOrders {
	t.Helper()
	l := &approval.StandingOrders{}
	for _, text := range texts {
		o := order(t, text)
		if err := l.Add(o, policy.Person{Name: o.GivenBy, Groups: o.Groups}, noon); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// waits is a Call that waits: a payment of an amount.
func waits(t *testing.T, n int, amount string, rules ...policy.DeciderRule) approval.PendingCall {
	t.Helper()
	p := approval.PendingCall{CallID: fmt.Sprintf("1.%d", n), Tool: "pay", AllowedDecisions: policy.DecisionKinds(),
		Deciders: rules,
		Params:   modeltest.DecodeJSON(t, `{"amount": `+amount+`}`).(map[string]any)}
	p.SetDigest()
	return p
}

func approved(list []approval.OrderApproval) string {
	var ids []string
	for _, a := range list {
		ids = append(ids, a.Order.ID+" "+a.PendingCall.CallID)
	}
	return strings.Join(ids, ", ")
}

func TestAnOrderApprovesWhatFitsUntilItsCountIsReached(t *testing.T) {
	t.Parallel()
	l := given(
		t, `{"id": "o", "tool": "pay", "when": {"properties": {"amount": {"maximum": 50}}}, "count": 2, "by": "ann"}`)
	list := []approval.PendingCall{waits(t, 1, "50"), waits(t, 2, "51"), waits(t, 3, "1"), waits(t, 4, "2")}
	if got := approved(l.ApproveCovered("①", list, nil, noon)); got != "o 1.1, o 1.3" {
		t.Error(got)
	}
	if got := approved(l.ApproveCovered("①", list, nil, noon)); got != "" {
		t.Errorf("approved again: %s", got)
	}
	// What its instance refused does not count, and is not tried again under the same digest.
	if !l.UncountRefused(refused("o", list[0])) || l.UncountRefused(refused("other", list[0])) || l.UncountRefused(refused("", list[0])) {
		t.Error("a refusal is not known, or one of nobody is")
	}
	if got := approved(l.ApproveCovered("①", list, nil, noon)); got != "o 1.4" {
		t.Error(got)
	}
	l.UncountRefused(refused("o", list[0]))
	if (*l)[0].ApprovedCount != 2 {
		t.Errorf("a refusal that is told twice counts twice: %d", (*l)[0].ApprovedCount)
	}
	// Of what waits no more nothing is kept.
	l.ApproveCovered("①", nil, nil, noon)
	if (*l)[0].ApprovedDigestsByInstanceOrPart["①"] != nil || (*l)[0].ApprovedCount != 2 {
		t.Errorf("%+v", (*l)[0])
	}
	// Somebody else was first, and the process heard that the Call waits no more before it heard of the refusal; it
	// hears of that twice.
	for range 2 {
		l.UncountRefused(refused("o", list[3]))
	}
	if got := approved(l.ApproveCovered("②", []approval.PendingCall{list[3], waits(t, 5, "3"), waits(t, 6, "4")}, nil,
		noon)); got != "o 1.5" || (*l)[0].ApprovedCount != 2 {
		t.Errorf("%q, %+v", got, (*l)[0])
	}
}

func refused(order string, p approval.PendingCall) approval.Fate {
	return approval.Fate{
		Signal: policy.Approve, ID: "order:" + order, CallID: p.CallID, StandingOrderID: order,
		ApprovalDigest: p.Digest,
	}
}

func TestAnOrderHoldsForItsTimeAndUntilItIsEnded(t *testing.T) {
	t.Parallel()
	l := given(t, `{"id": "o", "tool": "pay", "until": "2026-01-02T13:00:00Z"}`)
	list := []approval.PendingCall{waits(t, 1, "1")}
	if got := approved(l.ApproveCovered("①", list, nil, noon.Add(time.Hour))); got != "" {
		t.Errorf("after its time: %s", got)
	}
	if err := l.End("x", approval.OrderEnding{}); err == nil || !strings.Contains(err.Error(), "o") {
		t.Error(err)
	}
	if err := l.End("o", approval.OrderEnding{EndedBy: "ann", EndedAt: noon}); err != nil {
		t.Error(err)
	}
	if got := approved(l.ApproveCovered("①", list, nil, noon)); got != "" {
		t.Errorf("after its end: %s", got)
	}
	if err := l.End("o", approval.OrderEnding{}); err == nil {
		t.Error("it was ended twice")
	}
	if err := l.Add(order(t, `{"id": "o", "tool": "pay", "count": 1}`), policy.Person{}, noon); err == nil {
		t.Error("an id was given twice")
	}
}

// Who gives an order needs the right to decide, and an order is one person's approval, however many there are.
func TestAnOrderIsTheApprovalOfWhoGaveIt(t *testing.T) {
	t.Parallel()
	two := policy.DeciderRule{Groups: []string{"finance"}, RequiredApprovalCount: 2, ExcludesStarter: true}
	list := []approval.PendingCall{waits(t, 1, "1", two)}
	of := func(id, by, group string) string {
		return fmt.Sprintf(`{"id": %q, "tool": "pay", "count": 5, "by": %q, "groups": [%q]}`, id, by, group)
	}
	for name, c := range map[string]struct {
		orders []string
		want   string
	}{
		"another group": {[]string{of("a", "ann", "sales")}, ""},
		"the starter":   {[]string{of("a", "sam", "finance")}, ""},
		"one of two":    {[]string{of("a", "ann", "finance")}, "a 1.1"},
		"two people": {[]string{of("a", "ann", "finance"), of("b", "bob", "finance"),
			of("c", "cid", "finance")}, "a 1.1, b 1.1"},
		"one person twice":              {[]string{of("a", "ann", "finance"), of("b", "Ann", "finance")}, "a 1.1"},
		"one who may, one who must not": {[]string{of("a", "sam", "finance"), of("b", "bob", "finance")}, "b 1.1"},
	} {
		if got := approved(given(t, c.orders...).ApproveCovered("①", list, policy.IdentitiesNamed("sam"),
			noon)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAnOrderThatCannotHoldIsNotTaken(t *testing.T) {
	t.Parallel()
	idea, _ := ideafile.ParseIdea([]byte(`{"schema": {"tools": {"pay": {"type": "object", "properties": {"amount": {"type": "number"}},
		"_activity": "p", "_approval": {"by": {"groups": ["finance"]}}}}}}`))
	for text, want := range map[string]string{
		`{"id": "o", "tool": "pay", "count": 1, "by": "ann", "groups": ["finance"]}`:                                         "",
		`{"id": "o", "tool": "pai", "count": 1, "by": "ann"}`:                                                                `no Tool "pai"; did you mean pay?`,
		`{"id": "o", "tool": "pay", "count": 1, "by": "ann", "groups": ["finance"], "when": {"properties": {"amuont": {}}}}`: `no parameter "amuont"; did you mean amount?`,
		`{"id": "o", "tool": "pay", "until": "2026-01-02T12:00:00Z", "by": "ann", "groups": ["finance"]}`:                    "is past",
		`{"id": "o", "tool": "pay", "count": 1, "groups": ["finance"]}`:                                                      `"by" is missing`,
		`{"id": "o", "tool": "pay", "count": 1, "by": "ann", "groups": ["sales"]}`:                                           "ann may not decide on it",
	} {
		o := order(t, text)
		err := approval.CheckStandingOrder(o, policy.Person{Name: o.GivenBy, Groups: o.Groups}, idea,
			policy.Oversight{},
			nil, noon, true)
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
