package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// refunds begins a process whose schemas say how everything is shown, and waits until its Call waits.
func (h *house) refunds() (id string) {
	h.Helper()
	id = strings.NewReplacer("/", "-").Replace(h.Name())
	h.post("/api/processes", map[string]any{
		"id": id, "instances": json.RawMessage(`[{"amount": 123459, "zeta": "SECRETZ", "list": [{"p": 1999, "q": "SECRETQ"}, {"p": 5}]}]`),
		"replies": strings.Repeat(`{"solution": {"calls": []}}`+"\n", 6),
		"idea": json.RawMessage(`{
			"meta": {"path": "refunds", "version": "1"},
			"schema": {"tools": {"refund": {"title": "Pay a refund", "type": "object", "required": ["template", "values"],
				"properties": {"template": {"type": "string"}, "values": {"type": "object", "required": ["amount"], "properties": {
					"amount": {"title": "Amount", "type": "integer", "minimum": 100, "_display": "money", "currency": "EUR", "minorUnits": true},
					"list": {"title": "Items", "type": "array", "items": {"type": "object", "properties": {
						"p": {"title": "Price", "type": "integer", "_display": "money", "currency": "USD", "minorUnits": true},
						"q": {"_display": "hidden"}}}}}}},
				"_activity": "formatText", "_outputPath": "†state.letter",
				"_approval": {"when": {"properties": {"values": {"properties": {"amount": {"minimum": 100000}}}}}}}}},
			"context": [
				{"type": "input", "schema": {"type": "object", "properties": {"zeta": {"type": "string", "_display": "hidden"},
					"amount": {"title": "Paid", "type": "integer", "_display": "money", "currency": "EUR", "minorUnits": true}}}, "input": {}},
				{"type": "state", "schema": {"type": "object", "properties": {"due": {"title": "Due on", "type": "string", "_display": "date"}}},
					"state": {"due": "2026-12-01"}},
				{"type": "plan", "stage": "optimal", "plan": [{"_tool": "refund", "_instance": "*", "template": "{amount}",
					"values": {"amount": "†input.amount", "list": "†input.list"}}]}]}`),
	}).is(201)
	h.waiting(id, 1)
	return id
}

func TestACaseIsShownAsItsSchemasSay(t *testing.T) {
	h := open(t)
	p := h.browse().open("/?process=" + h.refunds()).link("@").is(200)
	p.says("Amount 1,234.59 EUR", "the same as “Paid” in the data it started with",
		"Due on 1 December 2026").lacks("zeta", "Other data it started with",
		"SECRETZ")
}

func TestTheItemsOfAListAreShownAsTheirSchemaSays(t *testing.T) {
	h := open(t)
	id := h.refunds()
	inbox := h.browse().open("/?process=" + id).is(200)
	const both = "Price: 19.99 USD; Price: 0.05 USD"
	inbox.says(both).link("@").is(200).says("Items 1 Price 19.99 USD", "2 Price 0.05 USD")
	waiting := h.waiting(id, 1)[0]
	if fields := fmt.Sprint(waiting["fields"]); !strings.Contains(fields, both) {
		t.Error(fields)
	}
	// Programs get a Call's words beside its raw values.
	fields, _ := waiting["fields"].([]any)
	for n, want := range []map[string]any{{"name": "values.amount", "title": "Amount", "shown": "1,234.59 EUR"},
		{"name": "values.list", "title": "Items"}} {
		at := slices.IndexFunc(fields, func(f any) bool { return f.(map[string]any)["name"] == want["name"] })
		if at < 0 || n > 0 && at == 0 {
			t.Fatalf("%v stands at %d of %v", want, at, fields)
		}
		field := fields[at].(map[string]any)
		for key, value := range want {
			if field[key] != value {
				t.Errorf("%s of %v is not %v", key, field, value)
			}
		}
		if field["value"] == nil {
			t.Errorf("%v has no raw value", field)
		}
	}
	if sentence := fmt.Sprint(waiting["sentence"]); !strings.HasPrefix(sentence, "Pay a refund") ||
		!strings.Contains(sentence, "1,234.59 EUR") {
		t.Error(sentence)
	}
}

func TestMoneyIsTypedInTheUnitOfItsCurrencyInBothForms(t *testing.T) {
	h := open(t)
	id := h.refunds()
	p := h.inGerman().open("/?process=" + id).link("@").is(200)
	f := p.form("Ändern")
	if got := f.values.Get("p/values/amount"); got != "1234,59" {
		t.Errorf("the form has %q", got)
	}
	f.set("p/values/amount", "12,345")
	f.press("Ändern").is(422).says("EUR hat höchstens 2 Stellen nach dem Komma").isGerman()
	f.set("p/values/amount", "viel").press("Ändern").is(422).says("kein Betrag: Schreiben Sie ihn wie 1.234,59 EUR")
	f.set("p/values/amount", "2.345,60").press("Ändern").is(200)
	if now := fmt.Sprint(h.waiting(id, 1)[0]["params"]); !strings.Contains(now, "amount:234560") {
		t.Error(now)
	}
	order := h.inGerman().open("/?process=" + id).link("@").is(200).form("Zeigen, was genehmigt würde")
	order.set("o1-most", "2.345,601").press("Zeigen").is(422).says("EUR hat höchstens 2 Stellen")
	order.set("o1-most", "2.345,60").press("Zeigen").is(200).says("2.345,60 EUR").
		form("vorab genehmigen").press("vorab genehmigen").is(200).says("2.345,60 EUR")
}

func TestToolsAndRulesAreSaidInTheWordsOfTheBusiness(t *testing.T) {
	h := open(t)
	id := h.refunds()
	b := h.browse()
	inbox := b.open("/?process=" + id).is(200)
	call := inbox.link("@").is(200).says("because “Amount” is 1,000.00 EUR or more").lacks("so it is set")
	for name, p := range map[string]*page{"tool": inbox, "with": call} {
		said := ""
		for _, s := range all(p.root, "select") {
			if attribute(s, "name") == name {
				said = textOf(s)
			}
		}
		if !strings.Contains(said, "Pay a refund") || strings.Contains(said, "any refund") {
			t.Errorf("one chooses among %q", said)
		}
	}
	b.open("/?tool=refund&process=" + id).is(200).says("1 case waits")
	b.open("/desk/insights").is(200).says("Pay a refund").lacks("refund 1")
	h.inGerman().open("/?process=" + id).link("@").is(200).says("denn: „Amount“ ist 1.000,00 EUR oder mehr").isGerman()
	call.form("Approve").press("Approve").is(200)
	eventually(t, "the decision is counted by its rule", func() bool {
		text := b.open("/desk/insights").is(200).text()
		return strings.Contains(text, "because “Amount” is 1,000.00 EUR or more") &&
			strings.Contains(text, "for people.")
	})
	h.inGerman().open("/desk/insights").says("denn: „Amount“ ist 1.000,00 EUR oder mehr").isGerman()
}

// Who decides on an amount is told which step found it, and when.
func TestACaseSaysWhichStepFoundWhatItShows(t *testing.T) {
	h := open(t)
	id := strings.NewReplacer("/", "-").Replace(h.Name())
	h.post("/api/processes", map[string]any{"id": id, "idea": json.RawMessage(`{"schema": {"tools": {
		"find": {"title": "Look up the order", "type": "object", "required": ["text"],
			"properties": {"text": {"type": "string"}}, "_activity": "note", "_outputPath": "†state.found"},
		"pay": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}, "_activity": "note",
			"_approval": true}}},
		"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "find", "text": "2,299.00 EUR"},
			{"_tool": "pay", "text": "†state.found.text"}]}]}`)}).is(201)
	h.waiting(id, 1)
	at := "/desk/calls/" + id + "/0.2"
	h.browse().open(at).is(200).says("2,299.00 EUR",
		"what is known of it, from “Look up the order” on "+time.Now().Local().Format("2 January"))
	h.inGerman().open(at).is(200).isGerman().says("von „Look up the order“ am ")
	h.post("/api/processes/"+id+"/cancel", nil).is(204)
}

func TestWhatAPolicyDoesNotAllowIsNotOfferedAndRefused(t *testing.T) {
	h := open(t)
	id := strings.NewReplacer("/", "-").Replace(h.Name())
	start := payment(id, `{"values": {"order": "A-80", "cents": 110}}`)
	start["idea"] = json.RawMessage(strings.Replace(string(start["idea"].(json.RawMessage)), `{"timeout"`,
		`{"allow": ["approve", "comment"], "timeout"`, 1))
	h.post("/api/processes", start).is(201)
	waits := h.waiting(id, 1)[0]
	for _, kind := range []string{"hand-over", "ask", "reject"} {
		one := h.decide(decisionOn(waits, kind, "by", "ann", "to", "bob", "reason", "why?"))[0]
		if kind == "reject" {
			one = h.decide(decisionOn(waits, kind, "by", "ann", "reason", "no"))[0]
		}
		if one["outcome"] != "refused" ||
			!strings.Contains(fmt.Sprint(one["reason"]), kind+" is not allowed here; allowed: approve, comment") {
			t.Errorf("%s: %v", kind, one)
		}
	}
	p := h.browse().open("/?process="+id).link("@").is(200).says("Say it").lacks("Hand it over", "Reject")
	p.form("Say it").set("reason", "hm").press("Say it").is(200).says("ann says: hm")
}
