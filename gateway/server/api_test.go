package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// letter is a process that writes a note for each instance; a person looks at long ones.
func letter(id string, texts ...string) map[string]any {
	var rows []any
	for _, text := range texts {
		rows = append(rows, map[string]any{"text": text})
	}
	return map[string]any{
		"id": id, "instances": rows,
		"idea": json.RawMessage(`{
			"meta": {"path": "letter", "version": "1"},
			"schema": {"tools": {"note": {
				"description": "Writes a note.", "type": "object", "additionalProperties": false,
				"properties": {"text": {"type": "string"}}, "required": ["text"], "_outputPath": "†state.noted",
				"_approval": {"when": {"properties": {"text": {"minLength": 12}}}}}}},
			"context": [{"type": "text", "text": "Write what the customer wants to know."}, {"type": "data", "kind": "number", "data": 12345678901234567890.10}]}`),
		"replies": `{"solution": {"calls": [{"_tool": "note", "_instance": "*", "text": "†input.text"}], "output": null}}` +
			strings.Repeat("\n"+`{"solution": {"calls": [], "output": null}}`, 4),
	}
}

// begin starts a process of its own for the test.
func (h *house) begin(texts ...string) (id string) {
	h.Helper()
	id = strings.NewReplacer("/", "-").Replace(h.Name())
	h.post("/api/processes", letter(id, texts...)).is(201)
	return id
}

// waiting waits until so many Calls of a process wait, at the inbox too, which follows the server's index, and gives
// them.
func (h *house) waiting(id string, n int) (list []map[string]any) {
	h.Helper()
	eventually(h, fmt.Sprint(n, " Calls of ", id, " wait"), func() bool {
		list = h.get("/api/processes/" + url.PathEscape(id) + "/approvals").is(200).list("approvals")
		return len(list) == n
	})
	eventually(h, "the inbox has the Calls of "+id, func() bool {
		all := h.get("/api/approvals").is(200).list("approvals")
		return !slices.ContainsFunc(list, func(a map[string]any) bool {
			return !slices.ContainsFunc(all, func(b map[string]any) bool {
				return a["process"] == b["process"] && a["call"] == b["call"]
			})
		})
	})
	return list
}

func decisionOn(a map[string]any, kind string, more ...any) map[string]any {
	d := map[string]any{"process": a["process"], "call": a["call"], "digest": a["digest"], "decision": kind}
	for n := 0; n < len(more); n += 2 {
		d[more[n].(string)] = more[n+1]
	}
	return d
}

func (h *house) decide(list ...map[string]any) []map[string]any {
	h.Helper()
	return h.post("/api/decisions", map[string]any{"decisions": list}).is(200).list("results")
}

func TestAProcessIsStartedDecidedOnFollowedAndRead(t *testing.T) {
	h := open(t)
	id := h.begin("When does it come?", "Why?")
	page := "/api/processes/" + id
	if h.get(page).is(200).object()["status"] != "running" {
		t.Error("it is not at work")
	}
	h.get(page+"/result").problem(409, "not-ended")
	waits := h.waiting(id, 1)[0]
	if waits["tool"] != "note" || waits["instance"] != "①" {
		t.Errorf("%v", waits)
	}
	if list := h.get("/api/approvals").is(200).list("approvals"); !slices.ContainsFunc(list,
		func(a map[string]any) bool { return a["process"] == id }) {
		t.Errorf("%v", list)
	}
	if n := len(h.get("/api/processes/" + id + "%2F1/approvals").is(200).list("approvals")); n != 1 {
		t.Errorf("%d wait in the instance", n)
	}
	if n := len(h.get("/api/processes/" + id + "%2F2/approvals").is(200).list("approvals")); n != 0 {
		t.Errorf("%d wait in the other instance", n)
	}
	results := h.decide(
		decisionOn(waits, "approve", "digest", strings.Repeat("0", 64)),
		decisionOn(waits, "amend", "params", map[string]any{"text": "Tomorrow."}, "reason", "it is known"),
		map[string]any{"process": id, "call": "7.7@1", "digest": waits["digest"], "decision": "approve"},
		map[string]any{"process": "nobody", "call": "1.1", "digest": waits["digest"], "decision": "approve"},
		decisionOn(waits, "reject"),
	)
	for n, want := range []string{"refused", "taken", "refused", "invalid", "invalid"} {
		if results[n]["outcome"] != want || (want != "taken") != (results[n]["reason"] != nil) {
			t.Errorf("decision %d: %v", n, results[n])
		}
	}
	if count := results[1]["count"]; fmt.Sprint(count) != "map[have:1 want:1]" {
		t.Error(count)
	}
	result := h.get(page + "/result?wait=60").is(200).object()
	if result["status"] != "completed" {
		t.Fatalf("%v", result)
	}
	if state := result["instances"].(map[string]any)["①"].(map[string]any)["state"]; !strings.Contains(
		fmt.Sprint(state), "text:Tomorrow.") {
		t.Errorf("%v", state)
	}
	chainOf(t, h, page, "ann")
	instances := h.get(page + "/instances?instance=1").is(200).object()["instances"].(map[string]any)
	if len(instances) != 1 || instances["①"] == nil {
		t.Errorf("%v", instances)
	}
	h.get(page+"/instances?instance=77").problem(404, "not-found")
}

// chainOf checks what the chain of a process tells over HTTP.
func chainOf(t *testing.T, h *house, page, by string) {
	t.Helper()
	ideas := h.get(page + "/ideas").is(200).list("ideas")
	last := len(ideas)
	if last < 2 || ideas[0]["at"] != float64(1) {
		t.Fatalf("%v", ideas)
	}
	idea := h.get(fmt.Sprint(page, "/ideas/", last)).is(200)
	if latest := h.get(page + "/ideas/latest").is(200); string(latest.body) != string(idea.body) {
		t.Error("the latest Idea is another one")
	}
	h.get(fmt.Sprint(page, "/ideas/", last+1)).problem(404, "not-found")
	h.get(page+"/ideas/0").problem(422, "invalid")
	diff := h.get(fmt.Sprint(page, "/diff?from=1&to=", last)).is(200)
	if len(diff.list("changes")) == 0 || len(diff.list("decisions")) == 0 {
		t.Errorf("%s", diff.body)
	}
	h.get(page+"/diff?from=1").problem(422, "invalid")
	blame := h.get(page + "/blame?place=" + url.QueryEscape("①:noted")).is(200).object()
	if d, _ := blame["decision"].(map[string]any); d["by"] != by || d["decision"] != "amend" {
		t.Errorf("%v", blame)
	}
	h.get(page+"/blame?place="+url.QueryEscape("①:nothing")).problem(404, "no-value")
	for format, begins := range map[string]string{"mermaid": "flowchart", "dot": "digraph", "svg": "<svg"} {
		g := h.get(page + "/graph?format=" + format).is(200).object()
		if text, _ := g["graph"].(string); !strings.HasPrefix(text, begins) || g["calls"] != float64(1) {
			t.Errorf("%v", g)
		}
	}
	h.get(page+"/graph?format=png").problem(422, "invalid")
}

func TestAStartIsIdempotentByIDAndContent(t *testing.T) {
	h := open(t)
	body := letter("idempotent", "Why?")
	first := h.post("/api/processes", body)
	if first.status != 201 || first.header.Get("Location") != "/api/processes/idempotent" {
		t.Fatalf("%d %v %s", first.status, first.header, first.body)
	}
	again := h.post("/api/processes", body).is(200).object()
	if again["attached"] != true || again["process"] != "idempotent" {
		t.Errorf("%v", again)
	}
	h.post("/api/processes", letter("idempotent", "How?")).problem(409, "other-start")
	// Numbers go in as they were written.
	idea := string(h.waitIdea("idempotent").body)
	if !strings.Contains(idea, "12345678901234567890.10") {
		t.Errorf("%s", idea)
	}
	made := h.post("/api/processes",
		func() any { b := letter("", "Why?"); delete(b, "id"); return b }()).is(201).object()
	if id, _ := made["process"].(string); !strings.HasPrefix(id, "letter-") {
		t.Errorf("%v", made)
	}
}

// waitIdea waits for the latest Idea of a process that ends by itself.
func (h *house) waitIdea(id string) *answer {
	h.Helper()
	h.get("/api/processes/" + id + "/result?wait=60").is(200)
	return h.get("/api/processes/" + id + "/ideas/latest").is(200)
}

func TestWhatIsWrongIsToldWithItsPlace(t *testing.T) {
	h := open(t)
	p := h.post("/api/processes",
		`{"idea": {"context": [{"type": "text"}], "schema": {"tools": {"a": {"_outputPath": 7}}}}}`).problem(422,
		"invalid-idea")
	if list, _ := p["problems"].([]any); len(list) == 0 ||
		!strings.HasPrefix(list[0].(map[string]any)["path"].(string), "$.") {
		t.Errorf("%v", p)
	}
	for body, path := range map[string]string{
		`{}`:                                 "body",
		`{"idea": 7}`:                        "body.idea",
		`{"idea": {}, "Id": "x"}`:            "body.Id",
		`{"idea": {}, "id": "a/b"}`:          "body.id",
		`{"idea": {}, "instances": [7]}`:     "body.instances[0]",
		`{"idea": {}, "instances": {}}`:      "body.instances",
		"\uFEFF" + `{"idea": {}, "id": 7}`:   "body.id",
		`{"idea": {"a": 1, "a": 2}}`:         "",
		`{"idea": `:                          "body",
		`{"idea": {}, "id": "\u0000"}`:       "body.id",
		`{"idea": {}, "delegates": {"a":1}}`: "body.delegates.a",
	} {
		p := h.post("/api/processes", body).object()
		code, _ := p["code"].(string)
		if !strings.HasPrefix(code, "invalid") {
			t.Errorf("%s: %v", body, p)
		}
		if list, _ := p["problems"].([]any); path != "" &&
			(len(list) == 0 || list[0].(map[string]any)["path"] != path) {
			t.Errorf("%s: want the place %s: %v", body, path, p)
		}
	}
	h.ask("POST", "/api/processes", "idea: {}", "Content-Type", "text/plain").problem(415, "media-type")
	h.get("/api/processes/nobody").problem(404, "not-found")
	h.get("/api/processes/nobody/events").problem(404, "not-found")
	h.get("/api/processes/nobody/ideas").problem(404, "not-found")
	h.get("/api/nothing").problem(404, "not-found")
	h.get("/api/processes?limit=1000").problem(422, "invalid")
	h.get("/api/processes?colour=red").problem(422, "invalid")
	h.get("/api/processes?page=%25").problem(422, "invalid")
	h.get("/api/processes?page=AAAA").problem(422, "invalid")
	if a := h.ask("DELETE", "/api/processes", nil); a.problem(405, "method-not-allowed") == nil ||
		!slices.Equal(a.header.Values("Allow"), []string{"GET", "POST"}) {
		t.Errorf("%v", a.header)
	}
	h.post("/api/processes/nobody/pause", `{}`).problem(404, "not-found")
	h.post("/api/decisions", `{"decisions": []}`).problem(422, "invalid")
}

func TestWhatIsSaidOfACallStandsBesideItAndWhoItIsHandedOverToDecides(t *testing.T) {
	h := open(t)
	id := h.begin("When does it come?", "Why?")
	waits := h.waiting(id, 1)[0]
	for n, one := range h.decide(
		decisionOn(waits, "ask", "by", "ann", "to", "bob", "reason", "is it so?"),
		decisionOn(waits, "comment", "by", "bob"),
		decisionOn(waits, "hand-over", "by", "ann", "to", "bob"),
		decisionOn(waits, "approve", "by", "ann"),
	) {
		if want := []string{"taken", "invalid", "taken", "refused"}[n]; one["outcome"] != want {
			t.Errorf("%d: %v", n, one)
		}
	}
	remarks, _ := h.waiting(id, 1)[0]["remarks"].([]any)
	if len(remarks) != 2 || remarks[1].(map[string]any)["to"] != "bob" {
		t.Errorf("%v", remarks)
	}
	if one := h.decide(decisionOn(waits, "approve", "by", "bob"))[0]; one["outcome"] != "taken" {
		t.Errorf("%v", one)
	}
}

func TestProcessesAreListedByPagesAndFilters(t *testing.T) {
	h := open(t)
	for n := range 5 {
		h.post("/api/processes", map[string]any{
			"id": fmt.Sprint("listed-", n),
			"idea": json.RawMessage(
				`{"meta": {"path": "it's \\ listed"}, "context": [{"type": "plan", "stage": "optimal", "plan": []}]}`),
		}).is(201)
	}
	seen, pages := map[string]bool{}, 0
	eventually(t, "all are listed as completed", func() bool {
		clear(seen)
		pages = 0
		query := "?limit=2&status=completed&path=" + url.QueryEscape(`it's \ listed`)
		for page := ""; ; pages++ {
			a := h.get("/api/processes" + query + page).is(200)
			for _, p := range a.list("processes") {
				seen[p["process"].(string)] = true
			}
			next, _ := a.object()["next"].(string)
			if next == "" {
				return len(seen) == 5
			}
			page = "&page=" + next
		}
	})
	if pages < 2 {
		t.Errorf("%d pages", pages)
	}
	if list := h.get("/api/processes?status=failed&path=" + url.QueryEscape(`it's \ listed`)).is(200).list(
		"processes"); len(list) != 0 {
		t.Errorf("%v", list)
	}
	id := h.begin("When does it come?")
	h.waiting(id, 1)
	eventually(t, "it is listed as one that waits", func() bool {
		list := h.get("/api/processes?awaiting=true&status=running").is(200).list("processes")
		return slices.ContainsFunc(list,
			func(p map[string]any) bool { return p["process"] == id && p["awaiting"] == float64(1) })
	})
	h.post("/api/processes/"+id+"/cancel", nil).is(204)
}

func TestAProcessIsSteeredAndForked(t *testing.T) {
	h := open(t)
	id := h.begin("When does it come?")
	page := "/api/processes/" + id
	h.waiting(id, 1)
	h.post(page+"/pause", `{"reason": "lunch"}`).is(204)
	if h.get(page).object()["status"] != "paused" {
		t.Error("it is not paused")
	}
	h.post(page+"/add", `{"instances": [{"text": "And how does it come here?"}]}`).is(204)
	h.post(page+"/resume", `{"limits": {"duration": "soon"}}`).problem(422, "invalid")
	if n := len(h.post("/api/processes/resume", `{"because": "another"}`).is(200).list("processes")); n != 0 ||
		h.get(page).object()["status"] != "paused" {
		t.Errorf("%d processes are resumed that are paused for another reason", n)
	}
	h.post(page+"/resume", `{"limits": {"calls": 50}, "reason": "fed"}`).is(204)
	h.post(page+"/resume", nil).problem(409, "refused")
	h.post(page+"/revise", `{"context": [{"type": "state", "_instance": "①", "seen": 1.10}], "reason": "known"}`).is(
		204)
	h.post(page+"/revise", `{"context": [{"type": "state", "_instance": "nobody", "seen": true}]}`).problem(409,
		"refused")
	ideas := h.get(page + "/ideas").is(200).list("ideas")
	fork := h.post(page+"/fork", map[string]any{"at": len(ideas), "set": []string{`①:seen=7`},
		"replies": `{"solution": {"calls": [], "output": null}}`}).is(201)
	child, _ := fork.object()["process"].(string)
	if child != id+"-fork-1" {
		t.Errorf("%s", fork.body)
	}
	h.post(page+"/fork", `{"at": 99}`).problem(404, "not-found")
	h.post(page+"/fork", `{"at": 1, "set": ["nonsense"]}`).problem(422, "invalid")
	h.post(page+"/fork", `{"at": 1, "file": "/etc/passwd"}`).problem(422, "invalid")
	h.post(page+"/cancel", nil).is(204)
	if r := h.get(page + "/result?wait=30").is(200).object(); r["status"] != "cancelled" {
		t.Errorf("%v", r["status"])
	}
	h.post(page+"/cancel", nil).problem(409, "refused")
	h.post(page+"/pause", nil).problem(409, "refused")
	h.post("/api/processes/"+child+"/cancel", nil).is(204)
}

func TestAnIDWithASlashIsOneSegment(t *testing.T) {
	h := open(t)
	id := h.begin("When does it come?")
	h.waiting(id, 1)
	p := h.get("/api/processes/"+id+"%2F1").problem(404, "not-found")
	if !strings.Contains(p["detail"].(string), "an instance of "+id) {
		t.Errorf("%v", p)
	}
	h.get("/api/processes/"+id+"%2F1/events").problem(404, "not-found")
	h.get("/api/processes/"+id+"/1").problem(404, "not-found")
	for _, trick := range []string{"%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%2F..", "%00", id + "%2F..%2F" + id, "%2F",
		"a%5C..%5Cb"} {
		if a := h.get("/api/processes/" + trick + "/ideas"); a.status != 404 {
			t.Errorf("%s: %d %s", trick, a.status, a.body)
		}
		if a := h.get("/api/processes/" + trick); a.status != 404 {
			t.Errorf("%s: %d %s", trick, a.status, a.body)
		}
	}
	h.post("/api/processes/"+id+"/cancel", nil).is(204)
}

func TestThePausedAreListedAndResumedByTheirReason(t *testing.T) {
	h := open(t)
	id := h.post("/api/processes", `{"idea": {"schema": {"tools": {"letter": {"type": "object", "properties": {},
		"_activity": {"http": {"url": "https://shop.invalid"}}}}}, "context": [{"type": "plan", "stage": "complete",
		"plan": [{"_tool": "letter"}]}]}}`).is(201).object()["process"].(string)
	find := func(list []map[string]any) map[string]any {
		n := slices.IndexFunc(list, func(p map[string]any) bool { return p["process"] == id })
		if n < 0 {
			return nil
		}
		return list[n]
	}
	eventually(t, "it is listed as paused", func() bool {
		return find(h.get("/api/processes?status=paused").is(200).list("processes")) != nil
	})
	resumed := find(h.post("/api/processes/resume", `{"because": "not_allowed"}`).is(200).list("processes"))
	if resumed["code"] != "not_allowed" || resumed["resumed"] != true {
		t.Errorf("%v", resumed)
	}
	h.post("/api/processes/"+id+"/cancel", nil).is(204)
}
