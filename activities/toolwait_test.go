package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/runner"
)

// counter is a Tool whose server answers Call by Call with an error.
type counter map[string]error

func (counter) Validate(any) error { return nil }

func (c counter) Run(_ context.Context, in runner.Input) (any, error) { return nil, c[in.Call] }

type wait struct {
	error
	delay time.Duration
}

func (w wait) RetryDelay() time.Duration { return w.delay }

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
			run := func(call string, answer error) []protocol.HoldUpSignal {
				tool[call] = answer
				in := protocol.ExecuteInput{Process: "p", Call: call, Tool: "count",
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
				if step.tells > 0 && ((told[0].HeldUp == nil) != (step.hours == 0) || told[0].Worker == "") ||
					step.hours > 0 && time.Until(told[0].HeldUp.Next).Round(time.Hour).Hours() != step.hours {
					t.Errorf("step %d: told of %+v", n, told[0].HeldUp)
				}
			}
		})
	}
}
