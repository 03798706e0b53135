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
		var g reportBatcher
		var mu sync.Mutex
		seen, signals := map[string]int{}, map[string]int{}
		began := time.Now()
		var all sync.WaitGroup
		for n := range 1000 {
			to := fmt.Sprint("p", n%2)
			all.Go(func() {
				err := g.send(t.Context(), to, reported(n, ""), func(_ context.Context, s rawReportsSignal) error {
					mu.Lock()
					defer mu.Unlock()
					signals[to]++
					for _, r := range s.Reports {
						seen[to+string(r)]++
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			if n%10 == 0 {
				<-time.After(20 * time.Millisecond)
			}
		}
		all.Wait()
		most := reportBatchBurst + int(time.Since(began)/reportBatchInterval) + 1
		if len(seen) != 1000 || signals["p0"] > most || signals["p1"] > most {
			t.Errorf("%d reports in %v signals, which may be %d", len(seen), signals, most)
		}
		for r, times := range seen {
			if times != 1 {
				t.Errorf("%d times: %s", times, r)
			}
		}
		<-time.After(time.Minute)
		g.joinBatch("another", reported(0, ""))
		if len(g.queueByProcess) != 1 {
			t.Errorf("%d processes are remembered", len(g.queueByProcess))
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
			for n := range reportBatchBurst { // then whoever comes waits for others
				arrives := func(context.Context, rawReportsSignal) error { return nil }
				if err := g.send(t.Context(), "p", reported(n, ""), arrives); err != nil {
					t.Fatal(err)
				}
			}
			go func() {
				defer func() { _ = recover() }()
				_ = g.send(t.Context(), "p", reported(8, ""), signal)
			}()
			synctest.Wait()
			if err := g.send(t.Context(), "p", reported(9, ""), nil); err == nil {
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
