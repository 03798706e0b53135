package main

import (
	"strings"
	"testing"

	"processidea/starter/internal/exit"
)

// Whoever lists processes, or looks at one, reads names and money as at the desk, with the ids that commands take.
func TestListAndShowUseSentencesNamesAndMoney(t *testing.T) {
	d := newDesk(t, map[string]string{"pay.json": strings.ReplaceAll(`{
		"config": {"instanceName": "†'order ${input.order}'"},
		"schema": {"tools": {"note": {"type": "object", "_title": "†'Pay ${input.sum}'", "_approval": true,
			"required": ["text"], "properties": {"text": {"type": "string"}}}}},
		"context": [{"type": "input", "schema": {"type": "object",
				"properties": {"sum": {"type": "number", "_display": "money", "currency": "EUR"}}}},
			{"type": "input", "_instance": "①", "order": 7, "sum": 12.5},
			{"type": "input", "_instance": "②", "order": 8, "sum": 3},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "note", "text": "paid"}]}]}`, "'", "`")})
	d.dev()
	d.do("run", "pay.json", "--id", "p", "--detach").is(exit.Done)
	d.eventually("list says what waits", func() bool {
		return strings.Contains(d.do("list").is(exit.Done).out,
			"2 decisions: Pay 12.50 EUR (order 7); Pay 3.00 EUR (order 8)")
	})
	if out := d.do("list", "--json").is(exit.Done).out; strings.Contains(out, "12.50") {
		t.Errorf("--json has texts for people: %s", out)
	}
	d.do("approve", "p", "0.1@1", "--by", "ann").is(exit.Done)
	d.do("reject", "p", "0.1@2", "--by", "ann", "--reason", "no").is(exit.Done)
	d.do("watch", "p")
	d.do("show", "p").is(exit.Done).complains("2 instances: order 7 (①) 12.50 EUR, order 8 (②) 3.00 EUR")
	if e := d.do("show", "p", "--json").is(exit.Done); strings.Contains(e.err, "order 7") {
		t.Errorf("--json has texts for people: %s", e.err)
	}
}
