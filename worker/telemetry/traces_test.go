package telemetry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
}

// OpenTelemetry only logs what it cannot read, and sends otherwise, elsewhere, or nothing.
func TestASettingOfTracesThatCannotBeReadIsASentenceAtTheStart(t *testing.T) {
	const otlp, traces = "OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"
	notThere := filepath.Join(t.TempDir(), "none.pem")
	for _, row := range []struct {
		name            string
		read, cannot    []string
		saysHowToDo     string
		valueIsRepeated bool
	}{
		{"OTEL_TRACES_EXPORTER", []string{"otlp", "none"}, []string{"jaeger", "otlp,console"}, "want otlp or none",
			true},
		{"OTEL_SDK_DISABLED", []string{"true", "FALSE"}, []string{"yes", "1"}, "want true or false", true},
		{otlp + "ENDPOINT", []string{"http://c:1/x", " https://c "},
			[]string{"::bad", "collector:4318", "collector", "ftp://collector", "http://"}, "http://collector:4318",
			true},
		{traces + "ENDPOINT", []string{"http://c:1/x"}, []string{"collector"}, "http://collector:4318", true},
		{otlp + "PROTOCOL", []string{"grpc", "http/protobuf"}, []string{"smoke", "http/json"}, "want grpc or http",
			true},
		{otlp + "TIMEOUT", []string{"500", "0"}, []string{"10s", "-1", "1.5"}, "want a whole number", true},
		{traces + "TIMEOUT", []string{"500"}, []string{"soon"}, "want a whole number", true},
		{otlp + "HEADERS", []string{"a=b", "a=b=c, d=%20,", "a=\n"}, []string{"secret", "a=b,secret", "secret:1=b",
			"a=secret%zz"}, "want names and values", false},
		{traces + "HEADERS", []string{"a=b"}, []string{"secret"}, "want names and values", false},
		{otlp + "COMPRESSION", []string{"gzip", "none"}, []string{"zip"}, "want gzip or none", true},
		{otlp + "INSECURE", []string{"true"}, []string{"maybe"}, "want true or false", true},
		{otlp + "CERTIFICATE", nil, []string{notThere}, "want a file with certificates", true},
		{otlp + "CLIENT_KEY", nil, []string{notThere}, "want the files of a certificate", false},
		{traces + "CLIENT_CERTIFICATE", nil, []string{notThere}, "want the files of a certificate", false},
		{"OTEL_TRACES_SAMPLER", []string{"always_off", "parentbased_traceidratio"}, []string{"often"}, "want always",
			true},
		{"OTEL_TRACES_SAMPLER_ARG", []string{"0.5"}, []string{"half", "1.5", "-1", "NaN"}, "want the share", true},
		{"OTEL_BSP_MAX_QUEUE_SIZE", []string{"5"}, []string{"many", "-5", "100001"},
			"want a whole number from 0 to 100000", true},
		{"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", []string{"-1"}, []string{"many"}, "want a whole number", true},
	} {
		create := func(value string) error {
			env := map[string]string{otlp + "ENDPOINT": "http://127.0.0.1:1", row.name: value}
			traces, err := NewTraces(t.Context(), "space", func(name string) string { return env[name] })
			if traces != nil {
				closeTraces(t, traces)
			}
			return err
		}
		for _, value := range row.read {
			if err := create(value); err != nil {
				t.Errorf("%s=%s is refused: %v", row.name, value, err)
			}
		}
		for _, value := range row.cannot {
			err := create(value)
			if err == nil || !strings.Contains(err.Error(), row.name) ||
				!strings.Contains(err.Error(), row.saysHowToDo) ||
				strings.Contains(err.Error(), strconv.Quote(value)) != row.valueIsRepeated ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("%s=%s: %v", row.name, value, err)
			}
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
