package service_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"processidea/model/loop"
	"processidea/protocol"
	"processidea/worker/workertest"
)

// Of two workers one is killed in the midst, and what its instances had reported comes again.
func TestAProcessOfManyInstancesIsSentFewSignals(t *testing.T) {
	r := newRated(t)
	first := workertest.Start(t, r.env, "--lost-after", "5s")
	workertest.Start(t, r.env, "--lost-after", "5s")
	const instances = 300
	var rows strings.Builder
	for n := range instances {
		fmt.Fprintf(&rows, `{"type": "state", "_instance": "%d", "n": %d}, `, n, n)
	}
	p := r.start("many", `{"schema": {"tools": {"letter": {"type": "object", "properties": {},
		"_activity": {"http": {"url": "SHOP"}}}}}, "context": [`+rows.String()+
		`{"type": "plan", "stage": "complete", "plan": [{"_tool": "letter"}, {"_tool": "letter", "_after": "†call.0.1"}]}]}`)
	r.wait(instances / 2)
	first.Signal(syscall.SIGKILL)
	result, err := p.Result(t.Context())
	if err != nil || result.Status != loop.StatusCompleted || len(result.Instances) != instances {
		t.Fatalf("%s, %d instances: %v", result.Status, len(result.Instances), err)
	}
	for part := range 3 {
		r.sentFew(protocol.PartID("many", part+1))
	}
}

// sentFew checks that a workflow was sent at most five signals a second for long. A server that is busy keeps some for
// seconds.
func (r *rated) sentFew(id string) {
	r.t.Helper()
	var sent []time.Time
	for history := r.Temporal().GetWorkflowHistory(r.t.Context(), id, "", false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); history.HasNext(); {
		event, err := history.Next()
		if err != nil {
			r.t.Fatal(err)
		}
		if event.GetWorkflowExecutionSignaledEventAttributes().GetSignalName() == protocol.SignalInstanceReport {
			sent = append(sent, event.GetEventTime().AsTime())
		}
	}
	if len(sent) == 0 {
		r.t.Errorf("%s was sent no report", id)
	}
	keepsRate(r.t, sent, 5)
}
