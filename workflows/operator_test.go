package workflows_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

func TestAFloodOfSignalsFailsNoWorkflowTaskAndEveryValidOneHasItsEffectOnce(t *testing.T) {
	t.Parallel()
	atLength(t)
	till := newTill(t)
	s := newScenario(t, manyInstances(till, 20, 0, `{"gather": "5m"}`), payAll, nothingMore)
	run := s.start()
	s.waitsFor(20)
	nonsense := []any{"no", 7, nil, []byte{0xff}, []any{}, map[string]any{"call": "1.1@i999"},
		map[string]any{"call": strings.Repeat("x", 5000)},
		map[string]any{"call": "1.1@i0", "digest": "0"}, map[string]any{"call": "1.1@i0", "surprise": 1},
		map[string]any{"context": []any{map[string]any{"type": "plan"}}}}
	names := []string{policy.Approve, policy.Reject, policy.Amend, policy.Answer, approval.SteerAddInstances,
		approval.SteerRevise, approval.SteerResume, "report", "calls", "close"}
	var wg sync.WaitGroup
	for part := range 10 {
		wg.Go(func() {
			for n := range 50 {
				to := s.id
				if n%3 == 0 {
					to = protocol.InstanceID(s.id, fmt.Sprintf("i%d", n%20))
				}
				_ = s.client.SignalWorkflow(t.Context(), to, "", names[(part+n)%len(names)],
					nonsense[(part*7+n)%len(nonsense)])
				// Each is decided 25 times over: once counts.
				_ = s.client.SignalWorkflow(t.Context(), s.id, "", policy.Approve,
					map[string]any{"call": fmt.Sprintf("1.1@i%d", n%20), "by": fmt.Sprint(part)})
			}
		})
	}
	wg.Wait()
	if r := s.end(run); r.Calls.Done != 20 || len(till.seen()) != 20 {
		t.Errorf("%+v, %d payments", r.Calls, len(till.seen()))
	}
	for _, id := range append([]string{s.id}, protocol.InstanceID(s.id, "i0"), protocol.InstanceID(s.id, "i12")) {
		h := temporalClient.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for h.HasNext() {
			e, err := h.Next()
			if err != nil {
				t.Fatal(err)
			}
			// More than a hundred signals during one task make it run again; that is no failure of ours.
			f := e.GetWorkflowTaskFailedEventAttributes()
			if f != nil && f.GetCause() != enumspb.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND &&
				f.GetCause() != enumspb.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND {
				t.Errorf("%s: %v", id, e)
			}
		}
	}
}

// details is what the Temporal UI shows of a workflow as its current details.
func (s *scenario) details(under string) string {
	s.t.Helper()
	v, err := s.client.QueryWorkflow(s.t.Context(), s.id+under, "", "__temporal_workflow_metadata")
	if err != nil {
		return ""
	}
	var m sdkpb.WorkflowMetadata
	if err := v.Get(&m); err != nil {
		s.t.Fatal(err)
	}
	return m.GetCurrentDetails()
}

func TestAnOperatorSeesWhatWaitsAndTheJSONToSend(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay(`{"timeout": "72h"}`)+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		"{\"solution\": {\"calls\": [{\"_tool\": \"pay\", \"n\": 42, \"to\": \"``` end of fence\", \"_outputPath\": "+
			"\"done\"}]}}", nothingMore)
	run := s.start()
	shown := s.waitsFor(1)[0]
	for _, under := range []string{"", "/main"} {
		eventually(t, "the details show it", func() bool { return strings.Contains(s.details(under), shown.Digest) })
		text := strings.Join(strings.Fields(s.details(under)), " ")
		for _, want := range []string{"Waits for a person: 1", "**1.1** pay → †state.done, since 20",
			"if nobody decides by 20", `"n": 42`, "`" + s.id + "/main`",
			"`approve`", `{ "by": "your name", "call": "1.1", "digest": "` + shown.Digest + `" }`,
			`\u0060\u0060\u0060 end of fence`} {
			if !strings.Contains(text, want) {
				t.Errorf("%q: %q is missing in\n%s", under, want, text)
			}
		}
	}
	list := func() (ids []string) {
		page, err := temporalClient.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: s.namespace, Query: fmt.Sprintf("IdeaAwaiting > 0 AND WorkflowId STARTS_WITH '%s'", s.id)})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.GetExecutions() {
			ids = append(ids, e.GetExecution().GetWorkflowId())
		}
		return ids
	}
	eventually(t, "the filter finds the process and its instance", func() bool { return len(list()) == 2 })
	s.decide(policy.Approve, "1.1", "")
	s.end(run)
	eventually(t, "the filter finds neither", func() bool { return len(list()) == 0 })
}

func TestDetailsCanBeReadWithoutOurStoreHoweverLongTheyAre(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	call := `{"_tool": "pay", "to": "` + strings.Repeat("long ", 300) + `"}`
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay(`true`)+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [`+strings.Repeat(call+",", 11)+call+`]}}`, nothingMore)
	run := s.start()
	s.waitsFor(12)
	plain, err := client.Dial(client.Options{HostPort: addressOf(s.namespace), Namespace: s.namespace, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	ours := s.client
	s.client = plain
	for _, under := range []string{"", "/main"} {
		text := s.details(under)
		if len(text) < 12_000 || len(text) > 20_000 || !strings.Contains(text, "Waits for a person: 12") ||
			!strings.Contains(text, "and 4 more") {
			t.Errorf("%q: %d bytes: %s", under, len(text), text)
		}
	}
	s.client = ours
	for n := range 12 {
		s.decide(policy.Reject, fmt.Sprintf("1.%d", n+1), `{"reason": "too long"}`)
	}
	s.end(run)
}

func TestNobodyDecidesInTime(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay(`{"timeout": "200ms"}`)+`, "lax": `+till.pay(`{"timeout": "100ms", "onTimeout": "approve"}`)+`,
		"wait": `+till.pay(`{"timeout": "500ms", "onTimeout": "pause"}`)+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 1, "_outputPath": "a"}, {"_tool": "lax", "n": 2, "_outputPath": "b"}, {"_tool": "wait", "n": 3, "_outputPath": "c"}]}}`, nothingMore)
	run := s.start()
	eventually(t, "it pauses", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if f := s.processStatus().Error; f.Code != dataflow.CodeApprovalOverdue ||
		!strings.Contains(f.Message, "nobody decided on 1.3 within 500ms") {
		t.Errorf("%+v", f)
	}
	s.signal(s.id, approval.SteerResume, map[string]any{})
	s.waitsFor(1)
	s.decide(policy.Approve, "1.3", "")
	r := s.end(run)
	if r.Calls != (turn.CallCounts{Done: 2, Rejected: 1}) ||
		!strings.Contains(s.prompt(2), "rejected by timeout: nobody decided within 200ms") {
		t.Errorf("%+v\n%s", r.Calls, s.prompt(2))
	}
}

func TestADecisionThatComesWhileNoWorkerRunsCounts(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": {"type": "object", "_activity": {"http": {"url": "`+c.tool("pay", nil)+`"}}, "_approval": {"timeout": "1s", "onTimeout": "reject"}},
		"late": {"type": "object", "_activity": {"http": {"url": "`+c.tool("late", nil)+`"}}, "_approval": {"timeout": "1s", "onTimeout": "approve"}}}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "_outputPath": "a"}, {"_tool": "late", "_outputPath": "b"}]}}`,
		nothingMore)
	kill := c.work()
	run := c.start(s)
	shown := s.waitsFor(2)
	kill()
	s.signal(s.id+"/main", policy.Approve, map[string]any{"call": "1.1", "by": "ann"})
	eventually(t, "the deadline passes",
		func() bool { return time.Now().After(shown[1].Deadline.Add(100 * time.Millisecond)) })
	c.work()
	if r := c.finish(run); asJSON(r.Instances[""].State) != `{"a":"pay","b":"late"}` || len(c.calls("pay")) != 1 ||
		len(c.calls("late")) != 1 {
		t.Errorf("%+v", r)
	}
}
