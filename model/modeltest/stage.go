package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

const (
	EmptyReply   = `{"calls":[],"output":null}`
	SummarySchema  = `{"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}`
	StateSchemaRequiringMood = `"schema": {"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]}`
)

// sealed gives the snapshot of a Request as a file: through bytes and back.
func SnapshotFile(t Fataler, i *ideafile.Idea, input *turn.RequestInput, calls []ideafile.WrittenCall, output any) *ideafile.Idea {
	text := jsonval.Encode(turn.Snapshot(i.Source, input, calls, output))
	again, ps := ideafile.ParseIdea(text)
	if len(ps) > 0 {
		t.Fatalf("%s\nin %s", ps, text)
	}
	return again
}

// stage plays a process: a Mind, the Runs of its instances, and an LLM that says what the test has it say. It stands for
// what workflows and activities do between them.
type Scenario struct {
	T     rapid.TB
	Idea  *ideafile.Idea
	Loop  *loop.Loop
	Instances  map[string]*dataflow.Instance
	Reported  map[string]map[string]ReportedCall // what each instance has reported
	Now   time.Time
	Input *turn.RequestInput // of the Request under way
	// reportCount counts those of all instances.
	reportCount int
	Ended   []*loop.InstanceProgress // by the last Request
	// corrected counts the corrections that each instance has taken in.
	CorrectionsAcked map[string]int
	Corrections map[string][]loop.Steering // that each instance is to be told of

	Bindings map[string]ideafile.Binding
	// work gives the result of a Tool that code runs; a Fault is how it failed.
	RunTool func(tool string, params map[string]any) (any, *diag.Fault)
}

// said is what was last reported of a Call.
type ReportedCall struct {
	status    ideafile.CallStatus
	decisions int
}

// stagedTools is the palette of these tests: a Tool that code runs, one that fails, and one that the LLM is.
const ScenarioTools = `"work": {"type": "object", "properties": {"x": {}, "n": {"type": "integer"}}}, "fail": {"type": "object", "properties": {}},
	"think": {"type": "object", "properties": {"x": {}}, "_output": {"type": "string", "minLength": 1}},
	"log": {"type": "object", "properties": {}, "_outputPath": "†state.log", "_outputMethod": "push"}`

var StartTime = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// onStage begins a process with more keys of its Idea beside the palette, such as `"context": […]`.
func NewScenario(t rapid.TB, output string, rest ...string) *Scenario {
	return NewScenarioWithTools(t, ScenarioTools, output, rest...)
}

func NewScenarioWithTools(t rapid.TB, tools, output string, rest ...string) *Scenario {
	schema := `"schema": {"tools": {` + tools + `}}`
	if output != "" {
		schema = `"schema": {"tools": {` + tools + `}, "output": ` + output + `}`
	}
	s := &Scenario{
		T: t, Idea: IdeaFrom(t, "{"+strings.Join(append([]string{schema}, rest...), ", ")+"}"), Now: StartTime,
		Instances: map[string]*dataflow.Instance{}, Reported: map[string]map[string]ReportedCall{}, CorrectionsAcked: map[string]int{}, Corrections: map[string][]loop.Steering{}, Bindings: map[string]ideafile.Binding{},
	}
	for _, tool := range s.Idea.Tools {
		s.Bindings[tool.Name] = ideafile.Binding{Kind: ideafile.KindGo}
	}
	s.Bindings["think"] = ideafile.Binding{Kind: ideafile.KindLatent}
	s.RunTool = func(tool string, params map[string]any) (any, *diag.Fault) {
		if tool == "fail" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		if x, ok := params["x"]; ok {
			return x, nil
		}
		return tool + " done", nil
	}
	s.Loop = loop.New(s.Idea, "p", s.Bindings, StartTime)
	s.StartInstances(s.Idea.Tokens())
	return s
}

// join begins the Runs of instances.
func (s *Scenario) StartInstances(tokens []string) {
	for _, token := range tokens {
		s.Instances[token] = dataflow.New(ideafile.Palette{Tools: s.Idea.Tools, Bindings: s.Bindings, ApprovalOverride: s.Idea.Config.Approval, Adapt: s.Idea.Config.Adapt}, s.Loop.Idea().Context, token)
		s.Reported[token] = map[string]ReportedCall{}
		s.Instances[token].StartDirectPlan()
	}
}

// runsPlans lets the Plans that run directly come as far as they can in every instance, and reports it.
func (s *Scenario) RunDirectPlans() {
	for _, token := range s.Loop.Tokens() {
		if s.Instances[token].HasDirectPlan() && s.progressOf(token).Status == ideafile.InstanceWorking {
			s.RunToIdle(token, 0)
			s.DeliverReport(s.Report(token, 0))
		}
	}
}

const TwoInstances = `"context": [{"type": "state", "_instance": "①", "state": {"a": 1}}, {"type": "state", "_instance": "②", "state": {"a": 2}}]`

// asks lets the Mind go on, which must make a Request, or have made one that is not answered yet.
func (s *Scenario) ExpectRequest() *turn.RequestInput {
	s.T.Helper()
	if in := s.Loop.InFlight(); in != nil {
		s.Input = in
		return in
	}
	s.continueAsNew()
	step, in := s.Loop.Advance(s.Now)
	if step != loop.StepRequest {
		s.T.Fatalf("the step is %s, paused by %v", step, s.Loop.PauseReason())
	}
	s.Input = in
	return in
}

func (s *Scenario) ExpectStep(want loop.Step) {
	s.T.Helper()
	s.continueAsNew()
	if step, _ := s.Loop.Advance(s.Now); step != want {
		s.T.Fatalf("the step is %s, not %s; paused by %v", step, want, s.Loop.PauseReason())
	}
}

// says is a Request that is answered whole.
func (s *Scenario) ReplyWith(reply string) *loop.Conclusion {
	s.T.Helper()
	s.ExpectRequest()
	m := DecodeJSON(s.T, reply).(map[string]any)
	calls, _ := m["calls"].([]any)
	r := s.DeliverCalls(calls)
	r.Complete, r.Output = true, m["output"]
	r.OutputFault = turn.CheckOutput(s.Idea, m["output"])
	return s.Conclude(r)
}

// breaksOff is a Request that ends otherwise than with a whole solution, after some Calls.
func (s *Scenario) BreakOff(end turn.Reply, calls ...string) *loop.Conclusion {
	s.T.Helper()
	s.ExpectRequest()
	var list []any
	for _, c := range calls {
		list = append(list, DecodeJSON(s.T, c))
	}
	r := s.DeliverCalls(list)
	if end.WorkerLost {
		r = turn.Reply{} // what the worker heard is lost with it; the instances have it
	}
	r.Fault, r.WorkerLost, r.NotRetryable, r.InstancesWithoutCalls = end.Fault, end.WorkerLost, end.NotRetryable, nil
	return s.Conclude(r)
}

// hear hands the Calls of a reply on, as they close in the stream.
func (s *Scenario) DeliverCalls(values []any) turn.Reply {
	calls := ideafile.ParseWrittenCalls(values)
	r := turn.Reply{Calls: calls, Usage: turn.Usage{PromptTokens: 100, CompletionTokens: 10}, Attempts: 1}
	p := ideafile.Palette{Tools: s.Idea.Tools, Bindings: s.Bindings, Tokens: s.Input.Tokens()}
	if s.Input.OutputOnly {
		p.Tokens = nil
	}
	named := map[string]bool{}
	for n, call := range calls {
		var tokens []string
		var f *diag.Fault
		if len(s.Input.Questions) > 0 {
			var a turn.Question
			var out any
			var params map[string]any
			if a, out, params, f = turn.ReadAnswer(s.Idea, s.Input, call); f == nil && a.ParamsError != "" {
				s.Instances[a.Token].ApplyAdaptedParams(a.ID, params)
				continue
			} else if f == nil {
				s.Instances[a.Token].Succeed(a.ID, out)
				continue
			}
		} else {
			tokens, f = p.Targets(call)
		}
		if len(tokens) == 0 {
			r.CallFaults = append(r.CallFaults, turn.CallFault{Index: n + 1, Fault: *f})
		}
		for _, token := range tokens {
			named[token] = true
			s.Instances[token].AcceptCall(s.Input.Number, n+1, call)
		}
	}
	for _, token := range p.Tokens {
		if !named[token] {
			r.InstancesWithoutCalls = append(r.InstancesWithoutCalls, token)
		}
	}
	return r
}

// concludes lets everything that was accepted come to its end, and reports it.
func (s *Scenario) Conclude(r turn.Reply) *loop.Conclusion {
	s.T.Helper()
	for _, token := range s.Input.Tokens() {
		if !s.Input.OutputOnly {
			s.RunToIdle(token, s.Input.Number)
			s.DeliverReport(s.Report(token, s.Input.Number))
		}
	}
	s.Loop.ApplyReply(r)
	c := s.Loop.Conclude()
	if c == nil {
		s.T.Fatal("the Request is not concluded")
	}
	s.Ended = s.Loop.TakeEnded()
	s.continueAsNew()
	return c
}

// continueAsNew takes the Mind and the Runs to other runs of their workflows, as their histories grow. Nothing may come of it.
func (s *Scenario) continueAsNew() {
	s.Loop = CarryLoop(s.T, s.Idea, s.Bindings, s.Loop)
	for token, instance := range s.Instances {
		s.Instances[token] = CarryInstance(s.T, instance)
	}
}

func (s *Scenario) RunToIdle(token string, request int) {
	instance := s.Instances[token]
	instance.SetTime(s.Now)
	instance.CloseRequest(request)
	for todo := instance.Advance(); len(todo) > 0; todo = instance.Advance() {
		for _, ready := range todo {
			if ready.Record.Tool == "slow" {
				continue // the test ends it
			}
			if out, f := s.RunTool(ready.Record.Tool, ready.Params); f != nil {
				instance.Fail(ready.Record.ID, f)
			} else {
				instance.Succeed(ready.Record.ID, out)
			}
		}
	}
}

// heard has the process hear the next report of an instance, as it does where a worker is lost: one that knew less was sent
// under the same number before, and comes again later. None of it may be seen.
func (s *Scenario) DeliverReport(r turn.Report) {
	s.reportCount++
	early := r
	early.Writes = r.Writes[:len(r.Writes)/2]
	early.Number, early.HistoryLength = s.reportCount, 10
	r.Number, r.HistoryLength = s.reportCount, 15
	known := s.Loop.HasInstance(r.Token)
	for n, accepted := range []bool{s.Loop.ApplyReport(early), s.Loop.ApplyReport(r), s.Loop.ApplyReport(r), s.Loop.ApplyReport(early)} {
		if want := known && n < 2; accepted != want {
			s.T.Fatalf("report %d of %+v: taken %v, want %v", n, r, accepted, want)
		}
	}
}

// report is what an instance tells its process when it has come to rest. It goes through JSON, as signals do.
func (s *Scenario) Report(token string, closed int) turn.Report {
	instance := s.Instances[token]
	r := turn.Report{Token: token, ClosedThrough: closed, Idle: instance.Idle(), Missing: instance.MissingRequired(), PlanFailure: instance.PlanFailure(), Writes: instance.TakeNewWrites(),
		PendingApprovals: instance.Pending(), ApprovalOverdue: instance.TakeOverdue(), CorrectionsAcked: s.CorrectionsAcked[token]}
	for _, rec := range instance.Records() {
		if now := (ReportedCall{rec.Status, len(rec.Decisions)}); s.Reported[token][rec.ID] != now {
			s.Reported[token][rec.ID] = now
			r.Calls = append(r.Calls, turn.CallReport{Request: rec.Request, Index: rec.Index, Status: rec.Status, Fault: rec.Fault, Result: rec.Result, Decisions: rec.Decisions, Adapted: rec.Adapted, Call: rec.Written})
		}
	}
	r.Questions = instance.Questions()
	data, err := json.Marshal(r)
	if err != nil {
		s.T.Fatal(err)
	}
	var out turn.Report
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		s.T.Fatal(err)
	}
	return out
}

// statuses tells where every instance stands.
func (s *Scenario) Statuses() string {
	var parts []string
	for _, m := range s.Loop.Instances() {
		parts = append(parts, strings.TrimSpace(m.Token+" "+string(m.Status)))
	}
	return strings.Join(parts, ", ")
}

// troubles tells what a Request is told went wrong.
func DescribeErrors(in *turn.RequestInput) string {
	var lines []string
	for _, t := range in.Errors {
		line := strings.TrimSpace(t.Call + " " + t.Fault.Error())
		if len(t.Instances) > 0 {
			line += " in " + strings.Join(t.Instances, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// plannedIn tells the Calls that a Request is shown, and what became of them.
func DescribePlan(in *turn.RequestInput) string {
	var parts []string
	for _, e := range in.Plan {
		counts := ""
		for _, status := range []ideafile.CallStatus{ideafile.Done, ideafile.Failed, ideafile.Rejected, ideafile.Skipped, ideafile.Blocked, ideafile.Running, ideafile.Waiting, ideafile.AwaitingApproval} {
			if n := e.StatusCounts[status]; n > 0 {
				counts += fmt.Sprintf(" %s %d", status, n)
			}
		}
		parts = append(parts, e.ID+counts)
	}
	return strings.Join(parts, "; ")
}

func (s *Scenario) WantEqual(what, got, want string) {
	s.T.Helper()
	if got != want {
		s.T.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (s *Scenario) progressOf(token string) *loop.InstanceProgress {
	for _, m := range s.Loop.Instances() {
		if m.Token == token {
			return m
		}
	}
	return nil
}

// stateOf is the State of an instance as its process knows it.
func StateOf(l *loop.Loop, token string) string {
	return string(jsonval.Encode(l.Result(loop.StatusRunning, true).Instances[token].State))
}

func (s *Scenario) OutputJSON() string { return string(jsonval.Encode(s.Loop.Output())) }
