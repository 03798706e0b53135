package activities

import (
	"fmt"
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

// heldProcesses are the causes that hold up the one process.
type heldProcesses map[string]bool

func (h heldProcesses) RecordHoldUp(_, cause string, _ time.Time) { h[cause] = true }
func (h heldProcesses) ForgetHoldUp(_, cause string)              { delete(h, cause) }

// An LLM that only reasons is waited for as its server would be, and not for longer than a few answers: they are paid
// for, by whatever worker they came to.
func TestAnLLMThatOnlyThinksIsAskedThreeTimes(t *testing.T) {
	t.Parallel()
	for before, again := range []bool{true, true, false} {
		a := newWorker(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}`+
				"\n\ndata: [DONE]\n\n")
		}).llm())
		env, counted := newEnvironment(), 0
		if before > 0 {
			env.SetHeartbeatDetails(before)
		}
		env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
			_ = details.Get(&counted)
		})
		_, err := requestIn(t, a, env)
		app, held := refused(t, err), a.Client.(*ears).held
		if app.NonRetryable() == again || !strings.Contains(app.Message(), "an empty answer, with reasoning only") {
			t.Errorf("after %d: %v", before, app)
		}
		if again && (counted != before+1 || len(held) != 1 ||
			!strings.Contains(held[0].HoldUp.Remedy, "reasons less")) ||
			!again && (app.Type() != turn.CodeLLMError || len(held) != 0) {
			t.Errorf("after %d: counted %d, told %+v, %v", before, counted, held, app)
		}
	}
}

// While the patience lasts the Request is to be made again, and the process is told why; after it the error is final.
func TestAnLLMThatIsAwayIsWaitedForAsLongAsThePatienceLasts(t *testing.T) {
	for name, row := range map[string]struct {
		status      int
		idea        string        // its patience
		worker      time.Duration // that of the worker
		again, told bool
	}{
		"a day unless said":         {http.StatusServiceUnavailable, "", 0, true, true},
		"the worker's":              {http.StatusServiceUnavailable, "", time.Second, false, false},
		"the Idea's goes before it": {http.StatusServiceUnavailable, `, "patience": "1h"`, time.Second, true, true},
		"the Idea has none":         {http.StatusServiceUnavailable, `, "patience": "1ms"`, time.Hour, false, false},
		"a wrong key":               {http.StatusUnauthorized, "", 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			a, counted := newWorker(t, llm.Config{}), heldProcesses{turn.CodeLLMUnreachable: true} // by the last attempt
			a.HoldUpRecorder = counted
			a.LLM, a.LLMPatience = refusing(t, row.status, &asked), row.worker
			_, err := requestOf(t, a,
				strings.Replace(shoutIdea, "{", `{"config": {"llm": {"model": "m"`+row.idea+`}}, `, 1))
			if app := refused(t, err); app.NonRetryable() == row.again || asked.Load() != 1 {
				t.Errorf("%v, asked %d times", app, asked.Load())
			}
			if err != nil && strings.Contains(err.Error(), "the patience (config.llm.patience) was over") {
				t.Errorf("after one attempt it says %v", err)
			}
			if counted[turn.CodeLLMUnreachable] != row.told {
				t.Errorf("counted as held up: %v", counted)
			}
			held := a.Client.(*ears).held
			if (len(held) == 1) != row.told {
				t.Fatalf("the process was told %+v", held)
			}
			if row.told && (held[0].RequestNumber != 1 || held[0].HoldUp.CauseCode != turn.CodeLLMUnreachable ||
				!held[0].HoldUp.PauseAt.After(held[0].HoldUp.NextAttempt)) {
				t.Errorf("%+v", held[0].HoldUp)
			}
		})
	}
}
