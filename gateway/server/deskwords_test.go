package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
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
	p.says("Paid 1,234.59 EUR", "the same as “Paid” in what it began with", "Due on 1 December 2026").lacks("zeta",
		"SECRETZ")
}

func TestTheItemsOfAListAreShownAsTheirSchemaSays(t *testing.T) {
	h := open(t)
	id := h.refunds()
	inbox := h.browse().open("/?process=" + id).is(200)
	const both = "Price: 19.99 USD; Price: 0.05 USD"
	inbox.says(both).link("@").is(200).says("Items 1 Price 19.99 USD", "2 Price 0.05 USD")
	if fields := fmt.Sprint(h.waiting(id, 1)[0]["fields"]); !strings.Contains(fields, both) {
		t.Error(fields)
	}
}
