package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"processidea/client"
	"processidea/client/bulk"
	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/chain"
)

// one is one of many decisions, as JSON has it.
func one(kind string, a protocol.Approval, more ...any) map[string]any {
	d := map[string]any{"call": a.CallID, "digest": a.Digest, "decision": kind}
	for n := 0; n < len(more); n += 2 {
		d[more[n].(string)] = more[n+1]
	}
	return d
}

// historyLength is that of a workflow's latest run.
func (s *scenario) historyLength(workflow string) int64 {
	s.t.Helper()
	d, err := s.client.DescribeWorkflowExecution(s.t.Context(), workflow, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return d.GetWorkflowExecutionInfo().GetHistoryLength()
}

// refusalsOf lists what an instance refused: the Call or id, and why.
func (s *scenario) refusalsOf(workflow string) map[string]string {
	s.t.Helper()
	var v protocol.InstanceView
	q, err := s.client.QueryWorkflow(s.t.Context(), workflow, "", protocol.QueryStatus)
	if err == nil {
		err = q.Get(&v)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	found := map[string]string{}
	for _, r := range v.Refusals {
		found[r.ID] = r.RefusalReason
	}
	return found
}

// Many instances in parts each wait for two people. The first decides with one signal of a client that knows nothing of
// this program, the second with package client. The long run has a thousand.
func TestOneSignalDecidesOnManyCalls(t *testing.T) {
	t.Parallel()
	atLength(t)
	calls := longrun.RepeatCount(130, 1000)
	middle, last := calls*2/5, calls-1
	till := newTill(t)
	s := paying(t, till, "", `{"by": {"count": 2}}`, rows(1, calls)+`,`+payOnce)
	run := s.start()
	waiting := s.waitsFor(calls)
	wrong := map[int]string{
		3: "the digest does not match what waits now", middle: "params: /n: expected integer",
		last: "the digest does not match what waits now",
	}
	var decisions []any
	for n, a := range waiting {
		switch {
		case n == 3 || n == last:
			a.Digest = strings.Repeat("0", 64)
			decisions = append(decisions, one(policy.Approve, a))
		case n == middle:
			decisions = append(decisions, one(policy.Amend, a, "params", map[string]any{"n": "many"}))
		default:
			decisions = append(decisions, one(policy.Approve, a))
		}
	}
	s.signal(s.id, approval.SteerDecideMany, map[string]any{"id": "all", "by": "ann", "decisions": decisions})
	refused := s.settled("all", waiting)
	for n, why := range wrong {
		if got := refused[fmt.Sprintf("all/%d", n+1)]; !strings.Contains(got, why) {
			t.Errorf("%s: refused with %q, want %q", waiting[n].CallID, got, why)
		}
	}
	if len(refused) != len(wrong) || len(till.seen()) != 0 {
		t.Errorf("%d are refused, %d payments", len(refused), len(till.seen()))
	}
	p := client.New(s.client, s.namespace, store).Process(s.id)
	outcomes, err := p.DecideMany(t.Context(),
		bulk.DecisionForEach(waiting, client.Decision{Kind: client.Approve, By: "bob"}))
	if err != nil {
		t.Fatal(err)
	}
	for n, o := range outcomes {
		want := client.VoteCount{Have: 2, Want: 2}
		if wrong[n] != "" {
			want.Have = 1
		}
		if o.RefusalReason != "" || o.Votes != want || o.CallID != waiting[n].CallID {
			t.Errorf("%s: %q, %+v", o.CallID, o.RefusalReason, o.Votes)
		}
	}
	eventually(t, "all but three are paid", func() bool { return len(till.seen()) == calls-3 })
	outcomes, err = p.DecideMany(t.Context(),
		bulk.DecisionForEach(s.waitsFor(3), client.Decision{Kind: client.Approve, By: "ann"}))
	if err != nil || len(outcomes) != 3 {
		t.Errorf("%+v, %v", outcomes, err)
	}
	s.end(run)
	if len(till.seen()) != calls {
		t.Errorf("%d payments", len(till.seen()))
	}
	s.historiesAreShort((calls + 99) / 100)
}

// historiesAreShort checks the histories of a process and of its parts.
func (s *scenario) historiesAreShort(parts int) {
	s.t.Helper()
	ids := []string{s.id}
	for n := range parts {
		ids = append(ids, protocol.PartID(s.id, n+1))
	}
	for _, id := range ids {
		if n := s.historyLength(id); n >= 10_000 {
			s.t.Errorf("the history of %s has %d events", id, n)
		}
	}
}

// settled waits until each decision of a signal is on its Call's record or refused, and returns the reasons of those
// that are refused, by id.
func (s *scenario) settled(signal string, list []protocol.Approval) map[string]string {
	s.t.Helper()
	refused := map[string]string{}
	for n, a := range list {
		id := fmt.Sprintf("%s/%d", signal, n+1)
		eventually(s.t, id+" is taken or refused", func() bool {
			var v protocol.InstanceView
			q, err := s.client.QueryWorkflow(s.t.Context(), protocol.InstanceID(a.Process, a.Instance), "",
				protocol.QueryStatus)
			if err != nil || q.Get(&v) != nil {
				return false
			}
			for _, r := range v.Refusals {
				if r.ID == id {
					refused[id] = r.RefusalReason
					return true
				}
			}
			return slices.ContainsFunc(v.Calls, func(c protocol.CallView) bool {
				return slices.ContainsFunc(c.Decisions, func(d approval.Decision) bool { return d.SignalID == id })
			})
		})
	}
	return refused
}

// decideAll sends one signal with the same decision on each Call.
func (s *scenario) decideAll(to, id, kind, by string, list []protocol.Approval, more ...any) {
	s.t.Helper()
	var decisions []any
	for _, a := range list {
		decisions = append(decisions, one(kind, a, more...))
	}
	s.signal(to, approval.SteerDecideMany, map[string]any{"id": id, "by": by, "groups": []any{"finance"},
		"decisions": decisions})
}

// Of people who decide on everything at the same moment each counts once for each Call, wherever the Calls wait.
func TestPeopleWhoDecideOnManyAtOnceCountOnceForEach(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		config, context string
		calls, every    int
	}{
		"a Plan":                        {"", `{"type": "text", "text": "t"},` + payOnce, 1, 0},
		"a broadcast Call":              {"", rows(1, 5) + `,` + payOnce, 5, 0},
		"the parts of a split":          {`"batch": 2`, rows(1, 5) + `,` + payOnce, 5, 0},
		"parts that continue as new":    {`"batch": 2`, rows(1, 5) + `,` + payOnce, 5, 1},
		"a broadcast, continued as new": {"", rows(1, 5) + `,` + payOnce, 5, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, c.config, twoOfFinance, c.context)
			s.every = c.every
			run := s.start()
			list := s.waitsFor(c.calls)
			s.decideAll(s.id, "ann", policy.Approve, "ann", list)
			s.decideAll(s.id, "again", policy.Approve, " Ann ", list)
			s.decideAll(s.id, "sam", policy.Approve, "sam", list)
			for id, why := range map[string]string{"ann": "",
				"again": "has decided on it already (approve); it takes 2 people", "sam": "sam started the process"} {
				refused := s.settled(id, list)
				if want := c.calls; why == "" && len(refused) != 0 || why != "" && len(refused) != want {
					t.Errorf("%s: %d are refused: %v", id, len(refused), refused)
				}
				for _, got := range refused {
					if !strings.Contains(got, why) {
						t.Errorf("%s: %q", id, got)
					}
				}
			}
			if n := len(till.seen()); n != 0 {
				t.Errorf("%d payments after one person", n)
			}
			s.decideAll(s.id, "bob", policy.Approve, "bob", list)
			s.decideAll(s.id, "cid", policy.Approve, "cid", list)
			s.end(run)
			if n := len(till.seen()); n != c.calls {
				t.Errorf("%d payments", n)
			}
		})
	}
}

// What waits in a delegate is decided on there, and in a fork like anywhere.
func TestManyCallsOfDelegatesAndForksAreDecidedOn(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"settle": {"type": "object", "properties": {}, "_delegate": "settle.json"}}},
		"context": [{"type": "text", "text": "t"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "settle"}]}]}`)
	s.file("settle.json", `{"config": {"batch": 2}, "schema": {"tools": {"pay": `+till.pay("true")+`}}, "context": [`+
		rows(1, 3)+`,`+payOnce+`]}`)
	run := s.start()
	inner := *s
	inner.id = protocol.DelegateID(s.id, "0.1")
	inner.decideAll(inner.id, "all", policy.Approve, "ann", inner.waitsFor(3))
	s.end(run)
	if n := len(till.seen()); n != 3 {
		t.Errorf("%d payments", n)
	}

	s = paying(t, till, "", "true", rows(1, 3)+`,`+payOnce)
	s.id += "-forked"
	s.start()
	s.waitsFor(3)
	chains := chain.New(store)
	var idea map[string]any
	eventually(t, "there is an Idea", func() bool {
		links, err := chains.List(t.Context(), s.id)
		if err != nil || len(links) == 0 {
			return false
		}
		idea, err = chains.Load(t.Context(), s.id, len(links))
		return err == nil
	})
	fork := paying(t, till, "", "true", "")
	fork.id, fork.idea = s.id+"-fork", chain.ForkedIdea(idea)
	run = fork.start()
	fork.decideAll(fork.id, "all", policy.Approve, "ann", fork.waitsFor(3))
	if r := fork.end(run); r.Calls.Done != 3 || len(till.seen()) != 6 {
		t.Errorf("%+v, %d payments", r.Calls, len(till.seen()))
	}
	s.cancel()
}

// A workflow task in which a thousand wrong decisions are refused is short, or the SDK takes it for one that hangs.
func TestAThousandDecisionsOnCallsThatThereAreNotAreRefused(t *testing.T) {
	t.Parallel()
	for name, batch := range longrun.SampleRows(t, 2, map[string]int{"in one piece": 40, "in parts": 20}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := paying(t, newTill(t), fmt.Sprintf(`"batch": %d`, batch), "true", rows(1, 40)+`,`+payOnce)
			s.start()
			s.waitsFor(40)
			var decisions []any
			for n := range 500 {
				decisions = append(decisions,
					map[string]any{"call": fmt.Sprintf("7.7@%d", n%40+1), "decision": "approve"},
					map[string]any{"call": fmt.Sprintf("0.1@nobody%d", n), "decision": "approve"})
			}
			s.signal(s.id, approval.SteerDecideMany, map[string]any{"id": "wrong", "decisions": decisions})
			eventually(t, "they are refused", func() bool { return s.processStatus().RefusalCount >= 500 })
			refusals := s.processStatus().Refusals
			if last := refusals[len(refusals)-1]; !strings.Contains(last.RefusalReason, "there is no Call") {
				t.Errorf("%+v", last)
			}
			eventually(t, "so are those on instances that there are", func() bool {
				return s.refusalsOf(protocol.InstanceID(s.waitsFor(40)[39].Process, "40"))["wrong/79"] != ""
			})
			s.cancel()
		})
	}
}

// An instance keeps its last hundred refusals. Whoever decides on more than that at once hears of each all the same.
func TestEachOfManyDecisionsIsAnsweredThoughAnInstanceRefusesMoreThanItKeeps(t *testing.T) {
	t.Parallel()
	var calls []string
	for n := range 150 {
		calls = append(calls, fmt.Sprintf(`{"_tool": "pay", "n": %d}`, n))
	}
	s := paying(t, newTill(t), "", `{"by": {"notStarter": true}}`,
		`{"type": "text", "text": "t"}, {"type": "plan", "stage": "complete", "plan": [`+strings.Join(calls, ",")+`]}`)
	s.start()
	var list []client.Decision
	for _, a := range s.waitsFor(150) {
		list = append(list, client.Decision{Kind: client.Approve, CallID: a.CallID, By: "sam"})
	}
	outcomes, err := client.New(s.client, s.namespace, store).Process(s.id).DecideMany(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.RefusalReason == "" {
			t.Errorf("the decision on %s counts", o.Decision.CallID)
		}
	}
	if last := outcomes[149].RefusalReason; !strings.Contains(last, "sam started the process") {
		t.Error(last)
	}
	s.cancel()
}

// Whoever decides last is heard last, though the first decisions are many and wait for their turn.
func TestADecisionDoesNotOvertakeManyThatWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	for name, batch := range longrun.SampleRows(t, 2, map[string]int{"in one piece": 300, "in parts": 75}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atLength(t)
			till := newTill(t)
			s := paying(t, till, fmt.Sprintf(`"batch": %d`, batch), "true", rows(1, 150)+`,`+payOnce)
			run := s.start()
			list := s.waitsFor(150)
			s.decideAll(s.id, "all", policy.Answer, "ann", list, "output", "by hand")
			last := list[len(list)-1]
			s.signal(s.id, policy.Approve, map[string]any{"call": ideafile.TypeableCallID(last.CallID), "by": "bob",
				"id": "late"})
			if r := s.end(run); len(till.seen()) != 0 || r.Calls.Done != 150 {
				t.Errorf("%d payments, %+v", len(till.seen()), r.Calls)
			}
			if got := s.refusalsOf(protocol.InstanceID(last.Process, last.Instance))["late"]; got != "" &&
				!strings.Contains(got, "was decided on already (answered by ann)") {
				t.Error(got)
			}
		})
	}
}

func TestManyDecisionsAreRefusedAsSingleOnesAre(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	for name, config := range longrun.SampleRows(t, 2, map[string]string{"in one piece": "", "in parts": `"batch": 1`}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := paying(t, till, config, "true", rows(1, 3)+`,`+payOnce)
			run := s.start()
			list := s.waitsFor(3)
			s.signal(s.id, approval.SteerDecideMany, map[string]any{"id": "none", "by": "ann", "decisions": []any{}})
			s.signal(protocol.InstanceID(list[0].Process, list[0].Instance), approval.SteerDecideMany,
				map[string]any{"id": "there", "decisions": []any{one(policy.Approve, list[0])}})
			s.decideAll(list[0].Process, "first", policy.Approve, "ann", list[:1]) // a part takes them too
			eventually(t, "the first settles", func() bool { return len(s.waitsFor(2)) == 2 })
			eventually(t, "it has ended",
				func() bool { return s.processStatus().Instances["1"].Status == ideafile.InstanceSettled })
			s.signal(s.id, approval.SteerDecideMany, map[string]any{"id": "x", "by": "ann", "decisions": []any{
				one(policy.Approve, list[0]), map[string]any{"call": "0.1@9", "decision": "approve"},
				map[string]any{"call": "0.1@2", "decision": "pause"},
				one(policy.Amend, list[1]), "0.1@3", one(policy.Approve, list[1], "by", "your name"),
				map[string]any{"decision": "reject", "reason": "no"},
			}})
			want := map[string]string{
				"none": `it decides nothing: "decisions" is missing`,
				"x/2":  `there is no Call "0.1@9"`, "x/3": `decisions[2]: "decision" is one of approve`,
				"x/4": `decisions[3]: amend wants "params"`,
				"x/6": `"by" is still the placeholder "your name"`, "x/7": `decisions[6]: it names no Call`,
			}
			found := map[string]string{}
			eventually(t, "they are on record", func() bool {
				v := s.processStatus()
				for _, r := range v.Refusals {
					found[r.ID] = r.Signal + " " + r.CallID + ": " + r.RefusalReason
				}
				for id, why := range s.refusalsOf(protocol.InstanceID(list[0].Process, list[0].Instance)) {
					found[id] = why
				}
				return v.RefusalCount >= len(want)+1 && found["x/1"] != "" // and decisions[4], which has no id
			})
			for id, why := range want {
				if !strings.Contains(found[id], why) {
					t.Errorf("%s: %q, want %q; all: %v", id, found[id], why, found)
				}
			}
			if got := found["there"]; !strings.Contains(got, "decide goes to the process, "+list[0].Process) {
				t.Error(got)
			}
			s.decideAll(s.id, "rest", policy.Approve, "ann", list[1:])
			if r := s.end(run); r.Calls.Done != 3 {
				t.Errorf("%+v", r.Calls)
			}
		})
	}
}
