package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func reported(n int, more string) rawReportsSignal {
	return rawReportsSignal{[]json.RawMessage{json.RawMessage(fmt.Sprintf(`{"number": %d, "more": %q}`, n, more))}}
}

func TestManyReportsToOneProcessGoTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var workers [2]reportBatcher
		var mu sync.Mutex
		seen, sentAt := map[string]int{}, map[string][]time.Time{}
		var all sync.WaitGroup
		for n := range 1000 {
			g, to := &workers[n%2], fmt.Sprint("p", n/2%2)
			all.Go(func() {
				arrives := func(_ context.Context, s rawReportsSignal) error {
					mu.Lock()
					defer mu.Unlock()
					sentAt[to] = append(sentAt[to], time.Now())
					for _, r := range s.Reports {
						seen[to+string(r)]++
					}
					return nil
				}
				if err := g.send(t.Context(), to, reported(n, ""), count(2), arrives); err != nil {
					t.Error(err)
				}
			})
			if n%10 == 0 {
				<-time.After(20 * time.Millisecond)
			}
		}
		all.Wait()
		if len(seen) != 1000 || len(sentAt) != 2 {
			t.Errorf("%d reports to %d processes", len(seen), len(sentAt))
		}
		for to, times := range sentAt {
			for i, from := range times {
				for j, at := range times[i:] { // each worker sends one, and then five a second together
					if span := at.Sub(from).Seconds(); float64(j+1) > 2+5*span+0.01 {
						t.Fatalf("%s was sent %d signals within %g s", to, j+1, span)
					}
				}
			}
		}
		for r, times := range seen {
			if times != 1 {
				t.Errorf("%d times: %s", times, r)
			}
		}
		<-time.After(time.Minute)
		workers[0].joinBatch("another", reported(0, ""))
		if len(workers[0].queueByProcess) != 1 {
			t.Errorf("%d processes are remembered", len(workers[0].queueByProcess))
		}
	})
}

// count is a server that knows of some workers.
func count(workers int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return workers, nil }
}

func TestTheMoreWorkersThereAreTheFewerSignalsEachSends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g reportBatcher
		fails := func(context.Context) (int, error) { return 0, errors.New("no answer") }
		for _, c := range []struct {
			after        time.Duration
			countWorkers func(context.Context) (int, error)
			want         time.Duration
		}{
			{0, fails, 200 * time.Millisecond},
			{workerCountTTL, count(3), 600 * time.Millisecond},
			{workerCountTTL / 2, count(1), 600 * time.Millisecond}, // it is not asked again yet
			{workerCountTTL / 2, fails, 600 * time.Millisecond},
			{workerCountTTL, count(0), 200 * time.Millisecond},
			{workerCountTTL, count(100), 2 * time.Second},
		} {
			<-time.After(c.after)
			if got := g.interval(t.Context(), c.countWorkers); got != c.want {
				t.Errorf("a signal each %s, not %s", got, c.want)
			}
		}
	})
}

func TestWhoReportsTogetherHearsOfTheFailure(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]func(context.Context, rawReportsSignal) error{
		"it fails":  func(context.Context, rawReportsSignal) error { return errors.New("no answer") },
		"it panics": func(context.Context, rawReportsSignal) error { panic("a fault") },
	} {
		synctest.Test(t, func(t *testing.T) {
			var g reportBatcher
			arrives := func(context.Context, rawReportsSignal) error { return nil }
			if err := g.send(t.Context(), "p", reported(7, ""), count(1), arrives); err != nil {
				t.Fatal(err)
			}
			go func() {
				defer func() { _ = recover() }()
				_ = g.send(t.Context(), "p", reported(8, ""), count(1), signal)
			}()
			synctest.Wait()
			if err := g.send(t.Context(), "p", reported(9, ""), count(1), nil); err == nil {
				t.Errorf("%s, and no error", name)
			}
		})
	}
}

func TestReportsThatAreLargeTogetherGoApart(t *testing.T) {
	t.Parallel()
	var g reportBatcher
	_, first, _ := g.joinBatch("p", reported(1, strings.Repeat("x", maxReportBatchBytes)))
	_, second, isFirst := g.joinBatch("p", reported(2, ""))
	if first == second || !isFirst {
		t.Error("they go together")
	}
}
