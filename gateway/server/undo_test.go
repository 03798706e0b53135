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
	h.post(page+"/undo", `{"dryRun": true}`).is(200)
	h.post(page+"/undo", `{"reason": "x", "call": "0.9"}`).problem(422, "invalid")
	h.post(page+"/undo", `{"reason": "x", "to": 99}`).problem(404, "not-found")
	h.post("/api/processes/nobody/undo", `{"reason": "x"}`).problem(404, "not-found")
	for _, beside := range []string{`"to": 2`, `"instance": ""`, `"instance": "④"`} {
		h.post(page+"/undo", `{"reason": "x", "call": "0.1", `+beside+`}`).problem(422, "invalid")
	}
	h.post(page+"/undo", `{}`).problem(422, "invalid")
	dry := h.post(page+"/undo", `{"dryRun": true}`).is(200)
	if !strings.Contains(string(dry.body),
		`"undo":[{"call":"0.2","tool":"strike","params":{"text":"b"}},{"call":"0.1","tool":"strike","params":{"text":"†a"}}],"cannot":[{"call":"0.3","tool":"strike","because":"nothing takes strike back"}],"kept":[]`) {
		t.Errorf("%s", dry.body)
	}
	h.post(page+"/undo", `{"reason": "x", "as": "`+id+`"}`).problem(409, "other-start")
	done := h.post(page+"/undo", `{"reason": "it was not meant", "as": "back-of-`+id+`"}`).is(201).object()
	if done["as"] != "back-of-"+id {
		t.Errorf("%v", done)
	}
	r := h.get("/api/processes/back-of-" + id + "/result?wait=30").is(200).object()
	if r["status"] != "completed" {
		t.Errorf("%v", r)
	}
	for _, again := range []string{``, `, "call": "0.3"`, `, "as": "x"`, `, "to": 1`} {
		h.post(page+"/undo", `{"reason": "again"`+again+`}`).problem(409, "refused")
	}
	for _, at := range []string{page, "/api/processes?limit=200"} {
		if said := string(h.get(at).is(200).body); !strings.Contains(said, `"undoneBy":["back-of-`+id+`"]`) {
			t.Errorf("%s: %s", at, said)
		}
	}
}

// A process at work is paused before it is known what it did: where nothing is taken back then, it goes on; one that was
// paused before stays so.
func TestAProcessGoesOnWhoseUndoIsRefused(t *testing.T) {
	h := open(t)
	id := h.begin("When does it come?")
	h.waiting(id, 1)
	page := "/api/processes/" + id
	for _, status := range []string{"running", "paused"} {
		for _, body := range []string{`{"reason": "x", "call": "0.9"}`, `{"reason": "x"}`} {
			said := string(h.post(page+"/undo", body).body)
			if strings.Contains(said, "paused now") || !strings.Contains(said, "there is no Call 0.9") &&
				!strings.Contains(said, "there is nothing to take back") {
				t.Error(said)
			}
			if got := h.get(page).object()["status"]; got != status {
				t.Errorf("%s: it is %v", body, got)
			}
		}
		if status == "running" {
			h.post(page+"/pause", `{}`).is(204)
		}
	}
	h.post(page+"/cancel", nil).is(204)
}

// At the desk it is shown first, in the words of the business, and then done under a reason.
func TestWhatAProcessDidIsTakenBackAtTheDesk(t *testing.T) {
	h := open(t)
	idea := `{"schema": {"tools": {
		"tell": {"_title": "†` + "`Tell ${input.who}`" + `", "properties": {"text": {"type": "string"}}, "_activity": "note", "_approval": true,
			"_undo": {"tool": "strike", "params": {"text": "†result.text"}}},
		"strike": {"title": "Strike out", "properties": {"text": {"type": "string"}}, "_activity": "note"}}},
		"context": [{"type": "input", "_instance": "①", "input": {"who": "Ada"}}, {"type": "input", "_instance": "②", "input": {"who": "Bob"}},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "text": "Moved"}, {"_tool": "strike", "text": "the old one"}]}]}`
	id, _ := h.post("/api/processes", `{"idea": `+idea+`}`).is(201).object()["process"].(string)
	for _, a := range h.waiting(id, 2) {
		h.decide(decisionOn(a, "approve"))
	}
	h.get("/api/processes/" + id + "/result?wait=30").is(200)
	desk := h.browse()
	page := desk.open("/desk/processes/" + id).is(200)
	all := page.link("Take back what it did").is(200).says("Take back 2 steps",
		"What would be taken back", "Tell Ada ① by this: Strike out: Moved", "Tell Bob ②",
		"What cannot be taken back", "Strike out: the old one ① nothing takes it back")
	all.link("This alone").is(200).says("one step, and all that read from it", "Tell Ada").lacks("Tell Bob")
	page.link("Take back").is(200).says("of ① alone", "Take back 1 step").lacks("Tell Bob")
	desk.open("/desk/calls/" + id +
		"/0.1@②").is(200).says("It is done.").link("Take it back").is(200).says("Take back 1 step")
	f := all.form("Take back 2")
	f.values.Set("review", "yes")
	if again := f.press("Take back").is(422).says("give a reason").form("Take back 2"); again.values.Get("review") != "yes" {
		t.Errorf("the form has %v", again.values)
	}
	h.post("/api/processes/"+id+"/undo", `{"reason": "x", "instance": "①", "as": "by-hand-`+id+`"}`).is(201)
	h.get("/api/processes/by-hand-" + id + "/result?wait=30").is(200)
	now := all.form("Take back 2").set("reason", "it was the wrong one").press("Take back").is(200).says("More has happened",
		"Take back 1 step", "What stays", "it was taken back by by-hand-"+id)
	now.form("Take back 1").set("reason", "it was the wrong one").press("Take back").is(200).says(id + "-undo-1")
	h.get("/api/processes/" + id + "-undo-1/result?wait=30").is(200)
	desk.open("/desk/processes/"+id).says("It is taken back by by-hand-"+id, "It is taken back by "+id+"-undo-1")
	desk.open("/desk/processes/"+id+"-undo-1").is(200).says("It takes back what "+id+" did", "it was the wrong one").
		link(id).is(200).says("It is taken back by " + id + "-undo-1")
}

// A person has not agreed to what was not shown: that something cannot be taken back, though the steps are the same.
func TestWhatCannotBeTakenBackIsShownBeforeTheRestIs(t *testing.T) {
	h := open(t)
	idea := `{"schema": {"tools": {
		"tell": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_undo": {"tool": "strike", "params": {"text": "x"}}},
		"sign": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_approval": true, "_undo": "never"},
		"strike": {"properties": {"text": {"type": "string"}}, "_activity": "note"}}},
		"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "text": "a"}, {"_tool": "sign", "text": "b"},
			{"_tool": "sign", "text": "c", "_after": "†call.0.2"}]}]}`
	id, _ := h.post("/api/processes", `{"idea": `+idea+`}`).is(201).object()["process"].(string)
	first := h.waiting(id, 1)[0]
	page := "/api/processes/" + id
	h.post(page+"/pause", `{}`).is(204)
	eventually(h, "it is on record what it did", func() bool {
		return strings.Contains(string(h.post(page+"/undo", `{"dryRun": true}`).is(200).body), `"call":"0.1"`)
	})
	shown := h.browse().open("/desk/processes/" + id + "/undo").is(200).lacks("What cannot be taken back")
	h.post(page+"/resume", `{}`).is(204)
	h.decide(decisionOn(first, "approve"))
	eventually(h, "the next one waits", func() bool { return h.waiting(id, 1)[0]["call"] != first["call"] })
	signed := "/desk/calls/" + id + "/" + first["call"].(string)
	eventually(h, "it is on record that it has happened", func() bool {
		return strings.Contains(h.browse().open(signed).source, "It is done.")
	})
	h.browse().open(signed).is(200).lacks("Take it back")
	again := shown.form("Take back 1").set("reason", "x").press("Take back").is(200).says("More has happened",
		"What cannot be taken back", "nothing takes it back", "Take back 1 step")
	again.form("Take back 1").set("reason", "x").press("Take back").is(200).lacks("More has happened")
	h.post(page+"/cancel", nil).is(204)
}

// What keeps a Call is told by its sentence, and values that are too large for a history are read.
func TestTheDeskTellsInWordsWhatKeepsACallHoweverLargeItIs(t *testing.T) {
	h := open(t)
	idea := `{"schema": {"tools": {
		"tell": {"_title": "†` + "`Tell ${text}`" + `", "properties": {"text": {"type": "string"}}, "_activity": "note",
			"_undo": {"tool": "strike", "params": {"text": "†params.text"}}},
		"strike": {"_title": "†` + "`Strike out ${text}`" + `", "properties": {"text": {"type": "string"}}, "_activity": "note"}}},
		"context": [{"type": "state", "state": {"ada": "Ada ` + strings.Repeat("x", 70_000) + `"}},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "text": "†state.ada", "_outputPath": "told"},
			{"_tool": "tell", "text": "†state.ada"}, {"_tool": "strike", "text": "†state.told.text"}]}]}`
	id, _ := h.post("/api/processes", `{"idea": `+idea+`}`).is(201).object()["process"].(string)
	h.get("/api/processes/" + id + "/result?wait=30").is(200)
	h.browse().open("/desk/processes/"+id+"/undo").is(200).says("by this: Strike out Ada xxx", "“Strike out Ada xxx",
		"reads from it and is not taken back").lacks("0.3 (strike) reads from it")
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
