package main

import (
	"fmt"
	"strings"
	"testing"

	"processidea/learn/ripen"
	"processidea/protocol"
	"processidea/starter/internal/exit"
)

// payments is a process in which people are asked about n payments, of 100, 200 and so on.
func payments(n int) map[string]string {
	var context []string
	for k := 1; k <= n; k++ {
		context = append(context,
			fmt.Sprintf(`{"type": "state", "_instance": "p%d", "state": {"sum": {"amount": %d}}}`, k, 100*k))
	}
	return map[string]string{"idea.json": `{"meta": {"path": "payments", "version": "1"}, "schema": {"tools": {"formatText": {"type": "object",
		"properties": {"template": {"type": "string"}, "values": {"type": "object"}}, "required": ["template", "values"],
		"_output": {"type": "string"}, "_approval": true}}},
		"context": [` + strings.Join(context, ", ") + `, {"type": "plan", "stage": "complete",
			"plan": [{"_tool": "formatText", "template": "pay {amount}", "values": "†state.sum", "_outputPath": "paid"}]}]}`}
}

func TestHardenSaysWhatPeopleDidAndProposesAPolicy(t *testing.T) {
	d := newDesk(t, payments(14))
	d.dev()
	d.do("run", "idea.json", "--id", "p", "--detach").is(exit.Done)
	d.eventually("they wait", func() bool {
		var list []protocol.Approval
		d.do("approvals", "p", "--json").is(exit.Done).json(&list)
		return len(list) == 14
	})
	where := func(bound string) string {
		return `{"properties": {"values": {"properties": {"amount": {` + bound + `}}}}}`
	}
	d.do("decide", "p", "--where", where(`"maximum": 900`), "--approve", "--yes", "--by", "ann").is(exit.Done)
	d.do("decide", "p", "--where", where(`"minimum": 1000`), "--reject", "--reason", "too dear", "--yes", "--by",
		"ann").is(exit.Done)
	var found struct{ Tools []ripen.Finding }
	d.do("run", "idea.json", "--id", "p", "--json")
	e := d.do("harden", "--approvals", "p", "--json")
	if e.json(&found); len(found.Tools) != 1 || found.Tools[0].Counts.HumanDecisionCount() != 14 {
		t.Fatalf("%s %s", e.out, e.err)
	}
	f := found.Tools[0]
	if f.Counts != (ripen.DecisionCounts{Approved: 9, Rejected: 5}) || f.WouldAskCount != 5 || f.WouldNotAskCount != 9 {
		t.Errorf("%+v", f)
	}
	text := d.do("harden", "--approvals", "p").is(exit.Done).out
	for _, want := range []string{
		"formatText: 9 of 14 approved unchanged, 5 rejected\n",
		"  all 5 that were rejected had values.amount > 900, and no other\n",
		"it would have asked for 5, including all that people changed, and not for 9\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	d.do("harden", "--approvals", "p", "--template").is(exit.Usage)
	d.do("harden", "--approvals", "nobody").is(exit.Usage)
}
