package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// trip is a process whose Plans wait as a whole; of each instance the LLM plans a booking and a note.
func trip(id string, config string, rows ...string) map[string]any {
	return map[string]any{
		"id": id, "instances": json.RawMessage("[" + strings.Join(rows, ",") + "]"),
		"idea": json.RawMessage(`{
			"meta": {"path": "trip", "version": "1"}, "config": {"approval": {"plan": true` + config + `}},
			"schema": {"tools": {
				"book": {"description": "Books a seat.", "type": "object", "additionalProperties": false, "required": ["template", "values"],
					"properties": {"template": {"type": "string"}, "values": {"type": "object", "properties": {"seat": {"type": "string"}, "cents": {"type": "number"}}}},
					"_activity": "formatText", "_outputPath": "†state.seat", "_approval": {"when": {"properties": {"values": {"properties": {"cents": {"minimum": 500}}}}}}},
				"tell": {"description": "Writes to the guest.", "type": "object", "required": ["template", "values"],
					"properties": {"template": {"type": "string"}, "values": {"type": "object"}}, "_activity": "formatText", "_outputPath": "†state.letter"}}},
			"context": [{"type": "text", "text": "Plan the trip."}]}`),
		"replies": `{"solution": {"calls": [` + strings.ReplaceAll(tripCalls, "\n", " ") + `], "output": null}}` +
			strings.Repeat("\n"+`{"solution": {"calls": [], "output": null}}`, 5),
	}
}

const tripCalls = `{"_tool": "book", "_instance": "*", "template": "seat {seat}", "values": {"seat": "4A", "cents": 120}},
	{"_tool": "tell", "_instance": "*", "template": "You have {seat}", "values": {"seat": "†state.seat"}}`

// planned begins a trip, and waits until its Plan waits.
func (h *house) planned(config string, rows ...string) (id string, plan map[string]any) {
	h.Helper()
	id = strings.NewReplacer("/", "-").Replace(h.Name())
	h.post("/api/processes", trip(id, config, rows...)).is(201)
	return id, h.planWaits(id, 1)[0]
}

func (h *house) planWaits(id string, n int) (list []map[string]any) {
	h.Helper()
	eventually(h, fmt.Sprint(n, " Plans of ", id, " wait"), func() bool {
		if v := h.get("/api/processes/" + id).is(200); v.object()["status"] != "running" {
			h.Fatalf("it does not wait: %s", v.body)
		}
		list = h.get("/api/processes/" + id + "/plans").is(200).list("plans")
		return len(list) == n
	})
	eventually(h, "the inbox has the Plans of "+id, func() bool { // Temporal's list of processes lags behind
		all := h.get("/api/plans").is(200).list("plans")
		return !slices.ContainsFunc(list, func(a map[string]any) bool {
			return !slices.ContainsFunc(all, func(b map[string]any) bool { return a["process"] == b["process"] })
		})
	})
	return list
}

func (h *house) states(id string) string {
	h.Helper()
	text := ""
	for _, i := range h.get("/api/processes/" + id + "/result?wait=60").is(200).object()["instances"].(map[string]any) {
		text += fmt.Sprint(i.(map[string]any)["state"])
	}
	return text
}

func TestAPlanThatWaitsIsShownOverHTTPAndApprovedAsItWasShown(t *testing.T) {
	h := open(t)
	id, plan := h.planned("", `{"name": "Ann"}`, `{"name": "Bob"}`)
	page := "/api/processes/" + id
	text := must(json.Marshal(plan))
	for _, part := range []string{
		`"callsByTool":[{"calls":2,"tool":"book"},{"calls":2,"tool":"tell"}]`, `"request":1`, `"instances":["①","②"]`,
		`flowchart TD`,
		`"edges":[{"from":1,"kind":"reads","paths":"seat","to":2}]`, `"askedLater":[]`, `"past":`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("it does not say %s: %s", part, text)
		}
	}
	for _, p := range h.get("/api/plans").is(200).list("plans") {
		if p["process"] == id && p["digest"] != plan["digest"] {
			t.Errorf("%v", p)
		}
	}
	for format, begins := range map[string]string{"mermaid": "flowchart", "dot": "digraph", "svg": "<svg"} {
		g := h.get(page + "/graph?format=" + format).is(200).object()
		if drawn, _ := g["graph"].(string); !strings.HasPrefix(drawn, begins) || g["calls"] != float64(2) ||
			g["waiting"] != true {
			t.Errorf("%v", g)
		}
	}
	h.get(page+"/graph?digest="+strings.Repeat("0", 64)).problem(404, "not-found")
	decide := func(body string) *answer { return h.post(page+"/plans/decision", body) }
	changed := decide(`{"decision": "approve", "digest": "`+strings.Repeat("0", 64)+`"}`).problem(409, "changed")
	if now := changed["plans"].([]any); len(now) != 1 || now[0].(map[string]any)["digest"] != plan["digest"] {
		t.Errorf("%v", changed)
	}
	decide(`{"decision": "approve"}`).problem(422, "invalid")
	decide(`{"decision": "reject", "digest": "`+plan["digest"].(string)+`"}`).problem(422, "invalid")
	decide(`{"decision": "amend", "digest": "`+plan["digest"].(string)+`"}`).problem(422, "invalid")
	done := decide(`{"decision": "approve", "digest": "` + plan["digest"].(string) +
		`", "reason": "fine"}`).is(200).object()
	if done["process"] != id || done["request"] != float64(1) || fmt.Sprint(done["count"]) != "map[have:1 want:1]" {
		t.Errorf("%v", done)
	}
	decide(`{"decision": "approve", "digest": "`+plan["digest"].(string)+`"}`).problem(409, "changed")
	if got := h.states(id); strings.Count(got, "You have seat 4A") != 2 {
		t.Error(got)
	}
	h.post("/api/processes/nobody/plans/decision", `{"decision": "approve", "digest": "`+plan["digest"].(string)+
		`"}`).problem(404, "not-found")
	h.get("/api/processes/nobody/plans").problem(404, "not-found")
	if n := len(h.get(page + "/plans").is(200).list("plans")); n != 0 {
		t.Errorf("%d wait", n)
	}
}

func TestAPlanIsAmendedOverHTTPAndACallThatCannotRunIsNamed(t *testing.T) {
	h := open(t)
	id, plan := h.planned("", `{"name": "Ann"}`)
	page, digest := "/api/processes/"+id+"/plans/decision", plan["digest"].(string)
	amend := func(calls string) *answer {
		return h.post(page, `{"decision": "amend", "digest": "`+digest+`", "reason": "by rail", "calls": [`+calls+`]}`)
	}
	wrong := amend(tripCalls+`, {"_tool": "fly", "_instance": "*", "to": "Rome"}`).problem(409, "refused")
	if at := wrong["problems"].([]any)[0].(map[string]any); at["path"] != "body.calls[2]" ||
		!strings.Contains(at["message"].(string), "fly") {
		t.Errorf("%v", wrong)
	}
	amend(
		`{"_tool": "tell", "_instance": "*", "template": "No seat for {name}", "values": {"name": "†input.name"}}`).is(
		200)
	if got := h.states(id); !strings.Contains(got, "No seat for Ann") || strings.Contains(got, "4A") {
		t.Error(got)
	}
	ideas := h.get("/api/processes/" + id + "/ideas").is(200).list("ideas")
	found := false
	for n := range ideas {
		idea := string(h.get(fmt.Sprint("/api/processes/", id, "/ideas/", n+1)).is(200).body)
		found = found || strings.Contains(idea, `"amend-plan"`) && strings.Contains(idea, `"by":"ann"`) &&
			strings.Contains(idea, "by rail")
	}
	if !found {
		t.Error("who amended it is not on record")
	}
}

func TestAPlanThatTwoMustApproveWaitsForTheSecond(t *testing.T) {
	h := open(t)
	id, plan := h.planned(`, "by": {"groups": ["finance"], "count": 2}`, `{"name": "Ann"}`)
	page, digest := "/api/processes/"+id+"/plans/decision", plan["digest"].(string)
	first := h.post(page, `{"decision": "approve", "digest": "`+digest+`"}`).is(200).object()
	if fmt.Sprint(first["count"]) != "map[have:1 want:2]" {
		t.Errorf("%v", first)
	}
	again := h.post(page, `{"decision": "approve", "digest": "`+digest+`"}`).problem(409, "refused")
	if !strings.Contains(again["detail"].(string), "ann has decided on it already") {
		t.Errorf("%v", again)
	}
	h.post(page, `{"decision": "approve", "digest": "`+digest+`", "by": "bob", "groups": ["sales"]}`).problem(409,
		"refused")
	h.post(page, `{"decision": "approve", "digest": "`+digest+`", "by": "bob", "groups": ["finance"]}`).is(200)
	if got := h.states(id); !strings.Contains(got, "4A") {
		t.Error(got)
	}
}

func TestARejectedPlanIsOnRecordWithItsReason(t *testing.T) {
	h := open(t)
	id, plan := h.planned("", `{"name": "Ann"}`)
	h.post("/api/processes/"+id+"/plans/decision", `{"decision": "reject", "digest": "`+plan["digest"].(string)+
		`", "reason": "ask her first"}`).is(200)
	if got := h.states(id); strings.Contains(got, "4A") {
		t.Error(got)
	}
	if idea := string(h.get("/api/processes/" + id + "/ideas/latest").is(200).body); !strings.Contains(idea,
		"ask her first") {
		t.Error(idea)
	}
}

func TestPartsHaveAPlanEachOverHTTP(t *testing.T) {
	h := open(t)
	id := "parts-of-a-trip"
	h.post("/api/processes", trip(id, `}, "batch": 2, "limits": {"calls": 100`, `{"name": "A"}`, `{"name": "B"}`,
		`{"name": "C"}`)).is(201)
	list := h.planWaits(id, 2)
	var all []map[string]any
	for _, p := range h.get("/api/plans").is(200).list("plans") {
		if strings.HasPrefix(p["process"].(string), id) {
			all = append(all, p)
		}
	}
	if len(all) != 2 {
		t.Errorf("over all processes it lists %v", all)
	}
	for n, plan := range list {
		of := []string{id, url.PathEscape(plan["process"].(string))}[n] // by the whole, and by the part
		g := h.get("/api/processes/" + id + "/graph?digest=" + plan["digest"].(string)).is(200).object()
		if g["waiting"] != true {
			t.Errorf("%v", g)
		}
		done := h.post("/api/processes/"+of+"/plans/decision", `{"decision": "approve", "digest": "`+
			plan["digest"].(string)+`"}`).is(200).object()
		if done["process"] != plan["process"] {
			t.Errorf("%v", done)
		}
	}
	if got := h.states(id); strings.Count(got, "You have seat 4A") != 3 {
		t.Error(got)
	}
}

// What waits in a delegate is listed with its caller, and with the instance that called it.
func TestWhatWaitsInADelegateIsListedWithItsCaller(t *testing.T) {
	h := open(t)
	id := h.Name()
	h.post("/api/processes", map[string]any{
		"id": id,
		"idea": json.RawMessage(`{"schema": {"tools": {"ask": {"type": "object", "_delegate": "ask.json"}}}, "context": [
			{"type": "input", "_instance": "ann", "input": {}}, {"type": "input", "_instance": "bob", "input": {}},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "ask", "_instance": "*"}]}]}`),
		"delegates": map[string]any{"ask.json": json.RawMessage(`{"config": {"approval": {"plan": true}}, "schema": {"tools": {
			"tell": {"type": "object", "properties": {"template": {}, "values": {"type": "object"}}, "required": ["template", "values"],
				"_activity": "formatText", "_approval": {}}}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "template": "x", "values": {}}]}]}`)},
	}).is(201)
	decided := 0
	eventually(t, "the Plans of both delegates are decided on", func() bool {
		for _, plan := range h.get("/api/processes/" + id + "/plans").is(200).list("plans") {
			of := plan["process"].(string)
			if of == id {
				t.Fatalf("%v waits in the caller", plan)
			}
			h.post("/api/processes/"+url.PathEscape(of)+"/plans/decision",
				map[string]any{"decision": "approve", "digest": plan["digest"]}).is(200)
			decided++
		}
		return decided == 2
	})
	h.waiting(id, 2)
	h.waiting(id+"/ann", 1)
	for _, a := range h.waiting(id, 2) {
		h.decide(decisionOn(a, "approve"))
	}
	if got := h.get("/api/processes/" + id + "/result?wait=60").is(200).object()["status"]; got != "completed" {
		t.Error(got)
	}
}
