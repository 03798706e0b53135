package workflows_test

import (
	"strings"
	"testing"
	"time"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/protocol"
	"processidea/store/chain"
)

// Every Call that waits, now or later, is told of a deputy and of the end; the chain has both, and each decision names
// two people.
func TestADeputyDecidesWhereverACallWaitsUntilTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		config, instance string
		every            int
	}{
		"of a process":     {"", "/1", 0},
		"continued as new": {"", "/1", 1},
		"of a part":        {`"batch": 1`, "/~part/1/1", 0},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, c.config, `{"by": {"groups": ["finance"], "notStarter": true}}`,
				rows(1, 3)+`,`+payOnce)
			s.every = c.every
			run := s.start()
			s.waitsFor(3)
			deputy := map[string]any{"id": "leave", "to": "bob", "by": "ann", "groups": []any{"finance"},
				"until": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
			if why := s.steer(approval.SteerDeputy, deputy); why != "" {
				t.Fatal(why)
			}
			deputy["id"], deputy["by"] = "sams", "sam"
			if why := s.steer(approval.SteerDeputy, deputy); why != "" {
				t.Fatal(why)
			}
			told := func(times int) func() bool {
				return func() bool {
					n := 0
					for _, a := range s.pending() {
						n += len(a.Remarks)
					}
					return n == times
				}
			}
			eventually(t, "each Call is told of one: sam may not decide", told(3))
			says := func(kind, call, by, id string) string {
				p := map[string]any{"call": call, "by": by, "id": id, "reason": "r"}
				s.signal(s.id, kind, p)
				return s.became(s.id, id)[0]
			}
			if got := says(policy.Approve, "0.1@1", "bob", "one"); got != approval.ActAccepted {
				t.Error(got)
			}
			s.waitsFor(2)
			for _, id := range []string{"leave", "sams"} {
				if why := s.steer(approval.SteerEndStandingOrder, map[string]any{"order": id, "by": "ann"}); why != "" {
					t.Fatal(why)
				}
			}
			eventually(t, "each Call is told of the end", told(4))
			if got := says(policy.Approve, "0.1@2", "bob", "two"); !strings.Contains(got, "bob may not decide on it") {
				t.Error(got)
			}
			for _, call := range []string{"0.1@2", "0.1@3"} {
				s.signal(s.id, policy.Approve, map[string]any{"call": call, "by": "ann", "groups": []any{"finance"}})
			}
			if r := s.end(run); r.Calls.Done != 3 {
				t.Fatalf("%+v", r)
			}
			kinds := map[string]int{}
			process, _, _ := protocol.ParseInstanceID(s.id + c.instance)
			chains := chain.New(store)
			links, err := chains.List(t.Context(), process)
			for _, l := range links {
				log, _ := chains.LogAt(t.Context(), process, l.IdeaNumber)
				for _, e := range log {
					if d := e.Decision; d != nil && d.OnBehalfOf != nil {
						kinds[d.DecidedBy+" for "+d.OnBehalfOf.Name]++
					} else if d != nil {
						kinds[d.Kind]++
					}
				}
			}
			if kinds["bob for ann"] != 1 || kinds[approval.SteerDeputy] < 1 {
				t.Errorf("on record are %v: %v", kinds, err)
			}
		})
	}
}
