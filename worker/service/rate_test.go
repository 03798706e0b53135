package service_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/client"

	"processidea/client"
	"processidea/connect"
	"processidea/internal/devserver/devtest"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/worker/workertest"
)

// rated is a namespace with workers, and a server that is their LLM's and their Tools': it notes when it is asked.
type rated struct {
	*client.Client
	t       *testing.T
	url     string
	address string // of Temporal
	env     []string

	mu          sync.Mutex
	asked       []time.Time
	holds       bool // the server answers nobody
	now, atOnce int  // who is being answered, and the most
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
	server, stop, err := devtest.StartShared(connect.SearchAttributeTypes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	store := "file://" + t.TempDir()
	r.url, r.address = shop.URL, server.Address()
	r.env = []string{"TEMPORAL_ADDRESS=" + r.address, "TEMPORAL_NAMESPACE=" + server.Namespace(),
		"PROCESSIDEA_STORE=" + store, "PROCESSIDEA_HTTP_ALLOW=" + shop.Listener.Addr().String(),
		"OPENAI_BASE_URL=" + shop.URL + "/v1"}
	r.Client, err = client.Dial(t.Context(), client.Options{StorePlace: store,
		Temporal: sdk.Options{HostPort: server.Address(), Namespace: server.Namespace()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func (r *rated) ServeHTTP(w http.ResponseWriter, asked *http.Request) {
	holds := r.begin()
	defer r.end()
	_, _ = io.Copy(io.Discard, asked.Body) // else nobody sees that the other side is gone
	if holds {
		<-asked.Context().Done()
	}
	fmt.Fprint(w, `{"choices": [{"message": {"content": "{\"calls\": []}"}, "finish_reason": "stop"}],
		"usage": {"prompt_tokens": 3000, "completion_tokens": 0}}`)
}

func (r *rated) begin() (holds bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, time.Now())
	r.now++
	r.atOnce = max(r.atOnce, r.now)
	return r.holds
}

func (r *rated) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now--
}

func (r *rated) start(id, file string) *client.Process {
	r.t.Helper()
	return r.startOf(client.StartOptions{ID: id, Idea: r.read(file)})
}

func (r *rated) startOf(o client.StartOptions) *client.Process {
	r.t.Helper()
	p, err := r.Start(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rated) read(file string) map[string]any {
	r.t.Helper()
	idea, err := client.ParseIdea([]byte(strings.ReplaceAll(file, "SHOP", r.url)))
	if err != nil {
		r.t.Fatal(err)
	}
	return idea
}

// burst returns how many more are asked than a rate allows: the server lets a second's worth through at once, of a
// Request is known what it used when it has ended, and some are under way for seconds longer than others.
func burst(perSecond float64) float64 { return 4 + 5*perSecond }

// keeps checks that the server was asked so often, and in no time more often than a rate allows.
func (r *rated) keeps(perSecond float64, want int) {
	r.t.Helper()
	r.wait(want)
	keepsRate(r.t, "the server", r.asked, burst(perSecond), perSecond)
}

// keepsRate checks that somebody was asked in no time more often than a rate, and so often in addition, allows.
func keepsRate(t *testing.T, who string, times []time.Time, burst, perSecond float64) {
	t.Helper()
	for i, from := range times {
		for j, to := range times[i:] {
			if allowed := burst + perSecond*to.Sub(from).Seconds(); float64(j+1) > allowed {
				t.Fatalf("%s was asked %d times within %s", who, j+1, to.Sub(from))
			}
		}
	}
}

// wait waits until the server was asked so often.
func (r *rated) wait(want int) {
	r.t.Helper()
	devtest.Eventually(r.t, "everything has been asked", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.asked) >= want
	})
}

// heldUp waits until a process says that a limit holds it up.
func (r *rated) heldUp(p *client.Process) {
	r.t.Helper()
	devtest.Eventually(r.t, "the process is held up by the rate", func() bool {
		held, err := p.HoldUps(r.t.Context())
		return err == nil && len(held) == 1 && held[0].CauseCode == turn.CodeRateLimited
	})
}

func TestTwoWorkersShareWhatAnLLMServerTakesInAMinute(t *testing.T) {
	for twoASecond, config := range map[string]string{"OPENAI_RPM=120": `{}`, "OPENAI_TPM=360000": `{}`,
		"OPENAI_RPM_TWIN=120": `{"llm": {"server": "twin"}}`, "OPENAI_TPM_TWIN=360000": `{"llm": {"server": "twin"}}`} {
		t.Run(twoASecond, func(t *testing.T) {
			r := newRated(t)
			for range 2 {
				workertest.Start(t, append(r.env, "OPENAI_SERVERS=twin", "OPENAI_BASE_URL_TWIN="+r.url+"/v1", twoASecond))
			}
			const processes = 40
			for n := range processes {
				r.start(fmt.Sprintf("p%d", n), `{"config": `+config+`, "context": [{"type": "text", "text": "Go."}]}`)
			}
			r.keeps(2, processes)
		})
	}
}

// What was spent outlives the worker that spent it.
func TestAllWorkersShareTheMoneyOfADay(t *testing.T) {
	r := newRated(t)
	const mayCost = 0.05
	start := func() *workertest.WorkerProcess {
		return workertest.Start(t, r.env, "--money-a-day", fmt.Sprint(mayCost))
	}
	first := start()
	for n := range 6 {
		if n == 2 {
			first.Signal(syscall.SIGKILL)
			start()
			start()
		}
		p := r.start(fmt.Sprintf("p%d", n), `{"config": {"llm": {"model": "m"}, "prices": {"m": {"input": 10, "output": 0}}},
			"context": [{"type": "text", "text": "Go."}]}`)
		devtest.Eventually(t, "it has ended, or is held up", func() bool {
			status, err := p.Status(t.Context())
			return err == nil && (status.Status == loop.StatusCompleted ||
				len(status.HoldUps) == 1 && status.HoldUps[0].CauseCode == turn.CodeRateLimited)
		})
	}
	// Each begins after the one before it has ended, and with that it is known what that one has cost.
	if cost := 0.03 * float64(len(r.asked)); cost < mayCost || cost > mayCost+0.03 {
		t.Errorf("%d Requests have cost %g dollars", len(r.asked), cost)
	}
}

const ratedTool = `{"schema": {"tools": {"letter": {"type": "object", "properties": {}, "_rate": RATE,
	"_activity": {"http": {"url": "SHOP"}}}}},
	"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "letter"}, {"_tool": "letter"},
		{"_tool": "letter"}, {"_tool": "letter"}, {"_tool": "letter"}, {"_tool": "letter"}]}]}`

func (r *rated) startRated(id, rate string) *client.Process {
	return r.start(id, strings.ReplaceAll(ratedTool, "RATE", rate))
}

// More of them than fit into the line within a worker: the others wait in an activity of their own.
func TestAllWorkersAndProcessesShareTheRateOfATool(t *testing.T) {
	r := newRated(t)
	for range 2 {
		workertest.Start(t, r.env)
	}
	const rate = `{"perSecond": 5}`
	first := r.startRated("p", rate)
	var rows strings.Builder
	for n := range 101 {
		fmt.Fprintf(&rows, `{"type": "state", "_instance": "%d", "n": %d}, `, n, n)
	}
	letter := strings.ReplaceAll(ratedTool, "RATE", rate)
	r.start("parts", strings.Replace(strings.Replace(letter, `{"type": "plan"`, rows.String()+`{"type": "plan"`, 1),
		strings.Repeat(`, {"_tool": "letter"}`, 5), "", 1))
	r.startOf(client.StartOptions{ID: "caller", DelegateFiles: client.IdeaFiles{"letters.json": r.read(letter)},
		Idea: r.read(`{"schema": {"tools": {"letters": {"type": "object", "properties": {}, "_delegate": "letters.json"}}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "letters"}]}]}`)})
	if _, err := first.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	chain := r.Chain("p")
	fork, err := chain.ForkedIdea(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	again := r.startOf(client.StartOptions{Idea: fork, ForkSourceID: "p"})
	if _, err := again.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.keeps(5, 6+101+6)
}

// The Calls of a worker that is killed in their midst run again, with those that waited behind them.
func TestTurnsOfAKilledWorkerGoToTheNextAndWhoWaitsSaysSo(t *testing.T) {
	r := newRated(t)
	r.holds = true
	gone := workertest.Start(t, r.env, "--lost-after", "5s")
	p := r.startRated("killed", `{"atOnce": 2}`)
	r.wait(2)
	r.heldUp(p)
	gone.Signal(syscall.SIGKILL)
	r.mu.Lock()
	r.holds = false
	r.mu.Unlock()
	workertest.Start(t, r.env, "--lost-after", "5s")
	r.wait(8)
	if r.atOnce > 2 {
		t.Errorf("%d at once", r.atOnce)
	}
}
