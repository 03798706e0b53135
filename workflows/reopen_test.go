package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/chain"
)

const payMoreFor0 = `{"solution": {"calls": [{"_tool": "pay", "_instance": "i0", "n": 2, "_outputPath": "more"}]}}`

func (s *scenario) isWhole() {
	s.t.Helper()
	if report, err := chain.New(store).Verify(s.t.Context(), s.id); err != nil || !report.IsIntact {
		s.t.Errorf("%+v, %v", report, err)
	}
	for _, id := range []string{s.id, protocol.InstanceID(s.id, "i0")} {
		if err := replay(s.t, store, history(s.t, id)); err != nil {
			s.t.Error(err)
		}
	}
}

func TestAnInstanceThatHasEndedGoesOnWhereAPersonReopensIt(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, manyInstances(till, 2, 1, `{"gather": "5m"}`), payAll, nothingMore, payMoreFor0,
		nothingMore, nothingMore)
	run := s.start()
	s.waitsFor(1)
	eventually(t, "i0 has ended", func() bool { return s.closed("i0") != "" })
	s.signal(s.id, approval.SteerRevise,
		map[string]any{"id": "early", "context": []any{map[string]any{"type": "state", "_instance": "i0", "n": 5}}})
	s.signal(s.id, approval.SteerRevise, map[string]any{"id": "again", "by": "ann", "reason": "they wrote again",
		"context": []any{
			map[string]any{"type": "state", "_instance": "i0", "reopen": true,
				"state": map[string]any{"note": "hurry"}}}})
	eventually(t, "it has settled again", func() bool { return len(till.seen()) == 2 && s.closed("i0") != "" })
	if p := s.prompt(3); !strings.Contains(p, "It had ended and was reopened by ann: they wrote again") ||
		!strings.Contains(p, `"note":"hurry"`) {
		t.Error(p)
	}
	s.areTaken("again")
	if v := s.processStatus(); len(v.Refusals) != 1 || !strings.Contains(asJSON(v.Refusals), "i0 has settled; with") {
		t.Errorf("%+v", v.Refusals)
	}
	s.decide(policy.Approve, "1.1@i1", "")
	r := s.end(run)
	if got := asJSON(r.Instances["i0"].State); got != `{"more":"paid","n":1,"note":"hurry","paid":"paid"}` ||
		r.Calls.Done != 3 || r.RequestCount != 5 {
		t.Errorf("%s %+v %d", got, r.Calls, r.RequestCount)
	}
	s.isWhole()
}

func TestWhereAllSettleTogetherACallReopensAnInstance(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, manyInstances(till, 2, 1, `{"gather": "5m", "settle": "together"}`), payAll, nothingMore,
		payMoreFor0, nothingMore)
	run := s.start()
	s.waitsFor(1)
	eventually(t, "i0 has settled", func() bool {
		return s.processStatus().Instances["i0"].Status == ideafile.InstanceSettled
	})
	s.decide(policy.Approve, "1.1@i1", "")
	r := s.end(run)
	if got := asJSON(r.Instances["i0"].State); got != `{"more":"paid","n":1,"paid":"paid"}` || r.Calls.Done != 3 ||
		r.RequestCount != 4 {
		t.Errorf("%s %+v %d", got, r.Calls, r.RequestCount)
	}
	if p := s.prompt(3); !strings.Contains(p, "for i1. The others: 1 finished") ||
		!strings.Contains(p, "takes it up again: i0") {
		t.Error(p)
	}
	s.isWhole()
}

func TestAnInstanceThatAllowsAReopeningIsCancelledWithItsProcess(t *testing.T) {
	t.Parallel()
	s := newScenario(t, manyInstances(newTill(t), 2, 1, `{"gather": "5m", "settle": "together"}`), payAll, nothingMore)
	s.start()
	s.waitsFor(1)
	eventually(t, "i0 has settled", func() bool {
		return s.processStatus().Instances["i0"].Status == ideafile.InstanceSettled
	})
	if err := s.client.CancelWorkflow(t.Context(), s.id, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both have ended", func() bool { return s.closed("i0") != "" && s.closed("i1") != "" })
}

func TestOfAProcessInPartsAnInstanceIsReopenedWhileItsPartIsAtWork(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, manyInstances(till, 3, 1, `{"gather": "5m", "batch": 2}`))
	s.scripted = strings.Join(
		[]string{
			`{"when": "It had ended", "solution": {"calls": [{"_tool": "pay", "_instance": "i0", "n": 2, "_outputPath": "more"}]}}`,
			`{"when": "\"paid\":", "solution": {"calls": []}}`, payAll}, "\n")
	run := s.start()
	s.waitsFor(2)
	part := protocol.PartID(s.id, 1)
	eventually(t, "i0 has ended", func() bool {
		d, err := s.client.DescribeWorkflowExecution(t.Context(), protocol.InstanceID(part, "i0"), "")
		return err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	})
	s.signal(s.id, approval.SteerRevise,
		map[string]any{"id": "x", "context": []any{map[string]any{"type": "state", "_instance": "i9", "reopen": true}}})
	s.signal(s.id, approval.SteerRevise,
		map[string]any{"id": "again",
			"context": []any{map[string]any{"type": "state", "_instance": "i0", "reopen": true}}})
	eventually(t, "it is paid once more", func() bool { return len(till.seen()) == 2 })
	s.decide(policy.Approve, "1.1@i2", "")
	eventually(t, "the second part has ended",
		func() bool { return s.processStatus().Instances["i2"].Status == ideafile.InstanceSettled })
	s.signal(s.id, approval.SteerRevise,
		map[string]any{"id": "late",
			"context": []any{map[string]any{"type": "state", "_instance": "i2", "reopen": true}}})
	eventually(t, "what cannot be is refused", func() bool { return len(s.processStatus().Refusals) == 2 })
	if text := asJSON(s.processStatus().Refusals); !strings.Contains(text, "there is no instance i9") ||
		!strings.Contains(text, "part 2, which has ended") {
		t.Error(text)
	}
	s.decide(policy.Approve, "1.1@i1", "")
	if r := s.end(run); asJSON(r.Instances["i0"].State) != `{"more":"paid","n":1,"paid":"paid"}` || r.Calls.Done != 4 {
		t.Errorf("%s %+v", asJSON(r.Instances), r.Calls)
	}
}

// A delegate is a process: who knows its id reopens an instance of it, and its caller goes on waiting.
func TestInADelegateAnInstanceIsReopened(t *testing.T) {
	t.Parallel()
	for name, batch := range longrun.SampleRows(t, 2,
		map[string]int{"in one piece": 3, "in parts, i0 beside one that waits": 2}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := newScenario(t, `{"schema": {"tools": {"settle": {"type": "object", "properties": {}, "_delegate": "settle.json"}}},
				"context": [{"type": "text", "text": "t"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "settle"}]}]}`)
			s.file("settle.json", manyInstances(till, 3, 1, fmt.Sprintf(`{"gather": "5m", "batch": %d}`, batch)))
			s.scripted = strings.Join(
				[]string{
					`{"when": "It had ended", "solution": {"calls": [{"_tool": "pay", "_instance": "i0", "n": 2, "_outputPath": "more"}]}}`,
					`{"when": "\"paid\":", "solution": {"calls": []}}`, payAll}, "\n")
			run := s.start()
			inner := *s
			inner.id = protocol.DelegateID(s.id, "0.1")
			inner.waitsFor(2)
			eventually(t, "i0 has settled",
				func() bool { return inner.processStatus().Instances["i0"].Status == ideafile.InstanceSettled })
			inner.signal(inner.id, approval.SteerRevise,
				map[string]any{"id": "again",
					"context": []any{map[string]any{"type": "state", "_instance": "i0", "reopen": true}}})
			eventually(t, "it is paid once more", func() bool { return len(till.seen()) == 2 })
			for _, call := range []string{"1.1@i1", "1.1@i2"} {
				inner.decide(policy.Approve, call, "")
			}
			s.end(run)
			if n := len(till.seen()); n != 4 {
				t.Errorf("%d payments", n)
			}
			if report, err := chain.New(store).Verify(t.Context(), inner.id); err != nil || !report.IsIntact {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}
