package service_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/client"

	"processidea/client"
	"processidea/connect"
	"processidea/internal/devserver/devtest"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/worker/workertest"
)

// rated is a namespace with workers, and a server that is their LLM's and their Tools': it notes when it is asked.
type rated struct {
	*client.Client
	t   *testing.T
	url string
	env []string

	mu    sync.Mutex
	asked []time.Time
}

func newRated(t *testing.T) *rated {
	t.Helper()
	if testing.Short() {
		t.Skip("it has a server")
	}
	t.Parallel()
	r := &rated{t: t}
	shop := httptest.NewServer(r)
	t.Cleanup(shop.Close)
	server, stop, err := devtest.Shared(connect.SearchAttributes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	store := "file://" + t.TempDir()
	r.url = shop.URL
	r.env = []string{"TEMPORAL_ADDRESS=" + server.Address(), "TEMPORAL_NAMESPACE=" + server.Namespace(),
		"PROCESSIDEA_STORE=" + store, "PROCESSIDEA_HTTP_ALLOW=" + shop.Listener.Addr().String(),
		"OPENAI_BASE_URL=" + shop.URL + "/v1"}
	r.Client, err = client.Dial(t.Context(), client.Options{Store: store,
		Temporal: sdk.Options{HostPort: server.Address(), Namespace: server.Namespace()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func (r *rated) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, time.Now())
	fmt.Fprint(w, `{"choices": [{"message": {"content": "{\"calls\": []}"}, "finish_reason": "stop"}]}`)
}

func (r *rated) start(id, file string) *client.Process {
	r.t.Helper()
	idea, problems := ideafile.ParseIdea([]byte(strings.ReplaceAll(file, "SHOP", r.url)))
	if len(problems) > 0 {
		r.t.Fatal(problems)
	}
	p, err := r.Start(r.t.Context(), client.StartOptions{ID: id, Idea: jsonval.AsObject(idea.Source)})
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// keeps checks that the server was asked so often, and in no time more often than a rate and its burst allow.
func (r *rated) keeps(perSecond, burst float64, want int) {
	r.t.Helper()
	devtest.Eventually(r.t, "everything has been asked", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.asked) >= want
	})
	for i, from := range r.asked {
		for j, to := range r.asked[i:] {
			// One more may have been under way for longer than the others.
			if allowed := burst + 1 + perSecond*to.Sub(from).Seconds(); float64(j+1) > allowed {
				r.t.Fatalf("%d within %s", j+1, to.Sub(from))
			}
		}
	}
}

// heldUp waits until a process says that a limit holds it up.
func (r *rated) heldUp(p *client.Process) {
	r.t.Helper()
	devtest.Eventually(r.t, "the process is held up by the rate", func() bool {
		held, err := p.HeldUp(r.t.Context())
		return err == nil && len(held) == 1 && held[0].Cause == turn.CodeRateLimited
	})
}

// Calls that the server holds back, since the workers begin only so many a second, are said where people look. No
// worker knows of them.
func TestWhatASlowWorkerLeavesWaitingIsSaid(t *testing.T) {
	r := newRated(t)
	workertest.Start(t, r.env, "--calls-per-second", "0.01")
	r.heldUp(r.start("slow", `{"schema": {"tools": {"letter": {"type": "object", "properties": {},
		"_activity": {"http": {"url": "SHOP"}}}}},
		"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "letter"}, {"_tool": "letter"},
			{"_tool": "letter"}, {"_tool": "letter"}]}]}`))
	list, err := r.List(t.Context(), client.ListOptions{})
	if err != nil || len(list) != 1 || len(list[0].HeldUp) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestTwoWorkersShareTheRequestsOfAMinute(t *testing.T) {
	r := newRated(t)
	for range 2 {
		workertest.Start(t, append(r.env, "OPENAI_RPM=120"))
	}
	const processes = 24
	for n := range processes {
		r.start(fmt.Sprintf("p%d", n), `{"context": [{"type": "text", "text": "Go."}]}`)
	}
	r.keeps(2, 2, processes)
}
