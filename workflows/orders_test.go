package workflows_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/store/chain"
)

// steer sends a steering signal and returns why it was refused; "" if it was accepted.
func (s *scenario) steer(name string, payload map[string]any) (refused string) {
	s.t.Helper()
	act, key := uuid.NewString(), "id"
	if approval.IsOrderSignal(name) {
		key = "act"
	}
	payload = maps.Clone(payload)
	payload[key] = act
	s.signal(s.id, name, payload)
	if became := s.became(s.id, act)[0]; became != approval.ActAccepted {
		return became
	}
	return ""
}

func (s *scenario) order(id string) (o approval.StandingOrderState) {
	s.t.Helper()
	for _, given := range s.processStatus().Orders {
		if given.ID == id {
			o = *given
		}
	}
	return o
}

// Under an order as many Calls are approved as it says, and no more, wherever they wait; the rest goes on waiting.
func TestAStandingOrderApprovesAsManyCallsAsItSays(t *testing.T) {
	t.Parallel()
	atLength(t)
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		config string
		every  int
	}{
		"in one piece":         {"", 0},
		"in parts":             {`"batch": 4`, 0},
		"continued as new":     {"", 1},
		"parts, continued too": {`"batch": 4`, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, c.config, `{"by": {"groups": ["finance"], "notStarter": true}}`,
				rows(1, 12)+`,`+payOnce)
			s.every = c.every
			run := s.start()
			order := map[string]any{"id": "small", "tool": "pay", "count": 7, "by": "ann", "groups": []any{"finance"},
				"reason": "routine",
				"when":   map[string]any{"properties": map[string]any{"n": map[string]any{"maximum": 5}}}}
			if why := s.steer(approval.SteerGiveStandingOrder, order); why != "" {
				t.Fatal(why)
			}
			eventually(t, "seven are paid",
				func() bool { return len(till.seen()) == 7 && s.processStatus().PendingDecisionCount == 5 })
			if o := s.order("small"); o.ApprovedCount != 7 || o.Giver.Name != "ann" {
				t.Errorf("%+v", o)
			}
			// Another order of who may not decide, and one that is ended before anything fits it, change nothing.
			order["id"], order["by"] = "sams", "sam"
			if why := s.steer(approval.SteerGiveStandingOrder, order); !strings.Contains(why,
				"sam started the process") {
				t.Errorf("the starter gave an order: %q", why)
			}
			order["id"], order["by"] = "small", "bob"
			s.signal(s.id, approval.SteerGiveStandingOrder, order)
			eventually(t, "two orders of one name are refused", func() bool {
				refusals := s.processStatus().Refusals
				return len(refusals) > 0 && strings.Contains(refusals[len(refusals)-1].RefusalReason, "already")
			})
			order["id"] = "rest"
			if why := s.steer(approval.SteerGiveStandingOrder, order); why != "" {
				t.Fatal(why)
			}
			s.end(run)
			if len(till.seen()) != 12 {
				t.Errorf("%d payments", len(till.seen()))
			}
			if o := s.order("rest"); o.ApprovedCount != 5 {
				t.Errorf("%+v", o)
			}
			// The record says under which order each was approved, and what the orders were.
			under := map[string]int{}
			chains := chain.New(store)
			last, err := chains.LatestIdeaNumber(t.Context(), s.id)
			if err != nil {
				t.Fatal(err)
			}
			for at := 1; at <= last; at++ {
				log, err := chains.LogAt(t.Context(), s.id, at)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range log {
					if d := e.Decision; d != nil && d.Kind == policy.Approve {
						under[d.StandingOrderID]++
					} else if d != nil && d.Kind == approval.SteerGiveStandingOrder {
						under["given "+d.Order.ID]++
					}
				}
			}
			if under["small"] != 7 || under["rest"] != 5 || under["given small"] != 1 || under["given rest"] != 1 {
				t.Errorf("the record has %v", under)
			}
		})
	}
}

// What people have changed is never covered, and an order that was ended covers nothing.
func TestAStandingOrderCoversNothingThatAPersonChanged(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, "", "true", rows(1, 2)+`,`+payOnce)
	run := s.start()
	s.waitsFor(2)
	if why := s.outcome(s.id, s.id+"/1", policy.Amend, map[string]any{"call": "0.1@1", "params": map[string]any{"n": 3},
		"id": "amended"}); why != "" {
		t.Fatal(why)
	}
	// It waits again, as it was changed.
	s.waitsFor(2)
	if why := s.steer(approval.SteerGiveStandingOrder, map[string]any{"id": "all", "tool": "pay",
		"count": 10}); why != "" {
		t.Fatal(why)
	}
	eventually(t, "the other one is paid",
		func() bool { return len(till.seen()) == 1 && s.processStatus().PendingDecisionCount == 1 })
	if o := s.order("all"); o.ApprovedCount != 1 {
		t.Errorf("%+v", o)
	}
	if why := s.steer(approval.SteerEndStandingOrder, map[string]any{"order": "all", "id": "end",
		"by": "ann"}); why != "" {
		t.Fatal(why)
	}
	if o := s.order("all"); o.Ending == nil || o.Ending.EndedBy != "ann" {
		t.Errorf("%+v", o)
	}
	if why := s.steer(approval.SteerEndStandingOrder, map[string]any{"order": "all",
		"id": "again"}); !strings.Contains(why,
		"ended already") {
		t.Error(why)
	}
	s.decide(policy.Approve, "0.1@1", "")
	s.end(run)
	if len(till.seen()) != 2 {
		t.Errorf("%d payments", len(till.seen()))
	}
}

// Where two people must approve, an order is the approval of one.
func TestAStandingOrderIsOnePersonsApproval(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, "", twoOfFinance, rows(1, 3)+`,`+payOnce)
	run := s.start()
	s.waitsFor(3)
	give := func(id, by string) {
		t.Helper()
		if why := s.steer(approval.SteerGiveStandingOrder, map[string]any{"id": id, "tool": "pay", "count": 10,
			"by":     by,
			"groups": []any{"finance"}}); why != "" {
			t.Fatal(why)
		}
	}
	give("anns", "ann")
	eventually(t, "ann's approval counts everywhere", func() bool {
		n := 0
		for _, a := range s.pending() {
			n += len(a.VotesSoFar)
		}
		return n == 3
	})
	give("anns second", "Ann")
	if why := s.decideAs(s.id, s.id+"/1", policy.Approve, "0.1@1", "bob"); why != "" {
		t.Error(why)
	}
	eventually(t, "one is paid", func() bool { return len(till.seen()) == 1 })
	give("cids", "cid")
	s.end(run)
	if o := s.order("anns second"); o.ApprovedCount != 0 || len(till.seen()) != 3 ||
		s.order("cids").ApprovedCount != 2 {
		t.Errorf("%+v, %d payments", o, len(till.seen()))
	}
}
