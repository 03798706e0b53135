package desk

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/turn"
)

func TestADecidedCallSaysWhoAskedWhomAndHandedItToWhom(t *testing.T) {
	t.Parallel()
	page := decidedPage{frame: frame{Now: time.Now()}, DecidedCall: client.DecidedCall{Decisions: []approval.Decision{
		{Kind: approval.Comment, DecidedBy: "ann", Reason: "I saw it"},
		{Kind: approval.Ask, DecidedBy: "ann", RecipientName: "bob", Reason: "is it back?"},
		{Kind: approval.HandOver, DecidedBy: "ann", RecipientGroup: "heads"},
		{Kind: policy.Approve, DecidedBy: "cid", Reason: "it is"},
	}}}
	all, _ := pageText(t, shown.English, "decided", page)
	wantTexts(t, "the page", all, []string{"ann says: I saw it", "ann asks bob: is it back?",
		"ann has handed it over to people of heads", "approved by cid on", "The reason: it is",
		"What else was said and decided"}, "asked by", "Nothing is left")
	all, _ = pageText(t, shown.German, "decided", page)
	wantTexts(t, "the page", all, []string{"ann fragt bob: is it back?", "genehmigt von cid am"})
}

func TestADeputyIsNamedUnderNoStandingOrder(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		approval.SteerDeputy: "ann", policy.Approve: "ann, in advance",
	} {
		if got := deciderText(approval.Decision{Kind: kind, DecidedBy: "ann", StandingOrderID: "o"}); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

func TestAfterADecisionTheNextCaseIsOffered(t *testing.T) {
	t.Parallel()
	page := outcomePage{PastTense: "approved", BackHref: "/?tool=pay", AcceptedCount: 1}
	for _, one := range []struct {
		next  *nextCase
		want  []string
		lacks string
	}{
		{&nextCase{Href: "/desk/calls/p/1.1", About: "Pay Bob", LeftCount: 2},
			[]string{"Next case: Pay Bob", "2 cases left."}, "filter"},
		{&nextCase{Href: "/desk/calls/p/1.1", About: "Pay Bob", LeftCount: 1, IsFiltered: true},
			[]string{"1 case left with this filter."}, "No other"},
		{&nextCase{}, []string{"No other case waits for you."}, "Next"},
		{nil, []string{"Back to the inbox"}, "No other"},
	} {
		page.Next = one.next
		all, _ := pageText(t, shown.English, "outcome", page)
		wantTexts(t, "the page", all, one.want, one.lacks)
	}
}

// Who decided on many sees for each case how much it was, and what was decided on in all.
func TestTheOutcomeOfManyDecisionsNamesAmountsAndTheirSum(t *testing.T) {
	t.Parallel()
	var o outcomes
	var approvals []client.Approval
	for n, result := range []api.DecisionResult{{Outcome: api.OutcomeAccepted}, {Outcome: api.OutcomeAccepted},
		{Outcome: api.OutcomeRefused, Reason: "it was too late"}} {
		euros := shown.Format{Display: shown.Money, Currency: "EUR"}
		value := json.Number([]string{"1000.5", "7", "20"}[n])
		approvals = append(approvals, client.Approval{Call: shown.Call{Fields: []shown.Field{{Value: value,
			Format: euros, DisplayText: euros.Text(value, shown.English)}}}})
		o.Outcomes = append(o.Outcomes, outcomesOf([]api.DecisionResult{result}, "Pay order "+string(value))...)
	}
	o.addAmounts(approvals, shown.English)
	page := outcomePage{PastTense: "approved", AcceptedCount: 2, FailedCount: 1, Outcomes: o.Outcomes,
		AcceptedSum: o.AcceptedSum, HasAmounts: true}
	all, _ := pageText(t, shown.English, "outcome", page)
	wantTexts(t, "the page", all, []string{"2 cases are approved. 1,007.50 EUR", "Case Amount Process",
		"Pay order 1000.5 1,000.50 EUR", "Pay order 20 20.00 EUR"})
	approvals[1] = client.Approval{} // it is not known any more
	o.addAmounts(approvals, shown.English)
	if o.AcceptedSum != "" {
		t.Errorf("a sum without one of the amounts: %s", o.AcceptedSum)
	}
	all, _ = pageText(t, shown.English, "outcome", outcomePage{PastTense: "approved", AcceptedCount: 1})
	wantTexts(t, "the page", all, nil, "Amount")
}

func TestACaseLeadsBackToTheInboxThatLedToIt(t *testing.T) {
	t.Parallel()
	for back, want := range map[string]string{"": "", "/": "", "https://else.example": "",
		"/?tool=pay": "?back=%2F%3Ftool%3Dpay"} {
		if got := callHrefFrom(back, "p", "1.1"); got != "/desk/calls/p/1.1"+want {
			t.Errorf("%s: %s", back, got)
		}
	}
}

func TestADecidedCallBeginsWithTheDecision(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 14, 21, 9, 0, time.UTC)
	page := decidedPage{OutcomeText: "It is done.", DecidedCall: client.DecidedCall{Decisions: []approval.Decision{
		{Kind: policy.Amend, DecidedBy: "ann", Groups: []string{"finance"}, DecidedAt: at}}}}
	all, operators := pageText(t, shown.English, "decided", page)
	wantTexts(t, "the page", all, []string{"approved with changes by ann of finance on 30 November 2026, 14:21",
		"It is done."}, "What else", "14:21:09", "The reason")
	wantTexts(t, "the page", operators, []string{"14:21:09"})
	for status, want := range map[ideafile.CallStatus]string{ideafile.CallDone: "good", ideafile.CallFailed: "alert"} {
		page.DecidedCall.Status = status
		if !strings.Contains(shows(t, "decided", page), `class="verdict `+want) {
			t.Errorf("its colour is not that of %s", want)
		}
	}
	page.DecidedCall.Decisions = nil
	all, _ = pageText(t, shown.English, "decided", page)
	wantTexts(t, "the page", all, []string{"Nothing is left to decide here", "It is done."})
}

func TestAPastDecisionSaysWhatAboutWhyAndWithWhatResult(t *testing.T) {
	t.Parallel()
	decided := func(kind string, status ideafile.CallStatus, amount string) client.PastDecision {
		d := client.RecordedDecision{Decision: approval.Decision{CallID: "1.1@1", Kind: kind, Reason: "so be it"},
			Instance: "1",
			Sentence: "Pay 5.00 EUR", InstanceName: "1", Outcome: &turn.CallOutcome{Status: status},
			Amount: &shown.Field{DisplayText: amount}}
		return client.PastDecision{ProcessID: "p", RecordedDecision: d, LatestOnSameCall: &d}
	}
	page := ownDecisionsPage{Decisions: []client.PastDecision{decided(client.Answer, ideafile.CallFailed, "5.00 EUR"),
		decided(client.Ask, ideafile.CallDone, "6.00 EUR"), {ProcessID: "p", RecordedDecision: client.RecordedDecision{
			Decision: approval.Decision{Kind: approval.SteerApprovePlan, PlanRequest: new(int)}}}}}
	all := shows(t, "mine", page)
	for text, count := range map[string]int{">Pay 5.00 EUR</bdi></a>\n": 2, ` again"><bdi>5.00 EUR`: 1,
		`"number"><bdi>6.00 EUR`: 1, `<b class="due">failed</b>`: 1, "<span class=\"tag done\">done</span>": 1,
		"result given":                        1,
		`Your reason: <q dir="auto">so be it`: 1, `You wrote: <q dir="auto">so be it`: 1, "See the process": 1} {
		if strings.Count(all, text) != count {
			t.Errorf("it says %q %d times, want %d: %s", text, strings.Count(all, text), count, all)
		}
	}
}

func TestALetterSaysWhatItsLinesBelowWordsMean(t *testing.T) {
	t.Parallel()
	for letter, want := range map[string]bool{"Dear {customer}": true, "Dear all": false} {
		a := refund(t, 1, `{"letter": "`+letter+`", "customer": "Ann"}`)
		all := shows(t, "decided", decidedPage{Facts: factsOfFields(a, noOrigin)})
		if strings.Contains(all, "Underlined: filled in") != want || strings.Contains(all, "<mark>Ann</mark>") != want {
			t.Errorf("%s: %s", letter, all)
		}
	}
}
