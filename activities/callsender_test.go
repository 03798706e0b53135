package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/client"

	"processidea/model/turn"
	"processidea/protocol"
)

// clerk notes when each signal came, and with how many Calls.
type clerk struct {
	client.Client
	begun time.Time
	notes []string
	takes time.Duration
}

func (c *clerk) SignalWorkflow(_ context.Context, _, _, _ string, arg any) error {
	s, last := arg.(protocol.CallsSignal), ""
	if s.IsLast {
		last = " and the last"
	}
	c.notes = append(c.notes, fmt.Sprintf("%v: %d%s", time.Since(c.begun), len(s.Calls), last))
	<-time.After(c.takes)
	return nil
}

func oneCall(s *protocol.CallsSignal) { s.Calls = append(s.Calls, turn.DeliveredCall{}) }

func noMore(s *protocol.CallsSignal) { s.IsLast = true }

func TestCallsOfOneBurstGoInOneSignal(t *testing.T) {
	t.Parallel()
	const behind = 900 * time.Microsecond
	for name, c := range map[string]struct {
		close []time.Duration // one Call after the other has closed
		whole bool            // the reply is, at once
		want  string
	}{
		"a reply that comes at once":  {make([]time.Duration, 50), true, "0s: 50 and the last"},
		"one Call":                    {make([]time.Duration, 1), false, "1ms: 1"},
		"each right behind another":   {[]time.Duration{0, behind, behind, behind}, false, "3.7ms: 4"},
		"the reply ends right behind": {[]time.Duration{0, behind}, true, "900µs: 2 and the last"},
		"each a while behind another": {[]time.Duration{0, 5 * time.Millisecond}, false, "1ms: 1, 6ms: 1"},
		"a full batch": {append(make([]time.Duration, maxCallsPerSignal), behind, behind), false,
			"0s: 100, 2.8ms: 2"},
		"more and more, without an end": {slices.Repeat([]time.Duration{behind}, 20), false, "10.9ms: 12, 19ms: 8"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := &clerk{begun: time.Now()}
				sender := newCallSender(t.Context(), told, "p", 1, nil)
				for _, d := range c.close {
					<-time.After(d)
					sender.addToBatch("①", oneCall)
				}
				if c.whole {
					sender.addToBatch("①", noMore)
				}
				if _, err := sender.waitUntilDelivered(); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(told.notes, ", "); got != c.want {
					t.Errorf("signals went as %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestAFullBatchThatWaitedForASignalUnderWayDoesNotHurryWhatComesLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := &clerk{begun: time.Now(), takes: 5 * time.Millisecond}
		sender := newCallSender(t.Context(), told, "p", 1, nil)
		sender.addToBatch("①", oneCall)
		<-time.After(2 * time.Millisecond)
		for range maxCallsPerSignal {
			sender.addToBatch("①", oneCall)
		}
		<-time.After(18 * time.Millisecond)
		sender.addToBatch("①", oneCall)
		if _, err := sender.waitUntilDelivered(); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(told.notes, ", "), "1ms: 1, 6ms: 100, 21ms: 1"; got != want {
			t.Errorf("signals went as %q, want %q", got, want)
		}
	})
}

func TestARequestThatIsCancelledWaitsForNoMoreCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		told := &clerk{begun: time.Now()}
		sender := newCallSender(ctx, told, "p", 1, nil)
		sender.addToBatch("①", oneCall)
		cancel()
		if _, err := sender.waitUntilDelivered(); err != nil || len(told.notes) != 1 ||
			!strings.HasPrefix(told.notes[0], "0s") {
			t.Errorf("told %q, %v; want one signal at once", told.notes, err)
		}
	})
}
