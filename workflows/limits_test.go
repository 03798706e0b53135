package workflows_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/sdk/converter"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// pays is a direct Plan that pays n times.
func pays(n int, output string) string {
	var calls []string
	for i := 1; i <= n; i++ {
		calls = append(calls, fmt.Sprintf(`{"_tool": "pay", "n": %d, "_outputPath": "p%d"}`, i, i))
	}
	return `{"type": "plan", "stage": "complete", "plan": [` + strings.Join(calls, ",") + `]` + output + `}`
}

// pausedAtLimit waits until the process is paused because of its limit, and checks how many payments there were.
func (s *scenario) pausedAtLimit(till *till, payments int) {
	s.t.Helper()
	eventually(s.t, "it is paused", func() bool {
		v := s.processStatus()
		return v.Status == loop.StatusPaused && v.Error != nil && v.Error.Code == turn.CodeLimitReached
	})
	eventually(s.t, fmt.Sprintf("%d were paid", payments), func() bool { return len(till.seen()) == payments })
}

func TestALimitOfCallsStopsPlansThatRunDirectly(t *testing.T) {
	t.Parallel()
	for name, context := range map[string]string{
		"in one instance": `"context": [` + pays(12, "") + `]`,
		"in several":      `"context": [` + rowsOf(4) + pays(3, "") + `]`,
		"in parts":        `"context": [` + rowsOf(6) + pays(2, "") + `]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := newScenario(t, `{"config": {"batch": 4, "limits": {"calls": 5}}, "schema": {"tools": {"pay": `+
				till.pay("false")+`}}, `+context+`}`)
			run := s.start()
			s.pausedAtLimit(till, 5)
			s.signal(s.id, approval.SteerResume, map[string]any{"limits": map[string]any{"calls": 8}})
			s.pausedAtLimit(till, 8)
			s.signal(s.id, approval.SteerResume, map[string]any{"limits": map[string]any{"calls": 12}})
			if r := s.end(run); r.Status != loop.StatusCompleted || r.Calls.Done != 12 || len(till.seen()) != 12 {
				t.Errorf("%s %+v, %d payments", r.Status, r.Calls, len(till.seen()))
			}
		})
	}
}

// A late report without the need of an instance could be taken for its answer to what a resume grants it: the limit
// would count the granted Calls as made, and pause the process again before they begin.
func TestAnInstanceReportsWhatItNeedsWhileAPauseHoldsIt(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"config": {"limits": {"calls": 5}}, "schema": {"tools": {"pay": `+till.pay("false")+
		`}}, "context": [`+rowsOf(4)+pays(3, "")+`]}`)
	run := s.start()
	s.pausedAtLimit(till, 5)
	var latest map[string]turn.InstanceReport
	eventually(t, "all that have work left have reported that they are held", func() bool {
		latest = map[string]turn.InstanceReport{}
		for _, e := range history(t, s.id).GetEvents() {
			signal := e.GetWorkflowExecutionSignaledEventAttributes()
			var sent turn.ReportSignal
			if signal.GetSignalName() == protocol.SignalInstanceReport &&
				converter.GetDefaultDataConverter().FromPayloads(signal.GetInput(), &sent) == nil {
				for _, r := range append(sent.Reports, sent.InstanceReport) {
					latest[r.InstanceToken] = r
				}
			}
		}
		delete(latest, "")
		for _, r := range latest {
			if r.QuotaUse.Calls < 3 && (!r.IsHeldByPause || r.RunningCallCount > 0) {
				return false
			}
		}
		return len(latest) == 4
	})
	needed := 0
	for _, r := range latest {
		needed += max(r.QuotaUse.Calls, r.QuotaUse.NeededQuota.Calls)
	}
	if needed != 12 {
		t.Errorf("12 Calls are needed in all, and the reports say %d", needed)
	}
	s.signal(s.id, approval.SteerResume, map[string]any{"limits": map[string]any{"calls": 12}})
	if r := s.end(run); r.Status != loop.StatusCompleted || r.Calls.Done != 12 {
		t.Errorf("%s %+v", r.Status, r.Calls)
	}
}

// nested is a caller with a direct Plan, whose delegate has one that runs another delegate, which pays.
func nested(t *testing.T, till *till, config string, payments int) *scenario {
	t.Helper()
	through := func(file string) string {
		return `"schema": {"tools": {"ask": {"type": "object", "properties": {}, "_delegate": "` + file + `"}}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "ask", "_outputPath": "said"}], "output": {"said": "†state.said"}}]}`
	}
	s := newScenario(t, `{"config": {`+config+`}, `+through("middle.json"))
	s.file("middle.json", `{`+through("inner.json"))
	s.file("inner.json", `{"schema": {"tools": {"pay": `+till.pay("false")+`}}, "context": [`+
		pays(payments, `, "output": "paid"`)+`]}`)
	return s
}

func TestALimitOfCallsCountsWhatDelegatesDoAtAnyDepth(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := nested(t, till, `"limits": {"calls": 5}`, 6)
	run := s.start()
	s.pausedAtLimit(till, 3) // two are the delegates themselves
	inner := protocol.DelegateID(protocol.DelegateID(s.id, "0.1"), "0.1")
	of := *s
	of.id = inner
	eventually(t, "the inner one is paused with it",
		func() bool { return of.processStatus().Status == loop.StatusPaused })
	s.signal(s.id, approval.SteerResume, map[string]any{"limits": map[string]any{"calls": 20}})
	if r := s.end(run); r.Status != loop.StatusCompleted || len(till.seen()) != 6 ||
		asJSON(r.Output) != `{"said":{"said":"paid"}}` {
		t.Errorf("%s with %s, %d payments", r.Status, asJSON(r.Output), len(till.seen()))
	}
}

func TestALimitOfRequestsCountsThoseOfDelegates(t *testing.T) {
	t.Parallel()
	s := reviewing(t, reviewTool, reviewed, `{"when": "\"note\":", "solution": {"calls": [], "output": "fine"}}`,
		`{"when": "You are a reviewer.", "solution": {"calls": [{"_tool": "shout", "text": "well", "_outputPath": "note"}]}}`, callReview)
	s.file("review.json", strings.Replace(reviewFile, `"schema": {`, `"schema": {"tools": {"shout": `+textTool+`}, `,
		1))
	s.idea["config"].(map[string]any)["limits"] = map[string]any{"requests": json.Number("2")}
	run := s.start()
	eventually(t, "it is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if n := len(s.llm.Requests()); n != 2 {
		t.Errorf("it is paused after %d Requests", n)
	}
	s.signal(s.id, approval.SteerResume, map[string]any{"limits": map[string]any{"requests": 9}})
	if r := s.end(run); r.Status != loop.StatusCompleted || len(s.llm.Requests()) != 4 {
		t.Errorf("%s after %d Requests", r.Status, len(s.llm.Requests()))
	}
}

func TestAPauseReachesDelegatesAtAnyDepthAndTheyGoOnWithTheirCaller(t *testing.T) {
	t.Parallel()
	till, release := newTill(t), make(chan struct{})
	till.after = func(n int) {
		if n == 1 {
			<-release
		}
	}
	s := nested(t, till, ``, 1)
	inner := *s
	inner.id = protocol.DelegateID(protocol.DelegateID(s.id, "0.1"), "0.1")
	s.file("inner.json", `{"schema": {"tools": {"pay": `+till.pay("false")+`}}, "context": [{"type": "plan", "stage": "complete", "plan": [
		{"_tool": "pay", "n": 1, "_outputPath": "a"}, {"_tool": "pay", "n": 2, "to": "†state.a", "_outputPath": "b"}], "output": "paid"}]}`)
	run := s.start()
	eventually(t, "the first payment is under way", func() bool { return len(till.seen()) == 1 })
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "ann"})
	eventually(t, "the inner one is paused", func() bool { return inner.processStatus().Status == loop.StatusPaused })
	eventually(t, "its instance has heard of it",
		func() bool { return hasHeard(t, protocol.InstanceID(inner.id, ""), protocol.SignalHoldInstance) })
	close(release)
	eventually(t, "the first is paid", func() bool {
		var v protocol.InstanceView
		answer, err := s.client.QueryWorkflow(t.Context(), protocol.InstanceID(inner.id, ""), "", protocol.QueryStatus)
		return err == nil && answer.Get(&v) == nil && len(v.Calls) == 2 && v.Calls[0].Status == ideafile.CallDone
	})
	if n := len(till.seen()); n != 1 {
		t.Errorf("%d payments while it is paused", n)
	}
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := s.end(run); r.Status != loop.StatusCompleted || len(till.seen()) != 2 {
		t.Errorf("%s, %d payments", r.Status, len(till.seen()))
	}
}

// hasHeard reports whether a workflow has looked at a signal.
func hasHeard(t *testing.T, workflow, signal string) (heard bool) {
	t.Helper()
	sent := false
	for _, e := range history(t, workflow).GetEvents() {
		sent = sent || e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName() == signal
		heard = sent && e.GetWorkflowTaskCompletedEventAttributes() != nil
		if heard {
			return true
		}
	}
	return false
}

func TestADelegateThatIsPausedShowsAtItsCallerAndGoesOnWithIt(t *testing.T) {
	t.Parallel()
	s := reviewing(t, reviewTool, `{"when": "You are a reviewer.", "raw": "nonsense"}`, callReview)
	s.file("review.json", reviewFile)
	run := s.start()
	delegate := protocol.DelegateID(s.id, "1.1")
	eventually(t, "its caller is paused with it", func() bool {
		v := s.processStatus()
		return v.Status == loop.StatusPaused && v.Error != nil &&
			strings.Contains(v.Error.Message, "delegate "+delegate)
	})
	if v := s.processStatus(); !strings.Contains(strings.Join(v.WaitingFor, "\n"),
		"delegate "+delegate+": paused: 3 bad replies") {
		t.Errorf("it waits for %q", v.WaitingFor)
	}
	s.script(reviewed, `{"when": "You are a reviewer.", "solution": {"calls": [], "output": "fine"}}`)
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := s.end(run); r.Status != loop.StatusCompleted || !strings.Contains(asJSON(r.Instances[""].State),
		`"verdict":"fine"`) {
		t.Errorf("%s with %s", r.Status, asJSON(r.Instances[""].State))
	}
}
