package server_test

import (
	"net/http"
	"strings"
	"testing"

	"processidea/gateway/access"
	"processidea/gateway/server"
)

// blind is a guard that lets everybody start and steer, and not look.
type blind struct{}

func (blind) Identify(*http.Request) (*access.Person, error) {
	return &access.Person{Name: "eve", Rights: []access.Right{access.Start, access.Steer}}, nil
}

// What an undo would do, and what a fork comes to, is made of what the process worked on.
func TestWhoMayActAndNotLookIsShownNothingOfAProcess(t *testing.T) {
	h := open(t)
	started := h.post("/api/processes", `{"idea": {"schema": {"tools": {
		"tell": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_undo": {"tool": "strike", "params": {"text": "†result.text"}}},
		"strike": {"properties": {"text": {"type": "string"}}, "_activity": "note"}}},
		"context": [{"type": "state", "for": "a secret"}, {"type": "plan", "stage": "complete",
		"plan": [{"_tool": "tell", "text": "†state.for"}]}]}}`).is(201).object()
	id, _ := started["process"].(string)
	h.get("/api/processes/" + id + "/result?wait=30").is(200)
	seen := string(h.post("/api/processes/"+id+"/undo", `{"dryRun": true}`).is(200).body)
	if !strings.Contains(seen, "a secret") {
		t.Errorf("who may look is told %s", seen)
	}
	h = open(t, agentsOf(t, false), func(o *server.Options) { o.Guard = blind{} })
	told := string(h.post("/api/processes/"+id+"/undo", `{"dryRun": true}`).is(200).body)
	if strings.Contains(told, "a secret") || !strings.Contains(told, `"call":"0.1"`) {
		t.Errorf("an undo is told of as %s", told)
	}
	fork, failed := h.agent().call("fork_process", `{"process": "`+id+`", "at": 1, "wait": 30}`)
	if failed || strings.Contains(fork, "a secret") || !strings.Contains(fork, id+"-fork") {
		t.Errorf("a fork is told of as %s", fork)
	}
}
