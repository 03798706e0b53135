package activities

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"processidea/llm"
	"processidea/model/turn"
)

func TestAnInstanceIsToldThatNoMoreCallsComeOnlyIfTheReplyIsComplete(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		calls int
		idle  int
		code  string
	}{
		"a whole reply":          {solutionText, 1, 0, ""},
		"one without Calls":      {`{"calls":[],"output":null}`, 0, 1, ""},
		"one that breaks off":    {solutionText[:len(solutionText)-15], 1, 0, turn.CodeTruncated},
		"one that never begins":  {"I am afraid I cannot plan that.", 0, 0, turn.CodeNotJSON},
		"one with a bad output":  {`{"calls":[],"output":1e999}`, 0, 0, turn.CodeNotJSON},
		"a Call that is no Call": {`{"calls":[{"_tool":"shout","_tool":"shout"}],"output":null}`, 0, 1, ""},
	} {
		a := newWorker(t, serve(t, streaming(c.text)).llm())
		reply, err := makeRequest(t, a)
		if err != nil || reply.IsComplete != (c.code == "") || len(reply.InstanceTokensWithoutCalls) != c.idle {
			t.Fatalf("%s: %v %+v", name, err, reply)
		}
		if !reply.IsComplete && reply.Fault.Code != c.code {
			t.Errorf("%s: %+v", name, reply.Fault)
		}
		if n, last := a.Client.(*ears).calls(); n != c.calls || last != reply.IsComplete {
			t.Errorf("%s: %d calls, last %v", name, n, last)
		}
	}
}

func TestTheLLMsErrorSaysWhetherTemporalTriesAgain(t *testing.T) {
	t.Parallel()
	for status, again := range map[int]bool{401: false, 429: true} {
		a := newWorker(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"message":"no"}}`)
		}).llm())
		_, err := makeRequest(t, a)
		code := map[bool]string{true: turn.CodeLLMUnreachable, false: turn.CodeLLMError}[again]
		if app := refused(t, err); app.NonRetryable() == again || (app.NextRetryDelay() == 90*time.Second) != again ||
			app.Type() != code {
			t.Errorf("%d: %v, again after %s", status, app, app.NextRetryDelay())
		}
		if n, last := a.Client.(*ears).calls(); n > 0 || last {
			t.Errorf("%d: something was handed on", status)
		}
	}
	_, err := makeRequest(t, newWorker(t, llm.Config{}))
	if app := refused(t, err); !app.NonRetryable() || !strings.Contains(app.Message(), "no LLM is configured") {
		t.Error(app)
	}
}

// A Request waits for its rate limit within the activity.
func TestARequestThatWaitsForItsTurnShowsThatItsWorkerLives(t *testing.T) {
	t.Parallel()
	var asked, beats atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		streaming(solutionText)(w, r)
	})
	config := s.llm()
	config.RPM = "20" // three seconds apart
	a := newWorker(t, config)
	if _, err := makeRequest(t, a); err != nil {
		t.Fatal(err)
	}
	env := newEnvironment()
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) {
		if asked.Load() == 1 {
			beats.Add(1)
		}
	})
	if reply, err := requestIn(t, a, env); err != nil || !reply.IsComplete || beats.Load() == 0 || asked.Load() != 2 {
		t.Errorf("%v %+v, %d beats, asked %d times", err, reply, beats.Load(), asked.Load())
	}
}
