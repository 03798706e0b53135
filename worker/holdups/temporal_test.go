package holdups

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"processidea/model/turn"
	"processidea/protocol"
)

// listed is a server that lists workflows by a search attribute, and knows no other one.
type listed struct {
	client.Client
	rows  map[string][]*workflowpb.WorkflowExecutionInfo
	err   error
	asked *[]string // the queries; nil: they are not kept
}

func (l listed) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	if l.asked != nil {
		*l.asked = append(*l.asked, r.Query)
	}
	attribute, _, _ := strings.Cut(r.Query, " ")
	rows, known := l.rows[attribute]
	if !known && l.err == nil {
		return nil, serviceerror.NewInvalidArgument("invalid search attribute: " + attribute)
	}
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: rows}, l.err
}

func row(t *testing.T, attribute, id, kind string, entries ...string) *workflowpb.WorkflowExecutionInfo {
	t.Helper()
	p, err := converter.GetDefaultDataConverter().ToPayload(entries)
	if err != nil {
		t.Fatal(err)
	}
	return &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id},
		Type:             &commonpb.WorkflowType{Name: kind},
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{attribute: p}}}
}

func TestWhatTemporalKnowsIsToldToAProcessThatHearsOfIt(t *testing.T) {
	t.Parallel()
	const fails = "category=WorkflowTaskFailed"
	part, request := protocol.PartID("big", 2), pausedActivityPrefix+protocol.ActivityRequestLLM
	inPart, delegate := protocol.InstanceID(part, "a"), protocol.DelegateID("r", "1.1@a")
	found, err := HoldUpsInTemporal(t.Context(), listed{rows: map[string][]*workflowpb.WorkflowExecutionInfo{
		pauseAttribute: {
			row(t, pauseAttribute, "p", protocol.ProcessType, request),
			row(t, pauseAttribute, "over", protocol.ProcessType),
			row(t, pauseAttribute, "deaf", protocol.ProcessType, "Workflow:deaf", "Reason:because"),
			row(t, pauseAttribute, inPart, protocol.InstanceType, pausedActivityPrefix+protocol.ActivityExecute),
		},
		protocol.ProblemsAttribute: {
			row(t, protocol.ProblemsAttribute, "deaf", protocol.ProcessType, fails),
			row(t, protocol.ProblemsAttribute, protocol.InstanceID("q", "a"), protocol.InstanceType, fails),
			row(t, protocol.ProblemsAttribute, protocol.InstanceID("q", "b"), protocol.InstanceType, fails),
			row(t, protocol.ProblemsAttribute, protocol.InstanceID("p", "a"), protocol.InstanceType),
			row(t, protocol.ProblemsAttribute, part, protocol.ProcessType, fails),
			row(t, protocol.ProblemsAttribute, delegate, protocol.ProcessType, fails),
		},
		"ExecutionStatus": {
			row(t, "", "still", protocol.ProcessType),
			row(t, "", protocol.InstanceID("s", "a"), protocol.InstanceType),
		},
	}}, []string{protocol.ActivityRequestLLM, protocol.ActivityExecute})
	says := map[string]string{"p": "Request of p", part: "Execute of " + inPart, "q": "continue q/a",
		"big": "continue " + part, "r": "continue " + delegate, "deaf": "continue the process",
		"still": "somebody paused the process", "s": "somebody paused s/a"}
	if err != nil || len(found) != len(says) {
		t.Errorf("%+v, %v", found, err)
	}
	for process, text := range says {
		if list := found[process]; len(list) != 1 || !strings.Contains(list[0].Message, text) || list[0].Remedy == "" {
			t.Errorf("%s: %+v", process, list)
		}
		deaf := process == "deaf" || process == "still"
		for _, h := range found[process] {
			if (h.ProcessID == process) != deaf {
				t.Errorf("%s, which hears of it: %v, is told as of %q", process, !deaf, h.ProcessID)
			}
		}
	}
}

func TestOfManyProcessesThoseThatRunAreFoundAFewAtATime(t *testing.T) {
	t.Parallel()
	server := listed{rows: map[string][]*workflowpb.WorkflowExecutionInfo{"WorkflowId": {
		row(t, "", "it's", protocol.ProcessType)}}, asked: new([]string)}
	var ids []string
	for n := range 2*maxIDsInQuery + 1 {
		ids = append(ids, fmt.Sprintf("it's %d", n))
	}
	running, err := RunningProcesses(t.Context(), server, ids)
	if asked := *server.asked; err != nil || !running["it's"] || len(asked) != 3 ||
		asked[2] != `WorkflowId IN ('it\'s 200') AND ExecutionStatus = 'Running'` {
		t.Errorf("%v, %v: %q", running, err, asked)
	}
	if _, err := RunningProcesses(t.Context(), listed{err: errors.New("away")}, ids); err == nil {
		t.Error("a server that did not answer counts as one where nothing runs")
	}
}

func TestAServerThatLacksASearchAttributeIsAskedForTheOther(t *testing.T) {
	t.Parallel()
	found, err := HoldUpsInTemporal(t.Context(), listed{rows: map[string][]*workflowpb.WorkflowExecutionInfo{
		pauseAttribute: {row(t, pauseAttribute, "p", protocol.ProcessType, pausedActivityPrefix+"Request")}}},
		nil)
	if err != nil || len(found["p"]) != 1 || found["p"][0].CauseCode != turn.CodeTemporalPaused {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := HoldUpsInTemporal(t.Context(), listed{err: errors.New("away")}, nil); err == nil {
		t.Error("a server that did not answer counts as one that knows nothing")
	}
}
