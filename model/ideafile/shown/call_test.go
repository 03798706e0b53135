package shown_test

import (
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

const shop = `{"config": {"instanceName": "†` + "`order ${input.order}`" + `"},
"schema": {"tools": {"refund": {"title": "Refund a customer", "type": "object", "required": ["amount", "to"], "properties": {
	"amount": {"title": "Amount", "type": "integer", "_display": "money", "currency": "EUR", "minorUnits": true},
	"to": {"type": "object", "properties": {"name": {"title": "Customer", "type": "string"}, "iban": {"type": "string", "_display": "hidden"}}},
	"letter": {"const": "†input.letter", "_display": "letter"}, "sentOn": {"type": "string", "_display": "date"}},
	"_title": "†` + "`Refund ${amount} to ${to.name || input.customer}`" + `"},
 "close": {"type": "object", "properties": {"caseNumber": {"type": "string"}, "urgent": {"type": "boolean"}}}}},
"context": [{"type": "input", "input": {"letter": "Dear {name}, we send {amount}. {else}", "customer": "Nobody"}},
 {"type": "input", "_instance": "①", "input": {"order": "A-1"}}, {"type": "input", "_instance": "②", "input": {"order": "A-2"}},
 {"type": "input", "_instance": "③", "input": {"order": "A-2"}}]}`

func words(t *testing.T, idea string) *shown.Presenter {
	t.Helper()
	read, ps := ideafile.ParseIdea([]byte(idea))
	if len(ps.Errors()) > 0 {
		t.Fatal(ps)
	}
	return shown.NewPresenter(read)
}

func input(text string) shown.InstanceValues {
	return shown.InstanceValues{Input: modeltest.MustDecodeJSON(text)}
}

func params(text string) map[string]any { return jsonval.AsObject(modeltest.MustDecodeJSON(text)) }

func TestACallReadsAsASentenceAndItsFieldsInTheOrderOfTheSchema(t *testing.T) {
	t.Parallel()
	c := words(t, shop).Call("refund", params(`{"letter": "Dear {name}, we send {amount}. {else}", "amount": 229900, "sentOn": "2026-11-28",
		"to": {"iban": "DE1", "name": "Ann"}, "extra": 1}`), "①", input(`{"order": "A-1"}`), shown.English)
	if c.Sentence != "Refund 2,299.00 EUR to Ann" || c.InstanceName != "order A-1" ||
		c.ToolTitle != "Refund a customer" {
		t.Errorf("%q of %q: %s", c.Sentence, c.InstanceName, c.ToolTitle)
	}
	var got []string
	for _, f := range c.Fields {
		got = append(got, f.Name+"|"+f.Title+"|"+f.DisplayText)
	}
	want := []string{"amount|Amount|2,299.00 EUR", "to.name|Customer|Ann",
		"letter|Letter|Dear Ann, we send 229900. {else}",
		"sentOn|Sent on|28 November 2026", "extra|Extra|1"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if parts := c.Fields[2].Parts; len(parts) != 6 || !parts[1].IsData || parts[5].IsData {
		t.Errorf("in the letter is marked %+v", parts)
	}
}

func TestWithoutATemplateACallIsToldByWhatSaysMost(t *testing.T) {
	t.Parallel()
	w := words(t, shop)
	for call, want := range map[string]string{
		`{"caseNumber": "C-7", "urgent": true}`:                              "Close: C-7",
		`{"caseNumber": "` + strings.Repeat("long ", 30) + `", "other": 12}`: "Close: 12",
		`{}`: "Close",
	} {
		if c := w.Call("close", params(call), "①", shown.InstanceValues{}, shown.English); c.Sentence != want {
			t.Errorf("%s: %q, want %q", call, c.Sentence, want)
		}
	}
	// A template that lacks what it reads is no sentence.
	if c := w.Call("refund", params(`{"to": {"name": "Ann"}}`), "①", shown.InstanceValues{},
		shown.German); c.Sentence != "Refund a customer: Ann" {
		t.Error(c.Sentence)
	}
	if c := shown.NewPresenter(nil).Call("payOut", params(`{"amount": 5}`), "①", shown.InstanceValues{},
		shown.English); c.Sentence != "Pay out: 5" || c.InstanceName != "①" {
		t.Errorf("%+v", c)
	}
}

func TestAnInstanceWhoseNameOthersHaveIsToldByItsTokenToo(t *testing.T) {
	t.Parallel()
	w := words(t, shop)
	for _, c := range [][3]string{
		{"①", `{"order": "A-1"}`, "order A-1"}, {"②", `{"order": "A-2"}`, "order A-2 (②)"},
		{"③", `{"order": "A-2"}`, "order A-2 (③)"},
		{"④", `{"order": "A-1"}`, "order A-1 (④)"}, {"⑤", `{"order": "A-5"}`, "order A-5"}, {"⑥", `{}`, "⑥"},
		{"⑦", `{"order": " "}`, "order"},
	} {
		if token := c[0]; token <= "③" && w.KnownInstanceName(token) != c[2] || token > "③" && w.KnownInstanceName(token) != token {
			t.Errorf("by the Idea %s is %q", token, w.KnownInstanceName(token))
		}
		if got := w.Name(c[0], input(c[1]), shown.German); strings.TrimSpace(got) != c[2] {
			t.Errorf("%s is %q, want %q", c[0], got, c[2])
		}
	}
}

func TestWhatAValueHoldsChangesNothingButItself(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("مريم ", 2000)
	c := words(t, shop).Call("refund",
		map[string]any{"amount": "<b>${input.order}</b>", "to": map[string]any{"name": long}},
		"①", shown.InstanceValues{Input: map[string]any{"order": "†`${amount}`"}}, shown.English)
	if len([]rune(c.Sentence)) > 200 || !strings.HasPrefix(c.Sentence, "Refund <b>${input.order}</b> to مريم") ||
		c.InstanceName != "order †`${amount}`" {
		t.Errorf("%q of %q", c.Sentence, c.InstanceName)
	}
	if c.Fields[1].DisplayText != long {
		t.Error("a field is cut")
	}
}

func TestAProcessIsCalledByTheNameOfItsIdea(t *testing.T) {
	t.Parallel()
	for idea, want := range map[string]string{`{"meta": {"path": "refund-policy"}, "context": [{"type": "text", "text": "Go."}]}`: "Refund policy", shop: ""} {
		if got := words(t, idea).ProcessTitle; got != want {
			t.Errorf("it is called %q, want %q", got, want)
		}
	}
}

func TestAnInstanceIsToldByTheFirstTellingValuesOfItsInput(t *testing.T) {
	t.Parallel()
	w := words(t, `{"context": [{"type": "input", "input": {}, "schema": {"properties": {"cents": {"_display": "money", "currency": "EUR"},
		"key": {"_display": "hidden"}, "due": {"title": "Due on", "_display": "date"}}}}]}`)
	for input, want := range map[string]string{
		`{"a": [1], "cents": 5, "due": "2026-12-01", "key": "sesame", "of": {"customerName": "Ann"}, "z": "late"}`: "Due on: 1 December 2026, Customer name: Ann",
		`{"a": true, "b": "", "c": null}`: "", `7`: "",
	} {
		if got := w.InputSummary(modeltest.MustDecodeJSON(input), "①", shown.English); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
	input := modeltest.MustDecodeJSON(`{"a": "late", "due": "2026-12-01", "of": {"customerName": "Ann"}}`)
	if got := w.InputSummary(input, "order of Ann, late", shown.English); got != "Due on: 1 December 2026" {
		t.Errorf("beside its name it says %q", got)
	}
}
