package pace

import (
	"fmt"
	"testing"
	"time"
)

func TestNobodyAsksMoreThanSixtyTimesInAnHour(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string]func(n int) Observation{
		"something happens all the time": func(n int) Observation { return Observation{EventCount: int64(n)} },
		"people are asked all the time": func(n int) Observation {
			return Observation{EventCount: int64(n), AwaitingCallCount: n % 2}
		},
		"it continues as new all the time": func(n int) Observation { return Observation{RunID: fmt.Sprint(n)} },
		"people are asked in the second half hour": func(n int) Observation {
			return Observation{EventCount: int64(n), AwaitingCallCount: max(0, n-3600) % 2}
		},
	} {
		p, asked := New(), 0
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for n := range 2 * 3600 {
			if p.ShouldQuery(start.Add(time.Duration(n)*time.Second/2), seen(n)) {
				asked++
			}
		}
		if asked > 60 || asked < 15 {
			t.Errorf("%s: asked %d times", name, asked)
		}
	}
}

func TestWhatPeopleWaitForIsSeenAtOnceAlthoughMuchElseHappened(t *testing.T) {
	t.Parallel()
	p, now := New(), time.Now()
	for n := range 1000 {
		p.ShouldQuery(now, Observation{EventCount: int64(n)})
	}
	if p.ShouldQuery(now, Observation{EventCount: 1001}) {
		t.Error("it is asked although nothing but its history has changed")
	}
	if !p.ShouldQuery(now, Observation{EventCount: 1001, AwaitingCallCount: 1}) ||
		!p.ShouldQuery(now, Observation{EventCount: 1002, AwaitingCallCount: 1, Status: "paused"}) {
		t.Error("it is not asked although people are waited for")
	}
}

func TestOnlyWhatHappenedIsAskedAbout(t *testing.T) {
	t.Parallel()
	p, now := New(), time.Now()
	seen := Observation{RunID: "r", EventCount: 3}
	if !p.ShouldQuery(now, seen) || p.ShouldQuery(now, seen) {
		t.Error("it is asked twice, or not at all")
	}
	first := p.DelayToNextDescribe()
	for range 100 {
		p.ShouldQuery(now, seen)
	}
	if later := p.DelayToNextDescribe(); later != 5*time.Second || first >= later {
		t.Errorf("looks are %v apart at first and %v later", first, later)
	}
	p.ShouldQuery(now, Observation{RunID: "r", EventCount: 4})
	if again := p.DelayToNextDescribe(); again != first {
		t.Errorf("once something happens looks are %v apart", again)
	}
}

func TestWhatCannotBeAskedIsNotAskedMoreThanSixtyTimesInAnHourEither(t *testing.T) {
	t.Parallel()
	attempts := 0
	for waited := time.Duration(0); waited < time.Hour; waited += RetryDelay(attempts) {
		attempts++
	}
	if attempts > 60 || RetryDelay(1) > time.Second {
		t.Errorf("%d attempts, the second after %v", attempts, RetryDelay(1))
	}
}
