package desk

import (
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
			Call: shown.WordsOf(idea).Call("pay", p, token, shown.Case{}, shown.English),
			Pending: approval.Pending{CallID: "1.1@" + token, Tool: "pay", Params: p, Since: time.Now(),
				AllowedDecisions: policy.AllKinds()}})
	}
	all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []group{groupOf(list, who)}})
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
	all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []group{groupOf(list, &access.Person{})}})
	wantTexts(t, "the inbox", all, []string{"of 2 processes"}, "~part")
	waits := &callPage{A: client.Approval{Process: "p/~part/1"}}
	all, _ = pageText(t, shown.English, "call", waits)
	wantTexts(t, "the page of a case", all, []string{"Inbox › p "}, "~part")
}

func TestACaseWithoutANameIsTheOneThatIsPaid(t *testing.T) {
	t.Parallel()
	wantTexts(t, "the inbox", inboxOf(t, `{"to": "Ann", "amount": 12}`), []string{"Pay: 12 , Ann"}, "(1.1@①)")
	page := inboxOf(t, `{"to": "Ann", "amount": 12}`, `{"to": "Ann", "amount": 12}`, `{"to": "Bob", "amount": 12}`)
	wantTexts(t, "the inbox", page, []string{"Pay: 12 , Ann (1.1@①)", "Pay: 12 , Ann (1.1@②)", "Pay: 12 , Bob"},
		"(1.1@③)")
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
