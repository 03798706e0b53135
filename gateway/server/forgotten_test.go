package server_test

import (
	"testing"

	"processidea/client"
	"processidea/client/forget"
)

func TestWhatWasForgottenIsGone(t *testing.T) {
	h := open(t)
	id := h.begin("short")
	page := "/api/processes/" + id
	h.get(page + "/result?wait=60").is(200)
	o := forget.Options{Actor: client.Actor{Name: "ann", Reason: "asked for it"}}
	if _, err := forget.Process(t.Context(), engineOn, id, o); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"", "/ideas/1", "/ideas/latest", "/diff?from=1&to=2", "/blame?place=x", "/graph", "/events",
	} {
		h.get(page+path).problem(410, "forgotten")
	}
	h.get(page + "/ideas").is(200)
}

// Whoever follows a process while it is forgotten is not left to wait for it.
func TestTheEventsOfAProcessEndWhenItIsForgotten(t *testing.T) {
	h := open(t)
	id := h.begin("When does it come?")
	s := h.follow(id, "")
	s.until(func(e event) bool { return e.kind == "status" && e.data["awaiting"] == float64(1) })
	o := forget.Options{Actor: client.Actor{Name: "ann"}, CancelIfRunning: true}
	if _, err := forget.Process(t.Context(), engineOn, id, o); err != nil {
		t.Fatal(err)
	}
	for isOpen := true; isOpen; {
		_, isOpen = s.next()
	}
	h.get("/api/processes/"+id+"/events").problem(410, "forgotten")
}
