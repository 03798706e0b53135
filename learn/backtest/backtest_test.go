package backtest_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/learn/backtest"
	"processidea/learn/past"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// tools is the palette of these tests: think is latent, the others are run by code.
const tools = `"fetch": {"type": "object", "properties": {"id": {}}}, "rate": {"type": "object", "properties": {"of": {}}},
	"refund": {"type": "object", "properties": {"amount": {"type": "integer"}, "to": {}}, "_approval": {"when": {"properties": {"amount": {"minimum": 100}}}}},
	"log": {"type": "object", "properties": {"line": {}}, "_outputPath": "†state.log", "_outputMethod": "push"},
	"think": {"type": "object", "properties": {"about": {}}, "_output": {"type": "string"}}`

// orders are three instances with an amount each.
const orders = `"context": [{"type": "state", "_instance": "①", "state": {"id": "a", "amount": 20}}, {"type": "state", "_instance": "②", "state": {"id": "b", "amount": 40}},
	{"type": "state", "_instance": "③", "state": {"id": "c", "amount": 150}}]`

const plan = `[{"_tool": "fetch", "_instance": "*", "id": "†state.id", "_outputPath": "order"},
	{"_tool": "rate", "_instance": "*", "of": "†state.order", "_outputPath": "rating"},
	{"_tool": "refund", "_instance": "*", "amount": "†state.amount", "to": "†state.order", "_outputPath": "paid"}]`

// ran is a finished process: what every Request was answered, and a person who approves what waits.
func ran(t *testing.T, context string, replies ...string) *backtest.FinishedProcess {
	t.Helper()
	return finish(t, scenario(t, context), approve, replies...)
}

func scenario(t *testing.T, context string) *modeltest.Scenario {
	s := modeltest.NewScenarioWithTools(t, tools, "", context)
	s.Loop = loop.New(s.Idea, "p", s.Bindings, modeltest.StartTime)
	return s
}

func approve(s *modeltest.Scenario, p approval.PendingCall) { s.Decide("approve", p.CallID) }

// finish plays a process to its end, and reads it from the chain that it leaves.
func finish(t *testing.T, s *modeltest.Scenario, decide func(*modeltest.Scenario, approval.PendingCall),
	replies ...string) *backtest.FinishedProcess {
	t.Helper()
	past, err := backtest.Read(chainOf(t, s, decide, replies...))
	if err != nil {
		t.Fatal(err)
	}
	return past
}

// chainOf plays a process to its end, and gives the chain that it leaves.
func chainOf(t *testing.T, s *modeltest.Scenario, decide func(*modeltest.Scenario, approval.PendingCall),
	replies ...string) past.RecordedProcess {
	t.Helper()
	run := past.RecordedProcess{ProcessID: "p"}
	seal := func(in *turn.RequestInput, calls []ideafile.WrittenCall, output any, request int, log []turn.LogEntry) {
		idea := turn.SnapshotIdea(s.Idea.Source, in, calls, output)
		meta := map[string]any{"at": len(run.Ideas) + 1}
		if request > 0 {
			meta["request"] = request
		}
		idea["meta"] = meta
		again, err := jsonval.DecodeObject(jsonval.Encode(jsonval.ToJSONValue(idea)))
		if err != nil {
			t.Fatal(err)
		}
		run.Ideas = append(run.Ideas, again)
		run.Log = append(run.Log, log...)
	}
	s.RunDirectPlans()
	for n := 0; ; {
		step, _ := s.Loop.Advance(s.Now)
		if step == loop.StepWait {
			pending := 0
			for _, token := range s.Loop.InstanceTokens() {
				for _, p := range s.InstanceByToken[token].PendingApprovals() {
					decide(s, p)
					pending++
				}
			}
			left := 0
			for _, token := range s.Loop.InstanceTokens() {
				left += len(s.InstanceByToken[token].PendingApprovals())
			}
			if left == pending {
				s.Now = s.Loop.NextWakeTime()
			}
			continue
		}
		if step == loop.StepFinished {
			break
		}
		if step != loop.StepRequest {
			t.Fatalf("the step is %s after %d replies; %v", step, n, s.Loop.PauseReason)
		}
		c := s.ReplyWith(replies[min(n, len(replies)-1)]) // the last one is what is said from there on
		n++
		seal(c.AllInstancesInput, c.Calls, c.Reply.Output, c.RequestNumber, c.LogBeforeRequest)
	}
	seal(s.Loop.AllInstancesInput(), nil, s.Loop.Output, 0, s.Loop.TakeUnsealedLog())
	return run
}

func reply(calls string) string { return `{"calls": ` + calls + `, "output": null}` }

// idea is a new Idea with the tools of these tests; of each pair of texts the first is replaced by the second.
func idea(t *testing.T, context string, replace ...string) *ideafile.Idea {
	t.Helper()
	return modeltest.IdeaFrom(t, `{"schema": {"tools": {`+strings.NewReplacer(replace...).Replace(tools)+
		`}}, "context": [`+context+`]}`)
}

// direct is a Plan that runs without a Request.
func direct(calls string) string {
	return `{"type": "plan", "stage": "complete", "plan": ` + calls + `}`
}

func bind(i *ideafile.Idea) map[string]ideafile.ToolBinding {
	bindings := map[string]ideafile.ToolBinding{}
	for _, tool := range i.Tools {
		bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindHTTP}
	}
	bindings["think"] = ideafile.ToolBinding{Kind: ideafile.KindLatent}
	return bindings
}

func compare(t *testing.T, i *ideafile.Idea, planner backtest.Planner, past ...*backtest.FinishedProcess) *backtest.Report {
	t.Helper()
	r, err := backtest.Compare(i, bind, planner, past...)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.SkippedInstances) > 0 {
		t.Errorf("left out: %v", r.SkippedInstances)
	}
	return r
}

// describe is what differs, an instance a line.
func describe(r *backtest.Report) string {
	var lines []string
	for _, i := range r.Instances {
		line := i.Instance + " " + i.Verdict
		for _, d := range i.Differences {
			line += "; " + d.Kind + ": " + d.Text
		}
		for _, u := range i.UnknownReasons {
			line += "; ? " + u
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

func want(t *testing.T, r *backtest.Report, lines ...string) {
	t.Helper()
	if got := describe(r); got != strings.Join(lines, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
}

func TestTheSameIdeaDiffersInNothing(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	want(t, compare(t, idea(t, ""), nil, past), "① same", "② same", "③ same")
}

func TestPlansThatDifferInOrderNamesAndIdsAreEqual(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	renamed := `[{"_tool": "refund", "amount": "†state.amount", "to": "†state.found.it", "_outputPath": "done.refund"},
		{"_tool": "rate", "of": "†state.found.it", "_outputPath": "stars"}, {"_tool": "fetch", "id": "†state.id", "_outputPath": "found.it"}]`
	want(t, compare(t, idea(t, direct(renamed)), nil, past), "① same", "② same", "③ same")
}

func TestOtherParametersAreADifferenceAndWhatReadsTheResultIsUnknown(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	other := `[{"_tool": "fetch", "id": "x", "_outputPath": "order"}, {"_tool": "rate", "of": "†state.order", "_outputPath": "rating"},
		{"_tool": "refund", "amount": "†state.amount", "to": "†state.order", "_outputPath": "paid"}]`
	r := compare(t, idea(t, direct(other)), nil, past)
	want(t, r,
		`① different; call-changed: fetch would have id "x", and had "a"; ? rate reads what is not known; ? refund reads what is not known`,
		`② different; call-changed: fetch would have id "x", and had "b"; ? rate reads what is not known; ? refund reads what is not known`,
		`③ different; call-changed: fetch would have id "x", and had "c"; ? rate reads what is not known; ? refund reads what is not known`)
	if r.UnknownResultCallCount != 3 || len(r.DifferenceGroups) != 1 || len(r.DifferenceGroups[0].Instances) != 3 {
		t.Errorf("unmatched %d, summary %v", r.UnknownResultCallCount, r.DifferenceGroups)
	}
}

func TestACallThatDidNotHappenThenIsNamedAndOneThatWouldNotHappenIsMissed(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	other := `[{"_tool": "fetch", "id": "†state.id", "_outputPath": "order"}, {"_tool": "refund", "amount": "†state.amount", "to": "†state.order", "_outputPath": "paid"},
		{"_tool": "log", "line": "†state.id"}]`
	r := compare(t, idea(t, direct(other)), nil, past)
	got := strings.SplitN(describe(r), "\n", 2)[0]
	if want := `① different; call-added: log would run with {"line":"a"}, and did not: its result is not known; call-missing: rate would not run; it ran with {"of":"fetch done"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	without := strings.Replace(other, `, {"_tool": "log", "line": "†state.id"}`, "", 1)
	without = strings.Replace(without, `,
		{"_tool": "log", "line": "†state.id"}`, "", 1)
	got = strings.SplitN(describe(compare(t, idea(t, direct(without)), nil, past)), "\n", 2)[0]
	if want := `① different; call-missing: rate would not run; it ran with {"of":"fetch done"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAChangeOfPolicySaysWhichCallsWouldBeAskedAbout(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	stricter := compare(t, idea(t, "", `"minimum": 100`, `"minimum": 30`), nil, past)
	want(t, stricter, "① same",
		`② different; newly-asked: refund with {"amount":40,"to":"fetch done"} would be asked about, and was not`,
		"③ same")
	if stricter.Approvals != (backtest.ApprovalCounts{Recorded: 1, Replayed: 2, Automatic: 1}) {
		t.Errorf("asked: %+v", stricter.Approvals)
	}
	want(t, compare(t, idea(t, "", `"minimum": 100`, `"minimum": 1000`), nil, past), "① same", "② same",
		`③ different; no-longer-asked: refund with {"amount":150,"to":"fetch done"} would not be asked about: ann approved it`)
}

func TestPeoplesDecisionsAreTakenAgainForCallsThatAreEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, more, difference string }{
		{"approve", `{}`, "ann approved it"}, {"reject", `{"reason": "no"}`, "ann rejected it"},
		{"amend", `{"params": {"amount": 60}}`, "ann amended it"},
		{"answer", `{"output": "by hand"}`, "ann answered it"},
		{"replace", `{"with": {"_tool": "rate", "of": "†state.order"}}`, "ann replaced it"},
	} {
		decide := func(s *modeltest.Scenario, p approval.PendingCall) { s.Decide(c.kind, p.CallID, c.more) }
		past := finish(t, scenario(t, orders), decide, reply(plan), reply(`[]`), reply(`[]`))
		again := compare(t, idea(t, ""), nil, past)
		want(t, again, "① same", "② same", "③ same")
		if again.Approvals.Automatic != 0 {
			t.Errorf("%s: %d decisions were made up", c.kind, again.Approvals.Automatic)
		}
		open := compare(t, idea(t, "", `"minimum": 100`, `"minimum": 1000`), nil, past)
		if got := open.Instances[2]; got.Verdict != backtest.VerdictDifferent ||
			!strings.Contains(describe(open), c.difference) {
			t.Errorf("%s: %s", c.kind, describe(open))
		}
		if unmatched := c.kind != "approve"; (open.UnknownResultCallCount == 1) != unmatched {
			t.Errorf("%s: %d Calls have no result: what a person kept from running did not run", c.kind,
				open.UnknownResultCallCount)
		}
	}
}

func TestCallsThatNoLongerFitTheirToolAreNamed(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	r := compare(t, idea(t, "", `"amount": {"type": "integer"}`, `"amount": {"type": "integer", "maximum": 50}`), nil,
		past)
	got := describe(r)
	if !strings.HasPrefix(got, "① same\n② same\n③ different; call-unfit: refund with ") ||
		!strings.Contains(got, "no longer fits: ") {
		t.Error(got)
	}
	r = compare(t, idea(t, "", `"properties": {"of": {}}`, `"properties": {"of": {}}, "_output": {"type": "integer"}`),
		nil, past)
	if got := describe(r); !strings.HasPrefix(got,
		`① different; other-outcome: rate with {"of":"fetch done"} would be failed, and was done: the result does not fit`) {
		t.Error(got)
	}
}

// scripted answers each Request with the next reply.
type scripted struct{ replies []string }

func (s *scripted) Reply(_ *ideafile.Idea, _ map[string]ideafile.ToolBinding,
	_ *turn.RequestInput) (backtest.Reply, error) {
	if len(s.replies) == 0 {
		return backtest.Reply{}, fmt.Errorf("the script is at its end: %w", backtest.ErrNoReply)
	}
	m := modeltest.MustDecodeJSON(s.replies[0]).(map[string]any)
	s.replies = s.replies[1:]
	calls, _ := m["calls"].([]any)
	return backtest.Reply{Calls: calls, Output: m["output"]}, nil
}

func TestAnotherPromptIsComparedByWhatTheLLMPlansForIt(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	other := strings.Replace(plan, `"amount": "†state.amount"`, `"amount": 5`, 1)
	r := compare(t, idea(t, `{"type": "text", "text": "Refund little."}`),
		&scripted{[]string{reply(other), reply(`[]`)}}, past)
	got := strings.SplitN(describe(r), "\n", 2)[0]
	if want := `① different; call-changed: refund would have amount 5, and had 20`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want(t, compare(t, idea(t, ""), &scripted{[]string{reply(plan), reply(`[]`)}}, past), "① same", "② same", "③ same")
	silent := compare(t, idea(t, ""), &scripted{}, past)
	if silent.UnknownCount+silent.DifferentCount != 3 || silent.SameCount != 0 {
		t.Error(describe(silent))
	}
}

func TestAResultThatTheLLMWritesIsPlayedInAPlanAndComparedInAReply(t *testing.T) {
	t.Parallel()
	thought := `[{"_tool": "think", "_instance": "*", "about": "†state.id", "_output": "fine", "_outputPath": "mood"}]`
	past := ran(t, orders, reply(thought), reply(`[]`))
	want(t, compare(t, idea(t, direct(`[{"_tool": "think", "about": "†state.id", "_outputPath": "mood"}]`)), nil, past),
		"① same", "② same", "③ same")
	other := strings.Replace(thought, "fine", "bad", 1)
	r := compare(t, idea(t, ""), &scripted{[]string{reply(other), reply(`[]`)}}, past)
	got := strings.SplitN(describe(r), "\n", 2)[0]
	if want := `① different; other-result: think with {"about":"a"} would have the result "bad", and had "fine"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want(t, compare(t, idea(t, direct(`[{"_tool": "think", "about": 7, "_outputPath": "mood"}]`)), nil, past),
		`① different; call-changed: think would have about 7, and had "a"`,
		`② different; call-changed: think would have about 7, and had "b"`,
		`③ different; call-changed: think would have about 7, and had "c"`)
}

func TestAnotherWayOfWritingStateIsADifference(t *testing.T) {
	t.Parallel()
	logged := `[{"_tool": "log", "_instance": "*", "line": 1}, {"_tool": "log", "_instance": "*", "line": 2}]`
	past := ran(t, orders, reply(logged), reply(`[]`))
	want(t, compare(t, idea(t, direct(`[{"_tool": "log", "line": 1}, {"_tool": "log", "line": 2}]`)), nil, past),
		"① same", "② same", "③ same")
	r := compare(t, idea(t, "", `"_outputMethod": "push"`, `"_outputMethod": "concat"`), nil, past)
	if r.SameCount > 0 {
		t.Error(describe(r))
	}
	one := compare(t, idea(t, direct(`[{"_tool": "log", "line": 1}]`)), nil, past)
	if got := strings.SplitN(describe(one), "\n",
		2)[0]; got != `① different; call-missing: log would not run; it ran with {"line":2}` {
		t.Error(got)
	}
}

func TestAProcessThatRanItsPlanDirectlyIsAPastTooWithTheStateItBeganWith(t *testing.T) {
	t.Parallel()
	context := strings.TrimSuffix(orders, "]") + ", " + direct(strings.ReplaceAll(plan, `"_instance": "*", `, "")) + "]"
	past := ran(t, context)
	want(t, compare(t, idea(t, direct(strings.ReplaceAll(plan, `"_instance": "*", `, ""))), nil, past), "① same",
		"② same", "③ same")
	want(t, compare(t, idea(t, direct(`[{"_tool": "fetch", "id": "†state.id", "_outputPath": "order"}]`)), nil, past),
		`① different; call-missing: rate would not run; it ran with {"of":"fetch done"}; call-missing: refund would not run; it ran with {"amount":20,"to":"fetch done"}`,
		`② different; call-missing: rate would not run; it ran with {"of":"fetch done"}; call-missing: refund would not run; it ran with {"amount":40,"to":"fetch done"}`,
		`③ different; call-missing: rate would not run; it ran with {"of":"fetch done"}; call-missing: refund would not run; it ran with {"amount":150,"to":"fetch done"}`)
}

func TestAnInstanceThatFailedOrWasMendedIsComparedByWhatCameOfIt(t *testing.T) {
	t.Parallel()
	s := scenario(t, strings.Replace(orders, "150", "50", 1))
	tries := 0
	s.RunTool = func(tool string, params map[string]any) (any, *diagFault) {
		if tool == "rate" {
			if tries++; tries <= 3 {
				return nil, fault("no luck")
			}
		}
		return tool + " done", nil
	}
	again := `[{"_tool": "rate", "_instance": "*", "of": "†state.order", "_outputPath": "rating"}]`
	past := finish(t, s, approve, reply(plan), reply(again), reply(`[]`))
	want(t, compare(t, idea(t, ""), nil, past), "① same", "② same", "③ same")
	want(t, compare(t, idea(t, direct(strings.ReplaceAll(plan, `"_instance": "*", `, ""))), nil, past), "① same",
		"② same", "③ same")
}
