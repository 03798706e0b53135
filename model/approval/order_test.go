package approval_test

import (
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/modeltest"
)

func TestAnOrdersPayloadIsCheckedWhereItComesIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id": "o", "tool": "pay", "count": 1}`:                                       "",
		`{"id": "o", "tool": "pay", "until": "2026-12-01T18:00:00+01:00", "when": {}}`: "",
		`{"tool": "pay", "count": 1}`:                                                  `"id" is missing`,
		`{"id": "o", "count": 1}`:                                                      `"tool" is missing`,
		`{"id": "o", "tool": "pay"}`:                                                   "it would never end",
		`{"id": "o", "tool": "pay", "count": 0}`:                                       `"count", the number of Calls: want a whole number from 1 to `,
		`{"id": "o", "tool": "pay", "count": "1"}`:                                     `"count", the number of Calls: want a whole number from 1 to `,
		`{"id": "o", "tool": "pay", "until": "Friday"}`:                                `"until" is a time such as`,
		`{"id": "o", "tool": "pay", "count": 1, "when": true}`:                         `"when" is a JSON Schema, an object`,
		`{"id": "o", "tool": "pay", "count": 1, "when": {"type": "nonsense"}}`:         "when: ",
		`{"id": "o", "tool": "pay", "count": 1, "wehn": {}}`:                           `unknown key "wehn"`,
		`{"id": "o", "tool": "pay", "count": 1, "by": "your name"}`:                    "replace it by your own",
	} {
		_, err := approval.ReadStandingOrder(modeltest.DecodeJSON(t, text).(map[string]any))
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestAnOrderCoversWhatItSaysAndNothingThatAPersonMustLookAt(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	o, err := approval.ReadStandingOrder(modeltest.DecodeJSON(t, `{"id": "o", "tool": "pay", "count": 1, "until": "2026-01-02T13:00:00Z",
		"when": {"properties": {"amount": {"maximum": 50}}}}`).(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	params := func(text string) map[string]any { return modeltest.DecodeJSON(t, text).(map[string]any) }
	for name, c := range map[string]struct {
		p    approval.PendingCall
		at   time.Time
		want string
	}{
		"it fits": {approval.PendingCall{Tool: "pay", Params: params(`{"amount": 50}`)}, noon, ""},
		"another Tool": {approval.PendingCall{Tool: "send", Params: params(`{"amount": 50}`)}, noon,
			"it is for pay"},
		"too much":        {approval.PendingCall{Tool: "pay", Params: params(`{"amount": 51}`)}, noon, "50"},
		"nothing is said": {approval.PendingCall{Tool: "pay", Params: params(`{}`)}, noon, "the Call has no amount"},
		"too late": {approval.PendingCall{Tool: "pay", Params: params(`{"amount": 50}`)}, noon.Add(time.Hour),
			"it held until"},
		"it may have run": {approval.PendingCall{Tool: "pay", Params: params(`{"amount": 50}`),
			ReviewReason: "it was running"}, noon, "it was running"},
		"decided on before": {approval.PendingCall{Tool: "pay", Params: params(`{"amount": 50}`), TimesAsked: 1}, noon,
			"people have decided on it before"},
		"a large value": {
			approval.PendingCall{Tool: "pay", Params: map[string]any{"amount": modeltest.NewBlobHandleValue("x",
				100_000)}},
			noon, "over 64 KB"},
	} {
		if got := o.NotCoveredReason(c.p, c.at); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAnOrderThatNamesWhatLiesDeeperWantsItThere(t *testing.T) {
	t.Parallel()
	o, err := approval.ReadStandingOrder(modeltest.DecodeJSON(t, `{"id": "o", "tool": "pay", "count": 1,
		"when": {"properties": {"values": {"properties": {"cents": {"maximum": 50}}}}}}`).(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	for params, want := range map[string]string{
		`{"values": {"cents": 50}}`: "", `{"values": {}}`: "the Call has no values.cents",
		`{"values": 7}`: "the Call has no values.cents", `{}`: "the Call has no values",
	} {
		p := approval.PendingCall{Tool: "pay", Params: modeltest.DecodeJSON(t, params).(map[string]any)}
		if got := o.NotCoveredReason(p, time.Time{}); got != want {
			t.Errorf("%s: %q, want %q", params, got, want)
		}
	}
}

// An approval under an order says nothing of its own, so that nobody decides in the name of whoever gave the order and
// for reasons of their own.
func TestAnApprovalUnderAnOrderIsThatOfWhoGaveIt(t *testing.T) {
	t.Parallel()
	const under = `"order": {"id": "o", "tool": "pay", "count": 1, "by": "ann", "groups": ["finance"], "reason": "small"}`
	d, err := approval.ReadDecision("approve", modeltest.DecodeJSON(t, `{"call": "1.1", `+under+`}`).(map[string]any))
	if err != nil || d.DecidedBy != "ann" || d.Groups[0] != "finance" || d.Reason != "small" ||
		d.StandingOrderID != "o" ||
		!strings.Contains(d.Describe(), "ann (standing order o)") {
		t.Errorf("%+v, %v", d, err)
	}
	for kind, text := range map[string]string{
		"approve": `{"call": "1.1", "by": "eve", ` + under + `}`,
		"reject":  `{"call": "1.1", "reason": "no", ` + under + `}`,
		"amend":   `{"call": "1.1", "params": {}, ` + under + `}`,
	} {
		if d, err := approval.ReadDecision(kind, modeltest.DecodeJSON(t, text).(map[string]any)); err == nil {
			t.Errorf("%s: %+v", text, d)
		}
	}
}
