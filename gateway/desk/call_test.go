package desk

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/protocol"
)

// waitingCall is a Call of the Tool of the Idea paid, whose case repeats its values and has others.
func waitingCall(t *testing.T) client.Approval {
	t.Helper()
	params := jsonval.Object{"amount": json.Number("229900"), "to": "Acme", "list": modeltest.MustDecodeJSON(`[1, 2]`)}
	input := modeltest.MustDecodeJSON(`{"cents": 229900, "name": "Acme", "list": [1, 2], "orderNumber": "A-1",
		"where": {"cents": 5, "nothing": null}}`)
	words := wordsOf(t, paid)
	a := client.Approval{PendingCall: approval.PendingCall{CallID: "1.1", Tool: "pay", Params: params,
		AllowedDecisions: []string{client.Approve, client.Reject}}}
	a.Input = input
	a.Call = words.Call("pay", params, "", shown.InstanceValues{Input: input}, shown.English)
	return a
}

func TestWhatDecidesStandsBeforeWhatExplains(t *testing.T) {
	t.Parallel()
	a := waitingCall(t)
	p := &callPage{Approval: a, IsDecisionAllowed: map[string]bool{client.Approve: true, client.Reject: true},
		IsIrreversible: true}
	p.Params = factsOfFields(a, newOriginLookup(nil, a, wordsOf(t, paid),
		func(jsonval.Path) string { return "" }))
	p.Origins = takeOrigins(p.Params, "")
	p.Input = factOfUnshownData(shown.Format{}, a.Input, a)
	all, _ := pageText(t, shown.English, "call", p)
	at := -1
	for _, text := range []string{"Amount 2,299.00 EUR Paid to Acme", "Reason (needed to reject",
		"plan what comes next) Once it has happened it cannot be taken back. Approve 2,299.00 EUR Reject",
		"Why you are asked",
		"Where these values come from Amount taken from the data it started with Paid to the same as “Supplier”",
		"Other data it started with Order number A-1 Where Cents 5 Nothing"} {
		next := strings.Index(all, text)
		if next <= at {
			t.Errorf("%q stands at %d, behind %d: %s", text, next, at, all)
		}
		at = next
	}
	if source := shows(t, "call", p); !strings.Contains(source, `class="decide once"`) {
		t.Errorf("on a phone the buttons of what is final do not wait below it: %s", source)
	}
	p.Tool = &ideafile.Tool{}
	p.IsDecisionAllowed = map[string]bool{client.Reject: true}
	all, _ = pageText(t, shown.English, "call", p)
	wantTexts(t, "the page", all, []string{"Reason (needed: the process uses it",
		"Every step of this kind waits for a person before it happens."}, "Approve", "to reject")
}

// Who approves an amount reads which step found it, and when.
func TestAValueOfStateSaysWhichStepWroteItAndWhen(t *testing.T) {
	t.Parallel()
	idea := wordsOf(t, `{"schema": {"tools": {"pay": {"properties": {"amount": {}, "to": {}, "order": {}}},
		"find": {"title": "Look up the order", "properties": {"text": {}}, "_activity": "note"}}},
		"context": [{"type": "state", "schema": {"properties": {"found": {"title": "Order", "properties": {
			"sum": {"title": "Sum"}}}, "who": {"title": "Customer"}}}, "state": {}}]}`)
	at := time.Date(2026, 12, 1, 9, 14, 30, 0, time.Local)
	status := client.InstanceStatus{Calls: []protocol.CallView{{ID: "1.1@①", Tool: "find"}}}
	status.Writes = []protocol.StateWrite{
		{Path: jsonval.Path{"who"}, Author: "person:ann", WrittenAt: at},
		{Path: jsonval.Path{"found"}, Author: "1.1@①", WrittenAt: at}}
	a := client.Approval{}
	a.State = modeltest.MustDecodeJSON(`{"found": {"sum": "2,299.00 EUR"}, "who": "Ines", "order": "A-17"}`)
	origin := newOriginLookup(map[string]string{"order": "†state.found.sum"}, a, idea,
		writerLookup(status, idea, shown.English))
	for value, want := range map[string]string{
		"2,299.00 EUR": "the same as “Order › Sum” in what is known of it, from “Look up the order” on " +
			momentText(at, shown.English),
		"Ines": "the same as “Customer” in what is known of it"} {
		if got := origin(jsonval.Path{"amount"}, value); got != want {
			t.Errorf("%s: %s", value, got)
		}
	}
	wired := origin(jsonval.Path{"order"}, "x")
	if !strings.HasPrefix(wired, "always “Order › Sum” in what is known of it, from “Look up the order” on ") {
		t.Error(wired)
	}
	all, _ := pageText(t, shown.German, "call", &callPage{Origins: []fact{{Name: "Betrag",
		Text: "the same as “Order › Sum” in what is known of it, from “Look up the order” on " +
			momentText(at, shown.German)}}})
	wantTexts(t, "the page", all, []string{"Betrag dasselbe wie „Order › Sum“ von dem, was bekannt ist, " +
		"von „Look up the order“ am 1. Dezember 2026, 09:14"})
}

var formOfPage = regexp.MustCompile(`(?s)<main.*?<form.*?</form>`)

// One reason is for both decisions, and the name of the button is the decision, also of one that is signed.
func TestBothDecisionsHaveOneReason(t *testing.T) {
	t.Parallel()
	p := &callPage{Approval: waitingCall(t), IsDecisionAllowed: map[string]bool{client.Approve: true,
		client.Reject: true},
		Reason: "not ours", FormError: "A reason.", FormErrorDecision: client.Reject, MaySignWithPasskey: true}
	form := formOfPage.FindString(shows(t, "call", p))
	for text, count := range map[string]int{`name="reason"`: 1, "not ours": 1, `aria-describedby="wrong"`: 1,
		`name="decision" value="approve"`: 1, `name="decision" value="reject"`: 1, `name="sign" value="approve"`: 1,
		`name="sign" value="reject"`: 1, `type="hidden" name="decision"`: 0} {
		if got := strings.Count(form, text); got != count {
			t.Errorf("the form has %s %d times: %s", text, got, form)
		}
	}
	p.DenialReason = "Sign it."
	if form := formOfPage.FindString(shows(t, "call", p)); strings.Contains(form, `name="decision"`) ||
		!strings.Contains(form, `<p class="buttons"> <button name="sign" value="approve">`) {
		t.Errorf("who must sign is offered %s", form)
	}
}

func TestNothingIsLeftOfACaseIfOnlyOperatorsSeeTheRest(t *testing.T) {
	t.Parallel()
	a := waitingCall(t)
	for data, isLeft := range map[string]bool{`{"name": "Acme", "secret": 1}`: false, `{"secret": 1, "a": 7}`: true} {
		format := wordsOf(t, paid).ParamsFormat("pay") // its secret is for operators
		if got := factOfUnshownData(format, modeltest.MustDecodeJSON(data), a); (got != nil) != isLeft {
			t.Errorf("of %s is left %+v", data, got)
		}
	}
}

// What the parameters show is not repeated, unless another value of the case is the same.
func TestTheRestOfACaseIsWhatIsNotShownYet(t *testing.T) {
	t.Parallel()
	fields := waitingCall(t).Fields
	for data, want := range map[string]string{
		`{"cents": 229900, "name": "Acme", "list": [1, 2]}`: `null`,
		`{"cents": 229900, "limit": 229900}`:                `{"cents":229900,"limit":229900}`,
		`{"list": [2, 1], "to": "Acme"}`:                    `{"list":[2,1]}`,
		`{"in": {"name": "Acme"}, "a": 7, "of": {}}`:        `{"a":7,"of":{}}`,
		`"all well"`: `"all well"`,
	} {
		if got := jsonval.EncodeToString(withoutShownValues(modeltest.MustDecodeJSON(data), fields)); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

func TestACallIsHandedOverToGroupsThatMayDecide(t *testing.T) {
	t.Parallel()
	rules := policy.DeciderRules{{Groups: []string{"heads", "finance"}}, {Groups: []string{"finance"}}}
	for _, one := range []struct {
		rules policy.DeciderRules
		want  string
	}{{rules, "finance, heads"}, {nil, "staff"}} {
		if got := strings.Join(groupsToHandOverTo(one.rules, []string{"staff"}), ", "); got != one.want {
			t.Errorf("%v: %s, want %s", one.rules, got, one.want)
		}
	}
	p := &callPage{frame: frame{HasRight: map[string]bool{"decide": true}}, Approval: waitingCall(t),
		RecipientGroups: []string{"finance", "heads"}, RecipientGroup: "heads"}
	p.Approval.AllowedDecisions = nil
	wantTexts(t, "the form", shows(t, "call", p), []string{`<option value="finance">finance</option>`,
		`<option value="heads" selected>heads</option>`, `name="toGroup"`})
	if strings.Contains(shows(t, "call", p), "forRequest") {
		t.Error("what the AI did not plan is not told to it")
	}
	p.IsPlannedByLLM, p.IsForRequest = true, true
	wantTexts(t, "the form", shows(t, "call", p), []string{`name="forRequest" value="yes" checked`})
	p.RecipientGroups = nil
	wantTexts(t, "the form", shows(t, "call", p), []string{`name="to"`}, `name="toGroup"`)
	d := api.Decision{Decision: client.Decision{Kind: client.HandOver, ToGroup: "finance"}}
	if !p.readDecision(&d, nil) || p.RecipientGroup != "finance" {
		t.Errorf("what was chosen is lost: %q", p.RecipientGroup)
	}
}

func TestTheCallsPageNamesWhoChangedIt(t *testing.T) {
	t.Parallel()
	p := &callPage{Approval: waitingCall(t)}
	p.Approval.ChangeText = "ann has changed it: too much"
	for l, want := range map[shown.Language]string{shown.English: "ann has changed it: too much",
		shown.German: "ann hat es geändert: too much"} {
		all, _ := pageText(t, l, "call", p)
		wantTexts(t, "the page", all, []string{want})
	}
}
