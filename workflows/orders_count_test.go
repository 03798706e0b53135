package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/chain"
)

// approvedUnder lists the Calls of instances that were approved under an order, as the instances have it.
func approvedUnder(t *testing.T, c client.Client, order string, instances []string) (calls []string) {
	t.Helper()
	for _, id := range instances {
		var v protocol.InstanceView
		eventually(t, id+" answers", func() bool {
			q, err := c.QueryWorkflow(t.Context(), id, "", protocol.QueryStatus)
			return err == nil && q.Get(&v) == nil
		})
		for _, call := range v.Calls {
			if slices.ContainsFunc(call.Decisions,
				func(d approval.Decision) bool { return d.StandingOrderID == order }) {
				calls = append(calls, call.ID)
			}
		}
	}
	return calls
}

// What an instance refuses of an order's approvals is approved elsewhere: nobody else knows that ann has decided on
// another Call there.
func TestAnApprovalUnderAnOrderThatIsRefusedIsGivenToAnotherCall(t *testing.T) {
	t.Parallel()
	plan := `{"type": "plan", "stage": "complete", "plan": [{"_tool": "book", "n": 1, "_outputPath": "booked"}, {"_tool": "pay", "n": 2, "_outputPath": "paid"}]}`
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		config string
		every  int
	}{
		"in one piece":         {"", 0},
		"in parts":             {`"batch": 2`, 0},
		"parts, continued too": {`"batch": 2`, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := newScenario(t, `{"config": {`+c.config+`}, "schema": {"tools": {"book": `+till.pay("true")+`, "pay": `+till.pay(`{"by": {"notSameAs": ["book"]}}`)+`}},
				"context": [`+rows(1, 6)+`,`+plan+`]}`)
			s.every = c.every
			run := s.start()
			s.waitsFor(12)
			var list []any
			for n := 1; n <= 6; n++ {
				by := "ann"
				if n > 4 {
					by = "bob"
				}
				list = append(list, map[string]any{"call": fmt.Sprintf("0.1@%d", n),
					"decision": policy.Approve, "by": by})
			}
			s.signal(s.id, approval.SteerDecideMany, map[string]any{"id": "book", "decisions": list})
			eventually(t, "six are booked", func() bool { return len(till.seen()) == 6 })
			s.waitsFor(6)
			if why := s.steer(approval.SteerGiveStandingOrder,
				map[string]any{"id": "two", "tool": "pay", "count": 2, "by": "ann"}); why != "" {
				t.Fatal(why)
			}
			eventually(t, "two are paid",
				func() bool { return len(till.seen()) == 8 && s.processStatus().PendingDecisionCount == 4 })
			if v := s.processStatus(); s.order("two").ApprovedCount != 2 || v.RefusalCount != 0 {
				t.Errorf("%+v, %+v", s.order("two"), v.Refusals)
			}
			s.decideAll(s.id, "rest", policy.Approve, "cid", s.waitsFor(4))
			s.end(run)
			if len(till.seen()) != 12 {
				t.Errorf("%d payments", len(till.seen()))
			}
		})
	}
}

// Of sixty Calls in three parts exactly forty are approved under an order of forty, though others decide on some of
// them and the worker is killed.
func TestAnOrderOfFortyApprovesFortyThoughTheWorkerIsKilledAndOthersDecide(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"config": {"batch": 20}, "schema": {"tools": {"pay": `+httpTool(c.tool("pay", nil), `, "_approval": true`)+`}},
		"context": [`+rows(1, 60)+`,`+payOnce+`]}`)
	kill := c.work()
	run := c.start(s)
	s.waitsFor(60)
	kill()
	// Nobody works: these are decided on before the process hears of the order, and it does not know.
	var instances []string
	for n := 1; n <= 60; n++ {
		id := fmt.Sprintf("%s/~part/%d/%d", s.id, (n-1)/20+1, n)
		instances = append(instances, id)
		if n%6 == 1 {
			s.signal(id, policy.Answer, map[string]any{"call": fmt.Sprintf("0.1@%d", n), "by": "bob",
				"output": "in the shop"})
		}
	}
	s.signal(s.id, approval.SteerGiveStandingOrder, map[string]any{"id": "forty", "tool": "pay", "count": 40,
		"by": "ann"})
	kill = c.work()
	eventually(t, "some are paid", func() bool { return len(c.calls("pay")) > 5 })
	kill()
	c.work()
	s.waitsFor(10)
	eventually(t, "forty are counted", func() bool { return s.order("forty").ApprovedCount == 40 })
	if got := approvedUnder(t, c.client, "forty", instances); len(got) != 40 {
		t.Errorf("%d were approved under it: %q", len(got), got)
	}
	if v := s.processStatus(); v.RefusalCount != 0 {
		t.Errorf("%+v", v.Refusals)
	}
	s.decideAll(s.id, "rest", policy.Approve, "cid", s.waitsFor(10))
	c.finish(run)
	keys := c.calls("pay")
	slices.Sort(keys)
	if got := len(slices.Compact(keys)); got != 50 {
		t.Errorf("%d payments", got)
	}
}

// A part gives no orders, and nobody but the process says that an approval is under one.
func TestOnlyTheWholeProcessTakesOrdersAndApprovesUnderThem(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, `"batch": 2`, "true", rows(1, 3)+`,`+payOnce)
	run := s.start()
	s.waitsFor(3)
	part := &scenario{t: t, id: protocol.PartID(s.id, 2), client: s.client, namespace: s.namespace}
	want := " goes to the whole process, " + s.id + ": this is its part 2"
	order := map[string]any{"id": "all", "tool": "pay", "count": 3, "by": "ann"}
	if why := part.steer(approval.SteerGiveStandingOrder, order); why != "allow"+want {
		t.Error(why)
	}
	if why := part.steer(approval.SteerEndStandingOrder, map[string]any{"order": "all",
		"id": "end"}); why != "disallow"+want {
		t.Error(why)
	}
	order["count"] = 1
	if why := s.steer(approval.SteerGiveStandingOrder, order); why != "" {
		t.Fatal(why)
	}
	left := s.waitsFor(2)
	forged := map[string]any{"call": left[0].CallID, "id": "forged", "order": order}
	refused := func(n int) bool {
		v := s.processStatus()
		return v.RefusalCount == n &&
			strings.Contains(v.Refusals[n-1].RefusalReason, "only the process itself approves under standing orders")
	}
	before := s.processStatus().RefusalCount
	s.signal(s.id, policy.Approve, forged)
	eventually(t, "it is refused", func() bool { return refused(before + 1) })
	s.signal(s.id, approval.SteerDecideMany,
		map[string]any{"decisions": []any{jsonval.DeepMerge(forged, map[string]any{"decision": policy.Approve})}})
	eventually(t, "it is refused among many", func() bool { return refused(before + 2) })
	if o := s.order("all"); o.ApprovedCount != 1 || len(till.seen()) != 1 {
		t.Errorf("%+v, %d payments", o, len(till.seen()))
	}
	s.decideAll(s.id, "rest", policy.Approve, "cid", s.waitsFor(2))
	s.end(run)
}

// An order of a process does not cover the Calls of its delegates, and each of them takes its own.
func TestAnOrderCoversNoDelegate(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"settle": {"type": "object", "properties": {}, "_delegate": "settle.json"}, "pay": `+till.pay("true")+`}},
		"context": [{"type": "text", "text": "t"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "settle", "_outputPath": "a"}, {"_tool": "pay", "_outputPath": "b"}]}]}`)
	s.file("settle.json", `{"schema": {"tools": {"pay": `+till.pay("true")+`}}, "context": [`+payOnce+`]}`)
	run := s.start()
	order := map[string]any{"id": "all", "tool": "pay", "count": 10, "by": "ann"}
	if why := s.steer(approval.SteerGiveStandingOrder, order); why != "" {
		t.Fatal(why)
	}
	eventually(t, "its own Call is paid", func() bool { return len(till.seen()) == 1 })
	delegate := &scenario{t: t, id: protocol.DelegateID(s.id, "0.1"), client: s.client, namespace: s.namespace}
	delegate.waitsFor(1)
	if o := s.order("all"); o.ApprovedCount != 1 || len(till.seen()) != 1 {
		t.Errorf("%+v, %d payments", o, len(till.seen()))
	}
	if why := delegate.steer(approval.SteerGiveStandingOrder, order); why != "" {
		t.Fatal(why)
	}
	s.end(run)
	if o := delegate.order("all"); o.ApprovedCount != 1 || len(till.seen()) != 2 {
		t.Errorf("%+v, %d payments", o, len(till.seen()))
	}
}

// In a fork no order of where it comes from holds, and what waits is waited for anew: reminders and escalations count
// from then on.
func TestAForkTakesNoOrdersAlongAndBeginsToWaitAnew(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	idea := `{"schema": {"tools": {"pay": ` + till.pay("true") + `, "book": ` + till.pay(soonEscalated) + `}}, "context": [{"type": "text", "text": "t"},
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "pay", "n": 1, "_outputPath": "a"}, {"_tool": "book", "to": "†state.a", "_outputPath": "b"},
		{"_tool": "pay", "to": "†state.b", "_outputPath": "c"}]}]}`
	s := newScenario(t, idea)
	s.startedBy = []string{"sam"}
	run := s.start()
	if why := s.steer(approval.SteerGiveStandingOrder,
		map[string]any{"id": "all", "tool": "pay", "count": 10, "by": "ann"}); why != "" {
		t.Fatal(why)
	}
	escalated := func(s *scenario) (a protocol.Approval) {
		eventually(t, "others may decide too", func() bool {
			a = protocol.Approval{}
			if list := s.pending(); len(list) == 1 {
				a = list[0]
			}
			return strings.Contains(a.ReminderSchedule.NotificationProgressKey(), "e1")
		})
		return a
	}
	before := escalated(s)
	chains := chain.New(store)
	var from map[string]any
	eventually(t, "what was done is sealed", func() bool {
		at, err := chains.LatestIdeaNumber(t.Context(), s.id)
		if err != nil {
			return false
		}
		from, err = chains.Load(t.Context(), s.id, at)
		return err == nil && strings.Contains(asJSON(from["context"]), `"under":"all"`)
	})
	fork := newScenario(t, idea)
	fork.id, fork.idea, fork.startedBy = s.id+"-fork", chain.ForkedIdea(from), []string{"eve"}
	forked := fork.start()
	a := escalated(fork)
	if w := a.ReminderSchedule; a.CallID != "0.2" || !a.Since.After(before.Since) ||
		!w.Escalations[0].DueAt.After(before.ReminderSchedule.Escalations[0].DueAt) ||
		w.Escalations[0].DueAt.Sub(a.Since) != before.ReminderSchedule.Escalations[0].DueAt.Sub(before.Since) {
		t.Errorf("%+v, before the fork %+v", a.PendingCall, before.PendingCall)
	}
	for _, p := range []*scenario{s, fork} {
		if why := p.decideOf(p.id+"/main", "0.2", "hal", "heads"); why != "" {
			t.Errorf("%s: a head: %q", p.id, why)
		}
	}
	s.end(run) // its other payment is approved under the order
	fork.waitsFor(1)
	if len(fork.processStatus().Orders) != 0 || s.order("all").ApprovedCount != 2 || len(till.seen()) != 4 {
		t.Errorf("%+v, %+v, %d payments", fork.processStatus().Orders, s.order("all"), len(till.seen()))
	}
	fork.decide(policy.Approve, "0.3", "")
	fork.end(forked)
}
