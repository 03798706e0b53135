package server_test

import (
	"strings"
	"testing"
)

func TestWhatAProcessDidIsTakenBackOverHTTP(t *testing.T) {
	h := open(t)
	idea := `{"schema": {"tools": {
		"tell": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_undo": {"tool": "strike", "params": {"text": "†result.text"}}},
		"strike": {"properties": {"text": {"type": "string"}}, "_activity": "note"}}},
		"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "text": "††a"}, {"_tool": "tell", "text": "b"},
			{"_tool": "strike", "text": "c"}]}]}`
	started := h.post("/api/processes", `{"idea": `+idea+`}`).is(201).object()
	id, _ := started["process"].(string)
	page := "/api/processes/" + id
	h.get(page + "/result?wait=30").is(200)
	h.post(page+"/undo", `{"dryRun": true}`).problem(422, "invalid")
	h.post(page+"/undo", `{"reason": "x", "call": "0.9"}`).problem(422, "invalid")
	h.post(page+"/undo", `{"reason": "x", "to": 99}`).problem(404, "not-found")
	h.post("/api/processes/nobody/undo", `{"reason": "x"}`).problem(404, "not-found")
	dry := h.post(page+"/undo", `{"reason": "x", "dryRun": true}`).is(200)
	if !strings.Contains(string(dry.body),
		`"undo":[{"call":"0.2","tool":"strike","params":{"text":"b"}},{"call":"0.1","tool":"strike","params":{"text":"†a"}}],"cannot":[{"call":"0.3","tool":"strike","because":"nothing takes strike back"}],"kept":[]`) {
		t.Errorf("%s", dry.body)
	}
	h.post(page+"/undo", `{"reason": "x", "as": "`+id+`"}`).problem(422, "invalid")
	done := h.post(page+"/undo", `{"reason": "it was not meant", "as": "back-of-`+id+`"}`).is(201).object()
	if done["as"] != "back-of-"+id {
		t.Errorf("%v", done)
	}
	r := h.get("/api/processes/back-of-" + id + "/result?wait=30").is(200).object()
	if r["status"] != "completed" {
		t.Errorf("%v", r)
	}
	h.post(page+"/undo", `{"reason": "again"}`).problem(422, "invalid")
}

func TestAPersonReadsThatACallCannotBeTakenBack(t *testing.T) {
	h := open(t)
	for undo, final := range map[string]bool{
		`"never"`: true, `"none"`: false, `{"tool": "strike", "params": {"text": "x"}}`: false,
	} {
		idea := `{"schema": {"tools": {
			"tell": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_approval": true, "_undo": ` + undo + `},
			"strike": {"properties": {"text": {"type": "string"}}, "_activity": "note"}}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "text": "a"}]}]}`
		id, _ := h.post("/api/processes", `{"idea": `+idea+`}`).is(201).object()["process"].(string)
		h.waiting(id, 1)
		p := h.browse().open("/desk/calls/" + id + "/0.1").is(200)
		if final {
			p.says("it cannot be taken back")
		} else {
			p.lacks("it cannot be taken back")
		}
		h.post("/api/processes/"+id+"/cancel", nil).is(204)
	}
}
