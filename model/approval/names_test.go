package approval_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// Whatever a signal or an Idea file names, a person, a group or an order, no name holds what nobody sees, and no
// person's what looks like another letter, or stands in records for who is no person.
func TestNoNameFromOutsideHoldsWhatNobodySees(t *testing.T) {
	t.Parallel()
	type reader struct {
		read  func(map[string]any) error
		given string   // what it reads without an error
		names []string // keys of names; a list where given has one. Of people unless it is one of notPeople
	}
	decision := func(kind, given string, names ...string) reader {
		return reader{func(m map[string]any) error { _, err := approval.ReadDecision(kind, m); return err },
			given, append(names, "by", "groups")}
	}
	plan := func(kind, given string) reader {
		return reader{func(m map[string]any) error { _, err := approval.ReadPlanDecision(kind, m); return err },
			given, []string{"by", "groups"}}
	}
	steering := func(kind, given string) reader {
		return reader{func(m map[string]any) error { _, err := approval.ReadSteering(kind, m); return err },
			given, []string{"by"}}
	}
	file := func(read func(map[string]any, *diag.Problems)) func(map[string]any) error {
		return func(m map[string]any) error {
			var ps diag.Problems
			if read(m, &ps); len(ps) > 0 {
				return ps
			}
			return nil
		}
	}
	readers := map[string]reader{
		policy.Approve:   decision(policy.Approve, `{"call": "1.1"}`),
		policy.Reject:    decision(policy.Reject, `{"call": "1.1", "reason": "no"}`),
		policy.Amend:     decision(policy.Amend, `{"call": "1.1", "params": {}}`),
		policy.Replace:   decision(policy.Replace, `{"call": "1.1", "with": {"_tool": "x"}}`),
		policy.Answer:    decision(policy.Answer, `{"call": "1.1", "output": 1}`),
		approval.Comment: decision(approval.Comment, `{"call": "1.1", "by": "bob", "reason": "so"}`),
		approval.Ask: decision(approval.Ask, `{"call": "1.1", "by": "bob", "reason": "so"}`, "to",
			"toGroup"),
		approval.HandOver: decision(approval.HandOver, `{"call": "1.1", "by": "bob", "to": "eve"}`, "to"),
		"hand to a group": decision(approval.HandOver, `{"call": "1.1", "by": "bob", "toGroup": "x"}`,
			"toGroup"),
		approval.SteerPause:  steering(approval.SteerPause, `{}`),
		approval.SteerResume: steering(approval.SteerResume, `{}`),
		approval.SteerRevise: steering(approval.SteerRevise, `{"context": [{"type": "text", "text": "so"}]}`),
		approval.SteerAddInstances: steering(approval.SteerAddInstances,
			`{"context": [{"type": "input", "_instance": "a"}]}`),
		approval.SteerUndo: steering(approval.SteerUndo, `{}`),

		approval.SteerApprovePlan: plan(approval.SteerApprovePlan, `{"request": 1}`),
		approval.SteerAmendPlan:   plan(approval.SteerAmendPlan, `{"request": 1, "calls": [{"_tool": "x"}]}`),
		approval.SteerRejectPlan:  plan(approval.SteerRejectPlan, `{"request": 1, "reason": "no"}`),
		approval.SteerDecideMany: {func(m map[string]any) error { _, err := approval.ReadDecisionBatch(m); return err },
			`{"decisions": [{"call": "1.1", "decision": "approve"}]}`, []string{"by", "groups"}},
		approval.SteerGiveStandingOrder: {func(m map[string]any) error {
			_,
				err := approval.ReadStandingOrder(m)
			return err
		},
			`{"id": "o", "tool": "pay", "count": 1}`, []string{"id", "by", "groups"}},
		"an order that a process tells of": {func(m map[string]any) error {
			_, err := approval.ReadDecision(policy.Approve, map[string]any{"call": "1.1", "order": m})
			return err
		}, `{"id": "o", "tool": "pay", "count": 1}`, []string{"id", "by", "groups"}},
		approval.SteerDeputy: {func(m map[string]any) error { _, err := approval.ReadDeputyOrder(m); return err },
			`{"id": "o", "to": "eve", "until": "2026-01-02T13:00:00Z"}`, []string{"id", "to", "by", "groups"}},
		approval.SteerEndStandingOrder: {func(m map[string]any) error {
			_, _,
				err := approval.ReadStandingOrderEnd(m)
			return err
		},
			`{"order": "o"}`, []string{"by"}},
		"by of a policy": {file(func(m map[string]any, ps *diag.Problems) { policy.ReadDeciderRule(m, "$", ps) }),
			`{"people": ["ann"], "groups": ["x"]}`, []string{"people", "groups"}},
		"escalate of a policy": {file(func(m map[string]any, ps *diag.Problems) {
			policy.ReadOversight(map[string]any{"all": true, "by": map[string]any{"people": []any{"sam"}},
				"escalate": map[string]any{"after": "1h", "by": m}}, "$", ps)
		}), `{"people": ["ann"], "groups": ["x"]}`, []string{"people", "groups"}},
	}
	lists, notPeople := []string{"groups", "people"}, []string{"groups", "toGroup", "id"}
	for kind, r := range readers {
		given := jsonval.AsObject(modeltest.DecodeJSON(t, r.given))
		if err := r.read(maps.Clone(given)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for _, key := range r.names {
			for name, why := range map[string]string{"ann\u200b": "invisible", "an\x00n": "invisible",
				"x\u00ad": "invisible", "\u202efinance": "invisible", "\u0430nn": "look alike",
				"Timeout": "reserved name", approval.DecidedByProcess: "reserved name",
				ideafile.SimulatedDecider: "reserved name"} {
				if why != "invisible" && slices.Contains(notPeople, key) {
					continue
				}
				m := maps.Clone(given)
				if m[key] = name; slices.Contains(lists, key) {
					m[key] = []any{"fine", name}
				}
				if err := r.read(m); err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("%s: %s %+q: %v", kind, key, name, err)
				}
			}
		}
	}
}

// An order is ended by its name: no two have names that people take for the same.
func TestNoTwoOrdersHaveNamesThatLookTheSame(t *testing.T) {
	t.Parallel()
	l := given(t, `{"id": "small ones", "tool": "pay", "count": 1}`)
	for id, taken := range map[string]bool{"small ones": true, "Small  Ones": true, "\uff53mall ones": true,
		"small one": false} {
		err := l.Add(approval.StandingOrder{ID: id}, policy.Person{}, noon)
		if taken != (err != nil) {
			t.Errorf("%+q: %v", id, err)
		}
	}
}
