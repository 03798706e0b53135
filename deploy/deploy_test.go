package deploy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/activities"
	"processidea/client"
	"processidea/model/approval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/worker/telemetry"
)

// metricName finds metrics in an expression: ours, the Temporal SDK's, and those of the process.
var metricName = regexp.MustCompile(`\b(processidea|temporal|process|go)_[a-z0-9_]+`)

// Every metric that a rule or a panel names is one that a worker has.
func TestEveryMetricThatIsNamedIsThere(t *testing.T) {
	ours, sdk := ourMetrics(t), sdkMetrics(t)
	for _, file := range []string{"prometheus/rules.yaml", "grafana/workers.json"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := metricName.FindAllString(string(data), -1)
		slices.Sort(found)
		found = slices.Compact(found)
		if len(found) < 5 {
			t.Errorf("%s names %q", file, found)
		}
		for _, name := range found {
			base := name
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				base = strings.TrimSuffix(base, end)
			}
			if !ours[base] && !sdk[strings.TrimSuffix(strings.TrimSuffix(base, "_total"), "_seconds")] {
				t.Errorf("%s names %s, which no worker has", file, name)
			}
		}
	}
}

// The dashboard shows every metric of people's decisions, by labels that it has.
func TestTheDashboardShowsWhatIsMeasuredOfDecisions(t *testing.T) {
	text := workerMetrics(t)
	data, err := os.ReadFile("grafana/workers.json")
	if err != nil {
		t.Fatal(err)
	}
	expressions := strings.Join(regexp.MustCompile(`"expr": ".*"`).FindAllString(string(data), -1), "\n")
	for _, name := range []string{"processidea_decisions_total", "processidea_decision_seconds", "processidea_waiting",
		"processidea_waiting_oldest_seconds"} {
		labels := map[string]bool{"le": true}
		for _, series := range regexp.MustCompile(`(?m)^`+name+`(?:_bucket)?{(.*)}`).FindAllStringSubmatch(text, -1) {
			for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(series[1], -1) {
				labels[label[1]] = true
			}
		}
		panels := regexp.MustCompile(`.*\b`+name+`(?:_bucket)?\{.*`).FindAllString(expressions, -1)
		if len(panels) == 0 || !labels["tool"] {
			t.Errorf("%s, with the labels %v, is shown by %q", name, labels, panels)
		}
		for _, panel := range panels {
			used := regexp.MustCompile(`\bby \(([^)]*)\)|(\w+)=~?\\"`).FindAllStringSubmatch(panel, -1)
			for _, u := range used {
				for _, label := range strings.Split(u[1]+u[2], ", ") {
					if !labels[label] {
						t.Errorf("a panel asks %s for the label %s, and it has %v: %s", name, label, labels, panel)
					}
				}
			}
		}
	}
}

// What starts more workers looks at the task queues that they serve.
func TestTheBacklogThatScalesWorkersIsTheirs(t *testing.T) {
	data, err := os.ReadFile("kubernetes/autoscale/worker.yaml")
	for _, queue := range []string{protocol.TaskQueue, protocol.RequestTaskQueue} {
		if err != nil || !strings.Contains(string(data), "taskQueue: "+queue+"\n") {
			t.Errorf("%v, without the task queue %s\n%s", err, queue, data)
		}
	}
}

// The page on sizes says what is set here.
func TestThePageOnSizesSaysWhatIsSet(t *testing.T) {
	read := func(file string) string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	page := read("../docs/scale.md")
	for setting, c := range map[string]struct{ file, text string }{
		`NUM_HISTORY_SHARDS:-(\d+)`: {"../docker-compose.yml", "$1 before the first start, as in `docker-compose.yml`"},
		`frontend\.namespaceRPS\.visibility:\n  - value: (\d+)`: {"dynamicconfig.yaml",
			"in `deploy` $1 (`frontend.namespaceRPS.visibility`)"},
	} {
		found := regexp.MustCompile(setting).FindStringSubmatch(read(c.file))
		if found == nil {
			t.Errorf("%s has no %s", c.file, setting)
		} else if want := strings.ReplaceAll(c.text, "$1", found[1]); !strings.Contains(page, want) {
			t.Errorf("%s sets %s, and docs/scale.md does not say %q", c.file, found[0], want)
		}
	}
}

func ourMetrics(t *testing.T) map[string]bool {
	t.Helper()
	text, names := workerMetrics(t), map[string]bool{}
	for _, kind := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(text, -1) {
		names[kind[1]] = true
	}
	if !names["processidea_requests_total"] {
		t.Fatalf("a worker has\n%s", text)
	}
	return names
}

// workerMetrics are those that a worker has once it has counted a Request, a Call and a decision.
func workerMetrics(t *testing.T) string {
	t.Helper()
	m, err := telemetry.NewMetrics()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(t.Context()) }()
	now := time.Now()
	m.ObserveRequest(activities.RequestAttempt{StartedAt: now, FirstByteAt: now, EndedAt: now,
		Outcome: activities.OutcomeComplete,
		Usage: turn.TokenUsage{PromptTokens: 1, CompletionTokens: 1, CachedTokens: 1, ReasoningTokens: 1, Cost: 1,
			UnpricedTokens: 1}})
	_, end := m.ObserveCall(t.Context(), activities.CallAttempt{Tool: "t"})
	end(activities.OutcomeDone)
	m.SetWaitingCallCounter(func(context.Context) ([]client.WaitingCallCount, error) {
		return []client.WaitingCallCount{{Tool: "t", Count: 1, OldestSince: now}}, nil
	})
	m.ObserveHoldUps(turn.CodeStoreFull, 1)
	m.ObserveDecision(approval.Decision{Tool: "t", Kind: "approve", DecidedAt: now, WaitingSince: now})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// sdkMetrics are those of the Temporal SDK, as its source names them: most of them are there only once something is
// counted.
func sdkMetrics(t *testing.T) map[string]bool {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/sdk").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal", "common", "metrics",
		"constants.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`TemporalMetricsPrefix \+ "([a-z_]+)"`).FindAllStringSubmatch(string(source),
		-1) {
		names["temporal_"+m[1]] = true
	}
	if len(names) < 20 {
		t.Fatalf("the SDK has %d metrics", len(names))
	}
	return names
}
