package client

import (
	"context"
	"encoding/json"
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
	"processidea/store/chain"
)

// someProcesses is a server with several processes, of which some do not answer.
type someProcesses struct {
	*fakeTemporal
	ids, silent []string
}

func (s someProcesses) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	var r workflowservice.ListWorkflowExecutionsResponse
	for _, id := range s.ids {
		r.Executions = append(r.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING})
	}
	return &r, nil
}

func (s someProcesses) QueryWorkflow(ctx context.Context, id, run, query string,
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
			c := New(someProcesses{f, []string{"p", "q"}, row.silent}, "default", storeOf(t))
			c.pollsFrequently = true
			w, err := c.ListWaiting(t.Context())
			if (err != nil) != row.waiting || len(w.Plans) != row.listed ||
				!slices.Equal(w.UnansweredProcessIDs, row.silent) {
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
			if err != nil || !slices.Equal(i.UnansweredProcessIDs, row.silent) {
				t.Errorf("insights: %+v, %v", i, err)
			}
		})
	}
}

// A delegate, or the process itself, that does not answer is named, and hides nothing of what waits in the others.
func TestAProcessBelowThatDoesNotAnswerHidesNoOtherOne(t *testing.T) {
	t.Parallel()
	const below, deeper, foreign = "p/~call/1.1@1", "p/~part/2/~call/1.1@2", "q/~call/1.1@1"
	for name, row := range map[string]struct {
		silent []string
		listed int
		fails  bool
	}{
		"all answer":          {nil, 3, false},
		"a delegate does not": {[]string{below}, 2, false},
		"only one does":       {[]string{"p", deeper}, 1, false},
		"none does":           {[]string{"p", below, deeper}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeTemporal{view: func() (any, error) {
				return protocol.ProcessApprovals{Approvals: []Approval{{Process: "p", Instance: "1"}}}, nil
			}}
			f.on(t)
			store := storeOf(t)
			if _, err := chain.New(store).Seal(t.Context(), chain.IdeaToSeal{ProcessID: "p", IdeaNumber: 1,
				Idea: map[string]any{"meta": map[string]any{"n": json.Number("1")}}}); err != nil {
				t.Fatal(err)
			}
			c := New(someProcesses{f, []string{"p", below, deeper, foreign}, row.silent}, "default", store)
			c.pollsFrequently = true
			list, why := c.ApprovalsOf(t.Context(), "p")
			silent, err := UnansweredProcessIDs(why)
			if len(list) != row.listed || !slices.Equal(silent, row.silent) || (err != nil) != row.fails ||
				(why == nil) != (len(silent) == 0) {
				t.Errorf("%+v, %v, %v", list, silent, err)
			}
			for _, id := range row.silent {
				if !strings.Contains(why.Error(), "approvals of "+id+":") {
					t.Errorf("it does not name %s: %v", id, why)
				}
			}
			_, why = c.WaitingPlansOf(t.Context(), "p/1")
			silent, err = UnansweredProcessIDs(why)
			want := slices.DeleteFunc(slices.Clone(row.silent), func(id string) bool { return id == deeper })
			if !slices.Equal(silent, want) || (err != nil) != row.fails {
				t.Errorf("Plans of an instance: %v, %v", silent, err)
			}
		})
	}
}

func TestAPausedProcessThatIsHeldUpSaysBoth(t *testing.T) {
	t.Parallel()
	v := Status{}
	v.Error = &diag.Fault{Code: "llm_error", Message: "no LLM is configured"}
	if got := waitingTexts(v); !slices.Equal(got, []string{"no LLM is configured"}) {
		t.Errorf("paused alone: %q", got)
	}
	v.HoldUps = []turn.HoldUp{{CauseCode: "store_full", Message: "there is no room left in the store"}}
	if got := waitingTexts(v); !slices.Equal(got,
		[]string{"held up: there is no room left in the store", "no LLM is configured"}) {
		t.Errorf("%q", got)
	}
}
