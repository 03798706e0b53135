package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"processidea/gateway/access"
	"processidea/gateway/server"
)

// blind is a guard that lets everybody start, steer and decide, and not look.
type blind struct{}

func (blind) Identify(*http.Request) (*access.Person, error) {
	return &access.Person{Name: "eve", Rights: []access.Right{access.Start, access.Steer, access.Decide}}, nil
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
	asks := h.post("/api/processes", `{"idea": {"schema": {"tools": {
		"tell": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_approval": true}}},
		"context": [{"type": "state", "for": "a secret"}, {"type": "plan", "stage": "complete",
		"plan": [{"_tool": "tell", "text": "†state.for"}]}]}}`).is(201).object()["process"].(string)
	waits := h.waiting(asks, 1)[0]
	waits["digest"] = strings.Repeat("0", 64)
	h = open(t, agentsOf(t, true), func(o *server.Options) { o.Guard = blind{} })
	told := h.decide(decisionOn(waits, "approve"))[0]
	if told["code"] != "refused" || strings.Contains(fmt.Sprint(told), "a secret") {
		t.Errorf("a wrong digest is answered with %v", told)
	}
	refused, failed := h.agent().call("decide", `{"process": "`+asks+`", "call": "`+waits["call"].(string)+
		`", "digest": "`+waits["digest"].(string)+`", "decision": "approve"}`)
	if !failed || strings.Contains(refused, "a secret") {
		t.Errorf("a wrong digest of an agent is answered with %s", refused)
	}
	h.post("/api/processes/"+asks+"/cancel", nil).is(204)
	undo := string(h.post("/api/processes/"+id+"/undo", `{"dryRun": true}`).is(200).body)
	if strings.Contains(undo, "a secret") || !strings.Contains(undo, `"call":"0.1"`) {
		t.Errorf("an undo is told of as %s", undo)
	}
	fork, failed := h.agent().call("fork_process", `{"process": "`+id+`", "at": 1, "wait": 30}`)
	if failed || strings.Contains(fork, "a secret") || !strings.Contains(fork, id+"-fork") {
		t.Errorf("a fork is told of as %s", fork)
	}
}

// Who may look comments on what waits, and so answers, at the desk as over the API; every other act takes the right to
// decide.
func TestWhoMayLookAnswersAndDecidesNothing(t *testing.T) {
	all := open(t)
	id := all.pays(`{"values": {"order": "A-1", "cents": 110}}`)
	waits := all.waiting(id, 1)[0]
	all.decide(decisionOn(waits, "ask", "reason", "did it come back?"))
	guard := withRights{must(access.NewTokenGuard(token, access.Person{Name: "ann"})), []access.Right{access.Look}}
	h := open(t, func(o *server.Options) { o.Guard = guard })
	for _, kind := range []string{"approve", "reject", "ask", "hand-over"} {
		h.post("/api/decisions", map[string]any{"decisions": []any{decisionOn(waits, "comment", "reason", "yes"),
			decisionOn(waits, kind, "reason", "no", "to", "bob")}}).problem(403, "forbidden")
	}
	for _, one := range h.decide(decisionOn(waits, "comment", "reason", "a good customer")) {
		if one["outcome"] != "taken" {
			t.Errorf("%v", one)
		}
	}
	all.decide(decisionOn(waits, "ask", "by", "bob", "to", "ann", "reason", "and when?"))
	b := h.browse()
	p := b.open("/?who=all&process=" + id).is(200).link("@").is(200).says("ann says: a good customer")
	for _, kind := range []string{"approve", "ask", "hand-over", "allow"} {
		b.post(p.address, url.Values{"decision": {kind}, "digest": {waits["digest"].(string)}, "reason": {"x"},
			"to": {"bob"}}).is(403)
	}
	p.says("bob asks you: and when?").lacks("Approve it", "Hand it over")
	p.form("Answer").set("reason", "on Monday").press("Answer").is(200).says(
		"ann says: on Monday")
	if remarks, _ := all.waiting(id, 1)[0]["remarks"].([]any); len(remarks) != 4 {
		t.Errorf("%v", remarks)
	}
	all.post("/api/processes/"+id+"/cancel", nil).is(204)
}

func TestWhoMayNotDecideIsTold(t *testing.T) {
	h := open(t, func(o *server.Options) {})
	id := "desk-" + t.Name()
	start := payout(id)
	h.post("/api/processes", start).is(201)
	h.waiting(id, 1)
	b := h.browse()
	b.open("/?process=" + id).is(200).says("1 case waits for other people")
	p := b.open("/?who=all&process="+id).is(200).says("1 case waits.", "signed").lacks("Approve selected")
	p.link("@").is(200).says("What would happen", "2 of").lacks("Approve it")
	h.post("/api/processes/"+id+"/cancel", map[string]any{}).is(204)
}
