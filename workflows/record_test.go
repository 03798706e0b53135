package workflows_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/store/chain"
)

// decided lists what the logs of a process say that people decided, and what came of it.
func (s *scenario) decided(process string, ideas int) (lines []string) {
	s.t.Helper()
	for at := 1; at <= ideas; at++ {
		log, err := chain.New(store).LogAt(s.t.Context(), process, at)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range log {
			if d := e.Decision; d != nil {
				lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s by %s: %s", d.Kind, d.CallID,
					d.DecidedBy, d.Reason)))
			}
			if o := e.Outcome; o != nil {
				lines = append(lines, fmt.Sprintf("%s is %s, ran %s", o.CallID, o.Status, asJSON(o.ExecutedCall)))
			}
		}
	}
	return lines
}

// Who amended what and why must not be lost behind who approved it then, nor what was replaced behind what ran.
func TestEveryDecisionStandsInTheChainWithWhatRanInTheEnd(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay(`{"when": {"properties": {"n": {"minimum": 10}}}}`)+`, "shout": `+textTool+`}},
		"context": [{"type": "state", "n": 600}, {"type": "plan", "stage": "complete", "plan": [
			{"_tool": "pay", "n": "†state.n", "_outputPath": "paid"}, {"_tool": "pay", "n": 700, "_outputPath": "second"},
			{"_tool": "pay", "n": 800, "_outputPath": "third"}, {"_tool": "pay", "n": 900}]}]}`)
	run := s.start()
	s.waitsFor(4)
	s.decide(policy.Amend, "0.1", `{"by": "dan", "reason": "too much", "params": {"n": 60}}`)
	eventually(t, "what was amended waits again", func() bool { return len(s.instance("").Calls[0].Decisions) == 1 })
	s.decide(policy.Approve, "0.1", `{"by": "eve"}`)
	s.decide(policy.Replace, "0.2", `{"by": "dan", "reason": "be polite", "with": {"_tool": "shout", "text": "sorry"}}`)
	s.decide(policy.Answer, "0.3", `{"by": "fay", "reason": "in cash", "output": "paid by hand"}`)
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "gus", "reason": "lunch", "id": "p"})
	s.signal(s.id, approval.SteerResume, map[string]any{"by": "gus", "reason": "full", "id": "r"})
	s.signal(s.id, approval.SteerRevise, map[string]any{"by": "hal", "reason": "a slip", "id": "v",
		"context": []any{map[string]any{"type": "state", "note": "mind"}}})
	s.areTaken("p", "r", "v")
	s.decide(policy.Reject, "0.4", `{"by": "ivy", "reason": "never"}`)
	_ = run.Get(t.Context(), nil)
	v := s.processStatus()
	told := strings.Join(s.decided(s.id, v.IdeaCount), "\n")
	for _, want := range []string{
		"amend 0.1 by dan: too much", "approve 0.1 by eve:", `0.1 is done, ran {"params":{"n":60},"tool":"pay"}`,
		"replace 0.2 by dan: be polite",
		`0.2 is done, ran {"params":{"text":"sorry"},"tool":"shout"}`, "answer 0.3 by fay: in cash",
		"0.3 is done, ran null", "pause  by gus: lunch",
		"resume  by gus: full", "revise  by hal: a slip", "reject 0.4 by ivy: never", "0.4 is rejected, ran null",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in:\n%s", want, told)
		}
	}
	if strings.Index(told, "amend 0.1") > strings.Index(told, "approve 0.1") {
		t.Errorf("the order is lost:\n%s", told)
	}
	last := asJSON(s.sealed(v.IdeaCount)["context"])
	for _, want := range []string{`"reason":"too much"`, `"shown":{"n":600}`, `"params":{"n":60}`,
		`"reason":"be polite"`, `"reason":"never"`} {
		if !strings.Contains(last, want) {
			t.Errorf("the record of the last Idea lacks %s: %s", want, last)
		}
	}
	s.blames("paid", "0.1", "pay", "amend by dan", "approve by eve")
	s.blames("second", "0.2", "shout", "replace by dan")
	s.blames("third", "person:fay", "pay", "answer by fay")
	s.blames("note", "person:hal", "", "revise by hal")
}

// blames checks whom a value is blamed on: its author, the Tool that ran, and the decisions behind it.
func (s *scenario) blames(path, by, tool string, decisions ...string) {
	s.t.Helper()
	b, err := chain.New(store).Blame(s.t.Context(), s.id, path, 0)
	if err != nil {
		s.t.Error(err)
		return
	}
	var made []string
	for _, d := range b.Decisions {
		made = append(made, d.Kind+" by "+d.DecidedBy)
	}
	ran := ""
	if b.Call != nil {
		ran = b.Call.Tool
	}
	if b.Author != by || ran != tool || strings.Join(made, ", ") != strings.Join(decisions, ", ") {
		s.t.Errorf("%s is blamed on %s, by %s, decided by %v", path, b.Author, ran, made)
	}
}

func TestAPlanThatRunsDirectlyIsSealedWhenItBeginsWaitsAndEnds(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay("true")+`, "shout": `+textTool+`}}, "context": [{"type": "state", "text": "a"},
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}, {"_tool": "pay", "n": 1, "_outputPath": "paid"}]}]}`)
	run := s.start()
	s.waitsFor(1)
	eventually(t, "it is sealed as it waits", func() bool { return s.processStatus().IdeaCount == 2 })
	if begun := asJSON(s.sealed(1)); strings.Contains(begun, "loud\":") {
		t.Errorf("it begins with %s", begun)
	}
	if waits := asJSON(s.sealed(2)); !strings.Contains(waits, `"loud":"A"`) ||
		!strings.Contains(waits, `"awaiting-approval":1`) {
		t.Errorf("it waits with %s", waits)
	}
	s.blames("loud", "0.1", "shout")
	s.decide(policy.Approve, "0.2", "")
	if r := s.end(run); r.IdeaCount != 3 || !strings.Contains(asJSON(s.sealed(3)), `"paid":"paid"`) {
		t.Errorf("it ends with %+v", r)
	}
}

func TestAPauseSealsWhatWasDoneAndAgainWhatStillRanThen(t *testing.T) {
	t.Parallel()
	const calls, quick = 25, 7
	hold := make(chan struct{})
	url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			N int `json:"n"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.N > quick {
			<-hold
		}
		fmt.Fprint(w, `"done"`)
	})
	var plan []string
	for n := 1; n <= calls; n++ {
		plan = append(plan, fmt.Sprintf(`{"_tool": "work", "n": %d, "_outputPath": "r%d"}`, n, n))
	}
	s := newScenario(t, `{"schema": {"tools": {"work": `+httpTool(url, "")+`}}, "context": [{"type": "state", "a": 1},
		{"type": "plan", "stage": "complete", "plan": [`+strings.Join(plan, ",")+`]}]}`)
	run := s.start()
	eventually(t, "seven are done", func() bool {
		return strings.Count(asJSON(s.instance("").Calls), `"status":"done"`) == quick
	})
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "ann", "reason": "lunch"})
	eventually(t, "the pause is sealed", func() bool { return s.processStatus().IdeaCount == 2 })
	if v := s.processStatus(); v.Calls.Done != quick {
		t.Errorf("%+v", v.Calls)
	}
	if paused := asJSON(s.sealed(2)); strings.Count(paused, `:"done"`) != quick ||
		!strings.Contains(paused, `"reason":"lunch"`) {
		t.Errorf("the pause sealed %s", paused)
	}
	close(hold)
	eventually(t, "what still ran is sealed too", func() bool { return s.processStatus().IdeaCount == 3 })
	if rested := asJSON(s.sealed(3)); strings.Count(rested, `:"done"`) != calls {
		t.Errorf("then it sealed %s", rested)
	}
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := s.end(run); r.Calls != (turn.CallCounts{Done: calls}) {
		t.Errorf("%+v", r)
	}
}

func TestEveryIdeaNamesTheLLMThatAnswered(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "a", "_outputPath": "a"}]}}`, nothingMore)
	r := s.finish()
	for at := 1; at <= r.IdeaCount; at++ {
		llm := jsonval.AsObject(jsonval.AsObject(s.sealed(at)["meta"])["llm"])
		if llm["model"] != s.id || llm["served"] != s.id || fmt.Sprint(llm["request"]) != fmt.Sprint(at) ||
			len(fmt.Sprint(llm["prompt"])) != 64 ||
			fmt.Sprint(llm["promptTokens"]) == "0" {
			t.Errorf("Idea %d was answered by %v", at, llm)
		}
	}
}

// An instance reports when it is idle. A fork at an Idea of a Request for others would repeat what it has done until
// then.
func TestTheIdeaOfARequestForSomeKnowsWhatTheOthersHaveDone(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := toolbox.handle("/slow/"+t.Name(), func(http.ResponseWriter, *http.Request) { <-release })
	s := newScenario(t, `{"config": {"gather": "1s"}, "schema": {"tools": {"shout": `+textTool+`, "slow": {"type": "object", "properties": {},
		"_activity": {"http": {"url": "`+slow+`"}}}}}, "context": [{"type": "state", "_instance": "a"}, {"type": "state", "_instance": "b"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "done", "_outputPath": "c"}, {"_tool": "slow", "_instance": "b"}]}}`,
		nothingMore, nothingMore)
	run := s.start()
	eventually(t, "a Request for the one that is ready is sealed",
		func() bool { return s.processStatus().IdeaCount >= 2 })
	if got := asJSON(s.sealed(2)["context"]); !strings.Contains(got, `"_instance":"b","state":{"c":"DONE"}`) {
		t.Errorf("Idea 2 knows nothing of what b has done: %s", got)
	}
	close(release)
	if r := s.end(run); len(r.Instances) != 2 {
		t.Errorf("%+v", r)
	}
}
