package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/store/chain"
)

func TestWhatPeopleDecideComesToTheSameInParts(t *testing.T) {
	t.Parallel()
	asOneAndInParts(t, func(t *testing.T, config string) (*scenario, map[string]string) {
		till := newTill(t)
		s := newScenario(t, `{"config": {`+config+`}, "schema": {"tools": {`+alikeTools+`, "pay": `+till.pay("true")+`}}, "context": [`+rowsOf(6)+`
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "pay", "n": "†state.n", "_outputPath": "†state.paid || †state.refused"}, {"_tool": "shout", "text": "†state.paid", "_outputPath": "loud"},
				{"_tool": "shout", "_instance": "6", "text": "six", "_outputPath": "†state.six"}], "output": {"all": "†state.loud"}}]}`)
		s.start()
		facts := s.midway(6)
		fork := newScenario(t, `{}`)
		fork.id, fork.idea = s.id+"-fork", chain.ForkedIdea(s.sealedLast())
		fork.start()
		for name, fact := range fork.midway(6) {
			facts["fork "+name] = fact
		}
		for _, s := range []*scenario{s, fork} {
			s.decide(policy.Approve, "0.1@1", `{"by": "ann"}`)
			s.decide(policy.Reject, "0.1@2", `{"by": "bob", "reason": "no"}`)
			s.decide(policy.Amend, "0.1@3", `{"by": "cy", "reason": "less", "params": {"n": 30}}`)
			s.decide(policy.Replace, "0.1@4",
				`{"by": "dan", "reason": "politely", "with": {"_tool": "shout", "text": "sorry"}}`)
			s.decide(policy.Answer, "0.1@5", `{"by": "eve", "reason": "in cash", "output": "by hand"}`)
			eventually(t, "what was amended waits again", func() bool {
				return strings.Contains(asJSON(s.pending()), `"n":30`) && len(s.pending()) == 2
			})
			s.decide(policy.Approve, "0.1@3", `{"by": "fay"}`)
			s.signal(s.id, approval.SteerPause, map[string]any{"by": "gus", "reason": "lunch", "id": "p"})
			s.signal(s.id, approval.SteerResume, map[string]any{"by": "gus", "reason": "full", "id": "r"})
			s.signal(s.id, approval.SteerRevise,
				map[string]any{"by": "hal", "reason": "a slip", "id": "v",
					"context": []any{map[string]any{"type": "state", "_instance": "6", "note": "mind"}}})
			s.areTaken("p", "r", "v")
			eventually(t, "it is revised", func() bool { return strings.Contains(asJSON(s.sealedLast()), "mind") })
			for name, fact := range s.midway(1) {
				facts["one left, "+strings.TrimPrefix(fork.id, s.id)+name] = fact
			}
			s.decide(policy.Approve, "0.1@6", "")
		}
		f := played{fork, fork.came(t)}
		for name, fact := range f.facts(t) {
			facts["fork "+name] = fact
		}
		facts["paid"] = fmt.Sprint(len(till.seen()))
		return s, facts
	})
}

// A process that is cancelled tells what it has come to by then.
func TestACancelledProcessComesToTheSameInParts(t *testing.T) {
	t.Parallel()
	asOneAndInParts(t, func(t *testing.T, config string) (*scenario, map[string]string) {
		till := newTill(t)
		s := newScenario(t, `{"config": {`+config+`}, "schema": {"tools": {`+alikeTools+`, "pay": `+till.pay(`{"when": {"properties": {"n": {"minimum": 4}}}}`)+`}}, "context": [`+rowsOf(6)+`
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "x", "_outputPath": "a"}, {"_tool": "pay", "n": "†state.n", "_outputPath": "paid"}]}]}`)
		s.start()
		facts := s.midway(3)
		s.cancel()
		s.came(t)
		if err := replay(t, store, history(t, s.id)); err != nil {
			t.Error(err)
		}
		return s, facts
	})
}
