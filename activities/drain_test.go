package activities

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/tools/runner"
)

// interrupted is a Tool that an operator ends while it runs.
type interrupted struct{ end func() }

func (interrupted) Validate(any) error { return nil }

func (i interrupted) Run(ctx context.Context, _ runner.Input) (any, error) {
	i.end()
	<-ctx.Done()
	return nil, ctx.Err()
}

// Whether a Tool had its effect that an operator ended, nobody knows: it has not failed.
func TestTheOutcomeOfACallIsUnknownThatAnOperatorEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause error
		want  string
	}{
		"paused": {activity.ErrActivityPaused, ideafile.CodeOutcomeUnknown},
		"reset":  {activity.ErrActivityReset, ideafile.CodeOutcomeUnknown},
		// a failure, as what ends by itself
		"cancelled": {&temporal.CanceledError{}, ideafile.CodeToolFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			a := newWorker(t, llm.Config{})
			a.Runners = runner.NewRegistry()
			a.Runners.Register(ideafile.KindHTTP, interrupted{func() { cancel(c.cause) }})
			env := newEnvironment()
			env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
			env.SetDataConverter(protocol.DataConverter())
			env.RegisterActivityWithOptions(a.ExecuteCall, activity.RegisterOptions{Name: protocol.ActivityExecute})
			_, err := env.ExecuteActivity(protocol.ActivityExecute, protocol.ExecuteInput{ProcessID: "p", CallID: "1",
				Tool: "pay", Binding: ideafile.ToolBinding{Kind: ideafile.KindHTTP}})
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != c.want {
				t.Errorf("%v", err)
			}
		})
	}
}

// Temporal tries an activity again that was paused while it ran, also one that runs once at most.
func TestACallThatRunsOnceAtMostIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempt, most int32
		want          bool
	}{{1, 1, false}, {2, 1, true}, {2, 3, false}, {7, 0, false}} {
		info := activity.Info{Attempt: c.attempt, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: c.most}}
		if got := wasAttemptedBefore(info); got != c.want {
			t.Errorf("attempt %d of %d: %v", c.attempt, c.most, got)
		}
	}
	if wasAttemptedBefore(activity.Info{Attempt: 2}) {
		t.Error("of an activity without a policy")
	}
}
