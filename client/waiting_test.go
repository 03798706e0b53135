package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"processidea/model/diag"
	"processidea/model/turn"
	"processidea/protocol"
)

// twoProcesses is a server with the processes p and q, of which some do not answer.
type twoProcesses struct {
	*fakeTemporal
	silent []string
}

func (s twoProcesses) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	var r workflowservice.ListWorkflowExecutionsResponse
	for _, id := range []string{"p", "q"} {
		r.Executions = append(r.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING})
	}
	return &r, nil
}

func (s twoProcesses) QueryWorkflow(ctx context.Context, id, run, query string,
	args ...any) (converter.EncodedValue, error) {
	if slices.Contains(s.silent, id) {
		return nil, errors.New("its replay fails")
	}
	return s.fakeTemporal.QueryWorkflow(ctx, id, run, query, args...)
}

// A process that does not answer is named, and hides nothing of what waits in others; where none answers, that is the
// error.
func TestAProcessThatDoesNotAnswerHidesNoOtherOne(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		silent        []string
		listed        int
		waiting, list bool // whether Waiting and Approvals fail
	}{
		"all answer": {nil, 2, false, false},
		"one does":   {[]string{"q"}, 1, false, true},
		"none does":  {[]string{"p", "q"}, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeTemporal{view: func() (any, error) {
				return protocol.ProcessApprovals{Plans: make([]PendingPlan, 1)}, nil
			}}
			f.on(t)
			c := New(twoProcesses{f, row.silent}, "default", storeOf(t))
			c.live = true
			w, err := c.Waiting(t.Context())
			if (err != nil) != row.waiting || len(w.Plans) != row.listed ||
				!slices.Equal(w.Unanswered, row.silent) {
				t.Errorf("%+v, %v", w, err)
			}
			_, err = c.Approvals(t.Context())
			if (err != nil) != row.list {
				t.Errorf("%v", err)
			}
			for _, id := range row.silent {
				if !strings.Contains(err.Error(), "approvals of "+id+":") {
					t.Errorf("it does not name %s: %v", id, err)
				}
			}
			i, err := c.Insights(t.Context(), time.Time{})
			if err != nil || !slices.Equal(i.Unanswered, row.silent) {
				t.Errorf("insights: %+v, %v", i, err)
			}
		})
	}
}

func TestAPausedProcessThatIsHeldUpSaysBoth(t *testing.T) {
	v := Status{}
	v.Error = &diag.Fault{Code: "llm_error", Message: "no LLM is configured"}
	if got := waitingOf(v); !slices.Equal(got, []string{"no LLM is configured"}) {
		t.Errorf("paused alone: %q", got)
	}
	v.HeldUp = []turn.HeldUp{{Cause: "store_full", Message: "there is no room left in the store"}}
	if got := waitingOf(v); !slices.Equal(got,
		[]string{"held up: there is no room left in the store", "no LLM is configured"}) {
		t.Errorf("%q", got)
	}
}
