package server_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// event is one of a stream.
type event struct {
	id, kind string
	data     map[string]any
}

// stream is events that are being read.
type stream struct {
	*house
	events chan event // closed at the end of the stream
	close  func()
}

// follow reads the events of a process.
//
//nolint:bodyclose // the stream is closed by close
func (h *house) follow(id, last string) *stream {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), "GET", h.url+"/api/processes/"+id+"/events", nil)
	if err != nil {
		h.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		h.Fatalf("%s %v", resp.Status, resp.Header)
	}
	s := &stream{h, make(chan event, 1000), func() { resp.Body.Close() }}
	h.Cleanup(s.close)
	go func() {
		defer close(s.events)
		var e event
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			key, value, _ := strings.Cut(lines.Text(), ": ")
			switch key {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				_ = json.Unmarshal([]byte(value), &e.data)
			case "":
				if e.kind != "" {
					s.events <- e
				}
				e = event{}
			}
		}
	}()
	return s
}

// next gives the next event; ok is false at the end of the stream.
func (s *stream) next() (event, bool) {
	s.Helper()
	select {
	case e, ok := <-s.events:
		return e, ok
	case <-time.After(2 * time.Minute): // far more than it takes
		s.Fatal("no event comes")
		panic("unreachable")
	}
}

// until reads events until one fits, and gives all of them.
func (s *stream) until(fits func(event) bool) (all []event) {
	s.Helper()
	for {
		e, ok := s.next()
		if !ok {
			s.Fatalf("the stream has ended after %v", all)
		}
		if all = append(all, e); fits(e) {
			return all
		}
	}
}

func ideasIn(list []event) (at []int) {
	for _, e := range list {
		if e.kind == "idea" {
			at = append(at, int(e.data["at"].(float64)))
		}
	}
	return at
}

func TestAProcessIsFollowedOverAReconnectAtAnotherGateway(t *testing.T) {
	h, other := open(t), open(t)
	id := h.begin("When does it come?")
	s := h.follow(id, "")
	first, _ := s.next()
	if first.kind != "status" || first.id == "" || first.data["status"] != "running" {
		t.Fatalf("%v", first)
	}
	seen := append([]event{first},
		s.until(func(e event) bool { return e.kind == "status" && e.data["awaiting"] == float64(1) })...)
	last := seen[len(seen)-1]
	s.close()
	// Nobody follows; it goes on.
	waits := h.waiting(id, 1)[0]
	if r := h.decide(decisionOn(waits, "approve")); r[0]["outcome"] != "taken" {
		t.Fatalf("%v", r)
	}
	h.get("/api/processes/" + id + "/result?wait=60").is(200)
	again := other.follow(id, last.id)
	rest := again.until(func(e event) bool { return e.kind == "ended" })
	if _, more := again.next(); more {
		t.Error("something comes after the end")
	}
	end := rest[len(rest)-1]
	if end.data["status"] != "completed" ||
		end.data["instances"].(map[string]any)["①"].(map[string]any)["state"] != nil {
		t.Errorf("%v", end)
	}
	// Every Idea that was sealed after the follower had come is told once, over the reconnect.
	var want []int
	for k := int(first.data["ideas"].(float64)) + 1; k <= int(end.data["ideas"].(float64)); k++ {
		want = append(want, k)
	}
	if got := ideasIn(append(seen, rest...)); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("it tells of the Ideas %v, want %v", got, want)
	}
	if a := h.ask("GET", "/api/processes/"+id+"/events", nil, "Last-Event-ID", end.id); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	h.ask("GET", "/api/processes/"+id+"/events", nil, "Last-Event-ID", "7 of 9").problem(422, "invalid")
}

func TestWhoComesBackAndMissedNothingIsToldNothing(t *testing.T) {
	h := open(t)
	id := h.begin("When does it come?")
	h.waiting(id, 1)
	// Whoever has seen all of what is at rest is told nothing when they come back, but what happens then.
	last := ""
	eventually(t, "it rests", func() bool {
		s := h.follow(id, "")
		first, _ := s.next()
		s.close()
		rests := first.id == last
		last = first.id
		return rests
	})
	s := h.follow(id, last)
	h.post("/api/processes/"+id+"/pause", nil).is(204)
	if e := s.until(func(e event) bool { return e.kind == "status" }); e[len(e)-1].data["status"] != "paused" {
		t.Errorf("%v", e)
	}
	h.post("/api/processes/"+id+"/cancel", nil).is(204)
	s.until(func(e event) bool { return e.kind == "ended" && e.data["status"] == "cancelled" })
}
