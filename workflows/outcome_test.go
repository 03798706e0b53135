package workflows_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/api/serviceerror"
	sdk "go.temporal.io/sdk/client"

	"processidea/client"
	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/chain"
)

// became asks a workflow what became of acts that were sent to it: "taken", "taken 1 of 2", "unknown", or why it was
// refused.
func (s *scenario) became(workflow string, ids ...string) (list []string) {
	s.t.Helper()
	for slices.Contains(list, approval.ActUnderWay) || list == nil { // the next run or task is asked
		list = s.askedOnce(workflow, ids)
	}
	return list
}

func (s *scenario) askedOnce(workflow string, ids []string) (list []string) {
	s.t.Helper()
	h, err := s.client.UpdateWorkflow(s.t.Context(), sdk.UpdateWorkflowOptions{
		WorkflowID: workflow, UpdateName: protocol.UpdateActOutcomes, WaitForStage: sdk.WorkflowUpdateStageCompleted,
		Args: []any{protocol.ActOutcomesQuestion{ActIDs: ids}},
	})
	var answer protocol.ActOutcomesAnswer
	if err == nil {
		err = h.Get(s.t.Context(), &answer)
	}
	// A workflow that continues as new while a signal comes in fails that task, and the question with it; the next
	// task answers.
	var notReady *serviceerror.WorkflowNotReady
	switch {
	case errors.As(err, &notReady):
		return nil
	case err != nil:
		s.t.Fatal(err)
	}
	for _, o := range answer.Outcomes {
		switch {
		case o.Status == approval.ActRefused:
			list = append(list, o.RefusalReason)
		case o.Votes.Want > 1:
			list = append(list, fmt.Sprintf("%s %d of %d", o.Status, o.Votes.Have, o.Votes.Want))
		default:
			list = append(list, o.Status)
		}
	}
	return list
}

// areTaken checks that acts that were sent to the process have taken effect.
func (s *scenario) areTaken(ids ...string) {
	s.t.Helper()
	for n, became := range s.became(s.id, ids...) {
		if became != approval.ActAccepted {
			s.t.Errorf("%s: %s", ids[n], became)
		}
	}
}

// Each instance takes some of the decisions and refuses the others, and whoever sent them hears of each. The long run
// has a thousand.
func TestEachOfManyDecisionsIsAnsweredThoughEveryInstanceRefusesSome(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"in one piece": "", "in parts": `"batch": 2`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atLength(t)
			instances, each := 5, 24
			if longrun.Enabled() {
				each = 200
			}
			var calls []string
			for n := range each {
				calls = append(calls, fmt.Sprintf(`{"_tool": "pay", "n": %d}`, n))
			}
			s := paying(t, newTill(t), config, `{"by": {"count": 2}}`, rows(1, instances)+
				`, {"type": "plan", "stage": "complete", "plan": [`+strings.Join(calls, ",")+`]}`)
			s.start()
			var list []client.Decision
			for n, a := range s.waitsFor(instances * each) {
				d := client.Decision{Kind: client.Approve, CallID: a.CallID, ApprovalDigest: a.Digest, By: "ann"}
				if n%3 == 0 {
					d.ApprovalDigest = strings.Repeat("0", 64)
				}
				list = append(list, d)
			}
			outcomes, err := client.New(s.client, s.namespace, store).Process(s.id).DecideMany(t.Context(), list)
			if err != nil || len(outcomes) != len(list) {
				t.Fatalf("%d outcomes, %v", len(outcomes), err)
			}
			for n, o := range outcomes {
				refused := strings.Contains(o.RefusalReason, "the digest does not match what waits now")
				wrongCount := !refused && o.Votes != (client.VoteCount{Have: 1, Want: 2})
				if refused != (n%3 == 0) || wrongCount || o.CallID != list[n].CallID {
					t.Errorf("decision %d, on %s: %q, %+v", n, o.CallID, o.RefusalReason, o.Votes)
				}
			}
			s.cancel()
		})
	}
}

// Nothing of an act depends on anybody who asks for it, nor on its id.
func TestClientsThatOnlySignalAreHeardAndAnActIsAnsweredOnceAndForAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		every  int
	}{"in one piece": {"", 0}, "in parts": {`"batch": 1`, 0}, "continued as new": {"", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, c.config, "true", rows(1, 3)+`,`+payOnce)
			s.every = c.every
			run := s.start()
			waiting := s.waitsFor(3)
			s.signal(s.id, approval.SteerPause, map[string]any{})
			s.signal(s.id, approval.SteerResume, map[string]any{})
			s.signal(s.id, policy.Approve, map[string]any{"call": waiting[0].CallID})
			eventually(t, "one is paid", func() bool { return len(till.seen()) == 1 })
			for range 2 { // the second changes nothing, and nothing of what became of the first
				s.signal(s.id, policy.Approve, map[string]any{"call": waiting[1].CallID, "id": "once"})
			}
			s.signal(s.id, approval.SteerDecideMany, map[string]any{"id": "many", "decisions": []any{
				map[string]any{"call": "9.9@2", "decision": "approve"},
				map[string]any{"call": "0.1@2", "decision": "perhaps", "id": "odd"}}})
			got := s.became(s.id, "once", "never sent", "many", "many/1", "odd")
			for n, want := range []string{
				approval.ActAccepted, approval.ActUnknown, approval.ActAccepted,
				`there is no Call "9.9@2"`, `"decision" is one of`,
			} {
				if !strings.Contains(got[n], want) {
					t.Errorf("%q, want %q", got[n], want)
				}
			}
			// A task that fails, since a signal came as it was to continue as new, passes on again what it had passed on: that
			// is refused once more.
			eventually(t, "the repetition is refused", func() bool { return s.processStatus().RefusalCount >= 3 })
			if again := s.became(s.id, "once")[0]; again != approval.ActAccepted {
				t.Errorf("then %s", again)
			}
			s.signal(s.id, policy.Approve, map[string]any{"call": waiting[2].CallID})
			if r := s.end(run); r.Calls.Done != 3 || len(till.seen()) != 3 {
				t.Errorf("%+v", r.Calls)
			}
		})
	}
}

// A fork is a process of its own: what was sent to the other one is not known there.
func TestAForkKnowsNothingOfActsThatWereSentToItsOrigin(t *testing.T) {
	t.Parallel()
	s := paying(t, newTill(t), "", "true", rows(1, 1)+`,`+payOnce)
	s.start()
	s.waitsFor(1)
	s.signal(s.id, approval.SteerPause, map[string]any{"id": "p"})
	s.areTaken("p")
	eventually(t, "it is sealed", func() bool { return s.processStatus().IdeaCount > 0 })
	fork := newScenario(t, `{}`)
	fork.id, fork.idea = s.id+"-fork", chain.ForkedIdea(s.sealedLast())
	fork.start()
	if got := fork.became(fork.id, "p")[0]; got != approval.ActUnknown {
		t.Error(got)
	}
	s.cancel()
	fork.cancel()
}

// The server keeps an act while no worker runs, and no question: who asks is told so, and answered once there is a
// worker again.
func TestWhatIsSentWhileNoWorkerRunsTakesEffectAndIsAnsweredOnceOneDoes(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	pay := httpTool(c.tool("pay", nil), `, "_approval": {"by": {"count": 2}}`)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+pay+`}},
		"context": [{"type": "text", "text": "t"}, `+payOnce+`]}`)
	kill := c.work()
	run := c.start(s)
	waiting := s.waitsFor(1)
	kill()
	for range 2 {
		s.signal(s.id, approval.SteerPause, map[string]any{"id": "twice"})
	}
	told := 0
	found, err := client.Dial(t.Context(), client.Options{
		Temporal: sdk.Options{HostPort: addressOf(c.id), Namespace: c.id}, StorePlace: storeDir,
		OnNoWorker: func(string, error) {
			told++
			c.work()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	d := client.Decision{Kind: client.Approve, CallID: waiting[0].CallID, By: "ann"}
	count, err := found.Process(s.id).DecideAndCountVotes(t.Context(), d)
	if err != nil || told != 1 || count != (client.VoteCount{Have: 1, Want: 2}) {
		t.Fatalf("%+v, %v; told %d times", count, err, told)
	}
	s.areTaken("twice")
	if v := s.processStatus(); v.RefusalCount != 1 || v.Status != loop.StatusPaused {
		t.Errorf("%s, %+v", v.Status, v.Refusals)
	}
	s.signal(s.id, approval.SteerResume, map[string]any{})
	s.signal(s.id, policy.Approve, map[string]any{"call": waiting[0].CallID, "by": "bob"})
	if r := c.finish(run); r.Calls.Done != 1 || len(c.calls("pay")) != 1 {
		t.Errorf("%+v after %d calls", r.Calls, len(c.calls("pay")))
	}
}

func TestAWorkerKilledBetweenAnActAndItsAnswerLosesNeither(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	mcp := newMCPServer(t)
	release := mcp.hang(t)
	s := newScenario(t, mcp.several("", "①"), addsForAll, nothingMore)
	first := c.production()
	run := c.start(s)
	s.isAsking()
	s.signal(s.id, approval.SteerPause, map[string]any{"id": "p"})
	s.signal(s.id, approval.SteerRevise, map[string]any{"id": "v",
		"context": []any{map[string]any{"type": "text", "text": "Mind the gap."}}})
	ask, err := c.client.UpdateWorkflow(t.Context(), sdk.UpdateWorkflowOptions{
		WorkflowID: s.id, UpdateName: protocol.UpdateActOutcomes, WaitForStage: sdk.WorkflowUpdateStageAccepted,
		Args: []any{protocol.ActOutcomesQuestion{ActIDs: []string{"p", "v"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	first.Signal(syscall.SIGKILL)
	first.Wait()
	release()
	c.production()
	var answer protocol.ActOutcomesAnswer
	if err := ask.Get(t.Context(), &answer); err != nil {
		t.Fatal(err)
	}
	notTaken := func(o approval.ActOutcome) bool { return o.Status != approval.ActAccepted }
	if slices.ContainsFunc(answer.Outcomes, notTaken) || len(answer.Outcomes) != 2 {
		t.Errorf("%+v", answer)
	}
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := c.finish(run); r.Calls.Done != 1 || !strings.Contains(s.prompt(1), "Mind the gap.") {
		t.Errorf("%+v", r.Calls)
	}
}

// A workflow task that is lost may have asked people already: the next one handles their decision together with what
// made the Call ready.
func TestADecisionThatComesTogetherWithWhatMakesItsCallReadyIsTaken(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	asked := func(name string) string {
		return fmt.Sprintf(`%q: %s`, name, httpTool(c.tool(name, nil), `, "_approval": true`))
	}
	s := newScenario(t, `{"schema": {"tools": {`+asked("price")+", "+asked("pay")+`}},
		"context": [{"type": "text", "text": "t"}, {"type": "plan", "stage": "complete", "plan": [
			{"_tool": "price", "_outputPath": "n"}, {"_tool": "pay", "n": "†state.n", "_outputPath": "paid"}]}]}`)
	kill := c.work()
	run := c.start(s)
	s.waitsFor(1)
	kill()
	id := protocol.InstanceID(s.id, "")
	s.signal(id, policy.Answer, map[string]any{"call": "0.1", "output": 7, "by": "ann"})
	s.signal(id, policy.Approve, map[string]any{"call": "0.2", "by": "ann"})
	c.work()
	if r := c.finish(run); r.Calls.Done != 2 || len(c.calls("pay")) != 1 {
		t.Errorf("%+v after %d calls", r.Calls, len(c.calls("pay")))
	}
}
