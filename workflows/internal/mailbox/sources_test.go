package mailbox

import (
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

func TestAnInboxForgetsFuturesThatAreDoneAndHearsTheOthersInTheirOrder(t *testing.T) {
	t.Parallel()
	const futures = 100
	var heard []int
	most := 0
	var env = (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{NewSignalOrderInterceptor()}})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		b := NewInbox(ctx)
		for n := range futures {
			// Two are ready at a time: the one that was added first comes first.
			b.OnFutureReady(workflow.NewTimer(ctx, time.Duration(1+n/2)*time.Second),
				func(workflow.Future) { heard = append(heard, n) })
		}
		for len(heard) < futures {
			b.Wait(ctx)
			most = max(most, len(b.sources)+len(heard))
		}
		if len(b.sources) > 2*maxSpentSources {
			t.Errorf("%d sources are kept", len(b.sources))
		}
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	for n, got := range heard {
		if n != got {
			t.Fatalf("heard in the order %v", heard)
		}
	}
	if most > futures+1+2*maxSpentSources {
		t.Errorf("up to %d sources too many were kept", most-futures)
	}
}
