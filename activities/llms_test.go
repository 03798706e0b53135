package activities

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"processidea/llm"
	"processidea/model/turn"
)

// refusing is a server that answers with a status, and counts how often it is asked.
func refusing(t *testing.T, status int, asked *atomic.Int32) *llm.Client {
	t.Helper()
	return clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"message":"not today"}}`)
	})
}

func clientOf(t *testing.T, h http.HandlerFunc) *llm.Client {
	t.Helper()
	c, err := llm.New(serve(t, h).llm())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// withLLMs is the idea of the tests with two LLMs, the second one on the server "backup".
func withLLMs(first string) string {
	return strings.Replace(shoutIdea, "{", `{"config": {"llm": [`+first+`, {"model": "second", "server": "backup"}]}, `,
		1)
}

func TestTheNextLLMIsAskedWhereOneSaysNothing(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]http.HandlerFunc{
		"it refuses the key": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"it has too much to do": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"it breaks the connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"it is slow": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then it is noticed that whoever asks has gone
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := &attempts{}
			a := newWorker(t, serve(t, first).llm())
			a.LLMClientByServer, a.Observer = map[string]*llm.Client{"backup": clientOf(t, streaming(solutionText))},
				seen
			reply, err := requestOf(t, a, withLLMs(`{"model": "first", "timeout": "300ms"}`))
			if err != nil || !reply.IsComplete || reply.AnsweringLLM.RequestedModel != "second" {
				t.Fatalf("%v, %+v", err, reply)
			}
			if n, last := a.Client.(*ears).calls(); n != 1 || !last {
				t.Errorf("%d calls, last %v", n, last)
			}
			if len(seen.requests) != 2 || seen.requests[0].LLMName != "first" ||
				seen.requests[0].Outcome == OutcomeComplete ||
				seen.requests[1].Outcome != OutcomeComplete {
				t.Errorf("the observer saw %+v", seen.requests)
			}
		})
	}
}

func TestTheNextLLMIsNotAskedOnceOneHasBegunToAnswer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	a := newWorker(t, serve(t, streaming(strings.TrimSuffix(solutionText, `],"output":null}`))).llm())
	a.LLMClientByServer = map[string]*llm.Client{"backup": refusing(t, http.StatusTeapot, &asked)}
	reply, err := requestOf(t, a, withLLMs(`{"model": "first"}`))
	if err != nil || reply.IsComplete || reply.Fault.Code != turn.CodeTruncated || len(reply.Calls) != 1 ||
		asked.Load() > 0 {
		t.Errorf("%v, %+v, the second one was asked %d times", err, reply, asked.Load())
	}
}

func TestWhereNoLLMAnswersTheErrorTellsWhatBecameOfEach(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second int
		again         bool
	}{
		"neither ever will": {http.StatusUnauthorized, http.StatusPaymentRequired, false},
		"the first may":     {http.StatusTooManyRequests, http.StatusPaymentRequired, true},
		"the second may":    {http.StatusNotFound, http.StatusServiceUnavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			a := newWorker(t, llm.Config{})
			a.LLM, a.LLMClientByServer = refusing(t, c.first, &asked),
				map[string]*llm.Client{"backup": refusing(t, c.second, &asked)}
			_, err := requestOf(t, a, withLLMs(`{"model": "first"}`))
			app := refused(t, err)
			if app.NonRetryable() == c.again || (app.NextRetryDelay() > 89*time.Second) != c.again ||
				asked.Load() != 2 {
				t.Errorf("%v, again after %s, asked %d", app, app.NextRetryDelay(), asked.Load())
			}
			for _, want := range []string{"none of 2 LLMs answers: first: ", "; second: ", "not today"} {
				if !strings.Contains(app.Message(), want) {
					t.Errorf("%q does not say %q", app.Message(), want)
				}
			}
		})
	}
}

func TestAServerThatTheWorkerDoesNotKnowIsNamed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	a := newWorker(t, llm.Config{})
	a.LLM = refusing(t, http.StatusUnauthorized, &asked)
	_, err := requestOf(t, a, withLLMs(`{"model": "first"}`))
	if app := refused(t, err); !app.NonRetryable() || !strings.Contains(app.Message(), `no LLM server "backup"`) ||
		asked.Load() != 1 {
		t.Error(app)
	}
}

// A replay gives each Request and each recheck the next line: one that got no reply takes a line, once.
func TestARecheckThatGetsNoReplyTakesItsPlaceInTheRecord(t *testing.T) {
	t.Parallel()
	again := func(in *turn.RequestInput) { in.TurnNumber, in.Recheck = 2, &turn.Recheck{} }
	for name, c := range map[string]struct {
		status, recorded int
		change           []func(*turn.RequestInput)
	}{
		"it is refused":                       {http.StatusBadRequest, 1, []func(*turn.RequestInput){again}},
		"it will be asked again":              {http.StatusServiceUnavailable, 0, []func(*turn.RequestInput){again}},
		"a Request takes a line with a reply": {http.StatusBadRequest, 0, nil},
	} {
		a := newWorker(t, llm.Config{})
		a.LLM = refusing(t, c.status, new(atomic.Int32))
		var lines []string
		a.ReplyRecorder = func(process string, asked int, content, finish, _ string) {
			lines = append(lines, fmt.Sprint(process, asked, finish, strings.Contains(content, "not today")))
		}
		_, err := requestByIdea(t, a, newEnvironment(), shoutIdea, c.change...)
		if err == nil || len(lines) != c.recorded || c.recorded == 1 && lines[0] != "p2no answertrue" {
			t.Errorf("%s: %v, %q", name, err, lines)
		}
	}
}
