package holdups

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"processidea/internal/safego/safegotest"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/encryption"
)

// trial is a Tracker of one test, with what it says to whom.
type trial struct {
	*Tracker
	mu    sync.Mutex
	lines bytes.Buffer             // of the log
	away  error                    // why the store takes nothing
	heard []string                 // what processes were told
	count map[string]int           // what was observed last
	known map[string][]turn.HoldUp // to Temporal alone
	ended map[string]bool          // processes
}

// Write takes a line of the log.
func (r *trial) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.Write(line)
}

func (r *trial) log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.String()
}

func (r *trial) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.heard)
}

func (r *trial) counted(cause string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count[cause]
}

func (r *trial) storeTakes(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = err
}

// begin runs a Tracker until the test ends.
func begin(t *testing.T) *trial {
	r := &trial{count: map[string]int{}}
	r.Tracker = New(Options{
		CheckStore: func(context.Context) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.away
		},
		SendSignal: func(_ context.Context, process string, s protocol.WorkerHoldUpSignal) error {
			what := "gone"
			if s.HoldUp != nil {
				what = s.HoldUp.Message
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.heard = append(r.heard, process+": "+s.Cause+": "+what)
			return nil
		},
		ListHoldUpsInTemporal: func(context.Context) (map[string][]turn.HoldUp, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.known, nil
		},
		FindRunning: func(_ context.Context, ids []string) (map[string]bool, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			running := map[string]bool{}
			for _, id := range ids {
				running[id] = !r.ended[id]
			}
			return running, nil
		},
		ObserveProcessCount: func(cause string, n int) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.count[cause] = n
		},
		Log: slog.New(slog.NewTextHandler(r, nil)),
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.WatchAndReport(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return r
}

// after lets some time go by.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

var errFull = fmt.Errorf("write values/ab: %w", syscall.ENOSPC)

func TestAFullStoreIsToldToItsProcessAndTakenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t)
		r.storeTakes(errFull)
		for range 5 {
			r.RecordStoreFailure("p", errFull)
		}
		after(time.Minute)
		const says = "p: store_full: there is no room left in the store"
		if len(r.told()) != 1 || r.told()[0] != says || r.counted("store_full") != 1 {
			t.Errorf("after a minute: %q, %v", r.told(), r.count)
		}
		log := r.log()
		for _, text := range []string{"level=WARN", "process=p", "no space left", "make room"} {
			if strings.Count(log, text) != 1 {
				t.Errorf("the log does not say %q once: %s", text, log)
			}
		}
		after(10 * time.Minute)
		if n := len(r.told()); n < 2 || n > 3 {
			t.Errorf("after ten minutes it is told %d times: a process forgets what it hears no more", n)
		}
		r.storeTakes(nil)
		after(time.Minute)
		if last := r.told()[len(r.told())-1]; last != "p: store_full: gone" || r.counted("store_full") != 0 {
			t.Errorf("with room again: %q, %v", r.told(), r.count)
		}
		if n := len(r.told()); !strings.Contains(r.log(), "held up no more") {
			t.Errorf("%d, %s", n, r.log())
		}
	})
}

// Nobody in the process hears of it, and no store has to do with it.
func TestWhatIsPausedInTemporalIsToldWithinAMinuteAndTakenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t)
		r.storeTakes(errFull)
		pause := func(list map[string][]turn.HoldUp) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.known = list
		}
		pause(map[string][]turn.HoldUp{
			"p": {turn.TemporalPauseHoldUp("the activity Execute of p/main", "activity")}})
		after(time.Minute)
		const says = "p: paused_in_temporal: somebody paused the activity Execute of p/main in Temporal itself"
		if got := r.told(); len(got) != 1 || got[0] != says || r.counted(turn.CodeTemporalPaused) != 1 {
			t.Fatalf("after a minute: %q, %v", got, r.count)
		}
		if n := strings.Count(r.log(), "the process is held up"); n != 1 || !strings.Contains(r.log(), "level=WARN") {
			t.Errorf("%d lines: %s", n, r.log())
		}
		after(10 * time.Minute)
		if n := len(r.told()); n < 2 || n > 3 || slices.Contains(r.told(), "p: paused_in_temporal: gone") {
			t.Errorf("after ten minutes: %q", r.told())
		}
		pause(nil)
		after(2 * time.Minute)
		last := r.told()[len(r.told())-1]
		if last != "p: paused_in_temporal: gone" || r.counted(turn.CodeTemporalPaused) != 0 {
			t.Errorf("unpaused: %q, %v", r.told(), r.count)
		}
	})
}

// Its own tasks fail: it takes up no signal. The log and the metrics tell of it all the same.
func TestWhatHearsNothingIsCountedAndLoggedAndSentNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t)
		deaf := turn.WorkerFailureHoldUp("continue the process")
		deaf.ProcessID = "p"
		r.mu.Lock()
		r.known = map[string][]turn.HoldUp{"p": {deaf}}
		r.mu.Unlock()
		after(5 * time.Minute)
		if n := strings.Count(r.log(), "the process is held up"); n != 1 || r.counted(turn.CodeWorkerFails) != 1 {
			t.Errorf("%d lines: %s; %v", n, r.log(), r.count)
		}
		r.mu.Lock()
		r.known = nil
		r.mu.Unlock()
		after(3 * time.Minute)
		if r.counted(turn.CodeWorkerFails) != 0 || !strings.Contains(r.log(), "held up no more") || len(r.told()) > 0 {
			t.Errorf("%v, %q: %s", r.count, r.told(), r.log())
		}
	})
}

// A small value may find room where the large ones do not.
func TestAStoreThatTakesSmallValuesAloneHoldsUpAllTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t)
		for range 10 {
			r.RecordStoreFailure("p", errFull)
			after(5 * time.Second)
		}
		if len(r.told()) != 1 || !strings.Contains(r.told()[0], "no room") {
			t.Errorf("%q", r.told())
		}
	})
}

func TestAWriteThatFailsOnceIsToldToNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t)
		r.RecordStoreFailure("p", errFull)
		r.RecordStoreFailure("", errFull)
		for range 2 { // what no store would take or give is told of elsewhere
			r.RecordStoreFailure("q", blobs.ErrForgotten)
			r.RecordStoreFailure("q", fmt.Errorf("get ab: %w", blobs.ErrMissing))
			r.RecordStoreFailure("q", &encryption.MissingKeyError{IDs: []string{"k2"}})
			after(5 * time.Second)
		}
		after(time.Minute)
		if len(r.told()) > 0 || r.log() != "" || len(r.holdUpByKey) > 0 {
			t.Errorf("%q, %s", r.told(), r.log())
		}
	})
}

func TestWhatAProcessIsToldByOthersIsCountedUntilItIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t)
		for _, process := range []string{"p", "q", "r"} {
			r.RecordHoldUp(process, turn.CodeLLMUnreachable, time.Now().Add(time.Minute))
		}
		r.ForgetHoldUp("p", turn.CodeLLMUnreachable)
		after(10 * time.Second)
		if r.counted(turn.CodeLLMUnreachable) != 2 || len(r.told()) > 0 {
			t.Errorf("%v, %q", r.count, r.told())
		}
		after(2 * time.Minute)
		if r.counted(turn.CodeLLMUnreachable) != 0 {
			t.Errorf("%v", r.count)
		}
	})
}

// Whoever cancels or terminates a process whose Call waits for a day has nobody left to take the wait back.
func TestWhatAnEndedProcessWaitedForIsCountedNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t)
		r.RecordHoldUp("p", turn.CodeToolBusy, time.Now().Add(24*time.Hour))
		r.RecordHoldUp("q", turn.CodeToolBusy, time.Now().Add(24*time.Hour))
		after(5 * time.Minute)
		if r.counted(turn.CodeToolBusy) != 2 {
			t.Fatalf("%v", r.count)
		}
		r.mu.Lock()
		r.ended = map[string]bool{"p": true, "new": true} // of which the list does not know yet that it runs
		r.mu.Unlock()
		r.RecordHoldUp("new", turn.CodeToolBusy, time.Now().Add(24*time.Hour))
		after(temporalPollInterval)
		if r.counted(turn.CodeToolBusy) != 2 {
			t.Errorf("without p, with what has just begun: %v", r.count)
		}
		after(temporalPollInterval)
		if r.counted(turn.CodeToolBusy) != 1 || len(r.told()) > 0 {
			t.Errorf("with q alone: %v, %q", r.count, r.told())
		}
	})
}

func TestTheCauseIsSaidWithoutPlacesOfTheMachine(t *testing.T) {
	t.Parallel()
	for cause, err := range map[string]error{
		turn.CodeStoreFull:            errFull,
		turn.CodeStoreForbidden:       &fs.PathError{Op: "open", Path: "/srv/store", Err: syscall.EACCES},
		ideafile.CodeStoreUnavailable: fmt.Errorf("%w: at /srv/store", blobs.ErrUnavailable),
	} {
		h := holdUpFromStoreError(err)
		if h.CauseCode != cause || h.Message == "" || h.Remedy == "" || strings.Contains(h.Message+h.Remedy, "/srv") {
			t.Errorf("%v: %+v", err, h)
		}
		if !IsStoreWorthAwaiting(err) || IsWriteForbidden(err) != (cause == turn.CodeStoreForbidden) {
			t.Errorf("a worker does not wait for what mends %v", err)
		}
	}
	if h := holdUpFromStoreError(&fs.PathError{Op: "mkdir", Path: "/srv",
		Err: syscall.EROFS}); h.CauseCode != turn.CodeStoreForbidden {
		t.Errorf("%+v", h)
	}
	other := errors.New("503 at /srv")
	if h := holdUpFromStoreError(other); h.CauseCode != ideafile.CodeStoreUnavailable ||
		strings.Contains(h.Message, "/srv") ||
		IsStoreWorthAwaiting(other) {
		t.Errorf("%+v", h)
	}
}

// It is not parallel: every goroutine of the program sees the fault. The goroutine itself is engine.holdups.
func TestAPanicDoesNotEndTheWatch(t *testing.T) {
	safegotest.Panic(t, "holdups.look")
	synctest.Test(t, func(t *testing.T) {
		r := begin(t)
		r.RecordStoreFailure("p", errFull)
		after(time.Minute)
		if !strings.Contains(r.log(), "could not be looked at") {
			t.Errorf("%s", r.log())
		}
	})
}
