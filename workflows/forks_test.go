package workflows_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/store/chain"
)

// A fork at the last Idea of what has ended does nothing: not of a split process, whose parts had run a Plan by
// themselves and failed in it, and not the fork of that fork.
func TestAForkOfASplitProcessThatHasEndedDoesNothing(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"config": {"batch": 2, "gather": "5m"}, "schema": {"tools": {"pay": `+till.pay("false")+`, "refuse": `+textTool+`}},
		"context": [`+rows(1, 5)+`, {"type": "plan", "stage": "complete", "plan": [{"_tool": "pay", "n": 1}, {"_tool": "refuse", "text": "†state.text", "_outputPath": "said"},
			{"_tool": "pay", "_instance": "4", "n": 2, "_outputPath": "said"}]}]}`)
	r := s.cameTo()
	if r.Status != loop.StatusFailed || r.Calls.Done != 6 || len(till.seen()) != 6 {
		t.Fatalf("%s %+v, %d payments", r.Status, r.Calls, len(till.seen()))
	}
	chains, of := chain.New(store), s.id
	for n := 1; n <= 2; n++ {
		links, err := chains.List(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		idea, err := chains.Load(t.Context(), of, len(links))
		if err != nil {
			t.Fatal(err)
		}
		fork := newScenario(t, `{}`)
		fork.id, fork.idea = fmt.Sprintf("%s-fork-%d", s.id, n), chain.ForkedIdea(idea)
		again := fork.cameTo()
		if again.Calls != (turn.CallCounts{}) || again.RequestCount != 0 || again.Status != r.Status ||
			len(till.seen()) != 6 {
			t.Errorf("the fork of %s: %s %+v, %d payments, %d Requests", of, again.Status, again.Calls,
				len(till.seen()), again.RequestCount)
		}
		if a, b := ends(again.Instances), ends(r.Instances); a != b {
			t.Errorf("%s\nbecame\n%s", b, a)
		}
		of = fork.id
	}
}

// cameTo is what the process came to, whether it failed or not.
func (s *scenario) cameTo() loop.ProcessResult {
	s.t.Helper()
	_ = s.start().Get(s.t.Context(), nil)
	return s.processStatus().ProcessResult
}

// A steady stream of signals that change nothing stops neither the Requests nor continue-as-new, and none of them is
// lost.
func TestAStreamOfRefusedSignalsStopsNothing(t *testing.T) {
	t.Parallel()
	var replies []string
	for n := range 10 {
		replies = append(replies,
			fmt.Sprintf(`{"solution": {"calls": [{"_tool": "weigh", "n": 1, "_outputPath": "a%d"}]}}`, n))
	}
	enough := make(chan struct{})
	url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, _ *http.Request) {
		<-enough
		_, _ = io.WriteString(w, "5")
	})
	s := newScenario(t, `{"schema": {"tools": {"weigh": `+httpTool(url, "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`, append(replies, nothingMore)...)
	s.every = 2
	run := s.start()
	stop, stopped := make(chan struct{}), make(chan struct{})
	sent := 0
	go func() {
		defer close(stopped)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			to := []string{s.id, s.id + "/main"}[sent%2]
			err := s.client.SignalWorkflow(t.Context(), to, "", policy.Approve,
				map[string]any{"call": "9.9", "id": fmt.Sprint(sent)})
			if err == nil {
				sent++
			}
			if sent == 10 && err == nil {
				close(enough)
			}
		}
	}()
	eventually(t, "every Request is made", func() bool { return len(s.llm.Requests()) == 11 })
	close(stop)
	<-stopped
	r := s.end(run)
	if r.Status != loop.StatusCompleted || r.RequestCount != 11 || r.Calls.Done != 10 || sent < 10 {
		t.Errorf("%s %+v after %d Requests and %d signals", r.Status, r.Calls, r.RequestCount, sent)
	}
	if err := replay(t, store, history(t, s.id)); err != nil {
		t.Error(err)
	}
}
