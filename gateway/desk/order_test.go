package desk

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

const refunding = `{"schema": {"tools": {"refund": {"title": "Refund a customer", "type": "object", "properties": {
		"letter": {"title": "Letter", "_display": "letter"}, "customer": {"title": "Customer", "type": "string"},
		"amount": {"title": "Amount", "_display": "money", "currency": "EUR"}, "how": {"enum": ["card", "cash"]},
		"due": {"title": "Due on", "_display": "date"}, "urgent": {"type": "boolean"}}}}},
	"context": [{"type": "input", "input": {}}]}`

// refund is a Call that waits.
func refund(t *testing.T, n int, params string, deciders ...policy.DeciderRule) client.Approval {
	t.Helper()
	p := jsonval.AsObject(modeltest.MustDecodeJSON(params))
	token := fmt.Sprint(n)
	return client.Approval{Process: "p", Instance: token,
		Call: wordsOf(t, refunding).Call("refund", p, token, shown.InstanceValues{}, shown.English),
		PendingCall: approval.PendingCall{CallID: "1.1@" + token, Tool: "refund", Params: p, Deciders: deciders,
			AllowedDecisions: policy.DecisionKinds()}}
}

func TestAnOrderSuggestsWhatItsCaseHasAndNothingOfTheCaseAlone(t *testing.T) {
	t.Parallel()
	for letter, want := range map[string]string{
		"Dear {customer}, you get {amount} by card.": "same", // for all
		"Dear Ann, you get {amount}.":                "any",  // hers
		"Thank you.":                                 "any",  // nothing says that others get it
	} {
		a := refund(t, 1, `{"letter": "`+letter+`", "customer": "Ann", "amount": 12.50, "how": "card", "due": "2026-12-01",
			"urgent": false}`)
		f := orderFormOf("p", "1.1@1", "refund", a.Call, time.Now())
		got := map[string]string{}
		for _, one := range f.Fields {
			got[one.Name] = one.Choice + one.Limit
		}
		if want := map[string]string{"letter": want, "customer": "any", "amount": "most12.5", "how": "same", "due": "any",
			"urgent": "same"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", letter, got, want)
		}
		page := &callPage{Presenter: shown.NewPresenter(nil), StandingOrder: f}
		all, _ := pageText(t, shown.English, "call", page)
		wantTexts(t, "the form", all, []string{"only the same letter", "up to this amount", "only Ann"}, "only Dear")
		amount := f.Fields[slices.IndexFunc(f.Fields, func(one orderField) bool { return one.IsNumber })].Control
		f.FieldErrors = map[string]string{amount: "none", "until": "over"}
		last := orderForm{FieldErrors: map[string]string{"until": "over"}}
		if f.FirstErrorID() != amount+"-most" || last.FirstErrorID() != "order-until" {
			t.Errorf("the first field that is wrong is %s", f.FirstErrorID())
		}
		f.FieldErrors = map[string]string{"count": "The number of cases must be a whole number."}
		f.refill(url.Values{"count": {"many"}}, f.FieldErrors)
		all, _ = pageText(t, shown.English, "order", orderPage{frame{Title: "Approve similar cases in advance"}, f})
		wantTexts(t, "the page of the form", all,
			[]string{"Approve similar cases in advance Nothing is approved yet. " +
				"The number of cases must be a whole number."}, "needed to reject")
	}
	long := refund(t, 1, `{"letter": "{customer}`+strings.Repeat("x", 2000)+`", "customer": "`+strings.Repeat("y", 2000)+`"}`)
	if f := orderFormOf("p", "1.1@1", "refund", long.Call, time.Now()); len(f.Fields) != 1 || !f.Fields[0].IsLetter() {
		t.Errorf("it offers %d fields", len(f.Fields))
	}
}

// sureOf is the second look at an order for refunds up to 100.00 EUR, of Calls that wait.
func sureOf(o client.StandingOrder, list ...client.Approval) *orderConfirmPage {
	ann := &access.Person{Name: "ann", Groups: []string{"finance"}, Rights: []access.Right{access.Decide}}
	o.Tool, o.ParamsCondition = "refund", modeltest.MustDecodeJSON(
		`{"properties": {"amount": {"type": "number", "maximum": 100}}, "required": ["amount"]}`).(map[string]any)
	p := &orderConfirmPage{Count: o.MaxCalls, EnteredValues: url.Values{"tool": {"refund"}}}
	p.addCoveredCalls(fittingCalls(o, list, ann, time.Now()), nil, shown.English)
	return p
}

func TestAnOrderShowsFirstWhatItWouldApproveNow(t *testing.T) {
	t.Parallel()
	pay := func(n int, amount string, deciders ...policy.DeciderRule) client.Approval {
		return refund(t, n, `{"customer": "Customer `+fmt.Sprint(n)+`", "amount": `+amount+`}`, deciders...)
	}
	var many []client.Approval
	for n := range 12 {
		many = append(many, pay(n, "100"))
	}
	changed, noApproval, mine := pay(3, "1"), pay(4, "2"), pay(5, "3", policy.DeciderRule{RequiredApprovalCount: 2})
	changed.TimesAsked, noApproval.AllowedDecisions = 1, []string{client.Reject}
	mine.VotesSoFar = []approval.Vote{{Kind: client.Approve, DecidedBy: "ann"}}
	two := policy.DeciderRule{Groups: []string{"finance"}, RequiredApprovalCount: 2}
	others := policy.DeciderRule{Groups: []string{"heads"}}
	for name, c := range map[string]struct {
		page *orderConfirmPage
		want []string
		no   string
	}{
		"some": {sureOf(client.StandingOrder{MaxCalls: 30}, pay(1, "100"), pay(2, "100.01"), pay(3, "12.50")),
			[]string{"It would approve 2 cases now, 112.50 EUR in all.", "no more than 30 cases in all", "Customer 1",
				"Customer 3"}, "Customer 2"},
		"one": {sureOf(client.StandingOrder{MaxCalls: 3}, pay(1, "100")), []string{"1 case now, 100.00 EUR in all."},
			"others"},
		"none, as no person may be left out": {sureOf(client.StandingOrder{MaxCalls: 3}, changed, noApproval, mine,
			pay(6, "1", others)), []string{"It would approve nothing now"}, "EUR"},
		"others must too": {sureOf(client.StandingOrder{MaxCalls: 3}, pay(1, "5", two)),
			[]string{"1 case now", "Of these, others must approve too: 1 case."}, ""},
		"its count": {sureOf(client.StandingOrder{MaxCalls: 2}, many...), []string{"2 cases now, 200.00 EUR in all.",
			"as many as you allow. Also fitting, but left waiting: 10 cases."}, "Later"},
		"many": {sureOf(client.StandingOrder{}, many...), []string{"12 cases now, 1,200.00 EUR in all.", "Customer 9",
			"and 2 more cases"}, "Customer 10"},
		"no longer": {sureOf(client.StandingOrder{Until: time.Now().Add(-time.Hour)}, many...),
			[]string{"It would approve nothing now", "Later it would approve every case that fits"}, "EUR"},
	} {
		all, _ := pageText(t, shown.English, "ordersure", c.page)
		wantTexts(t, name, all, append(c.want, "Nothing is approved yet"))
		if c.no != "" {
			wantTexts(t, name, all, nil, c.no)
		}
	}
}

func TestAnOrderSaysHowLongItHoldsAndWhatItCanComeTo(t *testing.T) {
	t.Parallel()
	entered := url.Values{"o0-name": {"customer"}, "o1-name": {"amount"}, "o1": {"most"}, "o1-most": {"1,000.50"}}
	formats := wordsOf(t, refunding).ParamsFormat("refund")
	bound := orderAmountBound(entered, formats, shown.English)
	for count, want := range map[int]string{1: "1,000.50 EUR", 3: "3,001.50 EUR", 0: ""} {
		p := &orderConfirmPage{Count: count}
		if p.addCoveredCalls(nil, bound, shown.English); p.MaxSum != want {
			t.Errorf("%d can come to %q, want %q", count, p.MaxSum, want)
		}
	}
	// What it would approve now counts with its own amount.
	p := &orderConfirmPage{Count: 3}
	p.addCoveredCalls([]client.Approval{refund(t, 1, `{"customer": "Ann", "amount": 12.50}`)}, bound, shown.English)
	if p.MaxSum != "2,013.50 EUR" || p.MaxEach != "1,000.50 EUR" || p.CoveredText() != "1 (12.50 EUR)" {
		t.Errorf("%+v", p)
	}
	for key, value := range map[string]string{"o1": "any", "o1-most": "a lot", "o1-name": "customer"} {
		changed := url.Values{"o1-name": {"amount"}, "o1": {"most"}, "o1-most": {"1"}}
		if changed.Set(key, value); orderAmountBound(changed, formats, shown.English) != nil {
			t.Errorf("%s %s: it has a bound", key, value)
		}
	}
	for l, want := range map[shown.Language][]string{
		shown.English: {"Later it would approve every case that fits, until the end of 7 December 2026 (UTC), but no more " +
			"than 3 cases in all.", "All of them together can come to 3.00 EUR at most"},
		shown.German: {"bis einschließlich 7. Dezember 2026 (UTC); insgesamt höchstens 3 Fälle.",
			"Zusammen können sie ergeben: 3,00 EUR höchstens"},
	} {
		format := shown.Format{Display: shown.Date}
		all, _ := pageText(t, l, "ordersure", &orderConfirmPage{Count: 3, LastDay: format.Text("2026-12-07", l),
			MaxSum: formats.FormatAt(jsonval.Path{"amount"}).MultipleText("1", 3, l)})
		wantTexts(t, "the page", all, want)
	}
}

func TestAnOrderSaysOfEachParameterWhetherItIsLimited(t *testing.T) {
	t.Parallel()
	entered := url.Values{"o0-name": {"customer"}, "o0": {"any"}, "o1-name": {"amount"}, "o1": {"most"},
		"o1-most": {"5"}, "o2-name": {"letter"}, "o2": {"same"}, "o2-value": {`"Dear {customer}"`}}
	formats := wordsOf(t, refunding).ParamsFormat("refund")
	page := &orderConfirmPage{Terms: orderTerms(entered, formats, shown.English), ToolTitle: "Refund"}
	all, _ := pageText(t, shown.English, "ordersure", page)
	wantTexts(t, "the page", all, []string{"Refund, if all of this is so: Customer : any “Amount” is 5.00 " +
		"EUR or less Letter : the wording is the same: Dear Customer Underlined: filled in for each case.",
		"Due on : any",
		"How : any"}, "“Letter")
	page.Terms = page.Terms[:1]
	all, _ = pageText(t, shown.English, "ordersure", page)
	wantTexts(t, "the page", all, []string{"every case, whatever it says Customer : any"})
}

func TestTheMenuSaysWhereAPageStands(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]string{"/": {"/", "page"}, "/desk/calls/p/1.1": {"/", "true"},
		"/desk/processes": {"/desk/processes", "page"}, "/desk/processes/p/undo": {"/desk/processes", "true"},
		"/desk/decided": {"/desk/decided", "page"}, "/desk/enter": {"", ""}} {
		for _, href := range []string{"/", "/desk/processes", "/desk/insights", "/desk/decided"} {
			got := frame{Path: path}.AriaCurrent(href)
			if (href == want[0]) != (got != "") || href == want[0] && got != want[1] {
				t.Errorf("%s, at %s: %q", path, href, got)
			}
		}
	}
}
