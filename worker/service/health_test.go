package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The log says once that something is amiss, and once that it is not any more; worker.health looks.
func TestWhatAWorkerLacksIsLoggedOnceAndWhenItIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var away, old error
		h := newHealth()
		h.require("temporal", 0, func(context.Context) error { return away })
		h.mention("version", 0, func(context.Context) error { return old })
		h.set(working)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); h.watch(ctx, slog.New(slog.NewTextHandler(&log, nil))) }()
		pass := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		pass(time.Minute)
		away = errors.New("it does not answer")
		pass(watchEvery)
		away = nil
		pass(time.Minute)
		if log.Len() > 0 {
			t.Errorf("all is well but for a moment: %s", log.String())
		}
		away, old = errors.New("it does not answer"), errors.New("build 1 is not current")
		pass(time.Minute)
		if ready, troubles := h.troubles(ctx); ready || len(troubles) != 2 {
			t.Errorf("%t, %q", ready, troubles)
		}
		away = nil
		pass(time.Minute)
		if ready, troubles := h.troubles(ctx); !ready || len(troubles) != 1 {
			t.Errorf("an old build is ready, and says what it is: %t, %q", ready, troubles)
		}
		stop()
		<-ended
		for _, line := range []string{
			`level=WARN msg="temporal: this worker is held up"`,
			`level=INFO msg="temporal: this worker is held up no more"`,
			`level=WARN msg="version: this worker is held up"`,
		} {
			if strings.Count(log.String(), line) != 1 {
				t.Errorf("not once: %s in %s", line, log.String())
			}
		}
	})
}
