package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/httptool"
	"processidea/tools/runner"
)

// counter is a Tool whose server answers Call by Call with an error.
type counter map[string]error

func (counter) Validate(any) error { return nil }

func (c counter) Run(_ context.Context, in runner.Input) (any, error) { return nil, c[in.CallID] }

type wait struct {
	error
	delay time.Duration
}

func (w wait) RetryDelay() time.Duration { return w.delay }

// A process whose Call waits counts as held up by that, until the Call goes on.
func TestACallThatWaitsCountsAsHeldUp(t *testing.T) {
	t.Parallel()
	counted := heldProcesses{}
	a := &Activities{Client: &ears{}, HoldUpRecorder: counted}
	in := protocol.ExecuteInput{ProcessID: "p", InstanceToken: "1", CallID: "1.1"}
	for cause, holdUps := range map[string]*callHoldUps{turn.CodeRateLimited: &a.limitTurnHoldUps,
		turn.CodeToolBusy: &a.toolHoldUps} {
		a.reportCallHoldUp(t.Context(), holdUps, cause, in, &turn.HoldUp{CauseCode: cause,
			NextAttempt: time.Now().Add(time.Minute)})
		if !counted[cause] {
			t.Errorf("%s: it does not count", cause)
		}
		if a.reportCallHoldUp(t.Context(), holdUps, cause, in, nil); counted[cause] {
			t.Errorf("%s: it counts although the Call goes on", cause)
		}
	}
}

// A server that is asked too often has not read the Call: it is waited for, however few attempts the Call has.
func TestACallWaitsForAServerThatHasNotReadItWhicheverAttemptThatWas(t *testing.T) {
	t.Parallel()
	client := httptool.New(httptool.Options{AllowList: "*,127.0.0.1"})
	t.Cleanup(client.Close)
	says := func(status int, after time.Duration) error {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", fmt.Sprint(int(after.Seconds())))
			w.WriteHeader(status)
		})
		_, err := client.Do(t.Context(), httptool.Spec{URL: s.URL}, nil, nil, "k")
		return fmt.Errorf("wrapped: %w", err)
	}
	for name, row := range map[string]struct {
		err           error
		attempt, most int32
		waits         int
		want          time.Duration
		ofInstance    bool
	}{
		"429, the only attempt":       {says(429, time.Hour), 1, 1, 0, time.Hour, true},
		"429, the last attempt":       {says(429, time.Hour), 3, 3, 0, time.Hour, true},
		"429, attempts are left":      {says(429, time.Hour), 1, 3, 0, time.Hour, true},
		"429, any number of attempts": {says(429, time.Hour), 9, 0, 0, time.Hour, true},
		"429, soon":                   {says(429, 9*time.Second), 1, 3, 0, 9 * time.Second, false},
		"429, no word of when":        {says(429, 0), 1, 1, 0, time.Second, true},
		"429, no word again":          {says(429, 0), 1, 1, 5, 32 * time.Second, true},
		"429, no word for a day":      {says(429, 0), 1, 1, 1000, 512 * time.Second, true},
		"429, a week":                 {says(429, 7*24*time.Hour), 1, 1, 0, 24 * time.Hour, true},
		"503, the last attempt":       {says(503, time.Hour), 1, 1, 0, 0, false},
		"503, attempts are left":      {says(503, time.Hour), 1, 2, 0, time.Hour, false},
		"nothing is wrong":            {nil, 1, 1, 0, 0, false},
		"another attempt is in vain":  {says(404, time.Hour), 1, 3, 0, 0, false},
		"a failure of no server":      {errors.New("broken"), 1, 1, 0, 0, false},
	} {
		info := activity.Info{Attempt: row.attempt, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: row.most}}
		wait, ofInstance := callRetryDelay(info, protocol.ExecuteInput{RefusalWaitCount: row.waits}, row.err)
		if wait != row.want || ofInstance != row.ofInstance {
			t.Errorf("%s: %s, %v", name, wait, ofInstance)
		}
	}
	err := throttledError(activity.Info{Attempt: 2, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3}},
		says(429, 0), time.Hour)
	var left int32
	if app := refused(t, err); app.Details(&left) != nil || left != 2 || app.Type() != turn.CodeToolBusy ||
		!app.NonRetryable() || protocol.RetryDelay(err) != time.Hour || !strings.Contains(app.Message(), "status 429") {
		t.Errorf("%v, again after %s", err, protocol.RetryDelay(err))
	}
}

// A process is told of the longest wait of its Calls, again when that ends while others wait, and when the last one has
// ended: with a result, for good, or with an error after which the server is asked soon.
func TestAProcessIsToldOfTheWaitsOfItsCallsAsLongAsOneWaits(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]error{
		"a result": nil, "a failure": tools.Final(errors.New("no")), "a try soon": errors.New("busy"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, tool := newWorker(t, llm.Config{}), counter{}
			a.Runners = runner.NewRegistry()
			a.Runners.Register(ideafile.KindHTTP, tool)
			run := func(call string, answer error) []protocol.WorkerHoldUpSignal {
				tool[call] = answer
				in := protocol.ExecuteInput{ProcessID: "p", CallID: call, Tool: "count",
					Binding: ideafile.ToolBinding{Kind: ideafile.KindHTTP}}
				_, _ = executeIn(t, a, in)
				e := a.Client.(*ears)
				defer func() { e.waits = nil }()
				return e.waits
			}
			hour, day := wait{errors.New("count"), time.Hour}, wait{errors.New("count"), 20 * time.Hour}
			for n, step := range []struct {
				call   string
				answer error
				tells  int
				hours  float64 // what is told; 0: that nothing is waited for
			}{
				{"1", hour, 1, 1}, {"2", hour, 0, 0}, {"3", day, 1, 20}, {"2", end, 0, 0}, {"3", end, 1, 1},
				{"4", end, 0, 0}, {"1", end, 1, 0}, {"1", end, 0, 0},
			} {
				told := run(step.call, step.answer)
				if len(told) != step.tells {
					t.Fatalf("step %d: told %+v", n, told)
				}
				if step.tells > 0 && ((told[0].HoldUp == nil) != (step.hours == 0) || told[0].WorkerID == "") ||
					step.hours > 0 && time.Until(told[0].HoldUp.NextAttempt).Round(time.Hour).Hours() != step.hours {
					t.Errorf("step %d: told of %+v", n, told[0].HoldUp)
				}
			}
		})
	}
}
