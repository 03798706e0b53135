package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"processidea/client"
	"processidea/internal/longrun"
)

// total is how many calls the gateways made of the Temporal server.
func (c *callCounter) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.byMethod {
		n += k
	}
	return n
}

// allowed is what those who follow processes may have cost since then: a gateway makes at most 50 calls a second for
// all of them.
func allowed(since time.Time, more int) int { return more + 50*int(1+time.Since(since).Seconds()) }

// visibilityReads is how many requests the gateways made that Temporal answers from its index of executions and
// schedules, whose rate servers limit apart.
func (c *callCounter) visibilityReads() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for method, k := range c.byMethod {
		if method == "ListWorkflowExecutions" || method == "CountWorkflowExecutions" || method == "ListSchedules" {
			n += k
		}
	}
	return n
}

// Ten people who read every page as fast as they come, beside ten programs that list, stay under the ten reads a second
// that a server of one's own allows.
func TestTenPeopleReadTheIndexSeldom(t *testing.T) {
	const people, rounds = 10, 10
	h := open(t)
	id := h.begin("a text that somebody must look at")
	h.waiting(id, 1)
	pages := []string{"/", "/desk/processes", "/desk/processes?status=paused", "/desk/insights", "/desk/decided",
		"/desk/processes/" + id, "/desk/processes/" + id + "/idea", "/desk/processes/" + id + "/verify"}
	before, since := calls.visibilityReads(), time.Now()
	var all errgroup.Group
	for range people {
		b := h.browse()
		all.Go(func() error {
			for range rounds {
				for _, page := range pages {
					b.open(page).is(200)
				}
			}
			return nil
		})
		all.Go(func() error {
			for range rounds {
				h.get("/api/processes").is(200)
				h.get("/api/approvals").is(200)
				h.get("/api/insights").is(200)
				h.get("/api/schedules").is(200)
			}
			return nil
		})
	}
	_ = all.Wait()
	n, seconds := calls.visibilityReads()-before, time.Since(since).Seconds()
	if n > 10*int(1+seconds) {
		t.Errorf("%d reads in %.1f s", n, seconds)
	}
	t.Logf("%d people: %d reads in %.1f s", people, n, seconds)
	// What the command line asks for once, whoever types it.
	for name, ask := range map[string]func() error{
		"list":      func() error { _, err := engineOn.List(t.Context(), client.ListOptions{Limit: 20}); return err },
		"approvals": func() error { _, err := engineOn.ListWaiting(t.Context()); return err },
	} {
		before := calls.visibilityReads()
		if err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := calls.visibilityReads() - before; n > 2 {
			t.Errorf("%s makes %d reads", name, n)
		}
	}
	h.post("/api/processes/"+id+"/cancel", nil).is(204)
}

func isEnd(e event) bool { return e.kind == "ended" }

func TestTwoHundredFollowOneProcess(t *testing.T) {
	const followers = 200
	h := open(t)
	id := h.begin("a text that somebody must look at")
	waits := h.waiting(id, 1)
	before, since := calls.total(), time.Now()
	var streams []*stream
	for range followers {
		s := h.follow(id, "")
		streams = append(streams, s)
		s.until(func(e event) bool { return e.kind == "status" && e.data["awaiting"] == 1.0 })
	}
	if n := calls.total() - before; n > 30+10*int(1+time.Since(since).Seconds()) {
		t.Errorf("%d calls to tell %d followers the same", n, followers)
	}
	idle := h.follow(id, "") // one that nobody reads further
	h.decide(decisionOn(waits[0], "approve"))
	for _, s := range streams {
		s.until(isEnd)
	}
	if n := calls.total() - before; n > 120+10*int(1+time.Since(since).Seconds()) {
		t.Errorf("%d calls until %d followers knew of the end", n, followers)
	}
	t.Logf("%d followers: %d calls in %.0f s", followers, calls.total()-before, time.Since(since).Seconds())
	idle.until(isEnd)
}

func TestOneFollowsManyProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	processes := longrun.RepeatCount(50, 200)
	h := open(t)
	ids := make([]string, processes)
	for n := range ids {
		ids[n] = fmt.Sprintf("%s-%d", h.Name(), n)
		h.post("/api/processes", letter(ids[n], "a text that somebody must look at")).is(201)
	}
	before, since := calls.total(), time.Now()
	streams := make([]*stream, processes)
	for n, id := range ids {
		streams[n] = h.follow(id, "")
	}
	for _, s := range streams {
		s.until(func(e event) bool { return e.kind == "status" && e.data["awaiting"] == 1.0 })
	}
	if n := calls.total() - before; n > allowed(since, 2*processes) {
		t.Errorf("%d calls in %v", n, time.Since(since))
	}
	t.Logf("%d processes: %d calls in %.0f s", processes, calls.total()-before, time.Since(since).Seconds())
	var cancels errgroup.Group
	cancels.SetLimit(8) // what is measured is over: all at once would be a test of the server
	for _, id := range ids {
		cancels.Go(func() error { h.post("/api/processes/"+id+"/cancel", nil).is(204); return nil })
	}
	_ = cancels.Wait()
	for _, s := range streams {
		s.until(isEnd)
	}
}

// What looks like a path to elsewhere is an id that no process has, or a page that there is not.
func TestPathsLeadNowhereElse(t *testing.T) {
	h := open(t)
	for path, status := range map[string]int{
		"/api/processes/..%2f..%2fetc%2fpasswd":       404,
		"/api/processes/%2e%2e":                       404,
		"/api/processes/a%00b":                        404,
		"/hooks/..%2f..%2fsecret":                     404,
		"/api/processes/" + strings.Repeat("x", 3000): 404,
		"/etc/passwd":                                 404,
	} {
		method := "GET"
		if strings.HasPrefix(path, "/hooks") {
			method = "POST"
		}
		a := h.ask(method, path, map[bool]any{true: "{}", false: nil}[method == "POST"])
		if a.status != status || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s is answered %d: %s", path, a.status, a.body)
		}
	}
}
