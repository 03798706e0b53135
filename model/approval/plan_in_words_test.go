package approval_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/modeltest"
)

// What a Plan would do is told by what is known before it runs: not by what another of its Calls will write first.
func TestAPlanIsToldByWhatIsKnownBeforeItRuns(t *testing.T) {
	t.Parallel()
	idea := modeltest.IdeaFrom(t, `{"config": {"instanceName": "†`+"`order ${input.order}`"+`"}, "schema": {"tools": {
		"refund": {"title": "Refund", "type": "object", "properties": {"note": {"const": "†input.note"}, "to": {"type": "string"},
			"amount": {"type": "integer", "_display": "money", "currency": "EUR", "minorUnits": true}},
			"_title": "†`+"`Refund ${amount} to ${to}, ${note}`"+`"}}},
		"context": [{"type": "input", "input": {"note": "sorry"}}, {"type": "state", "state": {"fee": 500}},
			{"type": "input", "_instance": "①", "input": {"order": "A-1", "amount": 229900, "name": "Ann"}},
			{"type": "input", "_instance": "②", "input": {"order": "A-2", "name": "Bob"}}]}`)
	var plan approval.PlanAwaitingDecision
	if err := json.Unmarshal([]byte(`{"request": 1, "calls": [
		{"call": "1.1", "instances": ["①", "②"], "as": {"_tool": "refund", "_instance": "*", "amount": "†input.amount", "to": "†input.name", "_outputPath": "†state.paid"}},
		{"call": "1.2", "instances": ["①"], "as": {"_tool": "refund", "_instance": "①", "amount": "†state.fee", "to": "Eve"}},
		{"call": "1.3", "instances": ["①"], "error": "no such name", "as": {"_tool": "refund", "_instance": "①", "amount": "†state.fee", "to": "†state.paid"}}]}`),
		&plan); err != nil {
		t.Fatal(err)
	}
	edges := plangraph.ListEdges(ideafile.RawWrittenCalls(plan.WrittenCalls()), plangraph.Labels{})
	readsAnother := func(n int) bool { return plangraph.ReadsOtherCall(edges, n+1) }
	var got []string
	for _, c := range plan.DescribeCalls(idea, shown.NewPresenter(idea), shown.English, readsAnother) {
		amount := c.Amount()
		got = append(got, fmt.Sprint(c.CallID, " ", c.InstanceName, ": ", c.Sentence, ", ", amount.DisplayText,
			amount.Value != nil, c.Error))
	}
	want := []string{"1.1 order A-1: Refund 2,299.00 EUR to Ann, sorry, 2,299.00 EURtrue",
		"1.1 order A-2: Refund: Bob, not givenfalse", "1.2 order A-1: Refund 5.00 EUR to Eve, sorry, 5.00 EURtrue",
		"1.3 order A-1: Refund, not givenfalseno such name"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	plan.Instances = []string{"①", "②"}
	if got := plan.SentenceIn(shown.NewPresenter(idea), shown.English); got != "4 × Refund: order A-1, order A-2" {
		t.Errorf("in one line it is %q", got)
	}
	list := plan.DescribeCalls(nil, shown.NewPresenter(nil), shown.English, readsAnother)
	if len(list) != 4 || list[2].Sentence == "" {
		t.Errorf("%+v", list)
	}
}
