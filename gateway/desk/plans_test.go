package desk

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/planpage"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/protocol"
)

func planned(t *testing.T, tool, cents string) client.PlannedCall {
	t.Helper()
	params := jsonval.Object{}
	if cents != "" {
		params["amount"] = json.Number(cents)
	}
	return client.PlannedCall{Call: wordsOf(t, paid).Call(tool, params, "", shown.InstanceValues{}, shown.English)}
}

func TestThePageOfAPlanIsCalledByWhatThePlanDoes(t *testing.T) {
	t.Parallel()
	counts := func(pairs ...any) (list []approval.PlanToolCount) {
		for n := 0; n < len(pairs); n += 2 {
			list = append(list, approval.PlanToolCount{Tool: pairs[n].(string), CallCount: pairs[n+1].(int)})
		}
		return list
	}
	for want, plan := range map[string]client.DescribedPlan{
		"Pay somebody: 2,299.00 EUR": {CallCountsByTool: counts("pay", 1),
			PlannedCalls: []client.PlannedCall{planned(t, "pay", "229900")}},
		"2 × Pay somebody, 2,299.05 EUR": {CallCountsByTool: counts("pay", 2),
			PlannedCalls: []client.PlannedCall{planned(t, "pay", "229900"), planned(t, "pay", "5")}},
		"2 × Pay somebody; Log": {CallCountsByTool: counts("pay", 2, "log", 1), // one amount is not known yet
			PlannedCalls: []client.PlannedCall{planned(t, "pay", "5"), planned(t, "log", ""), planned(t, "pay", "")}},
		"Pay somebody, 0.05 EUR; 2 × Log": {CallCountsByTool: counts("pay", 1, "log", 2),
			PlannedCalls: []client.PlannedCall{planned(t, "pay", "5"), planned(t, "log", ""), planned(t, "log", "")}},
		"Pay somebody, 0.05 EUR; Log": {CallCountsByTool: counts("pay", 1, "log", 1), // one is not in words
			PlannedCalls: []client.PlannedCall{planned(t, "pay", "5")}},
		"3 × Pay somebody": {CallCountsByTool: counts("pay", 3), // not all are in words
			PlannedCalls: []client.PlannedCall{planned(t, "pay", "5"), planned(t, "pay", "5")}},
	} {
		if got := planTitle(plan, wordsOf(t, paid)); got != want {
			t.Errorf("it is called %q, want %q", got, want)
		}
	}
}

// An amount that the sentence says is not said beside it once more where a row is a card. The sum
// stands above the buttons, though the title has it.
func TestTheAmountOfAPlannedStepIsSaidOnceOnAPhone(t *testing.T) {
	t.Parallel()
	said, unsaid := planned(t, "pay", "5"), planned(t, "pay", "7")
	unsaid.Sentence, unsaid.Parts = "Pay somebody", nil
	page := planPage{frame: frame{Title: "2 × Pay somebody, 0.12 EUR", ProcessTitle: "Refunds"}, Sum: "0.12 EUR",
		Page: &planpage.Page{}, PlannedCalls: []client.PlannedCall{said, unsaid}}
	page.Plan.PlanView = protocol.PlanView{Process: "p-7"}
	source := shows(t, "plan", page)
	for text, count := range map[string]int{`class="number again"`: 1, `<tfoot><tr><th scope="row">Together`: 1,
		`name="reason"`: 1} {
		if got := strings.Count(formOfPage.FindString(source), text); got != count {
			t.Errorf("the form has %s %d times: %s", text, got, source)
		}
	}
	all, operators := pageText(t, shown.English, "plan", page)
	wantTexts(t, "the page of a Plan", all, []string{"Inbox › Refunds 2 × Pay somebody, 0.12 EUR It came in",
		"Approve the Plan – 0.12 EUR Reject the Plan", "needed to reject"}, "begins the process", "p-7")
	wantTexts(t, "the page of a Plan", operators, []string{"of p-7"})
}

// The second look at a changed Plan says what would run, not what was planned: each step once for each case, with the
// money and the finality of the Tools that it has now.
func TestTheSecondLookAtAChangedPlanIsAtWhatWouldRun(t *testing.T) {
	t.Parallel()
	source := strings.Replace(paid, `"tools": {"pay": {`, `"tools": {"log": {"type": "object", "_undo": "none"},
		"pay": {"_activity": {"http": {"url": "https://example.com"}}, `, 1)
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(source).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	waiting := protocol.PlanView{Process: "p-7"}
	waiting.RequestNumber, waiting.Instances = 1, []string{"①", "②", "③"}
	v := &visit{Desk: &Desk{Options: Options{API: &api.API{}}}, user: &access.Person{},
		Request: httptest.NewRequest("POST", "/desk/plans/p-7", nil)}
	v.PostForm = url.Values{"decision": {client.Amend}, "keep": {"1"}}
	log := jsonval.Object{"_tool": "log", "_instance": "①"}
	pay := jsonval.Object{"_tool": "pay", "_instance": "*", "amount": json.Number("500")}
	confirmed := func(calls ...any) confirmPage {
		plan := client.DescribeAmended(waiting, calls, idea, shown.NewPresenter(idea), shown.English)
		page := planPage{Page: &planpage.Page{Plan: plan, Tools: idea.Tools}}
		page.addPlannedCalls(plan)
		decision := client.PlanDecision{Kind: client.Amend, Calls: calls}
		if !page.needsSecondLook(decision) {
			t.Error("it is not looked at twice")
		}
		return v.newPlanConfirmPage(page, decision)
	}
	if c := confirmed(log); c.Count != 1 || c.Sum != "" || c.IsIrreversible || len(c.Captions) != 1 {
		t.Errorf("%+v", c)
	}
	c := confirmed(log, pay)
	if c.Count != 4 || !c.IsIrreversible || c.Fields.Get("keep") != "1" || c.Fields.Has("decision") {
		t.Errorf("%+v", c)
	}
	all, _ := pageText(t, shown.English, "sure", c)
	wantTexts(t, "the second look", all, []string{"4 steps: 15.00 EUR These are the steps as you have changed them. Log",
		"Pay somebody: 5.00 EUR", "cannot be taken back", "Have it run as changed Back"})
}

// What decides on much at once is looked at twice, be it a table of cases or a Plan.
func TestAPlanThatDoesMuchAtOnceIsLookedAtTwice(t *testing.T) {
	t.Parallel()
	pay := planned(t, "pay", "229900")
	steps := func(n int) []client.PlannedCall { return slices.Repeat([]client.PlannedCall{planned(t, "log", "")}, n) }
	asked := pay
	asked.CallID = "1.1"
	for name, one := range map[string]struct {
		calls       []client.PlannedCall
		hiddenCount int
		decision    client.PlanDecision
		want        bool
	}{
		"money":              {calls: []client.PlannedCall{pay, pay}, want: true},
		"money, one step":    {calls: []client.PlannedCall{pay}},
		"money, asked again": {calls: []client.PlannedCall{asked, asked}},
		"money, rejected": {calls: []client.PlannedCall{pay, pay},
			decision: client.PlanDecision{Kind: client.Reject}},
		"few steps":                  {calls: steps(10)},
		"many steps":                 {calls: steps(11), want: true},
		"many steps, some not shown": {calls: steps(2), hiddenCount: 9, want: true},
		"few steps, changed":         {calls: steps(1), decision: client.PlanDecision{Kind: client.Amend}, want: true},
		"all asked again, changed": {calls: []client.PlannedCall{asked},
			decision: client.PlanDecision{Kind: client.Amend}},
	} {
		page := planPage{Page: &planpage.Page{}, PlannedCalls: one.calls, HiddenSentenceCount: one.hiddenCount}
		page.Plan.LaterApprovals = []client.LaterApproval{{CallID: "1.1", Certainty: client.AskedAlways}}
		if got := page.needsSecondLook(one.decision); got != one.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	confirm := confirmPage{frame: frame{Title: "Approve this Plan?"}, Kind: client.Approve, IsAboutPlan: true,
		Count: 102, Sum: "7.00 EUR", FormAction: "/desk/plans/p-7", BackHref: "/desk/plans/p-7", HiddenCaseCount: 101,
		Captions: []string{"Pay Ann"}, Fields: url.Values{"digest": {"d1"}, "keep": {"1", "2"}}}
	all, _ := pageText(t, shown.English, "sure", confirm)
	wantTexts(t, "the second look", all, []string{
		"The Plan Approve this Plan? 102 steps: 7.00 EUR Pay Ann and 101 steps",
		"Nothing is decided yet. Approve the Plan – 7.00 EUR Back"}, "case", "Inbox ›")
	source := shows(t, "sure", confirm)
	wantTexts(t, "its form", source, []string{`action="/desk/plans/p-7"`, `name="digest" value="d1"`,
		`name="keep" value="1"`, `name="keep" value="2"`, `name="sure" value="yes"`})
}
