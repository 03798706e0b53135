package main

import (
	"strings"
	"testing"

	"processidea/starter/processtest"
)

func TestALampAndTwoChairsAreReserved(t *testing.T) {
	p := processtest.Start(t, ".", processtest.WithTools(newStore().register))
	p.CheckState("", `{
		"lamps": 3, "chairs": 40,
		"reserved": {"lamp": {"article": "lamp", "count": 1, "left": 2}, "chair": {"article": "chair", "count": 2, "left": 38}}
	}`)
}

// As many as ten want a person. Nothing is reserved before somebody has decided, and less where they say so.
func TestManyChairsWaitForAPerson(t *testing.T) {
	p := processtest.Start(t, ".", processtest.WithTools(newStore().register), processtest.FakeResult("checkStock", 12),
		processtest.WithReplies(
			`{"solution": {"calls": [{"_tool": "reserve", "article": "lamp", "count": 1, "_outputPath": "reserved.lamp"},
			{"_tool": "reserve", "article": "chair", "count": 12, "_outputPath": "reserved.chair"}]}}`))
	waiting := p.AwaitApprovalOf("reserve")
	if n := len(p.CallAttempts("reserve")); n != 1 {
		t.Errorf("%d Calls have run", n)
	}
	p.Amend(waiting, map[string]any{"count": 9}, "ann")
	p.Result()
	if got := p.CallAttempts("reserve")[1]; processtest.JSON(got.Params) != `{"article":"chair","count":9}` {
		t.Errorf("reserved %v", got.Params)
	}
	if text := p.RecordedRequests()[0].Text(); !strings.Contains(text, "Reserve a lamp and two chairs") {
		t.Errorf("the LLM was asked %s", text)
	}
}
