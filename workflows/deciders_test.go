package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/chain"
)

// twoOfFinance is a policy that wants two people of finance, neither of whom started the process.
const twoOfFinance = `{"by": {"groups": ["finance"], "count": 2, "notStarter": true}}`

// paying is a process that sam starts, whose Plan runs by itself.
func paying(t *testing.T, till *till, config, policy, context string) *scenario {
	s := newScenario(t, `{"config": {`+config+`}, "schema": {"tools": {"pay": `+till.pay(policy)+
		`}}, "context": [`+context+`]}`)
	s.startedBy = []string{"sam"}
	return s
}

const payOnce = `{"type": "plan", "stage": "complete", "plan": [{"_tool": "pay", "n": 1, "_outputPath": "paid"}]}`

// decideAs takes a decision and returns why it was refused; "" if it was taken. The signal goes to one process, and the
// Call is one of an instance of the same or of another.
func (s *scenario) decideAs(to, instance, kind, call, by string) string {
	s.t.Helper()
	id := fmt.Sprintf("%s %s %s", kind, call, by)
	return s.outcome(to, instance, kind, map[string]any{"call": call, "by": by, "groups": []any{"finance"}, "id": id})
}

// outcome sends a decision and returns why it was refused; "" if it was taken. The payload has an id.
func (s *scenario) outcome(to, instance, kind string, payload map[string]any) string {
	s.t.Helper()
	s.signal(to, kind, payload)
	id, reason := payload["id"].(string), ""
	eventually(s.t, id, func() (done bool) {
		var v protocol.InstanceView
		q, err := s.client.QueryWorkflow(s.t.Context(), instance, "", protocol.QueryStatus)
		if err != nil || q.Get(&v) != nil {
			return false
		}
		for _, c := range v.Calls {
			done = done || slices.ContainsFunc(c.Decisions, func(d approval.Decision) bool { return d.SignalID == id })
		}
		for _, r := range v.Refusals {
			if r.ID == id {
				done, reason = true, r.RefusalReason
			}
		}
		return done
	})
	return reason
}

// Wherever a Call waits, it is the same people who decide: two of finance, neither of whom started the process, each
// once.
func TestTwoPeopleDecideWhereverTheCallWaits(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		config, policy, context string
		instances               []string // workflow ids under the process, each with the Call 0.1
		every                   int
	}{
		"a Plan":           {"", twoOfFinance, `{"type": "text", "text": "t"},` + payOnce, []string{"/main"}, 0},
		"continued as new": {"", twoOfFinance, `{"type": "text", "text": "t"},` + payOnce, []string{"/main"}, 1},
		"a broadcast Call": {"", twoOfFinance, rows(1, 2) + `,` + payOnce, []string{"/1", "/2"}, 0},
		"the parts of a split": {`"batch": 1`, twoOfFinance, rows(1, 2) + `,` + payOnce,
			[]string{"/~part/1/1", "/~part/2/2"}, 0},
		"a limit of config": {`"approval": ` + strings.Replace(twoOfFinance, "{", `{"all": true, `, 1), "false",
			rows(1, 1) + `,` + payOnce, []string{"/1"}, 0},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, c.config, c.policy, c.context)
			s.every = c.every
			run := s.start()
			s.waitsFor(len(c.instances))
			for _, under := range c.instances {
				call, instance := "0.1", s.id+under
				if at := strings.LastIndex(under, "/"); under != "/main" {
					call += "@" + under[at+1:]
				}
				for _, step := range []struct{ by, refused string }{
					{"sam", "sam started the process"}, {"ann", ""}, {"Ann", "has decided on it already"}, {"bob", ""},
				} {
					if step.by == "bob" && c.every == 0 {
						s.toldSoFar(call, "ann")
					}
					if got := s.decideAs(s.id, instance, policy.Approve, call, step.by); !strings.Contains(got,
						step.refused) || (step.refused == "") != (got == "") {
						t.Fatalf("%s on %s: %q, want %q", step.by, call, got, step.refused)
					}
				}
			}
			s.end(run)
			if len(till.seen()) != len(c.instances) {
				t.Errorf("%d payments", len(till.seen()))
			}
		})
	}
}

// toldSoFar waits until the process tells who has decided on a Call.
func (s *scenario) toldSoFar(call, by string) {
	s.t.Helper()
	eventually(s.t, by+" has decided on "+call, func() bool {
		var v protocol.ProcessApprovals
		q, err := s.client.QueryWorkflow(s.t.Context(), s.id, "", protocol.QueryApprovals)
		return err == nil && q.Get(&v) == nil && slices.ContainsFunc(v.Approvals, func(a protocol.Approval) bool {
			return a.CallID == call && len(a.VotesSoFar) == 1 && a.VotesSoFar[0].DecidedBy == by
		})
	})
}

func TestADelegateLoosensNothing(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"config": {"approval": {"by": {"notStarter": true, "people": ["sam", "ann", "bob"]}}}, "schema": {"tools": {"settle": {"type": "object", "properties": {}, "_delegate": "settle.json"}}},
		"context": [{"type": "text", "text": "t"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "settle"}]}]}`)
	s.startedBy = []string{"sam"}
	s.file("settle.json", `{"schema": {"tools": {"pay": `+till.pay(`{"by": {"groups": ["finance"], "count": 2}}`)+
		`}}, "context": [`+payOnce+`]}`)
	run := s.start()
	delegate := protocol.DelegateID(s.id, "0.1")
	eventually(t, "the delegate waits", func() bool {
		var v protocol.ProcessApprovals
		q, err := s.client.QueryWorkflow(t.Context(), delegate, "", protocol.QueryApprovals)
		return err == nil && q.Get(&v) == nil && len(v.Approvals) == 1
	})
	for _, step := range []struct{ by, refused string }{
		{"sam", "sam started the process"}, {"eve", "eve may not decide on it, only sam, ann, bob may"},
		{"ann", ""}, {"bob", ""},
	} {
		if got := s.decideAs(delegate, delegate+"/main", policy.Approve, "0.1", step.by); !strings.Contains(got,
			step.refused) || (step.refused == "") != (got == "") {
			t.Fatalf("%s: %q, want %q", step.by, got, step.refused)
		}
	}
	s.end(run)
	if len(till.seen()) != 1 {
		t.Errorf("%d payments", len(till.seen()))
	}
}

func TestTheChainTellsWhoStartedItAndEachWhoApproved(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, "", twoOfFinance, `{"type": "text", "text": "t"},`+payOnce)
	run := s.start()
	digest := s.waitsFor(1)[0].Digest
	for _, by := range []string{"ann", "bob"} {
		if got := s.decideAs(s.id, s.id+"/main", policy.Approve, "0.1", by); got != "" {
			t.Fatal(got)
		}
	}
	s.end(run)
	chains := chain.New(store)
	links, err := chains.List(t.Context(), s.id)
	if err != nil {
		t.Fatal(err)
	}
	var made []approval.Decision
	for _, l := range links {
		log, err := chains.LogAt(t.Context(), s.id, l.IdeaNumber)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range log {
			if e.Decision != nil {
				made = append(made, *e.Decision)
			}
		}
	}
	if len(made) != 2 || made[0].DecidedBy != "ann" || made[1].DecidedBy != "bob" || made[0].ApprovalDigest != digest ||
		made[1].ApprovalDigest != digest ||
		made[1].Deciders.String() != "2 of: people of finance; not who started the process" ||
		!slices.Equal(made[1].Groups, []string{"finance"}) {
		t.Errorf("%+v", made)
	}
	last, err := chains.Load(t.Context(), s.id, len(links))
	if err != nil || !slices.Equal(policy.ReadStarters(last), policy.IdentitiesNamed("sam")) ||
		!slices.Equal(policy.ReadStarters(chain.ForkedIdea(last)), policy.IdentitiesNamed("sam")) {
		t.Errorf("started by %v, %v", policy.ReadStarters(last), err)
	}
}

// Who started the process that a fork came from has no more say in it than there; what had one approval is asked anew.
func TestAForkLoosensNothing(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, "", twoOfFinance, `{"type": "text", "text": "t"},`+payOnce)
	s.start()
	s.waitsFor(1)
	if got := s.decideAs(s.id, s.id+"/main", policy.Approve, "0.1", "ann"); got != "" {
		t.Fatal(got)
	}
	s.toldSoFar("0.1", "ann")
	chains := chain.New(store)
	var idea map[string]any
	eventually(t, "the approval is sealed", func() bool {
		links, err := chains.List(t.Context(), s.id)
		if err != nil || len(links) == 0 {
			return false
		}
		idea, err = chains.Load(t.Context(), s.id, len(links))
		return err == nil && strings.Contains(asJSON(idea["meta"]), `"by":"ann"`)
	})
	fork := paying(t, till, "", twoOfFinance, "")
	fork.id, fork.idea, fork.startedBy = s.id+"-fork", chain.ForkedIdea(idea), []string{"eve"}
	run := fork.start()
	fork.waitsFor(1)
	for _, step := range []struct{ by, refused string }{
		{"sam", "sam started the process"}, {"eve", "eve started the process"}, {"bob", ""}, {"cid", ""},
	} {
		if got := fork.decideAs(fork.id, fork.id+"/main", policy.Approve, "0.1", step.by); !strings.Contains(got,
			step.refused) || (step.refused == "") != (got == "") {
			t.Fatalf("%s: %q, want %q", step.by, got, step.refused)
		}
	}
	fork.end(run)
	if len(till.seen()) != 1 {
		t.Errorf("%d payments", len(till.seen()))
	}
	s.cancel()
}

// Two people who decide at the same moment are two, and one who decides twice at the same moment is one.
func TestDecisionsAtTheSameMomentCountAsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, "", twoOfFinance, `{"type": "text", "text": "t"},`+payOnce)
	run := s.start()
	s.waitsFor(1)
	for n := range 5 {
		s.signal(s.id+"/main", policy.Approve, map[string]any{"call": "0.1", "by": "ann", "groups": []any{"finance"},
			"id": fmt.Sprint(n)})
	}
	eventually(t, "four are refused", func() bool { return len(s.instance("").Refusals) == 4 })
	if v := s.instance("").Calls[0]; v.Status != ideafile.CallAwaitingApproval || len(v.Decisions) != 1 {
		t.Errorf("%+v", v)
	}
	s.signal(s.id+"/main", policy.Approve, map[string]any{"call": "0.1", "by": "bob", "groups": []any{"finance"}})
	s.signal(s.id+"/main", policy.Reject, map[string]any{"call": "0.1", "by": "cid", "groups": []any{"finance"},
		"reason": "no"})
	if r := s.end(run); r.Calls.Done != 1 || len(till.seen()) != 1 {
		t.Errorf("%+v, %d payments", r.Calls, len(till.seen()))
	}
}
