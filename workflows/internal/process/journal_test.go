package process

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/protocol"
)

// logOf is what the worker's log says of a process that comes to stand so, one after the other.
func logOf(t *testing.T, start protocol.ProcessStart, statuses ...loop.Status) string {
	t.Helper()
	var out bytes.Buffer
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.NewTextHandler(&out, nil))))
	env := suite.NewTestWorkflowEnvironment()
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		c := &processCore{processID: "refunds", start: start}
		for _, status := range statuses {
			var reason *diag.Fault
			if status == loop.StatusPaused || status == loop.StatusFailed {
				reason = &diag.Fault{Code: "no_progress", Message: "three Requests in vain"}
			}
			c.logStatus(ctx, status, reason)
			c.logStatus(ctx, status, reason) // as after every event
		}
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheLogTellsOnceOfEverythingThatBecomesOfAProcess(t *testing.T) {
	t.Parallel()
	const reason = ` process=refunds code=no_progress reason="three Requests in vain"`
	for last, want := range map[loop.Status]string{
		loop.StatusCompleted: `level=INFO msg="the process has ended" process=refunds status=completed`,
		loop.StatusCancelled: `level=INFO msg="the process has ended" process=refunds status=cancelled`,
		loop.StatusFailed:    `level=WARN msg="the process has failed"` + reason,
	} {
		said := logOf(t, protocol.ProcessStart{}, loop.StatusRunning, loop.StatusPaused, loop.StatusRunning, last)
		rest := said
		for _, line := range []string{
			`level=INFO msg="the process began" process=refunds`,
			`level=WARN msg="the process is paused"` + reason,
			`level=INFO msg="the process goes on" process=refunds`, want,
		} {
			_, after, isSaid := strings.Cut(rest, line)
			if rest = after; !isSaid || strings.Count(said, line) != 1 {
				t.Errorf("it does not say once, in its turn, %s:\n%s", line, said)
			}
		}
	}
	part := logOf(t, protocol.ProcessStart{Part: &protocol.PartRef{}}, loop.StatusRunning, loop.StatusCompleted)
	if strings.Contains(part, "the process") {
		t.Errorf("a part is told of beside its process:\n%s", part)
	}
}
