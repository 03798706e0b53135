package desk

import (
	"encoding/json"
	"html"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/client/report"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/gateway/desk/planpage"
	"processidea/model/approval"
	"processidea/model/approval/proof"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
	"processidea/store/chain"
	"processidea/store/ideadiff"
)

var (
	forOperators = regexp.MustCompile(`(?s)<details class="operators".*?</details>`)
	anyTag       = regexp.MustCompile(`<[^>]*>`)
)

// pageText is what a page says to everybody, and what to operators alone.
func pageText(t *testing.T, l shown.Language, name string, data any) (all, operators string) {
	t.Helper()
	made, err := loadTemplates()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := made[l][name].ExecuteTemplate(&b, "frame", data); err != nil {
		t.Fatal(err)
	}
	text := func(source string) string {
		return strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(source, " "))), " ")
	}
	source := b.String()
	return text(forOperators.ReplaceAllString(source, "")),
		text(strings.Join(forOperators.FindAllString(source, -1), " "))
}

func wantTexts(t *testing.T, where, text string, has []string, lacks ...string) {
	t.Helper()
	for _, one := range has {
		if !strings.Contains(text, one) {
			t.Errorf("%s does not say %q: %s", where, one, text)
		}
	}
	for _, one := range lacks {
		if strings.Contains(text, one) {
			t.Errorf("%s says %q: %s", where, one, text)
		}
	}
}

func TestTheRecordSaysStandingOrdersInWords(t *testing.T) {
	t.Parallel()
	order := &approval.StandingOrder{ID: "small", Tool: "pay", MaxCalls: 10,
		ParamsCondition: jsonval.Object{"properties": 1}}
	page := verifyPage{frame: frame{Now: time.Now()}, Report: &chain.Report{IsIntact: true}, Orders: []givenOrder{{
		Decision: report.Decision{Decider: "ann", Summary: "gave a standing order", Reason: "on leave",
			GivenOrder: order,
			Details:    []report.Detail{{Name: "The order", Text: `small: parameters fit {"properties": 1}`}}},
		About: "Pay somebody", Terms: []string{"“Amount” is 300.00 EUR or less"},
	}}}
	all, operators := pageText(t, shown.English, "verify", page)
	wantTexts(t, "the record", all, []string{"ann: gave a standing order: Pay somebody", "“Amount” is 300.00 EUR or less",
		"10 times at most", "on leave"}, "parameters fit", "{")
	wantTexts(t, "the record", operators, []string{`parameters fit {"properties": 1}`})
}

func TestWhatHoldsAProcessUpIsForOperators(t *testing.T) {
	t.Parallel()
	page := &processPage{}
	if err := json.Unmarshal([]byte(`{"status": "running", "heldUp": [{"cause": "llm_unreachable", "message":
		"dial tcp: refused", "mend": "set OPENAI_BASE_URL"}]}`), &page.Status); err != nil {
		t.Fatal(err)
	}
	all, operators := pageText(t, shown.English, "process", page)
	wantTexts(t, "the process", all, []string{"Something outside holds it up, which operators must mend."}, "dial tcp",
		"OPENAI")
	wantTexts(t, "the process", operators, []string{"dial tcp: refused", "OPENAI"})
}

// Why the engine stopped is for operators; why a person paused it is for everybody.
func TestWhyAProcessStoppedIsForOperators(t *testing.T) {
	t.Parallel()
	page := &processPage{}
	status := func(json string) (all, operators string) {
		page.Status = api.ProcessStatus{}
		if err := jsonval.Unmarshal([]byte(json), &page.Status); err != nil {
			t.Fatal(err)
		}
		return pageText(t, shown.German, "process", page)
	}
	all, operators := status(`{"status": "paused", "error": {"code": "limit_reached", "message": "9 Requests were made"}}`)
	wantTexts(t, "the process", all, []string{"Er hat von selbst angehalten."}, "Requests")
	wantTexts(t, "the process", operators, []string{"9 Requests were made"})
	all, _ = status(`{"status": "failed", "error": {"code": "tool_failed", "message": "Call 1.2: no State"}}`)
	wantTexts(t, "the process", all, []string{"Er ist zu keinem guten Ende gekommen."}, "Call", "State")
	all, _ = status(`{"status": "paused", "error": {"code": "paused", "message": "paused by ann: lunch"}}`)
	wantTexts(t, "the process", all, []string{"angehalten von ann: lunch"})

	all, operators = status(`{"status": "completed", "quality": {"rechecked": 500, "differed": 11, "share": 0.022, "byPosition": [
		{"from": 1, "to": 2, "rechecked": 250, "differed": 5}, {"from": 3, "to": 4, "rechecked": 250, "differed": 6}]}}`)
	wantTexts(t, "the process", all, []string{"von 500 zweimal gefragten wurden 11 anders entschieden: 2,2 %, zwischen"},
		"prompt")
	wantTexts(t, "the process", operators, []string{"of the prompt"})

	list := processesPage{Rows: []client.ProcessSummary{{ProcessID: "p", Status: "running",
		WaitingTexts: []string{"asking the LLM: Request 3"}},
		{ProcessID: "q", Status: "running", WaitingTexts: []string{"held up"}}}}
	all, operators = pageText(t, shown.English, "processes", list)
	wantTexts(t, "the list", all, []string{"p running", "q running, held up"}, "LLM", "Request")
	wantTexts(t, "the list", operators, []string{"asking the LLM: Request 3"})
}

// Reasons that mean the same to people are one reason; what programs wrote of them is for operators.
func TestWhyStepsDidNotSucceedIsSaidInWords(t *testing.T) {
	t.Parallel()
	var status api.ProcessStatus
	if err := jsonval.Unmarshal([]byte(`{"status": "running", "failures": [
		{"status": "failed", "tool": "pay", "code": "tool_failed", "message": "POST https://bank.example: 422", "count": 2},
		{"status": "failed", "tool": "pay", "code": "tool_failed", "message": "dial tcp: refused", "count": 1},
		{"status": "failed", "tool": "pay", "code": "mcp_unreachable", "message": "EOF", "count": 1},
		{"status": "failed", "tool": "", "code": "unknown_key", "message": "_tol", "count": 1},
		{"status": "rejected", "tool": "pay", "code": "rejected", "message": "rejected by ann: too dear", "count": 1},
		{"status": "rejected", "tool": "pay", "code": "rejected", "message": "rejected by timeout", "count": 1}],
		"instructions": [{"file": "rules.json", "step": "Call first", "fulfilled": 2, "unfulfilled": 1, "notApplicable": 0},
			{"file": "rules.json", "step": "Be kind", "fulfilled": 0, "unfulfilled": 0, "notApplicable": 0}]}`), &status); err != nil {
		t.Fatal(err)
	}
	page := &processPage{Status: status, Failures: failureRows(status.Failures, wordsOf(t, paid))}
	for l, want := range map[shown.Language][]string{
		shown.English: {"5 reasons why", "Pay somebody : it was tried and did not work (3 times)",
			"Pay somebody : the system that does it did not answer", "it was planned in a way that cannot be done",
			"rejected by ann: too dear", "Pay somebody : nobody decided in time",
			"Call first rules.json fulfilled: 2 cases; not fulfilled: 1 case",
			"Be kind rules.json no case has finished"},
		shown.German: {"5 Gründe, warum", "Pay somebody : es wurde versucht und hat nicht geklappt (3-mal)",
			"abgelehnt von ann: too dear", "niemand hat rechtzeitig entschieden", "erfüllt: 2 Fälle; nicht erfüllt: 1 Fall"},
	} {
		all, operators := pageText(t, l, "process", page)
		wantTexts(t, "the process", all, want, "https", "dial tcp", "EOF", "_tol", "tool_failed", "timeout")
		wantTexts(t, "the process", operators, []string{"tool_failed: POST https://bank.example: 422",
			"dial tcp: refused"})
	}
}

func TestWhyAStepOfAPlanWillFailIsForOperators(t *testing.T) {
	t.Parallel()
	page := planPage{Page: &planpage.Page{NotAmendableReason: "an earlier process has begun it"},
		PlannedCalls: []client.PlannedCall{{
			Call: shown.Call{Parts: shown.TextSpans{{Text: "Pay Ann"}}}, Error: "†state.sum: no Call writes it"}}}
	page.Calls = []*planpage.Call{{ID: "1.1", Error: "†state.sum: no Call writes it",
		FormError:       "it cannot run as it is",
		FormErrorDetail: "†state.sum: no such value"}}
	all, operators := pageText(t, shown.German, "plan", page)
	wantTexts(t, "the Plan", all, []string{"Pay Ann Er wird scheitern."}, "†state.sum", "no Call", "no such")
	wantTexts(t, "the Plan", operators, []string{"†state.sum: no Call writes it"})
	page.NotAmendableReason = "" // the table of the steps is for everybody
	all, operators = pageText(t, shown.German, "plan", page)
	wantTexts(t, "the Plan", all, []string{"1.1", "Er wird scheitern."}, "†state.sum", "no such")
	wantTexts(t, "the Plan", operators, []string{"†state.sum: no such value"})
}

// How values do not fit is said in words; how JSON Schema says it is for operators.
func TestWhyValuesDoNotFitIsSaidInWords(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"type": "object", "properties": {"v": {"type": "string", "title": "Cost centre", "pattern": "^[^@]*@x$"}}}`)
	f := form.Form{Schema: schema, ControlPrefix: amendControlPrefix}
	page := &callPage{Presenter: shown.NewPresenter(nil), IsDecisionAllowed: map[string]bool{client.Amend: true},
		FormError: misfitMessage, FormErrorDetail: "/v: does not match pattern", FormErrorDecision: client.Amend,
		AmendField: f.NewFieldFromEntered(modeltest.MustDecodeJSON(`{"v": "a@x"}`), true, url.Values{},
			map[string]string{"p/v": "this does not have the form that is asked for"})}
	for l, want := range map[shown.Language][]string{
		shown.English: {"The values do not fit together", "this does not have the form that is asked for"},
		shown.German:  {"Die Angaben passen nicht zusammen", "das hat nicht die Form, die verlangt ist"},
	} {
		all, operators := pageText(t, l, "call", page)
		wantTexts(t, "the page", all, want, "pattern", "^[^@]*")
		wantTexts(t, "the page", operators, []string{"/v: does not match pattern", "^[^@]*@x$"})
	}
}

func TestTheCasesOfAProcessSayWhatTheyAreAboutAndCost(t *testing.T) {
	t.Parallel()
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(`{"schema": {"tools": {}}, "context": [{"type": "input",
		"input": {}, "schema": {"properties": {"in": {"properties": {"cents": {"_display": "money", "currency": "EUR",
			"minorUnits": true}}}}}},
		{"type": "input", "_instance": "①", "input": {"in": {"cents": 229900}}},
		{"type": "input", "_instance": "②", "input": {"in": {"cents": "a lot"}}}]}`).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	page := &processPage{}
	page.Status.Instances = map[string]loop.InstanceResult{"①": {Status: "settled"}, "②": {Status: "settled"}}
	page.addInstanceRows(nil, shown.NewPresenter(idea), shown.German, nil)
	all, _ := pageText(t, shown.German, "process", page)
	wantTexts(t, "the process", all, []string{"① 2.299,00 EUR erledigt ② erledigt", "Betrag"}, "Kosten")
}

// What is none is 0, and what waits leads to the inbox of everybody.
func TestInsightsSayZeroAndLeadToWhatWaits(t *testing.T) {
	t.Parallel()
	row := func(tool string, waiting int) insightsRow {
		return insightsRow{ToolInsights: client.ToolInsights{Tool: tool, Title: "To " + tool, WaitingCount: waiting}}
	}
	page := insightsPage{Insights: &client.Insights{Tools: []client.ToolInsights{{}}}, Days: 30,
		Rows: []insightsRow{row("pay", 3), row("log", 0)}}
	all, _ := pageText(t, shown.English, "insights", page)
	wantTexts(t, "the page", all, []string{"what was decided in the last 30 days.", "To pay 3 0 0 0", "To log 0 0 0 0"})
	if source := shows(t, "insights", page); !strings.Contains(source, `<a href="/?tool=pay&amp;who=all">3</a>`) {
		t.Error(source)
	}
}

func TestWhatHappensMeanwhileIsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 9, 14, 0, 0, time.UTC)
	if got := timestampFormatter(shown.German)(at); !strings.HasPrefix(got, at.Local().Format("02.01.2006")) {
		t.Error(got)
	}
}

func TestWhatIsSignedIsReadWithoutJSON(t *testing.T) {
	t.Parallel()
	d := map[string]any{"Claims": proof.Claims{DecisionKind: "amend", CallID: "1.2", ApprovalDigest: "d1g3st",
		ProcessID: "p"},
		"Tool": "pay", "ProcessTitle": "Payment", "Caption": "Pay Ann",
		"Value":    jsonval.Object{"amount": json.Number("12.50"), "note": ""},
		"BackHref": "/", "ReplacementTool": "Pay somebody", "ValueFact": factInFormat(wordsOf(t,
			paid).ParamsFormat("pay"),
			jsonval.Object{"amount": json.Number("1250"), "note": ""}, client.Approval{Call: shown.Call{Language: shown.German}})}
	all, operators := pageText(t, shown.German, "sign", struct {
		frame
		D any
	}{frame{}, d})
	wantTexts(t, "what is signed", all, []string{"ändern", "Pay Ann", "Prozess Payment p Was",
		"Was stattdessen getan wird Pay somebody",
		"Amount 12,50 EUR", "note ein leerer Text"}, "{", "d1g3st")
	wantTexts(t, "what is signed", operators, []string{`"amount": 12.50`, "d1g3st"})
}

func TestADenialSaysWhereToGoOn(t *testing.T) {
	t.Parallel()
	for _, l := range shown.Languages {
		for code, text := range adviceByCode {
			all, _ := pageText(t, l, "problem", struct {
				frame
				Code, Detail, Advice, AboutProcess string
			}{frame{Title: titleByStatus[403]}, code, "why", text, "p"})
			if !strings.Contains(all, map[shown.Language]string{shown.English: "Go to the inbox",
				shown.German: "Zum Eingang"}[l]) || l == shown.German && strings.Contains(all, text) {
				t.Errorf("%s: %s", code, all)
			}
		}
	}
}

// What nobody but operators looks at is folded away, and is sent with what is changed as it was.
func TestAFormFoldsWhatIsForOperators(t *testing.T) {
	t.Parallel()
	params := modeltest.MustDecodeJSON(`{"amount": 1250, "bank": {"swift": "GENODEF1"}, "note": "x"}`)
	schema := modeltest.MustDecodeJSON(`{"type": "object", "required": ["amount", "bank", "key"], "properties": {
		"amount": {"type": "integer"}, "bank": {"type": "object", "title": "Bank", "_display": "hidden", "properties": {"swift": {"type": "string"}}},
		"key": {"type": "string", "title": "Key", "_display": "hidden"}, "note": {"type": "string"}}}`)
	f := form.Form{Schema: schema, ControlPrefix: amendControlPrefix}
	page := callPage{Approval: client.Approval{PendingCall: approval.PendingCall{CallID: "1.1", Tool: "pay"}},
		IsDecisionAllowed: map[string]bool{client.Amend: true}, AmendField: f.NewField(params, true)}
	for _, l := range shown.Languages {
		all, operators := pageText(t, l, "call", &page)
		wantTexts(t, "the form", all, []string{"Amount", "Note"}, "Swift", "Bank", "Key")
		wantTexts(t, "the form", operators, []string{"Bank", "Swift", "Key"})
	}
	isOpen := func(field *form.Field) (open []bool) {
		for _, one := range field.Fields {
			open = append(open, one.IsOpen())
		}
		return open
	}
	if got := isOpen(page.AmendField); !slices.Equal(got, []bool{false, false, false, false}) {
		t.Errorf("what need not be filled in is open: %v", got)
	}
	if got := isOpen(f.NewField(nil, false)); !slices.Equal(got, []bool{true, true, true, false}) {
		t.Errorf("what must be filled in is %v", got)
	}
	wrong := f.NewFieldFromEntered(params, true, nil, map[string]string{"p/bank/swift": "choose a value"})
	if got := isOpen(wrong); !slices.Equal(got, []bool{false, true, false, false}) {
		t.Errorf("what is wrong is %v", got)
	}
}

const paid = `{"schema": {"tools": {"pay": {"title": "Pay somebody", "type": "object", "properties": {
		"amount": {"title": "Amount", "_display": "money", "currency": "EUR", "minorUnits": true}, "to": {"title": "Paid to"},
		"secret": {"_display": "hidden"}}}}},
	"context": [{"type": "input", "input": {}, "schema": {"properties": {"name": {"title": "Supplier"}}}},
		{"type": "state", "state": {}, "schema": {"properties": {"lines": {"title": "Lines", "items": {"properties": {
			"cents": {"title": "Price", "_display": "money", "currency": "EUR", "minorUnits": true}}}},
			"bank": {"_display": "hidden", "properties": {"swift": {}}}}}}]}`

func wordsOf(t *testing.T, idea string) *shown.Presenter {
	t.Helper()
	read, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(idea).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	return shown.NewPresenter(read)
}

// What changed, and who decided what, is told as it is elsewhere: without references, ids and JSON.
func TestAnEntryOfTheRecordIsInTheWordsOfTheBusiness(t *testing.T) {
	t.Parallel()
	call := jsonval.Object{"_tool": "pay", "amount": json.Number("5"), "to": "†input.name", "secret": "sesame"}
	d := &client.Diff{Diff: &ideadiff.Diff{Changes: []ideadiff.Change{
		{Kind: "changed", Path: "†state.lines[0].cents", From: json.Number("229900"), To: json.Number("230000")},
		{Kind: "added", Path: "†state.bank.swift", To: "GENODEF1"},
		{Kind: "changed", Path: "config.limits.requests", From: json.Number("1"), To: json.Number("2")}},
		Calls: []ideadiff.CallChange{{Kind: "added", ID: "1.2", Tool: "pay", To: call},
			{Kind: "undone", ID: "1.1", Tool: "pay", From: "done", To: "undone"}}},
		Decisions: []client.RecordedDecision{{Decision: approval.Decision{Kind: client.Amend, DecidedBy: "ann",
			CallID: "1.2@①",
			Tool:   "pay", AmendedParams: jsonval.Object{"amount": json.Number("5")}, Reason: "too much"},
			Sentence: "Pay 5 EUR", InstanceName: "order 7"}}}
	all, err := loadCatalogues()
	if err != nil {
		t.Fatal(err)
	}
	for l, want := range map[shown.Language][]string{
		shown.English: {"“Lines › 1 › Price” in what is known of it changed 2,299.00 EUR 2,300.00 EUR",
			"Step 1.2 Pay somebody added Amount: 0.05 EUR, Paid to: “Supplier”",
			"Step 1.1 Pay somebody taken back done taken back", "and 1 more change",
			"ann: changed: Pay 5 EUR (order 7) The reason: too much"},
		shown.German: {"„Lines › 1 › Price“ von dem, was bekannt ist geändert 2.299,00 EUR 2.300,00 EUR",
			"Schritt 1.2 Pay somebody hinzugefügt Amount: 0,05 EUR, Paid to: “Supplier”",
			"Schritt 1.1 Pay somebody zurückgenommen erledigt zurückgenommen", "und 1 weitere Änderung",
			"ann: geändert: Pay 5 EUR (order 7) Der Grund: too much"},
	} {
		p := &ideaPage{presenter: wordsOf(t, paid), language: l, SinceNumber: 1}
		p.labels = plangraph.Labels{Presenter: p.presenter, Translate: all[l].Translate}
		p.addChanges(d)
		text, _ := pageText(t, l, "idea", p)
		wantTexts(t, "the entry", text, want, "†", "_tool", "sesame", "GENODEF1", "1.2@①", `{"`)
	}
}

// Two answers that differ are told by what the business calls things, also where the second one was cut short.
func TestTwoAnswersThatDifferAreToldInWords(t *testing.T) {
	t.Parallel()
	all, err := loadCatalogues()
	if err != nil {
		t.Fatal(err)
	}
	call := func(json string) ideafile.WrittenCall {
		return ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(json))
	}
	first := []ideafile.WrittenCall{call(`{"_tool": "pay", "amount": 229900, "to": "†input.name", "secret": "sesame"}`),
		call(`{"_tool": "log"}`)}
	long := call(`{"_tool": "pay", "to": "` + strings.Repeat("long. Then: ", 40) + `"}`)
	labels := plangraph.Labels{Presenter: wordsOf(t, paid), Translate: all[shown.German].Translate}
	const planned = "Es wurde zweimal geplant, und nicht gleich. Zuerst: " +
		"Pay somebody (Amount: 2.299,00 EUR, Paid to: “Supplier”); Log. Dann: "
	for _, one := range []struct {
		second []ideafile.WrittenCall
		want   string
	}{
		{nil, planned + "nichts"}, {[]ideafile.WrittenCall{long}, planned + "Pay somebody"},
	} {
		text := disagreementText(turn.AnswerComparison{FirstCalls: first, SecondCalls: one.second}.DisagreementText(),
			labels, shown.German)
		if got := all[shown.German].TranslateAs("told", text); got != one.want {
			t.Errorf("%q, want %q", got, one.want)
		}
	}
	cut := turn.AnswerComparison{FirstCalls: []ideafile.WrittenCall{long}, SecondCalls: first[1:]}.DisagreementText()
	got := disagreementText("①: "+cut, labels, shown.German)
	if got != "①: planned twice, and not alike. First: Pay somebody. Then: Log" {
		t.Error(got)
	}
	if got := disagreementText("its worker was lost", labels, shown.German); got != "its worker was lost" {
		t.Error(got)
	}
}

func TestWhereAWiredValueComesFromIsSaidInWords(t *testing.T) {
	t.Parallel()
	for wired, want := range map[string]string{
		"†input.name":           "always “Supplier” in the data it started with",
		"†state.lines[0].cents": "always “Lines › 1 › Price” in what is known of it",
		"†input":                "always all of the data it started with",
		"†`Dear ${input.name}`": "always made from “Supplier” in the data it started with",
		// a name that is data is not said
		"†input.cents":                       "always taken from the data it started with",
		"†`${input.cents} cents`":            "always made from the data it started with",
		"†input.name || †state.lines":        "always made from several values of the case",
		"†`${input.name} ${state.bank}`":     "",
		"†state.bank.swift":                  "",
		"†elsewhere.name":                    "",
		"no reference, and so it is its own": "",
	} {
		if got := describeWiring(wired, wordsOf(t, paid)); got != want {
			t.Errorf("%s: %q, want %q", wired, got, want)
		}
	}
}

// The record's table has no JSON, and says whom something was handed over to.
func TestTheRecordSaysDecisionsWithoutJSON(t *testing.T) {
	t.Parallel()
	page := verifyPage{frame: frame{Now: time.Now()}, Report: &chain.Report{IsIntact: true}, Decisions: []report.Decision{{
		Decider: "ann", Summary: "handed over: Pay 5 EUR", Details: []report.Detail{{Name: "The Call",
			Text: "1.2@① pay"},
			{Name: "To", Text: "bob"}, {Name: "Was shown", Text: `{"amount":5}`}}}}}
	all, operators := pageText(t, shown.English, "verify", page)
	wantTexts(t, "the record", all, []string{"handed over: Pay 5 EUR To: bob"}, "amount", "1.2@①")
	wantTexts(t, "the record", operators, []string{`{"amount":5}`, "The step 1.2@① pay"})
	page.Report = &chain.Report{Broken: []chain.BrokenItem{{FirstIdea: 3, Problem: "its digest is another",
		Item: "i7"}}}
	all, operators = pageText(t, shown.German, "verify", page)
	wantTexts(t, "the record", all, []string{"Sie ist nicht unversehrt"}, "digest")
	wantTexts(t, "the record", operators, []string{"Eintrag 3: its digest is another i7"})
}

// Whoever hears the page is told what is wrong where the field is that must be mended.
func TestWhatIsWrongIsTiedToItsField(t *testing.T) {
	t.Parallel()
	const tied = `aria-describedby="wrong"`
	wrong := formErrors{FormError: "Nothing was done."}
	list := form.Form{ControlPrefix: "p", Schema: modeltest.MustDecodeJSON(
		`{"type": "object", "properties": {"list": {"type": "array", "minItems": 1}}}`)}
	for name, page := range map[string]any{
		"inbox": inboxPage{FormError: "A reason.", Groups: []callGroup{{DecidableCount: 1, NeedsReason: true,
			Rows: []row{{}}}}},
		"undo": &undoPage{FormError: "A reason.", UndoCount: 1},
		"call": &callPage{Presenter: shown.NewPresenter(nil), FormError: "It says nothing.",
			FormErrorDecision: client.Comment,
			frame:             frame{HasRight: map[string]bool{"decide": true}},
			Approval:          client.Approval{PendingCall: approval.PendingCall{AllowedDecisions: []string{client.Comment}}}},
		"enter": struct {
			frame
			FormError, NextPath string
			LogsInAtIssuer      bool
		}{FormError: "No."},
	} {
		if page := shows(t, name, page); !strings.Contains(page, tied) || strings.Count(page, `id="wrong"`) != 1 {
			t.Errorf("%s: %s", name, page)
		}
	}
	if page := shows(t, "add", &addRowsPage{formErrors: wrong}); !strings.Contains(page, `id="wrong">Nothing was done.`) {
		t.Error(page)
	}
	fields := list.NewFieldFromEntered(modeltest.MustDecodeJSON(`{"list": ["a"]}`), true, url.Values{},
		map[string]string{"p/list": "this does not fit; it must be: at least 1 item"})
	page := shows(t, "call", &callPage{Presenter: shown.NewPresenter(nil),
		IsDecisionAllowed: map[string]bool{client.Amend: true},
		AmendField:        fields})
	if !strings.Contains(page, `id="p/list" aria-describedby="p/list-help p/list-error"`) ||
		!strings.Contains(page, `id="p/list-error">this does not fit; it must be: at least 1 item`) {
		t.Error(page)
	}
}

// On a phone a row is a card, so that nothing of it is cut off. What operators look at, and what a Plan's steps say, is
// scrolled.
func TestARowIsACardOnAPhone(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(embeddedFiles, "templates/*.html")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range names {
		source, err := embeddedFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := forOperators.ReplaceAllString(string(source), "")
		if wide := strings.Count(text, "<table>"); wide > 0 && name != "templates/plan.html" {
			t.Errorf("%s has %d tables that are cut off", name, wide)
		}
	}
}
