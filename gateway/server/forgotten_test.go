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
