package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// heldScenario plays processes whose Plans wait for people.
type heldScenario struct {
	*modeltest.Scenario
	who policy.DeciderRules
}

func calls(t *testing.T, text string) []ideafile.WrittenCall {
	t.Helper()
	return ideafile.ParseWrittenCalls(modeltest.DecodeJSON(t, "["+text+"]").([]any))
}

// holdReply answers the next Request with Calls, and reports whether their Plan waits.
func (s *heldScenario) holdReply(t *testing.T, written string) bool {
	t.Helper()
	in := s.ExpectRequest()
	s.Loop.RequiresPlanReview, s.Loop.PlanDeciders = true, s.who
	r := turn.LLMReply{Calls: calls(t, written), IsComplete: true, HTTPAttemptCount: 1,
		InstanceTokensWithoutCalls: []string{}}
	for _, token := range in.InstanceTokens() {
		if !strings.Contains(written, `"`+token+`"`) && !strings.Contains(written, `"*"`) {
			r.InstanceTokensWithoutCalls = append(r.InstanceTokensWithoutCalls, token)
		}
	}
	s.Loop.ApplyReply(r)
	return s.Loop.HoldReplyPlan(s.Now)
}

func (s *heldScenario) decide(t *testing.T, kind, by, amended string) (decided bool) {
	t.Helper()
	p := s.Loop.PendingPlan
	d := approval.Decision{Kind: kind, PlanRequest: &p.RequestNumber, ApprovalDigest: p.Digest, DecidedBy: by,
		Reason: "it is so"}
	if kind == approval.SteerAmendPlan {
		d.AmendedCalls = calls(t, amended)
	}
	d, err := approval.CheckPlanDecision(p, d, nil, nil, nil, s.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s.Loop.DecidePlan(d)
}

// handOut gives the instances what they are sent once it is decided, runs them, and concludes the Request.
func (s *heldScenario) handOut(t *testing.T) *loop.RequestConclusion {
	t.Helper()
	for _, r := range s.Loop.DecidedPlanDeliveries() {
		for _, c := range r.Calls {
			s.InstanceByToken[r.InstanceToken].AcceptCall(r.RequestNumber, c.Index, c.Call)
		}
		s.RunToIdle(r.InstanceToken, r.RequestNumber)
		s.DeliverReport(s.TakeReport(r.InstanceToken, r.RequestNumber))
	}
	c := s.Loop.ConcludeRequest()
	if c == nil {
		t.Fatal("the Request is not concluded")
	}
	return c
}

func (s *heldScenario) states() string {
	var list []string
	for _, token := range s.Loop.InstanceTokens() {
		list = append(list, token+string(jsonval.Encode(s.InstanceByToken[token].State())))
	}
	return strings.Join(list, " ")
}

func newHeld(t *testing.T, rest ...string) *heldScenario {
	if len(rest) == 0 {
		rest = []string{modeltest.TwoInstancesContext}
	}
	return &heldScenario{Scenario: modeltest.NewScenario(t, "", rest...)}
}

const (
	workOne  = `{"_tool": "work", "_instance": "①", "x": "one", "_outputPath": "b"}`
	workTwo  = `{"_tool": "work", "_instance": "②", "x": "two", "_outputPath": "b"}`
	workBoth = `{"_tool": "work", "_instance": "*", "x": "both", "_outputPath": "c"}`
)

// Each row says what a person decides on the Plan of a Request for two instances, and what runs then.
func TestWhatRunsOfAPlanThatWaitedIsWhatAPersonLeftOfIt(t *testing.T) {
	t.Parallel()
	plan := workOne + ", " + workTwo + ", " + workBoth
	for name, row := range map[string]struct{ kind, amended, states, told string }{
		"approved": {approval.SteerApprovePlan, "", `①{"a":1,"b":"one","c":"both"} ②{"a":2,"b":"two","c":"both"}`, ""},
		"a Call is taken out": {approval.SteerAmendPlan, workOne + ", " + workBoth,
			`①{"a":1,"b":"one","c":"both"} ②{"a":2,"c":"both"}`,
			`These did not run as planned: [{"_instance":"②","_outputPath":"b","_tool":"work","x":"two"}]`},
		"a Call is changed": {approval.SteerAmendPlan, strings.Replace(plan, "one", "uno", 1),
			`①{"a":1,"b":"uno","c":"both"} ②{"a":2,"b":"two","c":"both"}`, "These did not run as planned"},
		"a Call is added": {approval.SteerAmendPlan,
			plan + `, {"_tool": "work", "_instance": "②", "x": "†state.c", "_outputPath": "d"}`,
			`①{"a":1,"b":"one","c":"both"} ②{"a":2,"b":"two","c":"both","d":"both"}`, "was amended by ann: it is so"},
		"all of one instance's Calls are taken out": {approval.SteerAmendPlan, workOne, `①{"a":1,"b":"one"} ②{"a":2}`,
			"These did not run as planned"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newHeld(t)
			if !s.holdReply(t, plan) {
				t.Fatal("the Plan does not wait")
			}
			s.WantEqual("before it is decided", s.states(), `①{"a":1} ②{"a":2}`)
			s.WantEqual("how much waits", s.Loop.PendingPlan.Summary(), "4 Calls: 4 work")
			if !s.decide(t, row.kind, "ann", row.amended) || s.Loop.PendingPlan != nil {
				t.Fatal("it waits still")
			}
			s.handOut(t)
			s.WantEqual("what ran", s.states(), row.states)
			in := s.ExpectRequest()
			s.WantEqual("the next Request is about", strings.Join(in.InstanceTokens(), " "), "① ②")
			if told := fmt.Sprint(in.Errors); !strings.Contains(told, row.told) ||
				(row.told == "") != (len(in.Errors) == 0) {
				t.Errorf("the next Request is told %s, want %s", told, row.told)
			}
		})
	}
}

func TestNothingRunsOfARejectedPlanAndTheNextRequestIsToldWhy(t *testing.T) {
	t.Parallel()
	s := newHeld(t)
	s.holdReply(t, workOne+", "+workTwo)
	s.decide(t, approval.SteerRejectPlan, "ann", "")
	for _, token := range s.Loop.InstanceTokens() {
		s.RunToIdle(token, 1)
		s.DeliverReport(s.TakeReport(token, 1))
	}
	if s.Loop.ConcludeRequest() == nil {
		t.Fatal("the Request is not concluded")
	}
	s.WantEqual("what ran", s.states(), `①{"a":1} ②{"a":2}`)
	in := s.ExpectRequest()
	s.WantEqual("the next Request is about", strings.Join(in.InstanceTokens(), " "), "① ②")
	if told := fmt.Sprint(in.Errors); !strings.Contains(told,
		"the Plan of Request 1 was rejected by ann: it is so; none of its calls ran") {
		t.Errorf("it is told %s", told)
	}
}

// An amendment by the first of two people is what the second sees: the digest is another one, and the approval of the
// Plan before counts no more.
func TestAPlanThatWasChangedMeanwhileIsDecidedOnAnew(t *testing.T) {
	t.Parallel()
	s := newHeld(t)
	s.who = policy.DeciderRules{{RequiredApprovalCount: 2}}
	s.holdReply(t, workOne+", "+workTwo)
	seen := *s.Loop.PendingPlan
	if s.decide(t, approval.SteerApprovePlan, "ann", "") {
		t.Fatal("one of two decided alone")
	}
	if s.decide(t, approval.SteerAmendPlan, "bob", workOne) {
		t.Fatal("who amends decided alone")
	}
	_, err := approval.CheckPlanDecision(s.Loop.PendingPlan,
		approval.Decision{Kind: approval.SteerApprovePlan, PlanRequest: &seen.RequestNumber,
			ApprovalDigest: seen.Digest, DecidedBy: "cy"}, nil, nil, nil, s.Now)
	if err == nil || !strings.Contains(err.Error(), "the digest does not match the Plan that waits now") {
		t.Errorf("who saw the Plan before decides on this one: %v", err)
	}
	if !s.decide(t, approval.SteerApprovePlan, "ann", "") {
		t.Fatal("two have decided, and it waits")
	}
	s.handOut(t)
	s.WantEqual("what ran", s.states(), `①{"a":1,"b":"one"} ②{"a":2}`)
}

func TestAPlanWithNothingToDecideOnDoesNotWait(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]string{
		"no Call": "", "a Call for an instance that there is not": `{"_tool": "work", "_instance": "⑨"}`,
		"no object": `5`,
	} {
		t.Run(name, func(t *testing.T) {
			if s := newHeld(t); s.holdReply(t, written) || s.Loop.PendingPlan != nil {
				t.Error("it waits")
			}
		})
	}
	t.Run("Plans do not wait in this process", func(t *testing.T) {
		s := newHeld(t)
		s.ExpectRequest()
		s.Loop.ApplyReply(turn.LLMReply{Calls: calls(t, workOne), IsComplete: true})
		if s.Loop.HoldReplyPlan(s.Now) {
			t.Error("it waits")
		}
	})
	t.Run("a reply that broke off", func(t *testing.T) {
		s := newHeld(t)
		s.ExpectRequest()
		s.Loop.RequiresPlanReview = true
		s.Loop.ApplyReply(turn.LLMReply{Calls: calls(t, workOne)})
		if s.Loop.HoldReplyPlan(s.Now) {
			t.Error("it waits")
		}
	})
}

// heldStart is a process that begins with direct Plans, which wait.
func heldStart(t *testing.T, stage, plans string) *heldScenario {
	s := newHeld(t, strings.Replace(modeltest.TwoInstancesContext, "}}]", "}}, "+strings.ReplaceAll(plans, "STAGE", stage)+"]",
		1))
	s.Loop.RequiresPlanReview = true
	if !s.Loop.HoldStartPlan(s.Now) {
		t.Fatal("what the process begins with does not wait")
	}
	return s
}

const sharedPlan = `{"type": "plan", "stage": "STAGE", "plan": [{"_tool": "work", "x": "†state.a", "_outputPath": "b"}, {"_tool": "work", "x": "†state.b", "_outputPath": "c"}]}`

// Each row says what a person decides on the direct Plan of two instances, and what the instances begin with then.
func TestADirectPlanThatWaitedRunsAsItWasDecided(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ kind, stage, amended, states, end string }{
		"approved": {approval.SteerApprovePlan, "optimal", "", `①{"a":1,"b":1,"c":1} ②{"a":2,"b":2,"c":2}`,
			"① settled, ② settled"},
		"taken out": {approval.SteerAmendPlan, "complete",
			`{"_tool": "work", "x": "†state.a", "_outputPath": "b"}`, `①{"a":1,"b":1} ②{"a":2,"b":2}`,
			"① settled, ② settled"},
		"changed, added": {approval.SteerAmendPlan, "optimal",
			`{"_tool": "work", "x": 7, "_outputPath": "b"}, {"_tool": "work", "x": "†state.b", "_outputPath": "e"}`,
			`①{"a":1,"b":7,"e":7} ②{"a":2,"b":7,"e":7}`, "① settled, ② settled"},
		"rejected":         {approval.SteerRejectPlan, "optimal", "", `①{"a":1} ②{"a":2}`, "① working, ② working"},
		"rejected, no LLM": {approval.SteerRejectPlan, "complete", "", `①{"a":1} ②{"a":2}`, "① failed, ② failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := heldStart(t, row.stage, sharedPlan)
			s.WantEqual("how much waits", s.Loop.PendingPlan.Summary(), "4 Calls: 4 work")
			if !s.decide(t, row.kind, "ann", row.amended) {
				t.Fatal("it waits still")
			}
			if row.kind != approval.SteerRejectPlan {
				s.StartInstances(s.Loop.InstanceTokens()) // only now
				s.RunDirectPlans()
			}
			s.WantEqual("what ran", s.states(), row.states)
			s.Loop.Advance(s.Now)
			s.WantEqual("how they stand", s.DescribeInstances(), row.end)
		})
	}
}

func TestPlansThatCannotBeAmendedSayWhy(t *testing.T) {
	t.Parallel()
	s := heldStart(t, "optimal",
		`{"type": "plan", "stage": "optimal", "_instance": "①", "plan": [{"_tool": "work", "_outputPath": "b"}]}, `+
			`{"type": "plan", "stage": "optimal", "_instance": "②", "plan": [{"_tool": "work", "_outputPath": "c"}]}`)
	if why := s.Loop.PendingPlan.NotAmendableReason; !strings.HasPrefix(why, "it is 2 Plans at once") {
		t.Errorf("two Plans: %q", why)
	}
	s = heldStart(t, "optimal", strings.Replace(sharedPlan, `"STAGE",`, `"STAGE", "record": {"0.1@①": "done"},`, 1))
	if why := s.Loop.PendingPlan.NotAmendableReason; !strings.HasPrefix(why, "an earlier process has begun it") {
		t.Errorf("a Plan that has begun: %q", why)
	}
	s.WantEqual("what is left of it", s.Loop.PendingPlan.Summary(), "3 Calls: 3 work")
}

// An instance that is added must not run a Plan that nobody has seen; one that runs a Plan which was seen may join.
func TestAnAddedInstanceRunsNoPlanThatNobodyHasSeen(t *testing.T) {
	t.Parallel()
	add := func(s *heldScenario, state string) error {
		_, err := s.Loop.AddInstances(
			approval.SteeringPayload{Context: modeltest.DecodeJSON(t, `[{"type": "state", "_instance": "③", "state": `+
				state+`}]`).([]any)})
		return err
	}
	rare := `{"type": "plan", "stage": "STAGE", "when": {"properties": {"state": {"required": ["rare"]}}}, "plan": [{"_tool": "work"}]}, `
	s := heldStart(t, "optimal", rare+sharedPlan)
	s.decide(t, approval.SteerApprovePlan, "ann", "")
	if err := add(s, `{"rare": 1}`); err == nil ||
		!strings.Contains(err.Error(), "instance ③ would run a Plan of the file that nobody has approved") {
		t.Errorf("a Plan that nobody has seen: %v", err)
	}
	if err := add(s, `{"a": 3}`); err != nil {
		t.Errorf("a Plan that was approved: %v", err)
	}
}

// Whoever decides on a whole Plan is told of those whom the LLM answered otherwise when it was asked again.
func TestAPlanThatWaitsShowsBothAnswersWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	s := &heldScenario{Scenario: modeltest.NewScenario(t, "", `"config": {"quality": {"recheck": 1}}`, modeltest.TwoInstancesContext)}
	if !s.holdReply(t, `{"_tool":"work","_instance":"*","x":"1"}`) {
		t.Fatal("its Plan does not wait")
	}
	before := s.Loop.PendingPlan
	list := s.Loop.ApplyRecheck(s.Loop.StartRecheck(), turn.LLMReply{Comparisons: []turn.AnswerComparison{
		{InstanceToken: "①", InstancePositionInPrompt: 1},
		{InstanceToken: "②", InstancePositionInPrompt: 2, HasDiffered: true,
			FirstCalls:  calls(t, `{"_tool":"work","x":"1"}`),
			SecondCalls: calls(t, `{"_tool":"log"}`)},
	}})
	p := s.Loop.PendingPlan
	want := `["②: asked a second time, the LLM decided otherwise. First: work {\"x\":\"1\"}. Then: log {}"]`
	if got := jsonval.EncodeToString(jsonval.ToJSONValue(p.Disagreements)); got != want || len(list) > 0 ||
		p.Digest != before.Digest || before.Disagreements != nil {
		t.Errorf("%s, and %v is sent; at first %v", got, list, before.Disagreements)
	}
}

// A Call that a person has put in the place of another is not what the LLM answered twice about.
func TestAnAmendedCallIsNotReviewedForWhatStoodInItsPlace(t *testing.T) {
	t.Parallel()
	for amended, want := range map[string]int{"": 1, `{"_tool":"log","_instance":"*"}`: 0} {
		s := &heldScenario{Scenario: modeltest.NewScenario(t, "", `"config": {"quality": {"recheck": 1}}`, modeltest.TwoInstancesContext)}
		s.holdReply(t, `{"_tool":"work","_instance":"*","x":"1"}`)
		again, kind := s.Loop.StartRecheck(), approval.SteerAmendPlan
		if amended == "" {
			kind = approval.SteerApprovePlan
		}
		s.decide(t, kind, "ann", amended)
		s.handOut(t)
		got := 0
		for _, sent := range s.Loop.ApplyRecheck(again, turn.LLMReply{
			Comparisons: []turn.AnswerComparison{{InstanceToken: "②", InstancePositionInPrompt: 1,
				HasDiffered: true}}}) {
			got += len(sent.Calls)
		}
		if got != want {
			t.Errorf("amended to %q: %d Calls are to be reviewed", amended, got)
		}
	}
}

// A Plan of a later Request that waits says nothing of the Calls of an earlier one.
func TestASecondAnswerIsNotLostWhileALaterPlanWaits(t *testing.T) {
	t.Parallel()
	s := &heldScenario{Scenario: modeltest.NewScenario(t, "", `"config": {"quality": {"recheck": 1}}`, modeltest.TwoInstancesContext)}
	s.holdReply(t, `{"_tool":"fail","_instance":"*"}`)
	again := s.Loop.StartRecheck()
	s.decide(t, approval.SteerApprovePlan, "ann", "")
	s.handOut(t)
	if !s.holdReply(t, `{"_tool":"work","_instance":"*"}`) {
		t.Fatal("the second Plan does not wait")
	}
	list := s.Loop.ApplyRecheck(again, turn.LLMReply{Comparisons: []turn.AnswerComparison{{InstanceToken: "②",
		InstancePositionInPrompt: 1, HasDiffered: true}}})
	if len(list) != 1 || list[0].InstanceToken != "②" || !list[0].AreCallsDelivered ||
		len(s.Loop.PendingPlan.Disagreements) > 0 {
		t.Errorf("%v is sent, and the later Plan shows %v", list, s.Loop.PendingPlan.Disagreements)
	}
}
