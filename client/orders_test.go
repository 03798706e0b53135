package client

import (
	"testing"
	"time"

	"processidea/model/approval"
)

// Whoever opens a Call of a part means all like it, in all parts. Only the whole has orders.
func TestAnOrderForAPartGoesToTheWholeProcess(t *testing.T) {
	f := &fakeTemporal{
		signal: func(string, map[string]any) error { return nil },
		outcome: func(id string) approval.ActOutcome {
			return approval.ActOutcome{ID: id,
				Status: approval.ActAccepted}
		},
	}
	part := f.on(t).client.Process("p/~part/2")
	for act, do := range map[string]func() error{
		"allow": func() error {
			return part.Allow(t.Context(), StandingOrder{ID: "small", Tool: "pay", MaxCalls: 2, By: "ann"})
		},
		"deputy": func() error {
			return part.NameDeputy(t.Context(), Deputy{DeputyName: "bob", Until: time.Unix(1<<33, 0), By: "ann"})
		},
		"disallow": func() error { return part.Disallow(t.Context(), "small", Actor{Name: "ann"}) },
	} {
		f.signalled = ""
		if err := do(); err != nil || f.signalled != "p" {
			t.Errorf("%s goes to %q: %v", act, f.signalled, err)
		}
	}
}
