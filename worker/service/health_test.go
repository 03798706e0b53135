package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"processidea/store/blobs"
	"processidea/store/encryption"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Others may begin to encrypt with a key that a running worker was never given.
func TestAWorkerThatLacksAKeyOfItsStoreSaysSo(t *testing.T) {
	t.Parallel()
	store := func(place string, ids ...string) *blobs.Store {
		var entries []string
		for _, id := range ids {
			entry, err := encryption.GenerateKey(id)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, entry)
		}
		keys, err := encryption.Parse(strings.Join(entries, ","))
		if err != nil {
			t.Fatal(err)
		}
		s, err := blobs.Open(t.Context(), place, blobs.WithKeys(keys))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if err := s.RecordPrimaryKeyInUse(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s
	}
	place := t.TempDir()
	s := service{store: store(place, "old"), health: newHealth()}
	s.health.setPhase(phaseWorking)
	s.addConditions()
	s.health.conditions = slices.DeleteFunc(s.health.conditions,
		func(c *readinessCondition) bool { return c.name != "keys" })
	if isReady, troubles := s.health.failedConditions(t.Context()); !isReady || len(troubles) > 0 {
		t.Errorf("%t, %q", isReady, troubles)
	}
	store(place, "new")
	s.health.conditions[0].checkedAt = time.Time{} // as after a while
	const says = "keys: some of it is encrypted with key new, which is not in PROCESSIDEA_KEYS"
	isReady, troubles := s.health.failedConditions(t.Context())
	if !isReady || !slices.Equal(troubles, []string{says}) {
		t.Errorf("%t, %q", isReady, troubles)
	}
}

// deployment is a Temporal that routes work to builds.
type deployment struct {
	client.Client
	deploymentClient
}

func (d deployment) WorkerDeploymentClient() client.WorkerDeploymentClient { return d.deploymentClient }

type deploymentClient struct {
	client.WorkerDeploymentClient
	handle deploymentHandle
}

func (d deploymentClient) GetHandle(string) client.WorkerDeploymentHandle { return d.handle }

type deploymentHandle struct {
	client.WorkerDeploymentHandle
	current, ramping string // builds
	err              error
}

func (d deploymentHandle) Describe(context.Context, client.WorkerDeploymentDescribeOptions) (
	r client.WorkerDeploymentDescribeResponse, _ error,
) {
	if d.current != "" {
		r.Info.RoutingConfig.CurrentVersion = &worker.WorkerDeploymentVersion{BuildID: d.current}
	}
	if d.ramping != "" {
		r.Info.RoutingConfig.RampingVersion = &worker.WorkerDeploymentVersion{BuildID: d.ramping}
	}
	return r, d.err
}

func TestAWorkerWhoseBuildIsNotCurrentSaysThatItGetsNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		deploymentHandle
		want string // empty: nothing is said
	}{
		"none is current":       {deploymentHandle{}, "(none is): it gets no new processes"},
		"another is":            {deploymentHandle{current: "2"}, "(2 is): it gets no new processes"},
		"it is":                 {deploymentHandle{current: "1"}, ""},
		"it is on its way":      {deploymentHandle{current: "2", ramping: "1"}, ""},
		"nobody has begun it":   {deploymentHandle{err: serviceerror.NewNotFound("no deployment")}, ""},
		"nobody may ask for it": {deploymentHandle{err: serviceerror.NewPermissionDenied("no", "")}, "is unknown"},
	} {
		s := service{client: deployment{deploymentClient: deploymentClient{handle: row.deploymentHandle}},
			settings: settings{deploymentName: "idea", buildID: "1"}}
		if err := s.checkCurrentBuild(t.Context()); (err != nil) != (row.want != "") ||
			err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The log says once that something is amiss, and once that it is not any more; worker.health looks.
func TestWhatAWorkerLacksIsLoggedOnceAndWhenItIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		var away, old atomic.Pointer[error]
		why := func(of *atomic.Pointer[error]) error {
			if err := of.Load(); err != nil {
				return *err
			}
			return nil
		}
		noAnswer, oldBuild := errors.New("it does not answer"), errors.New("build 1 is not current")
		h := newHealth()
		h.addCondition(&readinessCondition{name: "temporal", check: func(context.Context) error { return why(&away) }})
		h.addCondition(&readinessCondition{name: "version", check: func(context.Context) error { return why(&old) },
			isOptional: true})
		h.setPhase(phaseWorking)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); h.watchAndLog(ctx, slog.New(slog.NewTextHandler(&log, nil))) }()
		pass := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		pass(time.Minute)
		away.Store(&noAnswer)
		pass(conditionCheckInterval)
		away.Store(nil)
		pass(time.Minute)
		if log.String() != "" {
			t.Errorf("all is well but for a moment: %s", log.String())
		}
		away.Store(&noAnswer)
		old.Store(&oldBuild)
		pass(time.Minute)
		if ready, troubles := h.failedConditions(ctx); ready || len(troubles) != 2 {
			t.Errorf("%t, %q", ready, troubles)
		}
		away.Store(nil)
		pass(time.Minute)
		if ready, troubles := h.failedConditions(ctx); !ready || len(troubles) != 1 {
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
