package client

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.temporal.io/api/serviceerror"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

func TestEventsTellChangesSilenceAndTheEnd(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	f := &fakeTemporal{end: make(chan loop.ProcessResult, 1)}
	f.view = func() (any, error) {
		switch n := asked.Add(1); {
		case n <= 2: // the same twice
			return Status{ProcessResult: loop.ProcessResult{Status: loop.StatusRunning}}, nil
		case n == 3:
			return nil, errors.New("no poller")
		case n == 4:
			return Status{ProcessResult: loop.ProcessResult{Status: loop.StatusPaused}}, nil
		}
		return Status{PendingDecisionCount: 1}, nil
	}
	var got []string
	for e, err := range f.on(t).Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case EventStatus:
			got = append(got, string(e.Status.Status))
			if e.Status.PendingDecisionCount > 0 && len(f.end) == 0 && len(got) == 5 {
				f.end <- loop.ProcessResult{ProcessID: "p", Status: loop.StatusCompleted}
			}
		case EventNoAnswer:
			if !errors.Is(e.Err, ErrNoWorker) || e.LastSeenAt.IsZero() {
				t.Errorf("%+v", e)
			}
			got = append(got, "unseen")
		case EventEnded:
			got = append(got, "ended "+string(e.Result.Status))
		}
	}
	want := []string{"running", "unseen", "paused", "", "", "ended completed"}
	if len(got) < len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] ||
		got[len(got)-1] != want[5] {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A query is an action that is billed, a description is none.
func TestAProcessIsAskedWhereItStandsOnlyWhenSomethingHasHappened(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{end: make(chan loop.ProcessResult, 1)}
	var asked, atRest, looks atomic.Int64
	f.view = func() (any, error) {
		return Status{ProcessResult: loop.ProcessResult{Status: loop.StatusRunning, RequestCount: int(asked.Add(1))}},
			nil
	}
	f.length = func() int64 {
		if looks.Add(1) < 5 {
			return 1
		}
		atRest.CompareAndSwap(0, asked.Load())
		return 7
	}
	p := f.on(t)
	p.client.pollsFrequently = false
	for e, err := range p.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == EventStatus && atRest.Load() > 0 {
			f.end <- loop.ProcessResult{ProcessID: "p", Status: loop.StatusCompleted}
		}
	}
	if atRest.Load() != 2 || asked.Load() != 3 { // once unseen, once for what is seen first, once for the change
		t.Errorf("it was asked %d times at rest, and %d times in all", atRest.Load(), asked.Load())
	}
}

func TestEventsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{end: make(chan loop.ProcessResult), down: errors.New("refused")}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for e, err := range f.on(t).Events(ctx) {
		if err == nil && !errors.Is(e.Err, ErrUnreachable) {
			t.Errorf("%+v", e)
		}
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
}

// answering takes a signal and answers as a process does that did with it what the test says.
func answering(t *testing.T, became approval.ActOutcome) *Process {
	f, sent := &fakeTemporal{}, ""
	f.signal = func(_ string, payload map[string]any) error {
		sent, _ = payload["id"].(string)
		return nil
	}
	f.view = func() (any, error) { return Status{ProcessResult: loop.ProcessResult{ProcessID: "p"}}, nil }
	f.outcome = func(id string) approval.ActOutcome {
		if sent == "" || id != sent {
			t.Errorf("%q is asked for, and %q was sent", id, sent)
		}
		return became
	}
	return f.on(t)
}

func TestWhatPauseReturnsNilForHasTakenEffect(t *testing.T) {
	t.Parallel()
	p := answering(t, approval.ActOutcome{Status: approval.ActAccepted})
	if err := p.Pause(t.Context(), Actor{Name: "ann"}); err != nil {
		t.Error(err)
	}
	p = answering(t, approval.ActOutcome{Status: approval.ActAccepted, Votes: VoteCount{Have: 1, Want: 2}})
	count, err := p.DecideAndCountVotes(t.Context(), Decision{Kind: Approve, CallID: "1.1"})
	if err != nil || count.Have != 1 || count.Want != 2 {
		t.Errorf("%+v, %v", count, err)
	}
}

// A workflow that continues as new while a signal comes in fails its task, and an Update with it.
func TestAnActWhoseQuestionMeetsATaskThatFailsIsAskedAbout(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{
		signal:  func(string, map[string]any) error { return nil },
		outcome: func(string) approval.ActOutcome { return approval.ActOutcome{Status: approval.ActAccepted} },
		fails:   2,
	}
	if err := f.on(t).Pause(t.Context(), Actor{Name: "ann"}); err != nil || f.fails != 0 {
		t.Errorf("%v, %d left", err, f.fails)
	}
}

func TestARefusalIsATypedErrorWithItsReason(t *testing.T) {
	t.Parallel()
	p := answering(t, approval.ActOutcome{Status: approval.ActRefused, RefusalReason: "not now"})
	for signal, err := range map[string]error{
		"resume":  p.Resume(t.Context(), ideafile.Limits{}, Actor{}),
		"revise":  p.Revise(t.Context(), Correction{}, Actor{}),
		"approve": p.Decide(t.Context(), Decision{Kind: Approve, CallID: "1.1"}),
	} {
		var r *RefusedError
		if !errors.As(err, &r) || !errors.Is(err, ErrRefused) || r.Reason != "not now" || r.Signal != signal ||
			r.ProcessID != "p" {
			t.Errorf("%s: %v", signal, err)
		}
	}
}

func TestASignalToWhatHasEndedIsRefused(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{signal: func(string, map[string]any) error { return serviceerror.NewNotFound("it has ended") }}
	p := f.on(t)
	for _, err := range []error{p.Pause(t.Context(), Actor{}),
		p.Decide(t.Context(), Decision{Kind: Approve, CallID: "1.1"})} {
		if !errors.Is(err, ErrRefused) {
			t.Error(err)
		}
	}
}

func TestASnapshotWithoutAWorkerIsTheStatusAlone(t *testing.T) {
	t.Parallel()
	r, err := (&fakeTemporal{}).on(t).Snapshot(t.Context())
	if !errors.Is(err, ErrNoWorker) || r.Status != loop.StatusRunning || r.ProcessID != "p" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := (&fakeTemporal{down: errors.New("refused")}).on(t).Snapshot(t.Context()); !errors.Is(err,
		ErrUnreachable) {
		t.Error(err)
	}
}

func TestWhatIsNoProcessIsNotFound(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"none", protocol.InstanceType} {
		f := &fakeTemporal{kind: kind}
		if _, err := f.on(t).client.Attach(t.Context(), "p"); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
