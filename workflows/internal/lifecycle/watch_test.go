package lifecycle_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
)

// Temporal is away for longer than one attempt may take. Time is skipped.
func TestAnOutageIsNoAnswer(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(ctx workflow.Context) bool{
		"whether a process is gone": func(ctx workflow.Context) bool {
			return !lifecycle.IsAnyProcessGone(ctx, []protocol.ProcessRef{{ID: "p"}})
		},
		"whether a signal has arrived": func(ctx workflow.Context) bool {
			return len(mailbox.DeliverSignalsAndWait(ctx, []protocol.SignalDelivery{{To: "p"}})) == 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			attempts := 0
			answer := func() error {
				if attempts++; attempts <= 8 { // a minute and more, with the pauses between them
					return errors.New("no answer came in time")
				}
				return nil
			}
			env.RegisterActivityWithOptions(func(context.Context, protocol.ProcessRef) (bool, error) {
				return false, answer()
			}, activity.RegisterOptions{Name: protocol.ActivityIsProcessGone})
			env.RegisterActivityWithOptions(func(context.Context, []protocol.SignalDelivery) ([]string, error) {
				return nil, answer()
			}, activity.RegisterOptions{Name: protocol.ActivityDeliverSignals})
			env.ExecuteWorkflow(func(ctx workflow.Context) (bool, error) { return run(ctx), nil })
			var is bool
			if err := env.GetWorkflowResult(&is); err != nil || !is || attempts != 9 {
				t.Errorf("%v after %d attempts: %v", is, attempts, err)
			}
		})
	}
}
