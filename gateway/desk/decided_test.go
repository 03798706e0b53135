package desk

import (
	"testing"
	"time"

	"processidea/client"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile/shown"
)

func TestADecidedCallSaysWhoAskedWhomAndHandedItToWhom(t *testing.T) {
	t.Parallel()
	page := decidedPage{frame: frame{Now: time.Now()}, D: client.DecidedCall{Decisions: []approval.Decision{
		{Kind: approval.Comment, DecidedBy: "ann", Reason: "I saw it"},
		{Kind: approval.Ask, DecidedBy: "ann", RecipientName: "bob", Reason: "is it back?"},
		{Kind: approval.HandOver, DecidedBy: "ann", RecipientGroup: "heads"},
		{Kind: policy.Approve, DecidedBy: "cid", Reason: "it is"},
	}}}
	all, _ := pageText(t, shown.English, "decided", page)
	wantTexts(t, "the page", all, []string{"ann says: I saw it", "ann asks bob: is it back?",
		"ann has handed it over to people of heads", "It was approved by cid", "it is"}, "It was asked", "It was said")
	all, _ = pageText(t, shown.German, "decided", page)
	wantTexts(t, "the page", all, []string{"ann fragt bob: is it back?", "Es wurde genehmigt von cid"})
}

func TestADeputyIsNamedUnderNoStandingOrder(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		approval.SteerDeputy: "ann", policy.Approve: "ann, by a standing order",
	} {
		if got := deciderText(approval.Decision{Kind: kind, DecidedBy: "ann", OrderID: "o"}); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

func TestAfterADecisionTheNextCaseIsOffered(t *testing.T) {
	t.Parallel()
	page := outcomePage{Kind: "approved", Back: "/?tool=pay", Accepted: 1}
	for _, one := range []struct {
		next  *nextCase
		want  []string
		lacks string
	}{
		{&nextCase{Href: "/desk/calls/p/1.1", About: "Pay Bob", Left: 2}, []string{"Next case: Pay Bob", "2 cases left ."},
			"filter"},
		{&nextCase{Href: "/desk/calls/p/1.1", About: "Pay Bob", Left: 1, IsFiltered: true},
			[]string{"1 case left with this filter ."}, "No other"},
		{&nextCase{}, []string{"No other case waits for you ."}, "Next"},
		{nil, []string{"Back to the inbox"}, "No other"},
	} {
		page.Next = one.next
		all, _ := pageText(t, shown.English, "outcome", page)
		wantTexts(t, "the page", all, one.want, one.lacks)
	}
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
