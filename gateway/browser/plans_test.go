package browser_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// trips is a process whose Plans wait as a whole; for each instance the LLM plans a booking and a note.
func trips(id, config string, rows ...string) map[string]any {
	return map[string]any{
		"id": id, "instances": json.RawMessage("[" + strings.Join(rows, ",") + "]"),
		"replies": `{"solution": {"calls": [{"_tool": "book", "_instance": "*", "template": "seat {seat}", "values": {"seat": "4A"}}, ` +
			`{"_tool": "tell", "_instance": "*", "template": "You have {seat}", "values": {"seat": "†state.seat"}}], "output": null}}` +
			strings.Repeat("\n"+`{"solution": {"calls": [], "output": null}}`, 5),
		"idea": json.RawMessage(`{
			"meta": {"path": "trip", "version": "1"}, "config": {"approval": {"plan": true` + config + `}},
			"schema": {"tools": {
				"book": {"description": "Books a seat.", "type": "object", "additionalProperties": false, "required": ["template", "values"],
					"properties": {"template": {"type": "string"}, "values": {"type": "object", "properties": {"seat": {"type": "string", "description": "As on the ticket."}}}},
					"_activity": "formatText", "_outputPath": "†state.seat"},
				"tell": {"description": "Writes to the guest.", "type": "object", "required": ["template", "values"],
					"properties": {"template": {"type": "string"}, "values": {"type": "object"}}, "_activity": "formatText", "_outputPath": "†state.receipt"}}},
			"context": [{"type": "text", "text": "Plan the trip."}]}`),
	}
}

// planned begins a trip, waits until its Plan waits, and gives that. The process is ended with the test.
func (h *house) planned(start map[string]any) (plan map[string]any) {
	h.Helper()
	if status, answer := h.ask("POST", "/api/processes", start); status != http.StatusCreated {
		h.Fatalf("it was not started: %d %v", status, answer)
	}
	id := url.PathEscape(start["id"].(string))
	h.Cleanup(func() { _, _ = h.ask("POST", "/api/processes/"+id+"/cancel", map[string]any{}) })
	eventually(h, "the Plan of "+id+" waits", func() bool {
		_, answer := h.ask("GET", "/api/plans", nil)
		list, _ := answer["plans"].([]any)
		for _, one := range list {
			if p, _ := one.(map[string]any); p["process"] == start["id"] {
				plan = p
			}
		}
		return plan != nil
	})
	return plan
}

func TestAPersonChangesAPlanAndHasItRunInABrowser(t *testing.T) {
	for _, scripts := range []bool{true, false} {
		h := open(t)
		id := h.Name() + jsonText(scripts)
		h.planned(trips(id, "", `{"name": "Ann"}`))
		b := h.browse()
		if !scripts {
			b.withoutScripts()
		}
		b.open("/?process=" + id)
		b.says("1 Plan waits for you", "Book, Tell")
		b.press(link("Plan 1"))
		b.says("nothing of it has begun", "Tell: You have {seat}")
		if loaded := js[int](b, `document.querySelector(".picture img").naturalWidth`); loaded == 0 {
			t.Error("the picture of the Plan is not shown")
		}
		b.click(summary("Change the plan"))
		b.click(`//input[@name="keep" and @value="2"]`)
		b.press(`//button[@name="edit" and @value="1"]`)
		b.says("Change step 1.1 Book", "As on the ticket.")
		b.write(`//*[@id="c1/values/seat"]`, "5B")
		b.click(summary("add a step"))
		b.write("#new", `{"_tool": "tell", "_instance": "*", "template": "By hand: {seat}"}`)
		b.press(button("Add it to the Plan"))
		b.says("Added step 1")
		b.press(button("Have it run as changed"))
		b.says("as you have changed them")
		b.press(button("Have it run as changed"))
		b.says("values") // which the Tool wants, and the Call lacks
		b.write(
			"#added-1",
			`{"_tool": "tell", "_instance": "*", "template": "By hand: {seat}", "values": {"seat": "†state.seat"}}`)
		b.press(button("Have it run as changed"))
		b.press(button("Have it run as changed"))
		b.says("The Plan is changed.")
		if got := h.receipts(id); got != "By hand: seat 5B" {
			t.Error(got)
		}
	}
}

func TestAPlanThatChangedMeanwhileIsShownAnewInABrowser(t *testing.T) {
	h := open(t)
	id := h.Name()
	plan := h.planned(trips(id, `, "by": {"count": 2}`, `{"name": "Ann"}`))
	b := h.browse()
	b.open("/desk/plans/" + id)
	status, answer := h.ask("POST", "/api/processes/"+id+"/plans/decision",
		map[string]any{"decision": "amend", "digest": plan["digest"], "by": "bob",
			"calls": []any{map[string]any{"_tool": "tell", "_instance": "*", "template": "Not by us",
				"values": map[string]any{}}}})
	if status != http.StatusOK {
		t.Fatal(status, answer)
	}
	if status := b.press(button("Approve the Plan")); status != http.StatusConflict {
		t.Errorf("it answers %d", status)
	}
	b.says("has changed since you looked", "Not by us")
	b.lacks("4A")
	b.press(button("Approve the Plan"))
	b.says("The Plan is approved.")
	if got := h.receipts(id); got != "Not by us" {
		t.Error(got)
	}
}

func TestThePersonAtTheKeyboardApprovesAPlan(t *testing.T) {
	h := open(t)
	id := h.Name()
	h.planned(trips(id, "", `{"name": "Ann"}`))
	b := h.browse()
	b.open("/?process=" + id)
	b.tabTo("the Plan", func(f focused) bool {
		return f.Kind == "a" && strings.Contains(f.Text, "Plan 1")
	})
	b.enter()
	b.says("nothing of it has begun")
	reachesAll(b)
	b.open("/desk/plans/" + id)
	b.tabTo("the button", func(f focused) bool { return f.Text == "Approve the Plan" })
	b.enter()
	b.says("The Plan is approved.")
}
