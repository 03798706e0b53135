package desk

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// inboxOf is the page with one table, of Calls with some parameters, each of an instance without a name.
func inboxOf(t *testing.T, params ...string) string {
	t.Helper()
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(`{"schema": {"tools": {"pay": {"type": "object",
		"properties": {"to": {"type": "string"}, "amount": {"type": "integer"},
			"bank": {"type": "object", "_display": "hidden"}}}}},
		"context": [{"type": "text", "text": "Go."}]}`).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	who := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	var list []client.Approval
	for n, one := range params {
		token := string(rune(0x2460 + n)) // ①, ②
		p := jsonval.AsObject(modeltest.MustDecodeJSON(one))
		list = append(list, client.Approval{Process: "p", Instance: token,
			Call: shown.NewPresenter(idea).Call("pay", p, token, shown.InstanceValues{}, shown.English),
			Pending: approval.Pending{CallID: "1.1@" + token, Tool: "pay", Params: p, Since: time.Now(),
				AllowedDecisions: policy.AllKinds()}})
	}
	all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []callGroup{groupOf(list, who)}})
	return all
}

func TestAPartOrADelegateIsNamedByTheProcessThatPeopleStarted(t *testing.T) {
	t.Parallel()
	list := []client.Approval{{Process: "p/~part/1", Call: shown.Call{Sentence: "Pay Ann"}},
		{Process: "p/~part/2/~call/1.1@1", Call: shown.Call{Sentence: "Pay Bob"}}}
	if got := groupOf(list, &access.Person{}); got.Process != "p" {
		t.Errorf("they are of %d processes", got.Processes)
	}
	list[1].Process = "q"
	all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []callGroup{groupOf(list, &access.Person{})}})
	wantTexts(t, "the inbox", all, []string{"of 2 processes"}, "~part")
	waits := &callPage{frame: frame{ProcessTitle: "Refunds"}, A: client.Approval{Process: "p/~part/1"}}
	all, operators := pageText(t, shown.English, "call", waits)
	wantTexts(t, "the page of a case", all, []string{"Inbox › Refunds "}, "~part")
	wantTexts(t, "the page of a case", operators, []string{"Process p/~part/1"})
}

func TestACaseWithoutANameIsTheOneThatIsPaid(t *testing.T) {
	t.Parallel()
	wantTexts(t, "the inbox", inboxOf(t, `{"to": "Ann", "amount": 12}`), []string{"Pay: 12 , Ann"}, "(①)", "1.1@")
	page := inboxOf(t, `{"to": "Ann", "amount": 12}`, `{"to": "Ann", "amount": 12}`, `{"to": "Bob", "amount": 12}`)
	wantTexts(t, "the inbox", page, []string{"Pay: 12 , Ann (①)", "Pay: 12 , Ann (②)", "Pay: 12 , Bob"}, "(③)", "1.1@")
}

// Whoever hears the page is told the same of a box as others read in its row, and no id of the engine's.
func TestABoxIsSelectedByWhatItsRowSays(t *testing.T) {
	t.Parallel()
	waiting := func(process, id, token, name, sentence string) client.Approval {
		return client.Approval{Process: process, Instance: token, Pending: approval.Pending{CallID: id},
			Call: shown.Call{Sentence: sentence, InstanceName: name}}
	}
	who := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	label := regexp.MustCompile(`aria-label="Select ([^"]*)"`)
	for _, one := range []struct {
		list []client.Approval
		want []string
	}{
		{[]client.Approval{waiting("p", "1.1@①", "①", "order 7", "Pay Ann"),
			waiting("p", "1.1@②", "②", "②", "Pay Bob")},
			[]string{"order 7, Pay Ann", "Pay Bob"}},
		{[]client.Approval{waiting("p", "1.1@①", "①", "①", "Pay Ann"),
			waiting("p", "1.1@②", "②", "②", "Pay Ann"), waiting("q", "1.1@①", "①", "①", "Pay Ann")},
			[]string{"Pay Ann, ①, p", "Pay Ann, ②, p", "Pay Ann, q"}},
		{[]client.Approval{waiting("p", "1.1@①", "①", "order 7", "Pay Ann"),
			waiting("p", "1.2@①", "①", "order 7", "Pay Ann")},
			[]string{"order 7, Pay Ann, step 1.1", "order 7, Pay Ann, step 1.2"}},
		{[]client.Approval{waiting("p/~part/1", "1.1@①", "①", "order 7", "Pay Ann"),
			waiting("p/~part/1", "1.2@①", "①", "order 7", "Pay Ann")},
			[]string{"order 7, Pay Ann, step 1.1", "order 7, Pay Ann, step 1.2"}},
		{[]client.Approval{waiting("p", "1.1", "", "", "Pay Ann"), waiting("p/1.2", "1.1", "", "", "Pay Ann")},
			[]string{"Pay Ann, step 1.1", "Pay Ann, step 1.1 of p/1.2"}},
	} {
		page := shows(t, "inbox", inboxPage{Groups: []callGroup{groupOf(one.list, who)}})
		got := jsonval.Map(label.FindAllStringSubmatch(page, -1), func(m []string) string { return m[1] })
		if !slices.Equal(got, one.want) {
			t.Errorf("%q, want %q", got, one.want)
		}
	}
	german, _ := catalogues()
	if got := german[shown.German].TranslateAs("beside", "step 1.1 of p/1.2"); got != "Schritt 1.1 von p/1.2" {
		t.Error(got)
	}
}

func TestWhySomebodyIsAskedIsSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	waiting := func(why string) client.Approval {
		return client.Approval{Process: "p", Call: shown.Call{Sentence: "Pay Ann"},
			Pending: approval.Pending{CallID: "1.1", ReviewReason: why}}
	}
	const before = "it waited for a person in the process before"
	for _, list := range [][]client.Approval{{waiting(before)}, {waiting(before), waiting("busy")}} { // above, and in a column
		all, _ := pageText(t, shown.German, "inbox", inboxPage{Groups: []callGroup{groupOf(list, &access.Person{})}})
		wantTexts(t, "the inbox", all, []string{"Er wartete im Prozess davor auf einen Menschen"}, before)
	}
}

func TestALongCellKeepsItsRoomBesideALongWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"Ann": "", strings.Repeat("a word ", 9): "long"} {
		if got := (labelledCell{Text: text}).Class(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWhatIsForOperatorsIsNoColumnWithItsMembersEither(t *testing.T) {
	t.Parallel()
	page := inboxOf(t, `{"to": "Ann", "bank": {"iban": "DE1", "of": {"name": "Hers"}, "bic": "B"}}`,
		`{"to": "Bob", "bank": {"iban": "DE2", "of": {"name": "His"}, "bic": "B"}}`)
	wantTexts(t, "the inbox", page, []string{"Ann", "Bob"}, "DE1", "His", "iban", "bic")
	if strings.Contains(inboxOf(t, `{"to": "Ann", "bank": {"iban": "DE1"}}`), "DE1") {
		t.Error("it is shown of one Call")
	}
}
