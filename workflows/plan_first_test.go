package workflows_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/chain"
)

// planWaits waits until so many Plans wait as a whole, in the process and its parts.
func (s *scenario) planWaits(n int) []protocol.PlanView {
	s.t.Helper()
	var v protocol.ProcessApprovals
	eventually(s.t, fmt.Sprintf("%d Plans wait", n), func() bool {
		v = protocol.ProcessApprovals{}
		q, err := s.client.QueryWorkflow(s.t.Context(), s.id, "", protocol.QueryApprovals)
		return err == nil && q.Get(&v) == nil && len(v.Plans) == n
	})
	return v.Plans
}

// planOf waits until the Plan of a Request waits.
func (s *scenario) planOf(request int) protocol.PlanView {
	s.t.Helper()
	var plan protocol.PlanView
	eventually(s.t, fmt.Sprintf("the Plan of Request %d waits", request), func() bool {
		if v := s.processStatus(); v.Status != loop.StatusRunning {
			s.t.Fatalf("it does not wait: %s", asJSON(v))
		}
		plan = s.planWaits(1)[0]
		return plan.RequestNumber == request
	})
	return plan
}

// decidePlan signals the process a decision on a Plan as it was shown.
func (s *scenario) decidePlan(kind string, plan protocol.PlanView, more map[string]any) {
	s.t.Helper()
	payload := jsonval.DeepMerge(map[string]any{"request": plan.RequestNumber, "digest": plan.Digest, "by": "ann"},
		more)
	s.signal(s.id, kind, payload)
}

func (s *scenario) calls(text string) (list []any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

const planFirst = `"config": {"approval": {"plan": true}}`

func TestNothingOfAPlanRunsBeforeAPersonHasApprovedItAsAWhole(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{`+planFirst+`, "schema": {"tools": {"shout": `+textTool+`, "pay": `+till.pay(`{"when": {"properties": {"n": {"minimum": 2}}}}`)+`}}, "context": [{"type": "text", "text": "Go."},
		{"type": "state", "_instance": "1", "text": "a"}, {"type": "state", "_instance": "2", "text": "b"}, {"type": "state", "_instance": "3", "text": "c"}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "_instance": "1", "n": 1, "_outputPath": "paid"}, {"_tool": "pay", "_instance": "2", "n": 2, "_outputPath": "paid"},
			{"_tool": "shout", "_instance": "1", "text": "†state.text", "_outputPath": "loud"}]}}`, nothingMore, nothingMore)
	run := s.start()
	plan := s.planOf(1)
	if len(plan.Calls) != 3 || asJSON(plan.Instances) != `["1","2","3"]` ||
		plan.Summary() != "3 Calls: 2 pay, 1 shout" || len(till.seen()) != 0 {
		t.Fatalf("%s; %d payments", asJSON(plan), len(till.seen()))
	}
	if v := s.processStatus(); v.PendingDecisionCount != 1 ||
		!strings.Contains(asJSON(v.WaitingFor), "a person: the Plan of Request 1 (3 Calls") ||
		v.Instances["3"].Status != ideafile.InstanceWaiting {
		t.Errorf("%s", asJSON(v))
	}
	s.signal(s.id, approval.SteerApprovePlan, map[string]any{"request": 1, "digest": "another", "by": "ann",
		"id": "old"})
	s.signal(s.id, approval.SteerApprovePlan, map[string]any{"request": 2, "by": "ann", "id": "wrong"})
	s.signal(s.id, approval.SteerRejectPlan, map[string]any{"request": 1, "by": "ann", "id": "silent"})
	s.signal(s.id, approval.SteerApprovePlan, map[string]any{"request": 1, "by": "ann", "id": "told", "deputies": []any{}})
	eventually(t, "four are refused", func() bool { return s.processStatus().RefusalCount == 4 })
	for _, token := range []string{"1", "2", "3"} {
		if v := s.instance(token); len(v.Calls) != 0 {
			t.Errorf("instance %s has heard of %s", token, asJSON(v.Calls))
		}
	}
	s.decidePlan(approval.SteerApprovePlan, plan, map[string]any{"reason": "fine", "id": "yes"})
	// Who approves the Plan does not approve its Calls.
	waits := s.waitsFor(1)
	if waits[0].CallID != "1.2@2" {
		t.Fatalf("%s", asJSON(waits))
	}
	s.decide(policy.Approve, "1.2@2", "")
	r := s.approveTheRest(run)
	if r.Status != loop.StatusCompleted || r.Calls.Done != 3 || len(till.seen()) != 2 {
		t.Errorf("%s %+v, %d payments\n%s", r.Status, r.Calls, len(till.seen()), s.story())
	}
	decided := ""
	links, err := chain.New(store).List(t.Context(), s.id)
	if err != nil {
		t.Fatal(err)
	}
	for n := range links {
		idea, err := chain.New(store).Load(t.Context(), s.id, n+1)
		if err != nil {
			t.Fatal(err)
		}
		meta := jsonval.AsObject(idea["meta"])
		if text := asJSON(meta["decisions"]); strings.Contains(text, `"approve-plan"`) {
			decided = text
			if asJSON(meta["request"]) != "1" || len(jsonval.AsObject(idea["solution"])["calls"].([]any)) != 3 {
				t.Errorf("the decision stands with %s", asJSON(idea["solution"]))
			}
		}
	}
	if !strings.Contains(decided, `"reason":"fine"`) || !strings.Contains(decided, `"by":"ann"`) {
		t.Errorf("the chain says %s", decided)
	}
	if report, err := chain.New(store).Verify(t.Context(), s.id); err != nil || !report.IsIntact {
		t.Errorf("%+v, %v", report, err)
	}
	if err := replay(t, store, history(t, s.id)); err != nil {
		t.Error(err)
	}
}

// approveTheRest approves every Plan that waits until the process has ended.
func (s *scenario) approveTheRest(run interface{ GetID() string }) loop.ProcessResult {
	s.t.Helper()
	approved := map[string]bool{}
	eventually(s.t, "the process ends", func() bool {
		v := s.processStatus()
		if v.Status != loop.StatusRunning {
			return true
		}
		if v.RefusalCount > 20 {
			s.t.Fatalf("%s", asJSON(v))
		}
		var a protocol.ProcessApprovals
		q, err := s.client.QueryWorkflow(s.t.Context(), run.GetID(), "", protocol.QueryApprovals)
		if err == nil && q.Get(&a) == nil {
			for _, plan := range a.Plans {
				if which := asJSON(plan); !approved[which] { // a part tells of it until it has heard
					approved[which] = true
					s.decidePlan(approval.SteerApprovePlan, plan, nil)
				}
			}
		}
		return false
	})
	return s.came(s.t)
}

func TestARejectedPlanRunsNothingAndTheNextRequestReadsWhy(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{`+planFirst+`, "schema": {"tools": {"pay": `+till.pay("false")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 1, "_outputPath": "paid"}]}}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 2, "_outputPath": "paid"}]}}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 3, "_outputPath": "paid"}]}}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 4, "_outputPath": "paid"}]}}`, nothingMore)
	s.every = 1
	run := s.start()
	for n := 1; n <= 3; n++ {
		s.decidePlan(approval.SteerRejectPlan, s.planOf(n),
			map[string]any{"reason": fmt.Sprintf("too little, %d times", n)})
	}
	s.decidePlan(approval.SteerApprovePlan, s.planOf(4), nil)
	r := s.approveTheRest(run)
	if r.Status != loop.StatusCompleted || asJSON(till.seen()) != `["{\"n\":4}"]` || r.Calls.Total() != 1 {
		t.Errorf("%s %+v, %s\n%s", r.Status, r.Calls, asJSON(till.seen()), s.story())
	}
	for n := 1; n <= 3; n++ {
		want := fmt.Sprintf(
			"the Plan of Request %d was rejected by ann: too little, %d times; none of its calls ran. They were: [{", n,
			n)
		if text := s.prompt(n + 1); !strings.Contains(text, want) {
			t.Errorf("Request %d is not told %q:\n%s", n+1, want, text)
		}
	}
}

func TestAPlanRunsAsAPersonHasAmendedItAndEveryCallIsCheckedAsTheLLMsAre(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{`+planFirst+`, "schema": {"tools": {"shout": `+textTool+`, "pay": `+till.pay("false")+`}}, "context": [{"type": "text", "text": "Go."},
		{"type": "state", "_instance": "1", "text": "a", "schema": {"type": "object", "properties": {"paid": {}, "text": {}}, "additionalProperties": false}}, {"type": "state", "_instance": "2", "text": "b"}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "_instance": "1", "n": 1, "_outputPath": "paid"}, {"_tool": "pay", "_instance": "2", "n": 2, "_outputPath": "paid"}]}}`,
		`{"solution": {"calls": [{"_tool": "shout", "_instance": "2", "text": "so", "_outputPath": "said"}]}}`,
		nothingMore)
	run := s.start()
	plan := s.planOf(1)
	for n, wrong := range []string{
		`[{"_tool": "steal", "_instance": "1"}]`, `[{"_tool": "pay", "_instance": "9", "n": 1}]`,
		`[{"_tool": "pay", "n": 1}]`, `[{"_tool": "pay", "_instance": "1", "n": "much"}]`,
		`[{"_tool": "pay", "_instance": "1", "n": 1, "_outputPath": "hidden"}]`,
		`[{"_tool": "pay", "_instance": "1", "n": 1, "to": "†input.nobody"}]`, `[]`,
	} {
		s.decidePlan(approval.SteerAmendPlan, plan, map[string]any{"calls": s.calls(wrong)})
		eventually(t, wrong+" is refused", func() bool { return s.processStatus().RefusalCount == n+1 })
	}
	reasons := ""
	for _, r := range s.processStatus().Refusals {
		reasons += r.Signal + ": " + r.RefusalReason + "\n"
	}
	for _, want := range []string{`calls[0]: unknown tool "steal"`, `calls[0]: the Request covers no instance "9"`,
		"calls[0]: the Call names no instance", "calls[0]: ",
		"stands outside the closed State schema", `"calls" is empty`} {
		if !strings.Contains(reasons, want) {
			t.Errorf("nothing is refused because of %q:\n%s", want, reasons)
		}
	}
	s.decidePlan(approval.SteerAmendPlan, plan,
		map[string]any{"reason": "one is enough",
			"calls": s.calls(`[{"_tool": "pay", "_instance": "1", "n": 7, "_outputPath": "paid"}]`)})
	r := s.approveTheRest(run)
	if r.Status != loop.StatusCompleted || asJSON(till.seen()) != `["{\"n\":7}"]` {
		t.Errorf("%s %+v, %s\n%s", r.Status, r.Calls, asJSON(till.seen()), s.story())
	}
	text := s.prompt(2)
	for _, want := range []string{"the Plan of Request 1 was amended by ann: one is enough",
		`{"_instance":"2","_outputPath":"paid","_tool":"pay","n":2}`} {
		if !strings.Contains(text, want) {
			t.Errorf("the LLM is not told %q:\n%s", want, text)
		}
	}
}

func TestADirectPlanWaitsBeforeAnyInstanceStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stage, decision string }{
		{"complete", approval.SteerApprovePlan}, {"complete", approval.SteerAmendPlan},
		{"complete", approval.SteerRejectPlan}, {"optimal", approval.SteerRejectPlan},
	} {
		t.Run(c.stage+" "+c.decision, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := newScenario(t, `{`+planFirst+`, "schema": {"tools": {"pay": `+till.pay("false")+`}}, "context": [{"type": "state", "_instance": "1", "n": 1}, {"type": "state", "_instance": "2", "n": 2},
				{"type": "plan", "stage": "`+c.stage+`", "plan": [{"_tool": "pay", "n": "†state.n", "_outputPath": "paid"}]}]}`,
				`{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "n": 9, "_outputPath": "paid"}]}}`,
				nothingMore)
			s.every = 1
			run := s.start()
			plan := s.planOf(0)
			if len(plan.Calls) != 1 || asJSON(plan.Calls[0].Instances) != `["1","2"]` || plan.Calls[0].CallID != "0.1" {
				t.Fatalf("%s", asJSON(plan))
			}
			if last := s.sealedLast(); asJSON(last) == "null" {
				t.Error("no Idea stands yet")
			}
			more := map[string]any{"reason": "because"}
			if c.decision == approval.SteerAmendPlan {
				s.decidePlan(c.decision, plan, map[string]any{"calls": s.calls(`[{"_tool": "steal"}]`)})
				eventually(t, "a wrong Call is refused", func() bool { return s.processStatus().RefusalCount == 1 })
				more["calls"] = s.calls(
					`[{"_tool": "pay", "n": 5, "_outputPath": "paid"}, {"_tool": "pay", "_instance": "2", "n": 6, "to": "†state.paid", "_outputPath": "more"}]`)
			}
			s.decidePlan(c.decision, plan, more)
			r := s.approveTheRest(run)
			paid := strings.Join(till.seen(), " ")
			switch {
			case c.decision == approval.SteerApprovePlan &&
				(r.Status != loop.StatusCompleted || len(till.seen()) != 2 || r.RequestCount != 0),
				c.decision == approval.SteerAmendPlan &&
					(r.Status != loop.StatusCompleted || strings.Count(paid, `{"n":5}`) != 2 ||
						strings.Count(paid, `"n":6`) != 1),
				c.stage == "complete" && c.decision == approval.SteerRejectPlan &&
					(r.Status != loop.StatusFailed || paid != "" || r.RequestCount != 0),
				c.stage == "optimal" && (r.Status != loop.StatusCompleted || paid != `{"n":9} {"n":9}` ||
					!strings.Contains(s.prompt(1), "was rejected by ann: because")):
				t.Errorf("%s %+v, %s: %s", r.Status, r.Calls, paid, asJSON(r))
			}
		})
	}
}

func TestEveryPartOfAProcessHasItsPlanDecided(t *testing.T) {
	t.Parallel()
	atLength(t)
	till := newTill(t)
	s := newScenario(
		t, `{"config": {"batch": 2, "gather": "5m", "approval": {"plan": true}}, "schema": {"tools": {"pay": `+
			till.pay("false")+`}}, "context": [{"type": "text", "text": "Go."}, `+rows(1, 5)+`]}`)
	s.scripted = strings.Join(
		[]string{`{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "n": 1, "_outputPath": "paid"}]}}`,
			nothingMore}, "\n")
	s.every = 1
	run := s.start()
	plans := s.planWaits(3)
	if len(till.seen()) != 0 || s.processStatus().PendingDecisionCount != 3 {
		t.Fatalf("%d payments, %s", len(till.seen()), asJSON(s.processStatus()))
	}
	s.signal(s.id, approval.SteerApprovePlan, map[string]any{"request": 1, "by": "ann", "id": "which"})
	eventually(t, "it is asked which", func() bool {
		v := s.processStatus()
		return v.RefusalCount == 1 && strings.Contains(v.Refusals[0].RefusalReason, "wait in 3 parts")
	})
	s.signal(s.id, approval.SteerApprovePlan, map[string]any{"request": 1, "digest": plans[0].Digest, "by": "ann", "id": "told", "deputies": []any{}})
	eventually(t, "only a part is told of deputies", func() bool {
		v := s.processStatus()
		return v.RefusalCount == 2 && v.Refusals[1].RefusalReason == `unknown key "deputies"`
	})
	s.decidePlan(approval.SteerRejectPlan, plans[1], map[string]any{"reason": "not these"})
	s.decidePlan(approval.SteerApprovePlan, plans[0], nil)
	r := s.approveTheRest(run)
	if r.Status != loop.StatusCompleted || r.Calls.Done != 3 || len(till.seen()) != 3 {
		t.Errorf("%s %+v, %d payments", r.Status, r.Calls, len(till.seen()))
	}
}

// 101 instances are two parts. Whoever is killed, and whenever a person decides, each instance pays once, and none
// before its Plan is approved.
func TestPlansThatWaitOutliveTheirWorker(t *testing.T) {
	t.Parallel()
	atLength(t)
	c := newCrash(t)
	s := newScenario(t, `{"config": {"approval": {"plan": true}}, "schema": {"tools": {"pay": `+
		httpTool(c.tool("pay", nil), "")+`}}, "context": [`+rows(1, 101)+`,`+payOnce+`]}`)
	kill := c.work()
	run := c.start(s)
	plans := s.planWaits(2)
	if len(c.calls("pay")) != 0 {
		t.Errorf("%d payments before anybody has decided", len(c.calls("pay")))
	}
	kill()
	for _, plan := range plans { // nobody works
		s.decidePlan(approval.SteerApprovePlan, plan, nil)
	}
	kill = c.work()
	eventually(t, "some are paid", func() bool { return len(c.calls("pay")) > 5 })
	kill()
	c.work()
	r := c.finish(run)
	keys := c.calls("pay")
	slices.Sort(keys)
	if keys = slices.Compact(keys); r.Status != loop.StatusCompleted || r.Calls.Done != 101 || len(keys) != 101 {
		t.Errorf("%s, %+v, %d payments", r.Status, r.Calls, len(keys))
	}
}

func TestThePlanOfADelegateWaitsWhereItsCallerSaysSo(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{`+planFirst+
		`, "schema": {"tools": {"errand": {"type": "object", "_delegate": "errand.json"}}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "errand", "_outputPath": "done"}]}}`, nothingMore)
	s.files = map[string]any{"errand.json": map[string]any{
		"schema": map[string]any{"tools": map[string]any{"pay": mustObject(t, till.pay("false"))}},
		"context": []any{map[string]any{"type": "plan", "stage": "complete",
			"plan": []any{map[string]any{"_tool": "pay", "n": 1, "_outputPath": "paid"}}}},
	}}
	run := s.start()
	s.decidePlan(approval.SteerApprovePlan, s.planOf(1), nil)
	delegate := *s
	delegate.id = protocol.DelegateID(s.id, "1.1")
	plan := delegate.planOf(0)
	if len(till.seen()) != 0 {
		t.Error("the delegate has paid")
	}
	delegate.decidePlan(approval.SteerApprovePlan, plan, nil)
	r := s.approveTheRest(run)
	if r.Status != loop.StatusCompleted || len(till.seen()) != 1 {
		t.Errorf("%s %s", r.Status, asJSON(r))
	}
}

func mustObject(t *testing.T, text string) map[string]any {
	t.Helper()
	m, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAForkAsksAgainAboutAPlanThatWaitedAndAboutCallsThatWereLeft(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{`+planFirst+`, "schema": {"tools": {"pay": `+till.pay("true")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 1, "_outputPath": "paid"}]}}`, nothingMore)
	s.start()
	plan := s.planOf(1)
	eventually(t, "an Idea stands", func() bool {
		links, err := chain.New(store).List(t.Context(), s.id)
		return err == nil && len(links) == 1
	})
	early := s.forkNow("early", `{"solution": {"calls": [{"_tool": "pay", "n": 2, "_outputPath": "paid"}]}}`,
		nothingMore)
	if p := early.planOf(1); !strings.Contains(asJSON(p.Calls), `"n":2`) {
		t.Errorf("%s", asJSON(p))
	}
	s.decidePlan(approval.SteerApprovePlan, plan, nil)
	s.waitsFor(1)
	eventually(t, "the rest is sealed",
		func() bool { return strings.Contains(asJSON(s.sealedLast()), "awaiting-approval") })
	late := s.forkNow("late", nothingMore)
	left := late.planOf(0)
	if len(left.Calls) != 1 || left.Calls[0].CallID != "1.1" || left.NotAmendableReason == "" {
		t.Fatalf("%s", asJSON(left))
	}
	late.decidePlan(approval.SteerAmendPlan, left, map[string]any{"calls": s.calls(`[{"_tool": "pay", "n": 3}]`)})
	eventually(t, "it cannot be amended", func() bool { return late.processStatus().RefusalCount == 1 })
	late.decidePlan(approval.SteerRejectPlan, left, map[string]any{"reason": "not twice"})
	r := late.came(t)
	if r.Status != loop.StatusCompleted || r.Calls.Rejected != 1 || len(till.seen()) != 0 ||
		!strings.Contains(late.prompt(1), "not twice") {
		t.Errorf("%s %+v, %d payments\n%s", r.Status, r.Calls, len(till.seen()), late.story())
	}
	s.cancel()
	early.cancel()
}

// forkNow starts a fork of the process at its latest Idea.
func (s *scenario) forkNow(name string, replies ...string) *scenario {
	s.t.Helper()
	fork := newScenario(s.t, `{}`)
	fork.id, fork.idea = s.id+"-"+name, chain.ForkedIdea(s.sealedLast())
	fork.idea["config"] = jsonval.DeepMerge(fork.idea["config"],
		map[string]any{"llm": map[string]any{"model": fork.id}})
	fork.script(replies...)
	fork.start()
	return fork
}
