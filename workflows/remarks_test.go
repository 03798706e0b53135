package workflows_test

import (
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/protocol"
	"processidea/store/chain"
)

// Whatever is said of a Call that waits stands beside it, decides nothing, and is on record; who it is handed over to
// decides, and nobody else, until it is handed over again.
func TestACallThatWaitsIsTalkedAboutAndHandedOver(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		config, context, instance string
		every                     int
	}{
		"of a process":     {"", rows(1, 1) + `,` + payOnce, "/1", 0},
		"continued as new": {"", rows(1, 1) + `,` + payOnce, "/1", 1},
		"of a part":        {`"batch": 1`, rows(1, 2) + `,` + payOnce, "/~part/1/1", 0},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, c.config, `{"by": {"groups": ["finance"], "notStarter": true}}`, c.context)
			s.every = c.every
			run := s.start()
			waiting := s.waitsFor(1 + strings.Count(c.config, "batch"))
			says := func(kind, by string, more map[string]any) string {
				p := map[string]any{"call": "0.1@1", "by": by, "id": kind + by, "groups": []any{"finance"}}
				for k, v := range more {
					p[k] = v
				}
				s.signal(s.id, kind, p)
				return s.became(s.id, kind+by)[0]
			}
			for _, act := range []struct {
				kind, by string
				more     map[string]any
				became   string
			}{
				{"comment", "sam", map[string]any{"reason": "it is urgent"}, "taken"},
				{"comment", "eve", nil, `it says nothing: "reason" is missing`},
				{"ask", "", map[string]any{"reason": "why?"}, `it does not say whose it is: "by" is missing`},
				{"ask", "ann", map[string]any{"reason": "did it come back?", "to": "bob"}, "taken"},
				{"hand-over", "sam", map[string]any{"to": "bob"}, "sam started the process, and may not decide"},
				{"hand-over", "eve", nil, `it is handed over to nobody: "to" or "toGroup" is missing`},
				{"hand-over", "ann", map[string]any{"to": "bob", "reason": "on leave"}, "taken"},
				{"approve", "ann", nil,
					"ann has handed it over to bob: on leave; whoever may decide can hand it over again"},
				{"hand-over", "carl", map[string]any{"toGroup": "heads"}, "only people of finance may decide on it"},
				{"hand-over", "dora", map[string]any{"to": "sam"}, "sam started the process, and may not decide"},
				{"hand-over", "dan", map[string]any{"toGroup": "finance"}, "taken"},
				{"hand-over", "ed", map[string]any{"to": "bob"}, "taken"},
			} {
				if got := says(act.kind, act.by, act.more); !strings.Contains(got, act.became) {
					t.Errorf("%s of %s: %s, want %s", act.kind, act.by, got, act.became)
				}
			}
			now := s.waitsFor(len(waiting))
			if now[0].Digest != waiting[0].Digest || len(now[0].Remarks) != 5 {
				t.Errorf("%+v", now[0])
			}
			s.signal(s.id, "approve",
				map[string]any{"call": "0.1@1", "by": "Bob", "id": "last", "groups": []any{"finance"}})
			s.areTaken("last")
			if len(waiting) > 1 {
				s.signal(s.id, "approve", map[string]any{"call": "0.1@2", "by": "ann", "groups": []any{"finance"}})
			}
			if r := s.end(run); r.Calls.Done != len(waiting) {
				t.Fatalf("%+v", r)
			}
			kinds := map[string]int{}
			process, _, _ := protocol.ParseInstanceID(s.id + c.instance)
			chains := chain.New(store)
			links, err := chains.List(t.Context(), process)
			for _, l := range links {
				log, _ := chains.LogAt(t.Context(), process, l.IdeaNumber)
				for _, e := range log {
					if e.Decision != nil {
						kinds[e.Decision.Kind]++
					}
				}
			}
			if kinds[approval.Comment] != 1 || kinds[approval.Ask] != 1 || kinds[approval.HandOver] != 3 ||
				kinds["approve"] != 1 {
				t.Errorf("on record are %v: %v", kinds, err)
			}
		})
	}
}
