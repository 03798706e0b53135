package main

import (
	"encoding/json"
	"strings"
	"testing"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/starter/internal/exit"
)

// Where one instance is forgotten, the others can be looked at and forked as before, and of that one it is said.
func TestAForgottenInstanceIsSaidToBeForgottenAndTheOthersGoOn(t *testing.T) {
	d := newDesk(t, map[string]string{"three.json": `{"meta": {"version": "1"}, "schema": {"tools": {"note": {
		"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}, "context": [
		{"type": "input", "_instance": "1", "who": "Ada"}, {"type": "input", "_instance": "2", "who": "Bob"},
		{"type": "input", "_instance": "3", "who": "Cid"},
		{"type": "plan", "stage": "complete", "plan": [
			{"_tool": "note", "_instance": "1", "text": "first", "_outputPath": "†state.first"},
			{"_tool": "note", "text": "†input.who", "_outputPath": "†state.noted"}]}]}`})
	n, _ := d.dev()
	d.do("run", "three.json", "--id", "p").is(exit.Done)
	said := d.do("forget", "p", "--instance", "1", "--by", "op", "--reason", "gdpr").is(exit.IncompleteForget)
	if strings.Contains(said.out, "meta.") {
		t.Errorf("the version of the file is said to name the instance: %s", said.out)
	}
	var list struct {
		Instances map[string]client.InstanceStatus `json:"instances"`
	}
	if err := json.Unmarshal([]byte(d.page(n.GatewayURL, "/api/processes/p/instances")), &list); err != nil {
		t.Fatal(err)
	}
	gone, stays := list.Instances["1"], list.Instances["2"]
	if !strings.Contains(gone.ForgottenNote, "by op: gdpr") || gone.State != nil || len(stays.Calls) != 1 {
		t.Errorf("%+v", list)
	}
	forgotten := func(of string) {
		t.Helper()
		r := d.do("result", of, "--json").is(exit.Done).result().Instances
		if r["1"].Status != ideafile.InstanceForgotten || r["2"].Status != ideafile.InstanceSettled {
			t.Errorf("%s: %+v", of, r)
		}
		if text := d.page(n.GatewayURL, "/desk/processes/"+of); !strings.Contains(text, "forgotten") {
			t.Errorf("the desk says nothing of it: %s", text)
		}
		d.do("result", of).is(exit.Done).holds("forgotten")
	}
	forgotten("p")
	if r := d.do("result", "p", "--json").result(); r.Instances["1"].State != nil {
		t.Errorf("%+v", r)
	}
	for at, fork := range map[string]string{"1": "f", "2": "g"} {
		d.do("fork", "p", "--at", at, "--id", fork).is(exit.Done).complains("1 forgotten in p, and left out")
		forgotten(fork)
		d.do("verify", fork).is(exit.Done)
	}
	d.do("fork", "p", "--at", "1", "--reopen", "1").is(exit.Usage).complains("it was forgotten")
}
