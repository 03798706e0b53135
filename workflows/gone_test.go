package workflows_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/internal/longrun"
	"processidea/internal/rehearsal"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// deleteInstance deletes the workflow of an instance.
func (s *scenario) deleteInstance(token string) {
	s.t.Helper()
	id := protocol.InstanceID(s.id, token)
	_, err := s.client.WorkflowService().DeleteWorkflowExecution(s.t.Context(),
		&workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: s.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id}})
	if err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, id+" is deleted", func() bool {
		_, err := s.client.DescribeWorkflowExecution(s.t.Context(), id, "")
		var none *serviceerror.NotFound
		return errors.As(err, &none)
	})
}

func (s *scenario) terminateInstance(token string) {
	s.t.Helper()
	if err := s.client.TerminateWorkflow(s.t.Context(), protocol.InstanceID(s.id, token), "",
		"for a test"); err != nil {
		s.t.Fatal(err)
	}
}

func TestAProcessGoesOnWithoutAnInstanceThatWasTerminatedOrDeletedDuringARequest(t *testing.T) {
	t.Parallel()
	const shout = `{"solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "a"}]}}`
	const again = `{"solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.a", "_outputPath": "b"}]}}`
	for name, c := range longrun.SampleRows(t, 2, map[string]struct {
		request int
		remove  func(*scenario, string)
	}{
		"deleted-in-the-first":     {1, (*scenario).deleteInstance},
		"terminated-in-the-first":  {1, (*scenario).terminateInstance},
		"deleted-in-the-second":    {2, (*scenario).deleteInstance},
		"terminated-in-the-second": {2, (*scenario).terminateInstance},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			speaking, goOn := make(chan struct{}), make(chan struct{})
			s := newScenario(
				t, `{"config": {"limits": {"requests": 4}, "llm": {"timeout": "1h"}}, "schema": {"tools": {"shout": `+
					textTool+`}}, "context": [`+rows(1, 2)+`]}`)
			s.options = []rehearsal.Option{rehearsal.WithGate(func(ctx context.Context, request, sent int) {
				if request == c.request && sent == 0 {
					close(speaking)
					select {
					case <-goOn:
					case <-ctx.Done():
					}
				}
			})}
			s.script(shout, again, `{"solution": {"calls": []}}`)
			run := s.start()
			<-speaking
			_, _ = s.instance("1"), s.instance("2") // they answer, so they have started
			c.remove(s, "2")
			close(goOn)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			_ = run.Get(ctx, nil)
			r := s.processStatus().ProcessResult
			if one, two := r.Instances["1"], r.Instances["2"]; one.Status != ideafile.InstanceSettled ||
				two.Status != ideafile.InstanceFailed {
				t.Errorf("%+v", r.Instances)
			}
			if r.Status != loop.StatusFailed || r.Error == nil || r.Error.Code != turn.CodeInstanceGone {
				t.Errorf("it is %s with %+v", r.Status, r.Error)
			}
		})
	}
}

// No Request follows that would give the instance Calls: what the process hears from Temporal alone tells it.
func TestAProcessHearsOfAnInstanceThatIsTerminatedWhileItWaitsForAPerson(t *testing.T) {
	t.Parallel()
	const plan = `{"solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "a"}]}}`
	const direct = `, {"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "a"}]}`
	for name, c := range map[string]struct{ config, context, of string }{
		"in one piece":     {`"batch": 2`, "", ""},
		"in parts":         {`"batch": 1`, "", "part-2"},
		"by a direct Plan": {`"batch": 2`, direct, ""},
		"settled together": {`"batch": 2, "settle": "together"`, "", ""},
		"undone":           {`"batch": 2, "onFailure": "undo"`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, `{"config": {`+c.config+`}, "schema": {"tools": {"shout": `+
				strings.Replace(textTool, `"type"`, `"_approval": true, "_undo": "none", "type"`, 1)+`}}, "context": [`+
				rows(1, 2)+c.context+`]}`)
			s.script(plan, plan, nothingMore, nothingMore)
			run := s.start()
			s.waitsFor(2)
			of := *s
			if c.of != "" {
				of.id = protocol.PartID(s.id, 2)
			}
			of.terminateInstance("2")
			left := s.waitsFor(1)[0]
			s.decide("approve", left.CallID, "")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			_ = run.Get(ctx, nil)
			r := s.processStatus().ProcessResult
			one, two := r.Instances["1"], r.Instances["2"]
			if one.Status != ideafile.InstanceSettled || two.Status != ideafile.InstanceFailed ||
				r.Status != loop.StatusFailed || r.Error == nil || r.Error.Code != turn.CodeInstanceGone {
				t.Errorf("%s\n%s", asJSON(r), s.story())
			}
		})
	}
}

func TestADelegateWhoseInstanceIsTerminatedFailsItsCall(t *testing.T) {
	t.Parallel()
	s, id := underWay(t)
	of := *s
	of.id = id
	of.terminateInstance("")
	if r := s.end(s.client.GetWorkflow(t.Context(), s.id, "")); r.Calls.Failed != 1 ||
		!strings.Contains(s.promptWith("1.1 review("), "delegate_failed") {
		t.Errorf("%+v\n%s", r.Calls, s.story())
	}
}
