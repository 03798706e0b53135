package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	sdk "go.temporal.io/sdk/client"
)

// schedule is what makes one: that of letter, and what comes on top.
func schedule(id string, more map[string]any) map[string]any {
	s := letter(id, "Why?")
	maps.Copy(s, more)
	return s
}

func TestAScheduleStartsProcessesUntilItIsPausedAndEnded(t *testing.T) {
	h := open(t)
	id := t.Name()
	body := schedule(id, map[string]any{"every": "1s", "overlap": "allow-all", "catchUp": "10s"})
	made := h.post("/api/schedules", body).is(201)
	if got := made.object(); got["id"] != id || got["when"] != "every 1s" || got["path"] != "letter" ||
		made.header.Get("Location") != "/api/schedules/"+id {
		t.Errorf("%s %v", made.body, made.header)
	}
	h.post("/api/schedules", body).problem(409, "exists")
	var first map[string]any
	eventually(t, "it has started two processes", func() bool {
		started := h.get("/api/schedules/" + id).is(200).list("latest")
		if len(started) > 0 {
			first = started[0]
		}
		return len(started) > 1
	})
	process := first["process"].(string)
	if !strings.HasPrefix(process, id+"-20") {
		t.Errorf("it is called %s", process)
	}
	result := h.get("/api/processes/" + process + "/result?wait=60").is(200).object()
	if result["status"] != "completed" {
		t.Errorf("%v", result)
	}
	if by := h.get("/api/processes/" + process + "/ideas/latest").is(200).object(); !strings.Contains(
		fmt.Sprint(by["meta"]), "ann") {
		t.Errorf("nobody has started it: %v", by["meta"])
	}
	eventually(t, "the lists have both", func() bool {
		listed := false
		for _, s := range h.get("/api/schedules").is(200).list("schedules") {
			listed = listed || s["id"] == id && s["when"] == "every 1s"
		}
		processes := h.get("/api/processes?path=letter&limit=200").is(200).list("processes")
		return listed && strings.Contains(fmt.Sprint(processes), process)
	})
	h.post("/api/schedules/"+id+"/pause", map[string]any{"reason": "holidays"}).is(204)
	paused := h.get("/api/schedules/" + id).is(200).object()
	if paused["paused"] != true || paused["note"] != "ann: holidays" {
		t.Errorf("%v", paused)
	}
	h.post("/api/schedules/"+id+"/resume", nil).is(204)
	if again := h.get("/api/schedules/" + id).is(200).object(); again["paused"] != false ||
		len(again["next"].([]any)) == 0 {
		t.Errorf("%v", again)
	}
	latest := len(h.get("/api/schedules/" + id).list("latest"))
	h.post("/api/schedules/"+id+"/now", nil).is(204)
	eventually(t, "one more was started",
		func() bool { return len(h.get("/api/schedules/"+id).is(200).list("latest")) > latest || latest > 8 })
	h.ask("DELETE", "/api/schedules/"+id, nil).is(204)
	eventually(t, "it is gone", func() bool { return h.get("/api/schedules/"+id).status == 404 })
	h.ask("DELETE", "/api/schedules/"+id, nil).problem(404, "not-found")
}

func TestTheNextProcessWaitsWhereTheOneBeforeIsAtWork(t *testing.T) {
	h := open(t)
	id := t.Name()
	body := schedule(id, map[string]any{"every": "1s",
		"instances": []any{map[string]any{"text": "a person looks at this"}}})
	h.post("/api/schedules", body).is(201)
	defer h.ask("DELETE", "/api/schedules/"+id, nil)
	handle := engineOn.Temporal().ScheduleClient().GetHandle(t.Context(), id)
	eventually(t, "a time has passed, as the first process waits for a person", func() bool {
		d, err := handle.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d.Info.NumActionsSkippedOverlap > 0
	})
	started := h.get("/api/schedules/" + id).is(200).list("latest")
	if len(started) != 1 {
		t.Fatalf("%v", started)
	}
	h.decide(decisionOn(h.waiting(started[0]["process"].(string), 1)[0], "approve"))
	eventually(t, "another one is started",
		func() bool { return len(h.get("/api/schedules/"+id).is(200).list("latest")) > 1 })
}

func TestAScheduleThatCannotBeMeantIsRefused(t *testing.T) {
	h := open(t)
	for name, more := range map[string]map[string]any{
		"no times":       {},
		"a bad cron":     {"cron": []string{"every day"}},
		"a bad zone":     {"cron": []string{"@daily"}, "timeZone": "Mars/Olympus"},
		"too often":      {"every": "1ms"},
		"no duration":    {"every": "often"},
		"no catch-up":    {"every": "1h", "catchUp": "soon"},
		"a bad overlap":  {"every": "1h", "overlap": "whatever"},
		"both":           {"every": "1h", "cron": []string{"@daily"}},
		"a bad id":       {"every": "1h", "id": "a/b"},
		"too long an id": {"every": "1h", "id": strings.Repeat("x", 180)},
	} {
		if a := h.post("/api/schedules", schedule("refused", more)); a.status != 422 ||
			strings.Contains(string(a.body), "unexpected property") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	h.post("/api/schedules",
		schedule("refused", map[string]any{"every": "1h", "idea": map[string]any{"contxt": 1}})).problem(422,
		"invalid-idea")
	h.get("/api/schedules/refused").problem(404, "not-found")
}

// Schedules of others in the namespace are not ours to list or to end.
func TestAScheduleThatStartsSomethingElseIsNotShown(t *testing.T) {
	h := open(t)
	other, err := engineOn.Temporal().ScheduleClient().Create(t.Context(), sdk.ScheduleOptions{
		ID: t.Name(), Paused: true, Spec: sdk.ScheduleSpec{Intervals: []sdk.ScheduleIntervalSpec{{Every: 1 << 40}}},
		Action: &sdk.ScheduleWorkflowAction{ID: "other", Workflow: "Other", TaskQueue: "other"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Delete(t.Context())
	h.get("/api/schedules/"+t.Name()).problem(404, "not-found")
	h.ask("DELETE", "/api/schedules/"+t.Name(), nil).problem(404, "not-found")
	h.post("/api/schedules/"+t.Name()+"/pause", nil).problem(404, "not-found")
	h.post("/api/schedules", schedule(t.Name(), map[string]any{"every": "1h"})).problem(409, "exists")
}

// Who begins a run by hand decides on it no more than who made the schedule.
func TestWhoBeginsARunOfAScheduleByHandCountsAsItsStarter(t *testing.T) {
	issuer := newIssuer(t)
	h := issuer.open(t, nil)
	as := func(name string) *house { return h.as(issuer.token(claims{"email": name + "@example.com"})) }
	id := t.Name()
	idea := strings.Replace(string(payout("")["idea"].(json.RawMessage)),
		`"proof": "signed", "by": {"groups": ["finance"], "count": 2,`, `"by": {"groups": ["staff"],`, 1)
	idea = strings.Replace(idea, `"context": [`, `"context": [{"type": "text", "text": "`+
		strings.Repeat("kept in the store ", 1000)+`"}, `, 1)
	as("eve").post("/api/schedules", map[string]any{"id": id, "every": "1000h", "idea": json.RawMessage(idea)}).is(201)
	defer as("eve").ask("DELETE", "/api/schedules/"+id, nil)
	as("ann").post("/api/schedules/"+id+"/now", nil).is(204)
	process := ""
	eventually(t, "it has started a process", func() bool {
		latest := h.as(issuer.token(nil)).get("/api/schedules/" + id).is(200).list("latest")
		if len(latest) > 0 {
			process, _ = latest[0]["process"].(string)
		}
		return process != ""
	})
	waits := as("bob").waiting(process, 1)[0]
	for _, who := range []string{"ann", "eve"} {
		if r := as(who).decide(decisionOn(waits, "approve"))[0]; r["outcome"] != "refused" ||
			!strings.Contains(fmt.Sprint(r["reason"]), "started the process") {
			t.Errorf("%s: %v", who, r)
		}
	}
	if r := as("bob").decide(decisionOn(waits, "approve"))[0]; r["outcome"] != "taken" {
		t.Errorf("%v", r)
	}
}
