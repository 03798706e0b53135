package backtest_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/learn/backtest"
	"processidea/learn/past"
	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func amendTo30(s *modeltest.Scenario, p approval.PendingCall) {
	s.Decide("amend", p.CallID, `{"params": {"amount": 30}}`)
}

func answer(s *modeltest.Scenario, p approval.PendingCall) {
	s.Decide("answer", p.CallID, `{"output": "paid by hand"}`)
}

func replace(s *modeltest.Scenario, p approval.PendingCall) {
	s.Decide("replace", p.CallID, `{"with": {"_tool": "log", "line": "†state.id"}}`)
}

func revise(s *modeltest.Scenario, p approval.PendingCall) {
	s.Revise(`{"by": "ann", "context": [{"type": "state", "state": {"id": "z"}}]}`)
	s.ApplyCorrections("", "ann")
	s.Decide("approve", p.CallID)
}

// described says of each Call in a line with what it ran, what it came to, and where it wrote.
func described(all []backtest.ExecutedInstance) string {
	var lines []string
	for _, i := range all {
		for _, c := range i.Calls {
			how := "did not run"
			if c.RanSuccessfully {
				how = fmt.Sprintf("ran with %s to %s", jsonval.Encode(c.Params), jsonval.Encode(c.Result))
			}
			if c.ToolOrParamsUnknownReason != "" {
				how = "is not known: " + c.ToolOrParamsUnknownReason
			}
			lines = append(lines, fmt.Sprintf("%s %s %s %s", c.ID, c.Tool, c.Status, how))
		}
	}
	return strings.Join(lines, "\n")
}

func TestWhatCallsDidIsReadFromTheChain(t *testing.T) {
	t.Parallel()
	const one = `"context": [{"type": "state", "state": {"id": "a", "amount": 150}}`
	for _, row := range []struct {
		name, context, reply string
		decide               func(*modeltest.Scenario, approval.PendingCall)
		want                 string
	}{
		{"parameters with the values that they referred to, and by what they were amended", one + `]`, `[{"_tool": "fetch", "id": "†state.id", "_outputPath": "order"},
			{"_tool": "refund", "amount": "†state.amount", "to": "†state.order"}]`, amendTo30, `1.1 fetch done ran with {"id":"a"} to "fetch done"
1.2 refund done ran with {"amount":30,"to":"fetch done"} to "refund done"`},
		{"what a person answers does not run", one + `]`, `[{"_tool": "refund", "amount": "†state.amount"}]`, answer,
			`1.1 refund done did not run`},
		{"a Call that another took the place of", one + `]`, `[{"_tool": "refund", "amount": "†state.amount"}]`,
			replace, `1.1 log done ran with {"line":"a"} to "log done"`},
		{"an instance that a person changed", one + `]`, `[{"_tool": "fetch", "id": "†state.id"}, {"_tool": "fetch", "id": 7}, {"_tool": "refund", "amount": 400}]`, revise, `1.1 fetch done is not known: a person changed its State while it ran
1.2 fetch done ran with {"id":7} to "fetch done"
1.3 refund done ran with {"amount":400} to "refund done"`},
		{"a Plan that runs directly, with an order and a condition", one + "," + direct(`[{"_tool": "fetch", "id": 1}, {"_tool": "log", "line": "†state.id", "_after": "†call.0.1"},
			{"_tool": "fetch", "id": 2, "_when": {"properties": {"state": {"required": ["id"]}}}}, {"_tool": "fetch", "id": 3, "_when": false}]`) + `]`, "", approve, `0.1 fetch done ran with {"id":1} to "fetch done"
0.2 log done ran with {"line":"a"} to "log done"
0.3 fetch done ran with {"id":2} to "fetch done"
0.4 fetch skipped did not run`},
	} {
		t.Run(row.name, func(t *testing.T) {
			run := chainOf(t, scenario(t, row.context), row.decide, reply(row.reply), reply("[]"))
			all, err := backtest.ReadExecutedInstances(run)
			if err != nil {
				t.Fatal(err)
			}
			if got := described(all); got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

// A Call may write to one of several branches: its result, or that it failed.
func TestABranchHasAResultOrWhyTheCallFailed(t *testing.T) {
	t.Parallel()
	s := scenario(t, `"context": [{"type": "state", "state": {"id": "a"}}]`)
	s.RunTool = func(tool string, params map[string]any) (any, *diag.Fault) {
		switch tool {
		case "rate":
			return nil, fault("no luck")
		case "refund":
			return nil, diag.Faultf(ideafile.CodeOutcomeUnknown, "cut")
		}
		return map[string]any{"id": params["id"]}, nil
	}
	all, err := backtest.ReadExecutedInstances(chainOf(t, s, approve, reply(`[
		{"_tool": "fetch", "id": "†state.id", "_outputPath": "†state.order || †state.oops"},
		{"_tool": "rate", "of": "†state.id", "_outputPath": "†state.rating || †state.bad"},
		{"_tool": "refund", "amount": 5, "_outputPath": "†state.paid || †state.worse"}]`), reply(`[]`)))
	if err != nil {
		t.Fatal(err)
	}
	want := `1.1 fetch done ran with {"id":"a"} to {"id":"a"}
1.2 rate done did not run
1.3 refund failed did not run`
	if got := described(all); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if f := all[0].Calls[2].Fault; f == nil || f.Code != ideafile.CodeOutcomeUnknown {
		t.Errorf("1.3 failed for %v", f)
	}
}

// A direct Plan that takes the place of another does not do again what that has done, and an undo takes it back once.
func TestWhatAPlanHadDoneBeforeAnotherTookItsPlaceRanOnce(t *testing.T) {
	t.Parallel()
	plan := func(record, more string) string {
		return `{"type": "plan", "stage": "complete", ` + more + `"record": ` + record + `,
			"plan": [{"_tool": "fetch", "id": 1}, {"_tool": "log", "line": "x"}]}`
	}
	first := `{"schema": {"tools": {` + tools + `}}, "context": [{"type": "state", "state": {}}, ` +
		plan(`{"0.1": {"done": 1, "results": {"": "order"}}}`, "")
	last := first + ", " +
		plan(`{"0.3": {"done": 1, "results": {"": "order"}}, "0.4": {"done": 1, "results": {"": "x"}}}`, `"after": 2, `)
	run := past.RecordedProcess{ProcessID: "p"}
	for _, idea := range []string{first, last} {
		run.Ideas = append(run.Ideas, modeltest.MustDecodeJSON(idea+"]}").(map[string]any))
	}
	all, err := backtest.ReadExecutedInstances(run)
	if err != nil {
		t.Fatal(err)
	}
	want := `0.1 fetch done ran with {"id":1} to "order"
0.3 fetch done did not run
0.4 log done ran with {"line":"x"} to "x"`
	if got := described(all); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
