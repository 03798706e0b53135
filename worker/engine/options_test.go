package engine

import (
	"strings"
	"testing"
	"time"

	"processidea/llm"
)

func TestLimitsAreGivenToTheSDKAndNoneLeavesItsDefaults(t *testing.T) {
	o := Dependencies{StopTimeout: time.Minute, Limits: Limits{
		ConcurrentRequests: 3, ConcurrentCalls: 40, ConcurrentPureCalls: 5, CallsPerSecond: 2.5,
		ConcurrentWorkflowTasks: 7, WorkflowPollers: 8,
		ActivityPollers: 9, EagerCallsPerTask: 10,
	}}.workerOptions()
	got := []any{o.MaxConcurrentActivityExecutionSize, o.MaxConcurrentLocalActivityExecutionSize,
		o.TaskQueueActivitiesPerSecond,
		o.MaxConcurrentWorkflowTaskExecutionSize, o.MaxConcurrentWorkflowTaskPollers,
		o.MaxConcurrentActivityTaskPollers, o.WorkerStopTimeout,
		*o.MaxEagerActivityReservationsPerWorkflowTask}
	for i, want := range []any{43, 5, 2.5, 7, 8, 9, time.Minute, 10} {
		if got[i] != want {
			t.Errorf("the %dth is %v, not %v", i+1, got[i], want)
		}
	}
	if o := (Dependencies{Limits: Limits{HeartbeatTimeout: 30 * time.Second}}).workerOptions(); o.MaxHeartbeatThrottleInterval != 20*time.Second {
		t.Errorf("a heartbeat every %v", o.MaxHeartbeatThrottleInterval)
	}
	if o := (Dependencies{}).workerOptions(); o.MaxHeartbeatThrottleInterval != 2*time.Second {
		t.Errorf("a heartbeat every %v where nothing is said", o.MaxHeartbeatThrottleInterval)
	}
	if o := (Dependencies{Limits: Limits{ConcurrentRequests: 3}}).workerOptions(); o.MaxConcurrentActivityExecutionSize != 0 ||
		o.TaskQueueActivitiesPerSecond != 0 ||
		o.MaxEagerActivityReservationsPerWorkflowTask != nil {
		t.Errorf("without limits: %+v", o)
	}
}

func TestTheQueueOfRequestsHasTheLesserOfTwoRates(t *testing.T) {
	for rpm, want := range map[string]float64{"": 2.5, "60": 1, "600": 2.5} {
		p := Dependencies{LLM: llm.Config{RPM: rpm}, Limits: Limits{ConcurrentRequests: 3, CallsPerSecond: 2.5,
			ActivityPollers: 9}}
		o := p.requestWorkerOptions(p.workerOptions())
		if o.TaskQueueActivitiesPerSecond != want || o.MaxConcurrentActivityExecutionSize != 3 || !o.DisableWorkflowWorker {
			t.Errorf("OPENAI_RPM %q: %+v", rpm, o)
		}
	}
}

func TestTheEnvironmentSaysHowMuchMemoryAWorkerBesideTheServerHolds(t *testing.T) {
	for text, want := range map[string]int64{"": EmbeddedLimits.MaxMemoryBytes, "12345": 12345, "a lot": -1} {
		l, err := EmbeddedLimitsFromEnv(func(name string) string { return map[string]string{MemoryVariable: text}[name] })
		if (err != nil) != (want < 0) ||
			(err == nil && (l.MaxMemoryBytes != want || l.EagerCallsPerTask != EmbeddedLimits.EagerCallsPerTask)) {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
}

func TestAWorkerBesideTheServerTakesNoTimesThatAreTooShort(t *testing.T) {
	for name, text := range map[string]string{LLMPatienceVariable: "10ms", LLMMaxPauseVariable: "1ms"} {
		_, err := EmbeddedLimitsFromEnv(func(asked string) string { return map[string]string{name: text}[asked] })
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "at least") {
			t.Errorf("%s=%s: %v", name, text, err)
		}
	}
}

func TestOnlyAWorkerWithALimitMakesRequestsWait(t *testing.T) {
	if a, err := (Dependencies{}).newActivities(nil); err != nil || a.RequestSlots != nil {
		t.Errorf("they wait without a limit, or %v", err)
	}
	a, err := Dependencies{Limits: Limits{ConcurrentRequests: 2, MaxResultBytes: 10}}.newActivities(nil)
	if err != nil || a.MaxResultBytes != 10 || !a.RequestSlots.TryAcquire(2) || a.RequestSlots.TryAcquire(1) {
		t.Errorf("%+v, %v", a, err)
	}
}
