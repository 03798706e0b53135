package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// till is a tool server's path that notes every request.
type till struct {
	url string

	mu     sync.Mutex
	bodies []string
	after  func(nth int) // called before a request is answered; nil: nothing
}

func newTill(t *testing.T) *till {
	s := &till{}
	s.url = toolbox.handle("/"+t.Name()+"/till", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		n := len(s.bodies)
		s.mu.Unlock()
		if s.after != nil {
			s.after(n)
		}
		fmt.Fprint(w, `"paid"`)
	})
	return s
}

func (s *till) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.bodies...)
}

// pay is a tool at the till with a policy.
func (s *till) pay(policy string) string {
	return fmt.Sprintf(`{"type": "object", "properties": {"n": {"type": "integer"}, "to": {"type": "string"}},
		"_activity": {"http": {"url": %q}}, "_approval": %s}`, s.url, policy)
}

func (s *scenario) signal(workflow, name string, payload any) {
	s.t.Helper()
	if err := s.client.SignalWorkflow(s.t.Context(), workflow, "", name, payload); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scenario) decide(kind, call, more string) {
	s.t.Helper()
	p := map[string]any{"call": call, "by": "ann"}
	if more != "" {
		m, err := jsonval.DecodeObject([]byte(more))
		if err != nil {
			s.t.Fatal(err)
		}
		p = jsonval.DeepMerge(p, m).(map[string]any)
	}
	s.signal(s.id, kind, p)
}

// waitsFor waits until so many Calls wait for a person.
func (s *scenario) waitsFor(n int) []protocol.Approval {
	s.t.Helper()
	var v protocol.ProcessApprovals
	eventually(s.t, fmt.Sprintf("%d Calls wait", n), func() bool {
		v = protocol.ProcessApprovals{}
		q, err := s.client.QueryWorkflow(s.t.Context(), s.id, "", protocol.QueryApprovals)
		return err == nil && q.Get(&v) == nil && len(v.Approvals) == n
	})
	return v.Approvals
}

func (s *scenario) instance(token string) (v protocol.InstanceView) {
	s.t.Helper()
	eventually(s.t, "the instance answers", func() bool {
		v = protocol.InstanceView{}
		q, err := s.client.QueryWorkflow(s.t.Context(), protocol.InstanceID(s.id, token), "", protocol.QueryStatus)
		return err == nil && q.Get(&v) == nil
	})
	return v
}

func (s *scenario) end(run client.WorkflowRun) (r loop.ProcessResult) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	if err := run.Get(ctx, &r); err != nil {
		s.t.Fatalf("%v; the process: %s\n%s", err, asJSON(s.processStatus()), s.story())
	}
	return r
}

const nothingMore = `{"solution": {"calls": []}}`

func TestWhatIsShownIsByteForByteWhatRuns(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay("true")+
		`}}, "context": [{"type": "state", "to": "A \"<&>\" † ☂", "n": 12345678901234567890}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": "†state.n", "to": "†state.to", "_outputPath": "done"}]}}`,
		nothingMore)
	run := s.start()
	shown := s.waitsFor(1)[0]
	if len(till.seen()) != 0 || shown.CallID != "1.1" || shown.Tool != "pay" || len(shown.Digest) != 64 {
		t.Errorf("%d payments, shown %+v", len(till.seen()), shown)
	}
	s.decide(policy.Approve, "1.1", fmt.Sprintf(`{"digest": %q, "reason": "fine"}`, shown.Digest))
	r := s.end(run)
	if got := till.seen(); len(got) != 1 || got[0] != string(jsonval.Encode(shown.Params)) {
		t.Errorf("shown %s, sent %q", jsonval.Encode(shown.Params), got)
	}
	d := s.instance("").Calls[0].Decisions
	if len(d) != 1 || d[0].ApprovalDigest != shown.Digest || d[0].DecidedBy != "ann" || d[0].Reason != "fine" ||
		d[0].Kind != policy.Approve || d[0].DecidedAt.IsZero() {
		t.Errorf("%+v", d)
	}
	if r.RequestCount != 2 || r.Calls.Done != 1 || !strings.Contains(s.prompt(2), "approved by ann: fine") {
		t.Errorf("%+v\n%s", r, s.story())
	}
}

func TestADecisionThatDoesNotFitChangesNothingAndIsKeptWithItsReason(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay(`{"allow": ["approve", "amend"]}`)+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 1, "_outputPath": "done"}]}}`, nothingMore)
	run := s.start()
	s.waitsFor(1)
	for n, c := range []struct {
		signal  string
		payload any
		reason  string
	}{
		{policy.Approve, map[string]any{"call": "1.1", "digest": "0000", "id": "0"},
			"the digest does not match what waits now"},
		{policy.Approve, map[string]any{"call": "1.2", "id": "1"}, `there is no Call "1.2"`},
		{policy.Approve, map[string]any{"call": "1.1@①", "id": "2"}, `there is no Call "1.1@①"`},
		{policy.Reject, map[string]any{"call": "1.1", "reason": "no", "id": "3"},
			"reject is not allowed here; allowed: approve, amend"},
		{policy.Amend, map[string]any{"call": "1.1", "params": map[string]any{"n": "many"}, "id": "4"},
			"params: /n: expected integer"},
		{policy.Approve, map[string]any{"call": 7, "id": "5"}, `"call" is a string, not number`},
		{policy.Approve, map[string]any{"call": "1.1", "force": true, "id": "6"}, `unknown key "force"`},
		{policy.Approve, "1.1", "want an object"},
		{policy.Approve, []byte{1}, "want one JSON object"},
		{policy.Approve, nil, "want one JSON object"},
	} {
		s.signal(s.id, c.signal, c.payload)
		var last approval.Fate
		eventually(t, c.reason, func() bool {
			v := s.processStatus()
			if len(v.Refusals) == n+1 {
				last = v.Refusals[n]
			}
			return len(v.Refusals) > n
		})
		if !strings.Contains(last.RefusalReason, c.reason) || last.Signal != c.signal || n < 7 &&
			last.ID != fmt.Sprint(n) {
			t.Errorf("%s: %+v", c.reason, last)
		}
	}
	if v := s.instance(""); len(v.Refusals) != 4 || v.Calls[0].Status != ideafile.CallAwaitingApproval ||
		len(till.seen()) != 0 {
		t.Errorf("%+v", v)
	}
	s.decide(policy.Approve, "1.1", "")
	s.end(run)
	if len(till.seen()) != 1 {
		t.Errorf("%d payments", len(till.seen()))
	}
}

func TestDecisionsAreToldAsFactsAndTheRejectedCallMeetsTheApprovalAgain(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay(`{"when": {"properties": {"n": {"minimum": 10}}}}`)+`, "shout": `+textTool+`}},
		"context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 50, "_outputPath": "a"}, {"_tool": "pay", "n": 60, "_outputPath": "b"},
			{"_tool": "pay", "n": 70, "_outputPath": "c"}, {"_tool": "pay", "n": 80, "_outputPath": "d"}, {"_tool": "pay", "n": 1, "_outputPath": "e"}]}}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 50, "_outputPath": "a", "_approval": false}, {"_tool": "pay", "n": 50, "_outputPath": "a"}]}}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "hi", "_outputPath": "f"}]}}`,
		nothingMore)
	run := s.start()
	s.waitsFor(4)
	s.decide(policy.Reject, "1.1", `{"reason": "too dear"}`)
	s.decide(policy.Amend, "1.2", `{"params": {"n": 6}, "reason": "a tenth"}`)
	s.decide(policy.Replace, "1.3", `{"with": {"_tool": "shout", "text": "sorry"}}`)
	s.decide(policy.Answer, "1.4", `{"output": "by hand"}`)
	eventually(t, "the Call that was proposed again waits again",
		func() bool { return s.waitsFor(1)[0].CallID == "2.2" })
	s.decide(policy.Reject, "2.2", `{"reason": "still too dear"}`)
	r := s.end(run)
	if got := asJSON(r.Instances[""].State); got != `{"b":"paid","c":"SORRY","d":"by hand","e":"paid","f":"HI"}` {
		t.Error(got)
	}
	for request, facts := range map[int][]string{
		2: {"rejected by ann: too dear", `amended by ann to run with {"n":6}: a tenth`,
			`replaced by ann with {"_tool":"shout","text":"sorry"}`, "answered by ann"},
		3: {"rejected by ann: still too dear", "rejected by ann: too dear",
			`2.1: unknown_key: a Call has no meta property "_approval"`},
	} {
		for _, fact := range facts {
			if !strings.Contains(s.faultsTold(request), fact) {
				t.Errorf("Request %d is not told %q:\n%s", request, fact, s.prompt(request))
			}
		}
	}
	if len(till.seen()) != 2 || r.Calls != (turn.CallCounts{Done: 5, Failed: 1, Rejected: 2}) {
		t.Errorf("%q, %+v", till.seen(), r.Calls)
	}
	s.keep("decisions", "/main")
}

func TestAProcessMayAskForMoreApprovalsThanItsTools(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"config": {"approval": {"tools": ["pay"]}}, "schema": {"tools": {"pay": `+till.pay(`{"when": {"required": ["to"]}}`)+`, "shout": `+textTool+`}},
		"context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 1, "_outputPath": "a"}, {"_tool": "shout", "text": "free", "_outputPath": "b"}]}}`, nothingMore)
	run := s.start()
	s.waitsFor(1)
	s.decide(policy.Approve, "1.1", "")
	if r := s.end(run); r.Calls.Done != 2 {
		t.Errorf("%+v", r)
	}
}

// manyInstances is an Idea with so many instances; those from `over` on are over the limit.
func manyInstances(till *till, count, over int, config string) string {
	var context []string
	for n := range count {
		amount := 1
		if n >= over {
			amount = 100
		}
		context = append(context, fmt.Sprintf(`{"type": "state", "_instance": "i%d", "n": %d}`, n, amount))
	}
	return fmt.Sprintf(`{"config": %s, "schema": {"tools": {"pay": %s}}, "context": [%s]}`, config,
		till.pay(`{"when": {"properties": {"n": {"minimum": 100}}}}`), strings.Join(context, ","))
}

const payAll = `{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "n": "†state.n", "_outputPath": "paid"}]}}`

func TestOfManyInstancesMostSettleWhileTheOthersWaitAndShareARequest(t *testing.T) {
	t.Parallel()
	atLength(t)
	count, settled := 20, 15
	if longrun.Enabled() {
		count, settled = 100, 90
	}
	till := newTill(t)
	s := newScenario(t, manyInstances(till, count, settled, `{"gather": "5m"}`), payAll, nothingMore, nothingMore)
	run := s.start()
	s.waitsFor(count - settled)
	eventually(t, "the others settle", func() bool {
		by := map[ideafile.InstanceStatus]int{}
		for _, i := range s.processStatus().Instances {
			by[i.Status]++
		}
		return by[ideafile.InstanceSettled] == settled && by[ideafile.InstanceWaiting] == count-settled
	})
	if len(till.seen()) != settled || len(s.llm.Requests()) != 2 {
		t.Errorf("%d payments, %d Requests", len(till.seen()), len(s.llm.Requests()))
	}
	for n := settled; n < count; n++ {
		s.decide(policy.Approve, fmt.Sprintf("1.1@i%d", n), "")
		s.waitsFor(count - 1 - n)
	}
	if r := s.end(run); r.RequestCount != 3 || r.Calls.Done != count || len(till.seen()) != count {
		t.Errorf("%d Requests, %+v, %d payments", r.RequestCount, r.Calls, len(till.seen()))
	}
}

func TestARequestDoesNotWaitForAStrangersCallLongerThanTheGatheringTime(t *testing.T) {
	t.Parallel()
	till, slow := newTill(t), make(chan struct{})
	till.after = func(int) { <-slow }
	s := newScenario(t, `{"config": {"gather": "50ms"}, "schema": {"tools": {"pay": `+till.pay("false")+`, "shout": `+textTool+`}},
		"context": [{"type": "state", "_instance": "①", "n": 1}, {"type": "state", "_instance": "②", "n": 2}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "_instance": "①", "n": 1, "_outputPath": "a"}, {"_tool": "shout", "_instance": "②", "text": "x", "_outputPath": "a"}]}}`,
		nothingMore, nothingMore)
	run := s.start()
	eventually(t, "② settles", func() bool {
		return s.processStatus().Instances["②"].Status == ideafile.InstanceSettled
	})
	if v := s.processStatus(); v.Instances["①"].Status != ideafile.InstanceWorking {
		t.Errorf("%+v", v)
	}
	close(slow)
	if r := s.end(run); r.RequestCount != 3 {
		t.Errorf("%+v", r)
	}
}

func TestAPauseLetsRunningCallsFinishAndStartsNothing(t *testing.T) {
	t.Parallel()
	till, hold := newTill(t), make(chan struct{})
	till.after = func(n int) {
		if n == 1 {
			<-hold
		}
	}
	s := newScenario(t, `{"schema": {"tools": {"free": `+till.pay("false")+`, "pay": `+till.pay("true")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "free", "n": 1, "_outputPath": "a"}, {"_tool": "free", "to": "†state.a", "_outputPath": "b"}, {"_tool": "pay", "n": 3, "_outputPath": "c"}]}}`,
		nothingMore)
	run := s.start()
	s.waitsFor(1)
	eventually(t, "the first runs", func() bool { return len(till.seen()) == 1 })
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "ann", "reason": "lunch", "id": "p1"})
	eventually(t, "it is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	eventually(t, "the instance holds",
		func() bool { return strings.Contains(s.details("/main"), "the process is paused") })
	close(hold)
	eventually(t, "the running Call finishes",
		func() bool { return s.instance("").Calls[0].Status == ideafile.CallDone })
	s.decide(policy.Approve, "1.3", "")
	eventually(t, "the decision is taken", func() bool { return len(s.instance("").Calls[2].Decisions) == 1 })
	eventually(t, "where it stands is sealed", func() bool { return s.processStatus().IdeaCount >= 2 })
	v := s.processStatus()
	if len(till.seen()) != 1 || v.Error == nil || v.Error.Message != "paused by ann: lunch" {
		t.Errorf("%d ran; %+v", len(till.seen()), v)
	}
	s.signal(s.id, approval.SteerPause, map[string]any{})
	eventually(t, "a second pause is refused", func() bool { return len(s.processStatus().Refusals) == 1 })
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := s.end(run); r.Calls.Done != 3 || len(till.seen()) != 3 {
		t.Errorf("%+v", r)
	}
	s.keep("pause", "/main")
}

func (s *scenario) sealed(at int) map[string]any {
	s.t.Helper()
	idea, err := chain.New(store).Load(s.t.Context(), s.id, at)
	if err != nil {
		s.t.Fatal(err)
	}
	return idea
}

func TestARevisionMakesANewIdeaAndLeavesTheOldOneAsItIs(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay("true")+`, "shout": `+textTool+`}}, "context": [{"type": "input", "greeting": "hi"},
		{"type": "state", "n": 5, "schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": "†state.n", "_outputPath": "a"}]}}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†input.greeting", "_outputPath": "b"}, {"_tool": "pay", "n": "†state.n", "_outputPath": "c"}]}}`, nothingMore)
	run := s.start()
	s.waitsFor(1)
	eventually(t, "it has come to rest, and is sealed", func() bool { return s.processStatus().IdeaCount == 2 })
	before := asJSON(s.sealed(1))
	s.signal(s.id, approval.SteerRevise, map[string]any{"context": []any{map[string]any{"type": "state", "n": "many"}}})
	eventually(t, "a value that does not fit is refused", func() bool { return len(s.processStatus().Refusals) == 1 })
	s.signal(s.id, approval.SteerRevise, map[string]any{"id": "r1", "by": "ann", "reason": "wrong", "context": []any{
		map[string]any{"type": "state", "n": 7}, map[string]any{"type": "input", "greeting": "hello"},
		map[string]any{"type": "instruction", "instruction": "Be kind."}}})
	eventually(t, "it is accepted and sealed", func() bool { return s.processStatus().IdeaCount == 3 })
	if v := s.processStatus(); len(v.Refusals) != 1 {
		t.Errorf("%+v", v)
	}
	if asJSON(s.sealed(1)) != before || !strings.Contains(asJSON(s.sealed(3)), `"n":7`) ||
		!strings.Contains(asJSON(s.sealed(3)), "Be kind.") {
		t.Errorf("%s\n%s", asJSON(s.sealed(1)), asJSON(s.sealed(3)))
	}
	s.decide(policy.Approve, "1.1", "") // as it was shown, with 5
	eventually(t, "the second waits", func() bool { return s.waitsFor(1)[0].CallID == "2.2" })
	s.decide(policy.Approve, "2.2", "")
	if r := s.end(run); asJSON(r.Instances[""].State) != `{"a":"paid","b":"HELLO","c":"paid","n":7}` {
		t.Error(asJSON(r.Instances[""].State))
	}
	if got := fmt.Sprint(till.seen()); got != `[{"n":5} {"n":7}]` {
		t.Error(got)
	}
	if p := s.prompt(2); !strings.Contains(p, "Be kind.") || !strings.Contains(p, "hello") {
		t.Error(p)
	}
	s.keep("revision", "/main")
}

func TestInstancesThatAreAddedAreInTheNextRequest(t *testing.T) {
	t.Parallel()
	atLength(t)
	till := newTill(t)
	s := newScenario(t, manyInstances(till, 2, 1, `{"gather": "5m"}`), payAll, nothingMore, payAll,
		nothingMore, nothingMore)
	run := s.start()
	s.waitsFor(1)
	eventually(t, "i0 has settled", func() bool {
		return s.processStatus().Instances["i0"].Status == ideafile.InstanceSettled
	})
	var context []any
	for n := range 50 {
		context = append(context, map[string]any{"type": "state", "_instance": fmt.Sprintf("j%d", n), "n": 1})
	}
	s.signal(s.id, approval.SteerAddInstances,
		map[string]any{"context": []any{map[string]any{"type": "state", "_instance": "i0"}}})
	s.signal(s.id, approval.SteerAddInstances,
		map[string]any{"context": []any{map[string]any{"type": "text", "text": "for all"}}})
	s.signal(s.id, approval.SteerAddInstances, map[string]any{"context": context, "id": "a1"})
	eventually(t, "they are added", func() bool { return len(s.processStatus().Instances) == 52 })
	eventually(t, "they are paid", func() bool { return len(till.seen()) == 51 })
	s.decide(policy.Approve, "1.1@i1", "")
	r := s.end(run)
	if r.Calls.Done != 52 || r.Instances["j49"].Status != ideafile.InstanceSettled ||
		len(s.processStatus().Refusals) != 2 {
		t.Errorf("%+v", r.Calls)
	}
	if p := s.prompt(3); !strings.Contains(p, "j0: ") || !strings.Contains(p, "j49: ") {
		t.Error(p)
	}
	s.keep("add")
}

func TestAClientThatKnowsNothingOfThisProjectCanDecideAndSteer(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay("true")+
		`}}, "context": [{"type": "state", "_instance": "①", "n": 1}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "_instance": "①", "n": 2}]}}`, nothingMore)
	run := s.start()
	s.waitsFor(1)
	raw := temporalClient.WorkflowService()
	at := func(id string) *commonpb.WorkflowExecution { return &commonpb.WorkflowExecution{WorkflowId: id} }
	send := func(id, name, text string) {
		t.Helper()
		eventually(t, name+" is sent", func() bool {
			_, err := raw.SignalWorkflowExecution(t.Context(), &workflowservice.SignalWorkflowExecutionRequest{
				Namespace: s.namespace, WorkflowExecution: at(id), SignalName: name, Identity: "a shell",
				Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{
					Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)},
					Data:     []byte(text)}}},
			})
			var busy *serviceerror.ResourceExhausted // as Temporal says where a run is just about to end
			if err != nil && !errors.As(err, &busy) {
				t.Fatal(err)
			}
			return err == nil
		})
	}
	send(s.id, "pause", `{"by": "shell"}`)
	eventually(t, "it is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	send(s.id, "resume", `{}`)
	send(s.id+"/1", "amend", `{"call": "1.1@1", "params": {"n": 3}}`)
	eventually(t, "it is amended", func() bool { return fmt.Sprint(s.waitsFor(1)[0].Params["n"]) == "3" })
	send(s.id, "approve", `{"call": "1.1@①", "digest": "`+s.waitsFor(1)[0].Digest+`"}`)
	s.end(run)
	if got := fmt.Sprint(till.seen()); got != `[{"n":3}]` {
		t.Error(got)
	}
}
