package desk

import (
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/client/report"
	"processidea/gateway/desk/form"
	"processidea/model/approval"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/store/chain"
)

var (
	forOperators = regexp.MustCompile(`(?s)<details class="operators".*?</details>`)
	anyTag       = regexp.MustCompile(`<[^>]*>`)
)

// pageText is what a page says to everybody, and what to operators alone.
func pageText(t *testing.T, l shown.Language, name string, data any) (all, operators string) {
	t.Helper()
	made, err := pages()
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
	order := &approval.StandingOrder{ID: "small", Tool: "pay", Count: 10, When: jsonval.Object{"properties": 1}}
	page := verifyPage{frame: frame{Now: time.Now()}, Report: &chain.Report{IsIntact: true}, Orders: []givenOrder{{
		Decision: report.Decision{Who: "ann", What: "gave a standing order", Reason: "on leave", Given: order,
			Details: []report.Detail{{Name: "The order", Text: `small: parameters fit {"properties": 1}`}}},
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
	page.list(nil, shown.WordsOf(idea), shown.German)
	all, _ := pageText(t, shown.German, "process", page)
	wantTexts(t, "the process", all, []string{"① 2.299,00 EUR erledigt ② erledigt", "Wie viel"}, "Kosten")
}

func TestWhatHappensMeanwhileIsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 9, 14, 0, 0, time.UTC)
	if got := stampIn(shown.German)(at); !strings.HasPrefix(got, at.Local().Format("02.01.2006")) {
		t.Error(got)
	}
}

func TestWhatIsSignedIsReadWithoutJSON(t *testing.T) {
	t.Parallel()
	d := map[string]any{"Claims": proof.Claims{Decision: "amend", Call: "1.2", Digest: "d1g3st", Process: "p"},
		"Tool": "pay", "About": "Pay Ann", "Value": jsonval.Object{"amount": json.Number("12.50"), "note": ""},
		"Back": "/"}
	all, operators := pageText(t, shown.German, "sign", struct {
		frame
		D any
	}{frame{}, d})
	wantTexts(t, "what is signed", all, []string{"ändern", "Pay Ann", "amount 12.50", "note ein leerer Text"}, "{",
		"d1g3st")
	wantTexts(t, "what is signed", operators, []string{`"amount": 12.50`, "d1g3st"})
}

func TestADenialSaysWhereToGoOn(t *testing.T) {
	t.Parallel()
	for _, l := range shown.Languages {
		for code, text := range advice {
			all, _ := pageText(t, l, "problem", struct {
				frame
				Code, Detail, Advice, Of string
			}{frame{Title: titles[403]}, code, "why", text, "p"})
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
	f := form.Form{Schema: schema, Prefix: amendPrefix}
	page := callPage{A: client.Approval{Pending: approval.Pending{CallID: "1.1", Tool: "pay"}},
		Allowed: map[string]bool{client.Amend: true}, Amend: f.New(params, true)}
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
	if got := isOpen(page.Amend); !slices.Equal(got, []bool{false, false, false, false}) {
		t.Errorf("what need not be filled in is open: %v", got)
	}
	if got := isOpen(f.New(nil, false)); !slices.Equal(got, []bool{true, true, true, false}) {
		t.Errorf("what must be filled in is %v", got)
	}
	wrong := f.FromEntered(params, true, nil, map[string]string{"p/bank/swift": "choose a value"})
	if got := isOpen(wrong); !slices.Equal(got, []bool{false, true, false, false}) {
		t.Errorf("what is wrong is %v", got)
	}
}
