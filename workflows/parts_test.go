package workflows_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/chain"
)

// rows are instances 1 to n, as an Idea's context.
func rows(from, to int) string {
	var list []string
	for n := from; n <= to; n++ {
		list = append(list, fmt.Sprintf(`{"type": "state", "_instance": "%d", "text": "t%d"}`, n, n))
	}
	return strings.Join(list, ",")
}

const oneForAll = `{"solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "loud"}]}}`

func TestAProcessOfManyInstancesIsSplitAndGathersItsParts(t *testing.T) {
	t.Parallel()
	atLength(t)
	s := newScenario(t, `{"config": {"batch": 10, "gather": "5m"}, "schema": {"tools": {"shout": `+textTool+`}, "output": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
		"context": [{"type": "text", "text": "Go."}, `+rows(1, 64)+`]}`)
	s.scripted = strings.Join([]string{oneForAll, `{"solution": {"calls": [], "output": {"n": 10}}}`,
		`{"solution": {"calls": [], "output": {"n": 64}}}`}, "\n")
	r := s.finish()
	if r.Status != loop.StatusCompleted || r.Calls.Done != 64 || len(r.Instances) != 64 ||
		asJSON(r.Output) != `{"n":64}` || r.RequestCount != 15 {
		t.Errorf("%s %+v %s after %d Requests, %d instances", r.Status, r.Calls, asJSON(r.Output), r.RequestCount,
			len(r.Instances))
	}
	for n := 1; n <= 64; n++ {
		i := r.Instances[fmt.Sprint(n)]
		if want := fmt.Sprintf(`{"loud":"T%d","text":"t%d"}`, n, n); i.Status != ideafile.InstanceSettled ||
			asJSON(i.State) != want {
			t.Errorf("instance %d is %s with %s", n, i.Status, asJSON(i.State))
		}
	}
	for _, id := range []string{s.id, protocol.PartID(s.id, 1), protocol.PartID(s.id, 7)} {
		if report, err := chain.New(store).Verify(t.Context(), id); err != nil || !report.IsIntact {
			t.Errorf("the chain of %s: %+v, %v", id, report, err)
		}
	}
	if err := replay(t, store, history(t, s.id)); err != nil {
		t.Error(err)
	}
	s.keep("split", "/~part/1", "/~part/1/1")
}

// A wrong output over all parts is told, and the process goes on; the third in a row pauses it.
func TestAWrongOutputOverAllPartsIsToldToTheLLM(t *testing.T) {
	t.Parallel()
	atLength(t)
	s := newScenario(t, `{"config": {"batch": 2, "gather": "5m"}, "schema": {"tools": {"shout": `+textTool+`}, "output": {"type": "object", "properties": {"all": {}}, "required": ["all"]}},
		"context": [{"type": "text", "text": "Go."}, `+rows(1, 3)+`]}`,
		`{"when": "Write the output", "solution": {"calls": [], "output": {"all": "†state.never"}}}`,
		`{"when": "\"loud\"", "solution": {"calls": [], "output": {"all": "in words"}}}`,
		strings.Replace(oneForAll, "{", `{"when": "Go.", `, 1))
	run := s.start()
	eventually(t, "it is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if v := s.processStatus(); v.RequestCount != 7 || !strings.Contains(v.Error.Message, "†state.never") {
		t.Errorf("after %d Requests: %v", v.RequestCount, v.Error)
	}
	if seen := s.llm.Requests(); !strings.Contains(s.prompt(len(seen)), "†state.never: ") &&
		!strings.Contains(s.prompt(len(seen)), "bad_output") {
		t.Errorf("the LLM was told\n%s", s.prompt(len(seen)))
	}
	s.script(`{"solution": {"calls": [], "output": {"all": "†state.loud"}}}`)
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := s.end(run); r.Status != loop.StatusCompleted || asJSON(r.Output) != `{"all":{"1":"T1","2":"T2","3":"T3"}}` {
		t.Errorf("%s with %s", r.Status, asJSON(r.Output))
	}
}

// Of a Plan that runs directly, all parts together make one output, and nobody is asked.
func TestACompletePlanInPartsAsksNobodyForItsOutput(t *testing.T) {
	t.Parallel()
	weighAll := weigh(t, "2")
	for name, c := range map[string]struct{ form, wants string }{
		"with a form": {
			`, "output": {"type": "object", "properties": {"all": {"type": "object", "minProperties": 4}}}`,
			`{"all":{"1":"light","3":"light","4":"light","5":"light"}}`},
		"without a form": {``, `{"all":{"1":"light","3":"light","4":"light","5":"light"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, `{"config": {"batch": 2}, "schema": {"tools": {"weigh": `+weighAll+`}`+c.form+
				`}, "context": [`+rowsOf(5)+
				`{"type": "plan", "stage": "complete", "plan": [{"_tool": "weigh", "n": "†state.n", "_outputPath": "weight"}], "output": {"all": "†state.weight"}}]}`)
			err := s.start().Get(t.Context(), nil)
			var app *temporal.ApplicationError
			var r loop.ProcessResult
			if !errors.As(err, &app) || app.Details(&r) != nil {
				t.Fatalf("it ended with %v", err)
			}
			if r.Status != loop.StatusFailed || r.RequestCount != 0 || len(s.llm.Requests()) != 0 ||
				asJSON(r.Output) != c.wants {
				t.Errorf("%s after %d Requests with %s", r.Status, r.RequestCount, asJSON(r.Output))
			}
		})
	}
}

func TestPartsDoNotWaitForTheSlowCallsOfOthersUpToThreeAtATime(t *testing.T) {
	t.Parallel()
	till, release := newTill(t), make(chan struct{})
	till.after = func(int) { <-release }
	s := newScenario(t, `{"config": {"batch": 1, "gather": "5m"}, "schema": {"tools": {"pay": `+till.pay("false")+
		`}}, "context": [{"type": "text", "text": "Go."}, `+rows(1, 4)+`]}`)
	s.scripted = `{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "n": 1, "_outputPath": "paid"}]}}
{"solution": {"calls": []}}`
	run := s.start()
	eventually(t, "three Calls run", func() bool { return len(till.seen()) == 3 })
	eventually(t, "the whole has heard of three",
		func() bool { return s.processStatus().Parts[2].Status == loop.StatusRunning })
	if _, err := s.client.DescribeWorkflowExecution(t.Context(), protocol.PartID(s.id, 4), ""); err == nil {
		t.Error("a fourth is at work with them")
	}
	close(release)
	if r := s.end(run); r.Status != loop.StatusCompleted || r.Calls.Done != 4 || len(till.seen()) != 4 {
		t.Errorf("%s %+v, %d payments", r.Status, r.Calls, len(till.seen()))
	}
}

func TestPeopleDecideOnSteerAndAddToPartsThroughTheWhole(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"config": {"batch": 3, "gather": "5m"}, "schema": {"tools": {"pay": `+till.pay("true")+
		`}}, "context": [{"type": "text", "text": "Go."}, `+rows(1, 7)+`]}`)
	s.scripted = `{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "n": 1, "_outputPath": "paid"}]}}
{"solution": {"calls": []}}`
	run := s.start()
	waiting := s.waitsFor(7)
	s.signal(s.id, approval.SteerAddInstances,
		map[string]any{"context": []any{map[string]any{"type": "state", "_instance": "8", "text": "t8"}}})
	s.waitsFor(8)
	s.signal(s.id, approval.SteerAddInstances,
		map[string]any{"context": []any{map[string]any{"type": "state", "_instance": "3"}}, "id": "twice"})
	s.signal(s.id, policy.Approve, map[string]any{"call": "1.1@nobody", "id": "nobody"})
	eventually(t, "both are refused", func() bool { return s.processStatus().RefusalCount == 2 })
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "ann"})
	eventually(t, "every part is paused", func() bool {
		v := s.processStatus()
		paused := 0
		for _, part := range v.Parts {
			if part.Status == loop.StatusPaused {
				paused++
			}
		}
		return v.Status == loop.StatusPaused && paused == 4
	})
	s.signal(s.id, approval.SteerResume, map[string]any{})
	for _, a := range append(waiting, s.waitsFor(8)[7]) {
		s.signal(s.id, policy.Approve, map[string]any{"call": a.CallID, "digest": a.Digest, "by": "bob"})
	}
	if r := s.end(run); r.Status != loop.StatusCompleted || r.Calls.Done != 8 || len(till.seen()) != 8 ||
		len(r.Instances) != 8 {
		t.Errorf("%s %+v, %d payments", r.Status, r.Calls, len(till.seen()))
	}
	s.keep("steered-parts", "/~part/3", "/~part/3/7")
}

func TestASplitProcessThatIsCancelledTakesItsPartsAlong(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"config": {"batch": 2, "gather": "5m"}, "schema": {"tools": {"pay": `+till.pay("true")+
		`}}, "context": [{"type": "text", "text": "Go."}, `+rows(1, 4)+`]}`)
	s.scripted = `{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "n": 1}]}}`
	run := s.start()
	s.waitsFor(4)
	if err := s.client.CancelWorkflow(t.Context(), s.id, ""); err != nil {
		t.Fatal(err)
	}
	if err := run.Get(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("it ended with %v", err)
	}
	s.shows(loop.StatusCancelled)
	for _, id := range []string{protocol.PartID(s.id, 2), protocol.InstanceID(protocol.PartID(s.id, 2), "4")} {
		if err := s.client.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil); err == nil {
			t.Errorf("%s has not been cancelled", id)
		}
	}
}

func TestPartsGoOnWhereTheIdeaStoodThatTheWholeStartsFrom(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"config": {"batch": 2, "gather": "5m"}, "schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}, `+rows(1, 4)+`,
		{"type": "plan", "plan": [{"_tool": "shout", "_instance": "*", "text": "†state.text"}], "record": {"1.1": {"done": ["1", "2", "3", "4"]}}}]}`)
	s.scripted, s.every = nothingMore, 1
	if r := s.finish(); r.Status != loop.StatusCompleted || r.Calls.Done != 0 {
		t.Errorf("%s %+v", r.Status, r.Calls)
	}
	idea, err := chain.New(store).Load(t.Context(), protocol.PartID(s.id, 2), 1)
	if text := asJSON(idea); err != nil || !strings.Contains(text, `"record":{"1.1":{"done":["3","4"]}}`) {
		t.Errorf("the part begins with %s, %v", text, err)
	}
}
