package loop_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

const tools = `{"schema": {"tools": {"do": {"type": "object"}, "list": {"type": "object", "_outputPath": "†state.list", "_outputMethod": "push"}}}}`

type call struct {
	status    ideafile.CallStatus
	written   string // the Call, without its Tool, which is do
	decisions []approval.Decision
}

func planOf(t rapid.TB, state string, calls ...call) loop.PlanResult {
	p := loop.PlanResult{Idea: modeltest.IdeaFrom(t, tools), State: modeltest.DecodeJSON(t, state),
		IsPatched: func(string) bool { return true }}
	p.FindWrittenCall = func(key ideafile.CallKey) ideafile.WrittenCall {
		return ideafile.ParseWrittenCall(modeltest.DecodeJSON(t, calls[key.Index-1].written))
	}
	for n, c := range calls {
		p.CallReports = append(p.CallReports,
			turn.CallReport{Request: 1, Index: n + 1,
				CallState: turn.CallState{Status: c.status, Decisions: c.decisions}})
	}
	return p
}

func do(status ideafile.CallStatus, path string, decisions ...approval.Decision) call {
	if path == "" {
		return call{status, `{"_tool":"do"}`, decisions}
	}
	return call{status, `{"_tool":"do","_outputPath":"` + path + `"}`, decisions}
}

func TestAPlanHasFailedOrSucceededWhere(t *testing.T) {
	t.Parallel()
	const done, failed, blocked, rejected, skipped, running = ideafile.CallDone, ideafile.CallFailed,
		ideafile.CallBlocked,
		ideafile.CallRejected, ideafile.CallSkipped, ideafile.CallRunning
	refused := approval.Decision{Kind: policy.Reject, DecidedBy: "ann", Reason: "call them first"}
	late := approval.Decision{Kind: policy.Reject, DecidedBy: approval.DecidedByTimeout,
		Reason: "nobody decided within 1h"}
	for name, c := range map[string]struct {
		state string
		calls []call
		want  string
	}{
		"nothing was planned":                     {`{}`, nil, "succeeded"},
		"all is done":                             {`{"a":1}`, []call{do(done, "a"), do(skipped, "a")}, "succeeded"},
		"one still runs":                          {`{"a":1}`, []call{do(done, "a"), do(running, "b")}, "open"},
		"one failed":                              {`{}`, []call{do(failed, "a")}, "failed"},
		"one failed, another brought its value":   {`{"a":1}`, []call{do(failed, "a"), do(done, "a")}, "succeeded"},
		"one failed, another may bring it":        {`{}`, []call{do(failed, "a"), do(running, "a")}, "open"},
		"one failed, another may bring more":      {`{}`, []call{do(failed, "a.b"), do(running, "a")}, "open"},
		"one failed, another runs for elsewhere":  {`{}`, []call{do(failed, "a"), do(running, "b")}, "failed"},
		"one failed, another runs for its effect": {`{}`, []call{do(failed, "a"), do(running, "")}, "failed"},
		"one for its effect failed":               {`{"a":1}`, []call{do(failed, ""), do(done, "a")}, "failed"},
		"one is blocked, another brought it":      {`{"a":null}`, []call{do(blocked, "a"), do(done, "a")}, "succeeded"},
		"one of two paths is there": {`{"a":1}`,
			[]call{do(blocked, "†state.a && †state.b"), do(done, "a")}, "failed"},
		"both paths are there": {`{"a":1,"b":1}`,
			[]call{do(blocked, "†state.a && †state.b"), do(done, "a"), do(done, "b")}, "succeeded"},
		"one of two branches is there": {`{"b":1}`,
			[]call{do(rejected, "†state.a || †state.b", late), do(done, "b")}, "succeeded"},
		"an update failed": {`{"list":[1]}`,
			[]call{{status: failed, written: `{"_tool":"list"}`}}, "failed"},
		"one for the whole State failed": {`{"a":1}`, []call{do(failed, "†state")}, "failed"},
		"its path makes no sense":        {`{"a":1}`, []call{do(failed, "][")}, "failed"},
		"its Tool is unknown": {`{"a":1}`,
			[]call{{status: failed, written: `{"_tool":"odd","_outputPath":"a"}`}}, "failed"},
		"its place is a stored value": {`{"a":{"†blob":{"digest":"d","size":70000,"type":"object"}}}`,
			[]call{do(failed, "a"), do(done, "a")}, "succeeded"},
		"its place is within one": {`{"a":{"†blob":{"digest":"d","size":70000,"type":"object"}}}`,
			[]call{do(failed, "a.b"), do(done, "a")}, "failed"},
		"a person refused one": {`{"a":1}`, []call{do(rejected, "a", refused), do(done, "a")},
			"failed"},
		"a person refused one, another runs": {`{}`, []call{do(rejected, "a", refused), do(running, "a")},
			"failed"},
		"nobody decided in time": {`{"a":1}`, []call{do(rejected, "a", late), do(done, "a")},
			"succeeded"},
		"one was approved and failed": {`{"a":1}`,
			[]call{do(failed, "a", approval.Decision{Kind: policy.Approve, Reason: "fine"}), do(done, "a")},
			"succeeded"},
		"one was amended and failed": {`{"a":1}`,
			[]call{do(failed, "a", approval.Decision{Kind: policy.Amend}), do(done, "a")}, "failed"},
	} {
		if got := resultOf(planOf(t, c.state, c.calls...)); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

func resultOf(p loop.PlanResult) string {
	switch {
	case p.HasFailed():
		return "failed"
	case p.HasSucceeded():
		return "succeeded"
	}
	return "open"
}

func TestWhereAlternativesDoNotCountACallThatFailedHasFailed(t *testing.T) {
	t.Parallel()
	asked := 0
	p := planOf(t, `{"a":1}`, do(ideafile.CallFailed, "a"), do(ideafile.CallDone, "a"))
	p.IsPatched = func(change string) bool { asked++; return change != loop.AlternativesChangeID }
	if !p.HasFailed() || p.HasSucceeded() || asked == 0 {
		t.Error("the Call was made up for")
	}
	asked = 0
	for _, c := range []call{do(ideafile.CallDone, "a"), do(ideafile.CallFailed, "b")} {
		p := planOf(t, `{"a":1}`, c)
		p.IsPatched = func(change string) bool { asked++; return change != loop.AlternativesChangeID }
		p.HasFailed()
	}
	if asked > 0 {
		t.Error("it is asked where it does not matter")
	}
}

func TestTheOrderInWhichCallsEndedChangesNothing(t *testing.T) {
	t.Parallel()
	statuses := []ideafile.CallStatus{ideafile.CallDone, ideafile.CallFailed, ideafile.CallBlocked,
		ideafile.CallRejected,
		ideafile.CallSkipped, ideafile.CallRunning}
	paths := []string{"", "a", "a.b", "b", "†state.a && †state.b", "†state.a || †state.c", "†state"}
	rapid.Check(t, func(rt *rapid.T) {
		state := rapid.SampledFrom([]string{`{}`, `{"a":1}`, `{"a":{"b":2}}`, `{"a":1,"b":2}`, `{"c":3}`}).Draw(rt,
			"state")
		var calls []call
		for range rapid.IntRange(0, 5).Draw(rt, "calls") {
			calls = append(calls, do(rapid.SampledFrom(statuses).Draw(rt, "status"),
				rapid.SampledFrom(paths).Draw(rt, "path")))
		}
		p := planOf(rt, state, calls...)
		want := resultOf(p)
		p.CallReports = rapid.Permutation(p.CallReports).Draw(rt, "order")
		if got := resultOf(p); got != want {
			rt.Fatalf("%s, and in another order %s", want, got)
		}
		toNothing := slices.ContainsFunc(calls, func(c call) bool {
			return c.status == ideafile.CallFailed || c.status == ideafile.CallBlocked ||
				c.status == ideafile.CallRejected
		})
		if want == "failed" && !toNothing {
			rt.Fatal("it has failed, and no Call came to nothing")
		}
	})
}
