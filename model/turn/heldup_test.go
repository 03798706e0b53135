package turn_test

import (
	"testing"
	"time"

	"processidea/model/turn"
)

func TestWhatIsAwayIsTriedAgainWhileThePatienceLasts(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 11, 27, 2, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		passed, pause, patience time.Duration
		again                   bool
	}{
		"at once":                   {0, time.Second, time.Minute, true},
		"at the last moment":        {59 * time.Second, time.Second, time.Minute, true},
		"a nanosecond too late":     {59*time.Second + 1, time.Second, time.Minute, false},
		"long after":                {time.Hour, 0, time.Minute, false},
		"without a pause":           {time.Minute, 0, time.Minute, true},
		"the shortest patience":     {0, time.Second, time.Millisecond, false},
		"the longest that is read":  {0, 5 * time.Minute, 87600 * time.Hour, true},
		"forever":                   {time.Hour, time.Hour, turn.NoPatienceLimit, true},
		"a pause beyond all bounds": {0, turn.NoPatienceLimit, 87600 * time.Hour, false},
	} {
		h := turn.HoldUp{}
		now := begun.Add(row.passed)
		if again := h.ScheduleRetry(begun, now, row.pause, row.patience); again != row.again {
			t.Errorf("%s: again is %t", name, again)
		}
		if !h.NextAttempt.Equal(now.Add(row.pause)) || h.PauseAt.IsZero() != (row.patience == turn.NoPatienceLimit) {
			t.Errorf("%s: %+v", name, h)
		}
	}
}
