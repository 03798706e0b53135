package planpage_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/gateway/desk/planpage"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// waiting is a page of a Plan of two Calls, of Tools that are known.
func waiting(t *testing.T) *planpage.Page {
	t.Helper()
	var plan client.DescribedPlan
	err := json.Unmarshal([]byte(`{"process": "p", "request": 1, "digest": "d", "calls": [
		{"call": "1.1", "instances": ["①"], "as": {"_tool": "pay", "_instance": "①", "cents": 12345678901234567890.10, "to": "†input.name", "_outputPath": "paid"}},
		{"call": "1.2", "as": {"_tool": "tell", "text": "†state.paid", "all": "†state", "_outputPath": "†state.isTold && †state.paid"}}], "askedLater": [{"call": "1.1", "when": "always"}]}`), &plan)
	if err != nil {
		t.Fatal(err)
	}
	plan.DiagramCalls = ideafile.RawWrittenCalls(plan.WrittenCalls())
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(`{"schema": {"tools": {
		"pay": {"title": "Pay to somebody", "type": "object", "properties": {"cents": {"type": "number"}, "to": {"type": "string"}}, "_activity": {"http": {"url": "https://example.com"}}, "_retry": {"attempts": 1}},
		"tell": {"type": "object", "properties": {"text": {"type": "string"}}}}}, "context": [{"type": "text", "text": "Go."},
		{"type": "input", "input": {}, "schema": {"properties": {"name": {"title": "Supplier"}}}},
		{"type": "state", "state": {}, "schema": {"properties": {"paid": {"title": "Paid on"}, "isTold": {}}}}]}`).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	return planpage.New(plan, idea.Tools, plangraph.Labels{Presenter: shown.NewPresenter(idea)}, shown.English, func(tool *ideafile.Tool) form.Form {
		return form.Form{Schema: jsonval.ToJSONValue(tool.ParamsSchemaSource())}
	})
}

func TestAPageSaysWhatEachCallReadsWritesAndDoes(t *testing.T) {
	t.Parallel()
	p := waiting(t)
	first, second := p.Calls[0], p.Calls[1]
	if first.EffectText != "It sends a request to another system. It is never run twice." ||
		first.Writes != "Paid on" ||
		first.ReviewText != "a person is asked again" ||
		strings.Join(first.Reads, "; ") != "Supplier" || first.InstanceNames != "①" {
		t.Errorf("%+v", first)
	}
	if strings.Join(second.Reads, "; ") != "What is known of it now, Paid on of step 1.1 Pay to somebody; "+
		"nothing, but writes where step 1.1 Pay to somebody does: whichever is first" ||
		second.Writes != "Is told, Paid on" ||
		!strings.Contains(second.EffectText, "Its result is written") || second.ReviewText != "" {
		t.Errorf("%+v", second)
	}
}

func TestAPageSaysOfWhichStepsAPersonIsAskedAgain(t *testing.T) {
	t.Parallel()
	p := waiting(t)
	always := func(id string) client.LaterApproval {
		return client.LaterApproval{CallID: id, Certainty: client.AskedAlways}
	}
	for want, list := range map[string][]client.LaterApproval{"": nil, "none": {}, "some": {always("1.1")},
		"all": {always("1.1"), always("1.2")}} {
		if p.Plan.LaterApprovals = list; p.LaterReview() != want {
			t.Errorf("%v: %q, want %q", list, p.LaterReview(), want)
		}
	}
	p.Plan.LaterApprovals = []client.LaterApproval{always("1.1"), {CallID: "1.2", Certainty: client.AskedPerhaps}}
	if p.LaterReview() != "some" {
		t.Error("a step that is asked about perhaps counts as one that is")
	}
}

// A value that is known only when a step runs is named, as people call it.
func TestAPageSaysValuesWithoutReferences(t *testing.T) {
	t.Parallel()
	p := waiting(t)
	var said []string
	for _, c := range p.Calls {
		for _, f := range c.Params {
			said = append(said, f.Name+": "+f.Text)
		}
	}
	if got := strings.Join(said, "; "); got != "Cents: 12345678901234567890.10; To: “Supplier”; "+
		"Text: “Paid on”; all: “What is known of it now”" {
		t.Error(got)
	}
}

func TestWhatNobodyTouchedStaysAsItWasPlanned(t *testing.T) {
	t.Parallel()
	take := func(values url.Values) (*planpage.Page, *client.PlanDecision, bool) {
		p, d := waiting(t), &client.PlanDecision{Kind: "amend"}
		return p, d, p.ReadDecision(d, values)
	}
	if p, _, ok := take(url.Values{"keep": {"1", "2"}}); ok || !strings.Contains(p.FormError, "Nothing is changed") {
		t.Error(p.FormError)
	}
	if p, _, ok := take(url.Values{}); ok || !strings.Contains(p.FormError, "No step is left") {
		t.Error(p.FormError)
	}
	_, d, ok := take(url.Values{"keep": {"1"}})
	if want := `{"_instance":"①","_outputPath":"paid","_tool":"pay","cents":12345678901234567890.10,"to":"†input.name"}`; !ok || len(d.Calls) != 1 || string(jsonval.Encode(d.Calls[0])) != want {
		t.Errorf("%s", d.Calls)
	}
	// Opening a Call decides on nothing, and its form, untouched, changes nothing.
	p, _, ok := take(url.Values{"keep": {"1", "2"}, "edit": {"1"}})
	if ok || p.FormError != "" || p.Calls[0].ParamsForm == nil {
		t.Fatalf("%v %q", ok, p.FormError)
	}
	sent := url.Values{"keep": {"1", "2"}, "open": {"1"}, "c1-rest": {p.Calls[0].RestJSON}, "c1~kind": {"object"},
		"c1~key":        {"cents", "to"},
		"c1/cents~kind": {"number"}, "c1/cents": {"12345678901234567890.10"}, "c1/to~kind": {"text"},
		"c1/to": {"†input.name"}}
	if p, _, ok := take(sent); ok || !strings.Contains(p.FormError, "Nothing is changed") {
		t.Error(p.FormError)
	}
	sent.Set("c1/cents", "7.50")
	sent.Set("new", `{"_tool": "tell", "text": "more"}`)
	_, d, ok = take(sent)
	if !ok || len(d.Calls) != 3 || !strings.Contains(string(jsonval.Encode(d.Calls[0])), `"cents":7.50`) ||
		!strings.Contains(string(jsonval.Encode(d.Calls[2])), "more") {
		t.Errorf("%v %s", ok, d.Calls)
	}
	sent.Set("c1-rest", `{"cents": 1}`)
	if p, _, ok := take(sent); ok || !strings.Contains(p.Calls[0].FormError, "may not be here") {
		t.Errorf("%+v", p.Calls[0])
	}
}

func TestWhatIsFoundWrongStandsBesideItsCall(t *testing.T) {
	t.Parallel()
	p, d := waiting(t), &client.PlanDecision{Kind: "amend"}
	if !p.ReadDecision(d, url.Values{"keep": {"2"}, "added": {`{"_tool": "pay"}`, " "}}) {
		t.Fatal(p.FormError)
	}
	p.ShowProblems([]api.Place{{Path: "body.calls[0]", Message: "no text"}, {Path: "body.calls[1]", Message: "no cents"},
		{Path: "body.calls[9]", Message: "none"}})
	if p.Calls[0].FormError != "" || p.Calls[1].FormErrorDetail != "no text" ||
		p.AddedCalls[0].FormErrorDetail != "no cents" ||
		!strings.Contains(p.Calls[1].FormError, "cannot run") {
		t.Errorf("%+v %+v", p.Calls, p.AddedCalls)
	}
	for text, says := range map[string]string{"none": "want a JSON object", `{"a": 1}`: `"_tool" is missing`,
		`{"_tool": "fly"}`: "no step of the kind fly"} {
		p, d := waiting(t), &client.PlanDecision{Kind: "amend"}
		if p.ReadDecision(d, url.Values{"keep": {"1"}, "new": {text}}) ||
			!strings.Contains(p.AddedCalls[0].FormError, says) {
			t.Errorf("%s: %+v", text, p.AddedCalls[0])
		}
	}
}
