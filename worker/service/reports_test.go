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
	whole := "many"
	for _, id := range []string{whole, protocol.PartID(whole, 1), protocol.PartID(whole, 2), protocol.PartID(whole, 3)} {
		if len(sent[id]) == 0 {
			t.Errorf("%s was sent no report", id)
		}
	}
	// Not more than five a second for longer than two seconds: what is above that adds up to two seconds' worth.
	for id, times := range sent {
		keepsRate(t, id, times, 10, 5)
	}
}
