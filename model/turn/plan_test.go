package turn_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	m, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func written(t *testing.T, texts ...string) (calls []ideafile.WrittenCall) {
	t.Helper()
	for _, text := range texts {
		calls = append(calls, ideafile.ParseWrittenCall(object(t, text)))
	}
	return calls
}

func plan(t *testing.T) *approval.PlanAwaitingDecision {
	t.Helper()
	input := &turn.RequestInput{RequestNumber: 3, Instances: []turn.InstanceInput{{Token: "1"}, {Token: "2"}}}
	p, deliverable := turn.PlanOfRequest(input,
		written(t, `{"_tool": "pay", "_instance": "*", "n": 1}`, `{"_tool": "tell", "_instance": "2"}`,
			`{"_tool": "tell", "_instance": "9"}`))
	if !deliverable {
		t.Fatal("it has Calls to deliver")
	}
	p.SetDigest("p")
	return &p
}

func TestAPlanShowsWhatWouldRunAndWhereAndWhatCannot(t *testing.T) {
	t.Parallel()
	p := plan(t)
	if got := p.Summary(); got != "4 Calls: 2 pay, 2 tell" {
		t.Error(got)
	}
	if p.Calls[0].CallID != "3.1" || strings.Join(p.Calls[0].Instances, "") != "12" || p.Calls[2].Error == "" ||
		strings.Join(p.Instances, "") != "12" {
		t.Errorf("%+v", p)
	}
}

func TestTheDigestIsOverTheProcessTheRequestAndEveryCall(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, change := range []func(*approval.PlanAwaitingDecision){
		func(*approval.PlanAwaitingDecision) {}, func(p *approval.PlanAwaitingDecision) { p.RequestNumber = 4 },
		func(p *approval.PlanAwaitingDecision) { p.Calls = p.Calls[:2] },
		func(p *approval.PlanAwaitingDecision) {
			p.Calls[0].WrittenCall = written(t, `{"_tool": "pay", "_instance": "*", "n": 2}`)[0]
		},
		func(p *approval.PlanAwaitingDecision) { p.Calls[0].Instances = []string{"1"} },
	} {
		p := plan(t)
		change(p)
		p.SetDigest("p")
		seen[p.Digest] = true
	}
	other := plan(t)
	other.SetDigest("q")
	seen[other.Digest] = true
	if len(seen) != 6 {
		t.Errorf("%d of 6 Plans can be told apart", len(seen))
	}
}

func TestADecisionThatIsNoneIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, payload, want string }{
		{approval.SteerApprovePlan, `{}`, `"request" is missing`},
		{approval.SteerApprovePlan, `{"request": "1"}`, "the number of a Request"},
		{approval.SteerApprovePlan, `{"request": -1}`, "the number of a Request"},
		{approval.SteerApprovePlan, `{"request": 1, "calls": []}`, `unknown key "calls"`},
		{approval.SteerApprovePlan, `{"request": 1, "by": "your name"}`, "replace it by your own"},
		{approval.SteerApprovePlan, `{"request": 1, "by": "ann\u200b"}`, "invisible"},
		{approval.SteerRejectPlan, `{"request": 1}`, `"reason" is missing`},
		{approval.SteerAmendPlan, `{"request": 1}`, `wants "calls"`},
		{approval.SteerAmendPlan, `{"request": 1, "calls": []}`, `"calls" is empty`},
	} {
		if _, err := approval.ReadPlanDecision(c.kind, object(t, c.payload)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.kind, c.payload, err)
		}
	}
}

func decision(t *testing.T, p *approval.PlanAwaitingDecision, kind, by string) approval.Decision {
	t.Helper()
	m := map[string]any{"request": json.Number("3"), "digest": p.Digest, "by": by, "reason": "so"}
	if kind == approval.SteerAmendPlan {
		m["calls"] = []any{map[string]any{"_tool": "pay"}}
	}
	d, err := approval.ReadPlanDecision(kind, m)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOnlyWhoMayDecideDecidesOnThePlanThatWaits(t *testing.T) {
	t.Parallel()
	now := time.Unix(1, 0)
	p := plan(t)
	p.Deciders = policy.DeciderRules{{People: []string{"ann", "bob"}, RequiredApprovalCount: 2}}
	check := func(d approval.Decision, want string) {
		t.Helper()
		_, err := approval.CheckPlanDecision(p, d, nil, nil, nil, now)
		if (want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s by %s: %v, want %q", d.Kind, d.DecidedBy, err, want)
		}
	}
	check(decision(t, p, approval.SteerApprovePlan, "ann"), "")
	check(decision(t, p, approval.SteerApprovePlan, "eve"), "eve")
	check(decision(t, p, approval.SteerApprovePlan, ""), `"by" is missing`)
	old := decision(t, p, approval.SteerApprovePlan, "ann")
	old.ApprovalDigest = "old"
	check(old, "does not match the Plan")
	if !p.AddVote(decision(t, p, approval.SteerApprovePlan, "ann")) {
		t.Error("one of two is enough")
	}
	check(decision(t, p, approval.SteerApprovePlan, "Ann"), "decided on it already")
	if p.AddVote(decision(t, p, approval.SteerApprovePlan, "bob")) {
		t.Error("two of two are not enough")
	}
	p.Deciders[0].ExcludesStarter = true
	if _, err := approval.CheckPlanDecision(p, decision(t, p, approval.SteerRejectPlan, "ann"), policy.IdentitiesNamed("sam"),
		policy.IdentitiesNamed("Ann"), nil, now); err == nil {
		t.Error("who revised an instance decides on its Plan")
	}
	p.Deciders[0].ExcludesStarter = false
	p.NotAmendableReason = "it cannot be"
	check(decision(t, p, approval.SteerAmendPlan, "ann"), "it cannot be")
	if _, err := approval.CheckPlanDecision(nil, old, nil, nil, nil, now); err == nil {
		t.Error("a decision on nothing counts")
	}
}

func TestAnAmendmentIsANewPlanThatOthersMustSee(t *testing.T) {
	t.Parallel()
	p := plan(t)
	p.AddVote(decision(t, p, approval.SteerApprovePlan, "ann"))
	amended := p.WithAmendment("p", p.Calls[:1])
	if amended.Digest == p.Digest || len(amended.VotesSoFar) != 0 || len(amended.OriginalCalls()) != 3 {
		t.Errorf("%+v", amended)
	}
	told := amended.ExplainAmendment(decision(t, p, approval.SteerAmendPlan, "ann"))
	if !strings.Contains(told, "the Plan of Request 3 was amended by ann: so") || !strings.Contains(told, `"tell"`) ||
		strings.Contains(told, `"pay"`) {
		t.Error(told)
	}
}

func TestAnInstanceThatLosesItsCallsByAnAmendmentDoesNotSettle(t *testing.T) {
	t.Parallel()
	input := &turn.RequestInput{RequestNumber: 1, Instances: []turn.InstanceInput{{Token: "1"}, {Token: "2"},
		{Token: "3"}}}
	reply := &turn.LLMReply{IsComplete: true, InstanceTokensWithoutCalls: []string{"2", "3"}}
	turn.AmendPlan(input, reply, written(t, `{"_tool": "pay", "_instance": "2"}`))
	if got := strings.Join(reply.InstanceTokensWithoutCalls, " "); got != "3" {
		t.Errorf("without Calls: %s", got)
	}
}

func TestARejectedPlanBringsNothingAndSaysWhy(t *testing.T) {
	t.Parallel()
	p := plan(t)
	reply := &turn.LLMReply{IsComplete: true, Calls: p.WrittenCalls(), InstanceTokensWithoutCalls: []string{"3"},
		Output: 1}
	turn.RejectPlan(*p, reply, decision(t, p, approval.SteerRejectPlan, "ann"))
	if reply.IsComplete || reply.Calls != nil || reply.InstanceTokensWithoutCalls != nil || reply.Output != nil ||
		reply.Fault.Code != approval.CodePlanRejected ||
		!strings.Contains(reply.Fault.Message, "was rejected by ann: so") ||
		!strings.Contains(reply.Fault.Message, `"n":1`) {
		t.Errorf("%+v", reply)
	}
}
