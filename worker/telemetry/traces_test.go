package telemetry

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"processidea/activities"
	"processidea/worker/telemetry/telemetrytest"
)

// begin makes traces that go to a receiver. The variables are the process's own: the exporter reads them itself.
func begin(t *testing.T, more ...string) (*Traces, *telemetrytest.Receiver) {
	t.Helper()
	r := telemetrytest.NewReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	for i := 0; i < len(more); i += 2 {
		t.Setenv(more[i], more[i+1])
	}
	traces, err := NewTraces(t.Context(), "space", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return traces, r
}

// story is a process with one Request and one Call of it.
func story(t *Traces, process string) {
	now := time.Now()
	_, end := t.ObserveCall(context.Background(), activities.CallAttempt{ProcessID: process, CallID: "1.1", Tool: "go"})
	end(activities.OutcomeDone)
	t.ObserveRequest(activities.RequestAttempt{ProcessID: process, RequestNumber: 1, AttemptNumber: 1, StartedAt: now,
		FirstByteAt: now, EndedAt: now,
		Outcome: activities.OutcomeComplete})
	t.exportProcessRun(processRun{processID: process, runID: "r", isFirstRun: true, startedAt: now, endedAt: now,
		outcome: "completed"})
}

func closeTraces(t *testing.T, traces *Traces) {
	t.Helper()
	if err := traces.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestTracesAreOffUnlessThereIsAnEndpointAndNobodySwitchesThemOff(t *testing.T) {
	endpoint := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
	with := func(name, value string) map[string]string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", name: value}
	}
	for _, c := range []struct {
		env map[string]string
		on  bool
	}{
		{nil, false}, {endpoint, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}, true},
		{with("OTEL_TRACES_EXPORTER", "none"), false}, {with("OTEL_TRACES_EXPORTER", "otlp"), true},
		{with("OTEL_SDK_DISABLED", "true"), false}, {with("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), true},
	} {
		traces, err := NewTraces(t.Context(), "space", func(name string) string { return c.env[name] })
		if err != nil || (traces != nil) != c.on {
			t.Errorf("%v: on is %t, %v", c.env, traces != nil, err)
		}
		if traces != nil {
			closeTraces(t, traces)
		}
	}
	for name, value := range map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "smoke", "OTEL_TRACES_SAMPLER": "often"} {
		_, err := NewTraces(t.Context(), "space", func(asked string) string { return with(name, value)[asked] })
		if err == nil || !strings.Contains(err.Error(), name+` is "`+value+`"`) {
			t.Errorf("%s=%s is taken: %v", name, value, err)
		}
	}
	for _, part := range []string{"half", "1.5", "-1", "NaN"} {
		_, err := NewTraces(t.Context(), "space", func(asked string) string {
			return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
				"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": part}[asked]
		})
		if err == nil || !strings.Contains(err.Error(), "OTEL_TRACES_SAMPLER_ARG") {
			t.Errorf("a part of %s is taken: %v", part, err)
		}
	}
	for _, address := range []string{"::bad", "collector:4318", "collector", "ftp://collector", "http://"} {
		_, err := NewTraces(t.Context(), "space",
			func(name string) string { return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": address}[name] })
		if err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT is ") {
			t.Errorf("%s is taken for an address: %v", address, err)
		}
	}
}

func TestWhoSendsIsNamedUnlessTheEnvironmentDoes(t *testing.T) {
	for _, name := range []string{"", "refunds"} {
		traces, r := begin(t, "OTEL_SERVICE_NAME", name)
		story(traces, "p")
		closeTraces(t, traces)
		want := name
		if want == "" {
			want = serviceName
		}
		if got := r.ServiceNames(); len(got) != 1 || got[0] != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestASampledProcessIsThereWithAllItsSpansAndAnotherWithNone(t *testing.T) {
	traces, r := begin(t, "OTEL_TRACES_SAMPLER", "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG", "0.5")
	for n := range 100 {
		story(traces, fmt.Sprint(n))
	}
	closeTraces(t, traces)
	each := map[string]int{}
	for _, s := range r.Spans() {
		each[s.TraceID]++
	}
	if len(each) < 20 || len(each) > 80 {
		t.Errorf("%d of 100 processes are sampled", len(each))
	}
	for trace, n := range each {
		if n != 3 {
			t.Errorf("%s has %d spans", trace, n)
		}
	}
}

func TestTwoWorkersGiveARequestTheSameSpanAndTwoProcessesDifferentTraces(t *testing.T) {
	one, _ := begin(t)
	other, _ := begin(t)
	if one.spanIdentityOf("p", "request", 1) != other.spanIdentityOf("p", "request", 1) {
		t.Error("two workers disagree")
	}
	seen := map[spanIdentity]bool{}
	elsewhere := &Traces{namespace: "elsewhere"}
	for _, id := range []spanIdentity{one.spanIdentityOf("p"), one.spanIdentityOf("p", "request", 1),
		one.spanIdentityOf("p", "request", 11), one.spanIdentityOf("q"),
		elsewhere.spanIdentityOf("p"), one.spanIdentityOf("p", "run", "1")} {
		if seen[id] || !id.traceID.IsValid() || !id.spanID.IsValid() {
			t.Errorf("%v", id)
		}
		seen[id] = true
	}
	if one.spanIdentityOf("p").traceID != one.spanIdentityOf("p", "request", 1).traceID ||
		one.spanIdentityOf("p").traceID == one.spanIdentityOf("q").traceID ||
		one.spanIdentityOf("p").traceID == elsewhere.spanIdentityOf("p").traceID {
		t.Error("a trace is not that of one process")
	}
}

func TestARunAfterContinueAsNewStandsUnderTheFirst(t *testing.T) {
	traces, r := begin(t)
	now := time.Now()
	traces.exportProcessRun(processRun{processID: "p", runID: "1", isFirstRun: true, startedAt: now, endedAt: now,
		outcome: outcomeContinued})
	traces.exportProcessRun(processRun{processID: "p", runID: "2", startedAt: now, endedAt: now, outcome: "completed"})
	closeTraces(t, traces)
	s := r.Spans()
	if len(s) != 2 || s[0].ParentID != "" || s[1].ParentID != s[0].ID || s[1].ID == s[0].ID ||
		s[0].AttributeByKey["error.type"] != nil {
		t.Errorf("%v", s)
	}
}
