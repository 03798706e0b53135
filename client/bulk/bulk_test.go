package bulk_test

import (
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/client/bulk"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
)

// waiting is a Call of an instance that waits with some parameters.
func waiting(call, tool, params string) client.Approval {
	return client.Approval{Process: "p", Instance: ideafile.InstanceTokenOfCallID(call),
		PendingCall: approval.PendingCall{
			CallID: call, Tool: tool, Digest: "digest of " + call,
			Params: modeltest.MustDecodeJSON(params).(map[string]any), AllowedDecisions: policy.DecisionKinds(),
		}}
}

func asJSON(v any) string { return string(jsonval.Encode(jsonval.ToJSONValue(v))) }

func TestWhatIsAlikeIsSaidOnceAndWhatDiffersStandsInColumns(t *testing.T) {
	t.Parallel()
	list := []client.Approval{
		waiting("1.1@①", "settle",
			`{"amount": 20, "to": {"iban": "DE1", "name": "Ann"}, "Tool": "x", "to.iban": "DE9"}`),
		waiting("1.1@②", "settle",
			`{"amount": 30, "to": {"iban": "DE1", "name": "Bob"}, "Tool": "x", "to.iban": "DE9"}`),
		waiting("1.1@③", "settle",
			`{"amount": 20, "to": {"iban": "DE1", "name": "Ann"}, "Tool": "x", "to.iban": "DE9"}`),
		waiting("2.4@③", "settle",
			`{"amount": 20, "to": {"iban": "DE1", "name": "Ann"}, "Tool": "x", "to.iban": "DE9", "a note": null}`),
	}
	want :=
		`{"alike":[{"name":"Tool","value":"settle"},{"name":"\"Tool\"","value":"x"},{"name":"to.iban","value":"DE1"},{"name":"\"to.iban\"","value":"DE9"}],` +
			`"calls":4,"columns":["amount","to.name","a note"],"rows":[` +
			`{"call":"1.1","instances":["①","③"],"values":{"amount":20,"to.name":"Ann"}},` +
			`{"call":"1.1@②","instances":["②"],"values":{"amount":30,"to.name":"Bob"}},` +
			`{"call":"2.4@③","instances":["③"],"values":{"a note":null,"amount":20,"to.name":"Ann"}}]}`
	if got := asJSON(bulk.TableOf(list)); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestCallsThatWaitForDifferentlyLongAreAlike(t *testing.T) {
	t.Parallel()
	list := []client.Approval{waiting("1.1@①", "settle", `{}`), waiting("1.1@②", "settle", `{}`)}
	for n := range list {
		at := time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC)
		list[n].Deadline, list[n].TimeoutAction = &at, "reject"
	}
	want :=
		`{"alike":[{"name":"Tool","value":"settle"},{"name":"At the deadline","value":"reject"},{"name":"Deadline","value":"2026-01-02T03:04:00Z to 2026-01-02T03:04:01Z"}],` +
			`"calls":2,"columns":[],"rows":[{"call":"1.1","instances":["①","②"],"values":{}}]}`
	if got := asJSON(bulk.TableOf(list)); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestATableTellsAllThatADigestCovers(t *testing.T) {
	t.Parallel()
	a := waiting("1.1@①", "settle", `{}`)
	before := asJSON(bulk.TableOf([]client.Approval{a}))
	deadline := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, change := range map[string]func(p *approval.PendingCall){
		"tool":   func(p *approval.PendingCall) { p.Tool = "pay" },
		"params": func(p *approval.PendingCall) { p.Params = map[string]any{"a": map[string]any{}} },
		"deep": func(p *approval.PendingCall) {
			p.Params = modeltest.MustDecodeJSON(`{"a":{"b":{"c":{"d":1}}}}`).(map[string]any)
		},
		"method": func(p *approval.PendingCall) {
			p.OutputPath, _ = refexpr.ParseOutputPath("done")
		},
		"scopes":   func(p *approval.PendingCall) { p.ScopeValues = map[string]any{"s": "1"} },
		"output":   func(p *approval.PendingCall) { p.Output = "1" },
		"fitted":   func(p *approval.PendingCall) { p.ParamsAdaptation = &approval.ParamsAdaptation{} },
		"why":      func(p *approval.PendingCall) { p.ReviewReason = "its worker was lost" },
		"note":     func(p *approval.PendingCall) { p.Note = "look at the receipt" },
		"deciders": func(p *approval.PendingCall) { p.Deciders = policy.DeciderRules{{RequiredApprovalCount: 2}} },
		"so far": func(p *approval.PendingCall) {
			p.VotesSoFar = []approval.Vote{{Kind: "approve", DecidedBy: "ann", Groups: []string{"finance"}}}
		},
		"deadline": func(p *approval.PendingCall) { p.Deadline, p.TimeoutAction = &deadline, "reject" },
		"allowed":  func(p *approval.PendingCall) { p.AllowedDecisions = []string{"approve"} },
	} {
		changed := a
		change(&changed.PendingCall)
		if got := asJSON(bulk.TableOf([]client.Approval{changed})); got == before {
			t.Errorf("%s is not told", name)
		}
	}
}

func TestCallsAreSelectedByToolParametersAndID(t *testing.T) {
	t.Parallel()
	list := []client.Approval{
		waiting("1.1@①", "settle", `{"amount": 20}`), waiting("1.1@②", "settle", `{"amount": 30.5}`),
		waiting("1.2@②", "pay", `{"amount": 20}`), waiting("1.1@a b", "settle", `{}`),
	}
	where := func(text string) any { return modeltest.MustDecodeJSON(text) }
	for _, c := range []struct {
		s    bulk.Selection
		want string
	}{
		{bulk.Selection{}, "1.1@① 1.1@② 1.2@② 1.1@a b"},
		{bulk.Selection{Tool: "settle"}, "1.1@① 1.1@② 1.1@a b"},
		{bulk.Selection{Tool: "nobody"}, ""},
		{bulk.Selection{ParamsSchema: where(`{"properties": {"amount": {"maximum": 20}}}`)}, "1.1@① 1.2@② 1.1@a b"},
		{bulk.Selection{ParamsSchema: where(`{"properties": {"amount": {"maximum": 20}}, "required": ["amount"]}`),
			Tool: "settle"}, "1.1@①"},
		{bulk.Selection{CallIDs: []string{"1.1@2", "1.1@a%20b"}}, "1.1@② 1.1@a b"},
		{bulk.Selection{CallIDs: []string{"1.1"}, ParamsSchema: where(`{"required": ["amount"]}`)}, "1.1@① 1.1@②"},
		{bulk.Selection{ParamsSchema: where(`{"type": "nonsense"}`)}, "where: "},
		{bulk.Selection{CallIDs: []string{"1.1@①", "1.3@2"}}, `there is no Call "1.3@2"`},
	} {
		meant, err := c.s.Select(list)
		var ids []string
		for _, a := range meant {
			ids = append(ids, a.CallID)
		}
		if got := strings.Join(ids, " ") + modeltest.ErrorText(err); got != c.want &&
			(err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
	}
}

func TestDecisionsCarryTheDigestsOfWhatWasShown(t *testing.T) {
	t.Parallel()
	made := bulk.DecisionForEach([]client.Approval{waiting("1.1@①", "t", `{}`), waiting("1.1@②", "t", `{}`)},
		client.Decision{Kind: client.Reject, Reason: "no", By: "ann"})
	if len(made) != 2 || made[1].CallID != "1.1@②" || made[1].ApprovalDigest != "digest of 1.1@②" ||
		made[1].Kind != client.Reject || made[0].By != "ann" {
		t.Errorf("%+v", made)
	}
}
