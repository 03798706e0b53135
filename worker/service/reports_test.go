package service_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"processidea/internal/devserver/devtest"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/worker/workertest"
)

// Of two workers one is killed in the midst, and what its instances had reported comes again.
func TestAProcessOfManyInstancesIsSentFewSignals(t *testing.T) {
	r := newRated(t)
	recorder := devtest.StartRecorder(t, r.address)
	env := append(r.env, "TEMPORAL_ADDRESS="+recorder.Address())
	first := workertest.Start(t, env, "--lost-after", "5s")
	workertest.Start(t, env, "--lost-after", "5s")
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
	sent := recorder.SignalTimes()
	for part := range 3 {
		id := protocol.PartID("many", part+1)
		if len(sent[id]) == 0 {
			t.Errorf("%s was sent no report", id)
		}
		// Five a second; a worker that has just begun may come on top for two seconds, until the other has counted it.
		keepsRate(t, id, sent[id], 8, 5)
	}
}
