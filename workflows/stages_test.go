package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/temporal"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// weigh is an HTTP tool that refuses some weights for good.
func weigh(t *testing.T, refused ...string) string {
	url := toolbox.handle("/"+t.Name()+"/weigh", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for _, n := range refused {
			if strings.Contains(string(body), `"n":`+n+`}`) {
				http.Error(w, "too heavy", http.StatusBadRequest)
				return
			}
		}
		fmt.Fprint(w, `"light"`)
	})
	return httpTool(url, `, "required": ["n"]`)
}

func rowsOf(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `{"type": "state", "_instance": "%d", "n": %d}, `, i, i)
	}
	return b.String()
}

func TestOfTheInstancesOfAnOptimalPlanOnlyTheThreeThatFailGoToTheLLMTogether(t *testing.T) {
	t.Parallel()
	atLength(t)
	count, failing := 12, []string{"3", "7", "12"}
	if longrun.Enabled() {
		count, failing = 100, []string{"7", "42", "100"}
	}
	s := newScenario(t, `{"config": {"gather": "5m"}, "schema": {"tools": {"weigh": `+weigh(t, failing...)+`,
		"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}},
		"context": [`+rowsOf(count)+`{"type": "plan", "stage": "optimal", "plan": [
			{"_tool": "shout", "text": "†state.weight", "_outputPath": "said"}, {"_tool": "weigh", "n": "†state.n", "_outputPath": "weight"}]}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "by hand", "_outputPath": "said"}]}}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if r.RequestCount != 2 || len(r.Instances) != count ||
		r.Calls != (turn.CallCounts{Done: 2*count - 3, Failed: 3, Blocked: 3}) {
		t.Errorf("%d Requests, %+v\n%s", r.RequestCount, r.Calls, s.story())
	}
	for token, want := range map[string]string{"1": `{"n":1,"said":"LIGHT","weight":"light"}`,
		failing[1]: `{"n":` + failing[1] + `,"said":"BY HAND"}`} {
		if got := asJSON(r.Instances[token].State); got != want {
			t.Errorf("%s: %s", token, got)
		}
	}
	text, wanted := s.prompt(1), []string{"- 0.2 weigh (all 3): tool_failed: ", "- 0.1 shout(", "failed (all 3)"}
	for _, token := range failing {
		wanted = append(wanted, fmt.Sprintf("\n%[1]s: {\"n\":%[1]s}\n", token))
	}
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("the Request lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "{\"n\":8}") {
		t.Error("it is about an instance that is well")
	}
	s.replays("8", failing[1])
	if idea, err := chain.New(store).Load(t.Context(), s.id, 1); err != nil || len(idea["context"].([]any)) < count {
		t.Errorf("%v", err)
	}
}

func TestACompletePlanMakesNoRequestWhateverHappens(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"weigh": `+weigh(t, "2", "3")+`}, "output": {"type": "object"}},
		"context": [`+rowsOf(3)+`{"type": "plan", "name": "light", "stage": "complete", "when": {"properties": {"state": {"properties": {"n": {"maximum": 2}}}}},
			"plan": [{"_tool": "weigh", "n": "†state.n", "_outputPath": "†state.weight || †state.failed"}], "output": {"weights": "†state.weight || †state.failed.code"}},
			{"type": "plan", "name": "heavy", "stage": "complete", "plan": [{"_tool": "weigh", "n": "†state.n"}], "output": {}}]}`)
	err := s.start().Get(t.Context(), nil)
	var app *temporal.ApplicationError
	var r loop.ProcessResult
	if !errors.As(err, &app) || app.Details(&r) != nil {
		t.Fatalf("it ended with %v", err)
	}
	if r.Status != loop.StatusFailed || r.RequestCount != 0 || len(s.llm.Requests()) != 0 ||
		!strings.Contains(r.Error.Message, "0.1@3: ") {
		t.Errorf("%+v, %v", r, r.Error)
	}
	if got := asJSON(r.Output); got != `{"weights":{"1":"light","2":"tool_failed"}}` {
		t.Errorf("the output is %s", got)
	}
	if r.IdeaCount != 2 || r.Calls != (turn.CallCounts{Done: 2, Failed: 1}) {
		t.Errorf("%d Ideas, %+v", r.IdeaCount, r.Calls)
	}
	idea, err := chain.New(store).Load(t.Context(), s.id, 2)
	if err != nil {
		t.Fatal(err)
	}
	again, problems := ideafile.ReadIdea(idea)
	if len(problems) > 0 || again.Context[0].PlanStage != ideafile.PlanStageComplete ||
		again.Context[0].PlanRecordByCallID == nil {
		t.Errorf("%v: %v", problems, idea)
	}
}

// People and pauses mean the same to a Plan that runs directly: what waits for a person waits, an instance that is
// added while the process is paused begins when it goes on, and what is left to the LLM is asked for by itself.
func TestAPlanThatRunsDirectlyWaitsForPeopleAndPauses(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"config": {"gather": "5m"}, "schema": {"tools": {"weigh": {"_approval": true, `+weigh(t)[1:]+`, "muse": {"type": "object", "properties": {"x": {}}, "_output": {"type": "string"}}}},
		"context": [`+rowsOf(1)+`{"type": "plan", "stage": "optimal", "plan": [{"_tool": "weigh", "n": "†state.n", "_outputPath": "a"},
			{"_tool": "muse", "x": "†state.a", "_outputPath": "b"}], "output": {"all": "†state.b"}}]}`,
		`{"solution": {"calls": [{"_call": "0.2@1", "_output": "one"}, {"_call": "0.2@2", "_output": "two"}]}}`)
	run := s.start()
	eventually(t, "somebody is asked", func() bool { return s.processStatus().PendingDecisionCount == 1 })
	s.signal(s.id, approval.SteerPause, json.RawMessage(`{"id": "p"}`))
	s.signal(s.id, approval.SteerAddInstances,
		json.RawMessage(`{"id": "a", "context": [{"type": "state", "_instance": "2", "n": 2}]}`))
	s.signal(s.id, policy.Approve, json.RawMessage(`{"call": "0.1@1"}`))
	s.areTaken("p", "a")
	if v := s.processStatus(); v.Status != loop.StatusPaused || v.PendingDecisionCount > 1 {
		t.Errorf("%+v", v)
	}
	s.signal(s.id, approval.SteerResume, json.RawMessage(`{}`))
	eventually(t, "it asks about the second", func() bool {
		for _, line := range s.processStatus().WaitingFor {
			if strings.Contains(line, "0.1@2 weigh") {
				return true
			}
		}
		return false
	})
	s.signal(s.id, policy.Approve, json.RawMessage(`{"call": "0.1@2"}`))
	var r loop.ProcessResult
	if err := run.Get(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	if asJSON(r.Output) != `{"all":{"1":"one","2":"two"}}` || r.RequestCount != 1 || r.Calls.Done != 4 {
		t.Errorf("%s after %d Requests, %+v\n%s", asJSON(r.Output), r.RequestCount, r.Calls, s.story())
	}
	v, err := temporalClient.QueryWorkflow(t.Context(), s.id, "", protocol.QueryStatus)
	if err != nil {
		t.Fatal(err)
	}
	var view protocol.ProcessView
	if err := v.Get(&view); err != nil || view.IdeaCount < 2 || len(view.Refusals) > 0 {
		t.Errorf("%+v, %v", view, err)
	}
	s.replays("1", "2")
}

// replays checks that the process and some of its instances replay.
func (s *scenario) replays(tokens ...string) {
	s.t.Helper()
	ids := []string{s.id}
	for _, token := range tokens {
		ids = append(ids, protocol.InstanceID(s.id, token))
	}
	for _, id := range ids {
		if err := replay(s.t, store, history(s.t, id)); err != nil {
			s.t.Errorf("replay %s: %v", id, err)
		}
	}
}

// So it is in a delegate, whose caller gets what the other Plan came to.
func TestPeoplePutAnotherPlanInThePlaceOfTheOneOfADelegate(t *testing.T) {
	t.Parallel()
	weighed, till := &atomic.Int64{}, newTill(t)
	url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, _ *http.Request) {
		weighed.Add(1)
		_, _ = io.WriteString(w, "5")
	})
	s := newScenario(t, `{"schema": {"tools": {"review": {"type": "object", "_delegate": "review.json", "_writes": ["state.note"], "_output": {"type": "object"}}}}, "context": [
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "review", "_outputPath": "verdict"}]}]}`)
	s.file("review.json", `{"schema": {"tools": {"weigh": `+httpTool(url, "")+`, "pay": `+till.pay("true")+`}, "output": {"type": "object"}}, "context": [
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "weigh", "n": 1, "_outputPath": "a"}, {"_tool": "pay", "n": "†state.a", "_outputPath": "b"}], "output": {"paid": "†state.b"}}]}`)
	run := s.start()
	delegate := *s
	delegate.id = protocol.DelegateID(s.id, "0.1")
	delegate.waitsFor(1)
	s.signal(delegate.id, approval.SteerRevise,
		map[string]any{"id": "r1", "by": "ann", "context": []any{map[string]any{"type": "plan", "stage": "complete",
			"plan": []any{map[string]any{"_tool": "weigh", "n": 1, "_outputPath": "a"},
				map[string]any{"_tool": "weigh", "n": "†state.a", "_outputPath": "note"}},
			"output": map[string]any{"noted": "†state.note"}}}})
	r := s.end(run)
	if got := asJSON(r.Instances[""].State); r.Status != loop.StatusCompleted ||
		got != `{"note":5,"verdict":{"noted":5}}` || r.RequestCount != 0 {
		t.Errorf("%s %s: %+v\n%s", r.Status, got, r.Error, s.story())
	}
	if len(till.seen()) > 0 || weighed.Load() != 2 {
		t.Errorf("%d weighed, paid %v", weighed.Load(), till.seen())
	}
	delegate.replays("")
	s.replays("")
}

// What a Plan that runs directly has done stays done when people put another in its place, in parts too, and the other
// settles it.
func TestPeoplePutAnotherPlanInThePlaceOfTheOneAtWork(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]int{"as one": 3, "in parts": 30} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			weighed, till := &atomic.Int64{}, newTill(t)
			url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, _ *http.Request) {
				weighed.Add(1)
				_, _ = io.WriteString(w, "5")
			})
			s := newScenario(t, `{"config": {"batch": 10}, "schema": {"tools": {"weigh": `+httpTool(url, "")+`, "pay": `+till.pay("true")+`},
				"output": {"type": "object", "properties": {"all": {}}, "required": ["all"]}}, "context": [`+rowsOf(rows)+`
				{"type": "plan", "stage": "complete", "plan": [{"_tool": "weigh", "n": 1, "_outputPath": "a"}, {"_tool": "pay", "n": "†state.a", "_outputPath": "b"}], "output": {"all": "†state.b"}}]}`)
			run := s.start()
			s.waitsFor(rows)
			s.signal(s.id, approval.SteerRevise,
				map[string]any{"id": "r1", "by": "ann",
					"context": []any{map[string]any{"type": "plan", "stage": "complete",
						"plan": []any{map[string]any{"_tool": "weigh", "n": 1, "_outputPath": "a"},
							map[string]any{"_tool": "weigh", "n": "†state.a", "_outputPath": "c"}},
						"output": map[string]any{"all": "†state.c"}}}})
			r := s.end(run)
			if r.Status != loop.StatusCompleted || r.RequestCount != 0 || len(till.seen()) > 0 ||
				weighed.Load() != int64(2*rows) {
				t.Errorf("%s after %d Requests, %d weighed, paid %v: %+v", r.Status, r.RequestCount, weighed.Load(),
					till.seen(), r.Error)
			}
			if all, _ := r.Output.(map[string]any)["all"].(map[string]any); len(all) != rows {
				t.Errorf("%v", r.Output)
			}
		})
	}
}
