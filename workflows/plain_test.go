package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"processidea/model/approval/policy"
	"processidea/model/jsonval"
)

// plainClient is what anybody's program has: the SDK as it comes, without our converter, store or headers.
func (s *scenario) plainClient() client.Client {
	s.t.Helper()
	c, err := client.Dial(client.Options{HostPort: addressOf(s.namespace), Namespace: s.namespace, Logger: quiet{}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// rawQuery gives the payload of an answer, as tools get it.
func (s *scenario) rawQuery(c client.Client, id, name string) *commonpb.Payload {
	s.t.Helper()
	a, err := c.WorkflowService().QueryWorkflow(s.t.Context(), &workflowservice.QueryWorkflowRequest{
		Namespace: s.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id},
		Query: &querypb.WorkflowQuery{QueryType: name}})
	if err != nil {
		s.t.Fatalf("%s of %s: %v", name, id, err)
	}
	return a.GetQueryResult().GetPayloads()[0]
}

func TestAnAnswerOverTemporalsLimitIsRead(t *testing.T) {
	t.Parallel()
	state := map[string]any{}
	for n := range 500 { // 3 MB in values that histories keep inline
		state[fmt.Sprint("value ", n)] = strings.Repeat("long ", 1200)
	}
	till := newTill(t)
	s := newScenario(t, `{"meta": {"path": "plain"}, "schema": {"tools": {"pay": `+till.pay("true")+`}}, "context": [
		{"type": "state", "_instance": "①", "state": `+jsonval.EncodeToString(state)+`}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "n": 1, "_outputPath": "done"}]}}`, nothingMore)
	run := s.start()
	s.waitsFor(1)
	if got := jsonval.AsObject(s.instance("①").State); got["value 499"] != state["value 499"] {
		t.Errorf("the State is not read whole: %d members", len(got))
	}
	s.decide("approve", "1.1@①", "")
	s.end(run)
}

func TestAClientWithoutOurCodeQueriesAndSignalsEveryWorkflow(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	long := strings.Repeat("long ", 4000) // above what histories keep inline
	s := newScenario(t, `{"meta": {"path": "plain"}, "schema": {"tools": {"pay": `+till.pay("true")+`}}, "context": [{"type": "state", "_instance": "⑬", "to": "`+long+`"},
		{"type": "input", "_instance": "a b/é", "row": 7}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "n": 1, "_outputPath": "done"}]}}`, nothingMore)
	run := s.start()
	s.waitsFor(2)
	plain := s.plainClient()
	for _, id := range []string{s.id, s.id + "/13", s.id + "/a%20b%2F%C3%A9"} {
		for _, name := range []string{"status", "approvals"} {
			p := s.rawQuery(plain, id, name)
			if len(p.GetMetadata()) != 1 ||
				string(p.GetMetadata()[converter.MetadataEncoding]) != converter.MetadataEncodingJSON {
				t.Errorf("%s of %s is no plain JSON: %v", name, id, p.GetMetadata())
			}
			if v, err := jsonval.Decode(p.GetData()); err != nil || jsonval.AsObject(v) == nil {
				t.Errorf("%s of %s: %v", name, id, err)
			}
		}
	}
	var seen struct {
		Approvals []struct{ Call, Instance string }
		State     map[string]any
		Input     map[string]any
	}
	if a, err := plain.QueryWorkflow(t.Context(), s.id+"/13", "", "approvals"); err != nil || a.Get(&seen) != nil ||
		len(seen.Approvals) != 1 ||
		seen.Approvals[0].Call != "1.1@⑬" || seen.State["to"] != long {
		t.Errorf("%v: %+v", err, seen)
	}
	var all struct {
		Approvals []struct {
			Instance string
			Input    map[string]any
			State    map[string]any
		}
	}
	if a, err := plain.QueryWorkflow(t.Context(), s.id, "", "approvals"); err != nil || a.Get(&all) != nil ||
		len(all.Approvals) != 2 ||
		all.Approvals[0].State["to"] != long || fmt.Sprint(all.Approvals[1].Input["row"]) != "7" {
		t.Errorf("%v: %+v", err, all)
	}
	found := func() (ids []string) {
		page, err := plain.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: s.namespace,
			Query:     fmt.Sprintf("IdeaPath = 'plain' AND IdeaAwaiting > 0 AND WorkflowId STARTS_WITH '%s'", s.id)})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.GetExecutions() {
			ids = append(ids, strings.TrimPrefix(e.GetExecution().GetWorkflowId(), s.id))
		}
		slices.Sort(ids)
		return ids
	}
	eventually(t, "the Idea's path finds the process and its instances", func() bool {
		return slices.Equal(found(), []string{"", "/13", "/a%20b%2F%C3%A9"})
	})
	for id, payload := range map[string]string{s.id + "/13": `{"call": "1.1@13"}`,
		s.id: `{"call": "1.1@a%20b%2F%C3%A9", "by": "bo"}`} {
		v, _ := jsonval.Decode([]byte(payload))
		if err := plain.SignalWorkflow(t.Context(), id, "", policy.Approve, v); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if r := s.end(run); r.Calls.Done != 2 {
		t.Errorf("%+v", r.Calls)
	}
}
