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
	NoCalls   = `{"calls":[],"output":null}`
	ASummary  = `{"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}`
	NeedsMood = `"schema": {"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]}`
)

// sealed gives the snapshot of a Request as a file: through bytes and back.
func Sealed(t Failer, i *ideafile.Idea, seen *turn.RequestInput, calls []ideafile.WrittenCall, output any) *ideafile.Idea {
	text := jsonval.Encode(turn.Snapshot(i.Source, seen, calls, output))
	again, ps := ideafile.ParseIdea(text)
	if len(ps) > 0 {
		t.Fatalf("%s\nin %s", ps, text)
	}
	return again
}

// stage plays a process: a Mind, the Runs of its instances, and an LLM that says what the test has it say. It stands for
// what workflows and activities do between them.
type Stage struct {
	T     rapid.TB
	Idea  *ideafile.Idea
	Mind  *loop.Loop
	Runs  map[string]*dataflow.Instance
	Said  map[string]map[string]Said // what each instance has reported
	Now   time.Time
	Brief *turn.RequestInput // of the Request under way
	// reports counts those of all instances.
	reports int
	Ended   []*loop.InstanceProgress // by the last Request
	// corrected counts the corrections that each instance has taken in.
	Corrected map[string]int
	Revisions map[string][]loop.Steering // that each instance is to be told of

	Bindings map[string]ideafile.Binding
	// work gives the result of a Tool that code runs; a Fault is how it failed.
	Work func(tool string, params map[string]any) (any, *diag.Fault)
}

// said is what was last reported of a Call.
type Said struct {
	status    ideafile.Status
	decisions int
}

// stagedTools is the palette of these tests: a Tool that code runs, one that fails, and one that the LLM is.
const StagedTools = `"work": {"type": "object", "properties": {"x": {}, "n": {"type": "integer"}}}, "fail": {"type": "object", "properties": {}},
	"think": {"type": "object", "properties": {"x": {}}, "_output": {"type": "string", "minLength": 1}},
	"log": {"type": "object", "properties": {}, "_outputPath": "†state.log", "_outputMethod": "push"}`

var Began = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// onStage begins a process with more keys of its Idea beside the palette, such as `"context": […]`.
func OnStage(t rapid.TB, output string, rest ...string) *Stage {
	return OnStageWith(t, StagedTools, output, rest...)
}

func OnStageWith(t rapid.TB, tools, output string, rest ...string) *Stage {
	schema := `"schema": {"tools": {` + tools + `}}`
	if output != "" {
		schema = `"schema": {"tools": {` + tools + `}, "output": ` + output + `}`
	}
	s := &Stage{
		T: t, Idea: IdeaOf(t, "{"+strings.Join(append([]string{schema}, rest...), ", ")+"}"), Now: Began,
		Runs: map[string]*dataflow.Instance{}, Said: map[string]map[string]Said{}, Corrected: map[string]int{}, Revisions: map[string][]loop.Steering{}, Bindings: map[string]ideafile.Binding{},
	}
	for _, tool := range s.Idea.Tools {
		s.Bindings[tool.Name] = ideafile.Binding{Kind: ideafile.KindGo}
	}
	s.Bindings["think"] = ideafile.Binding{Kind: ideafile.KindLatent}
	s.Work = func(tool string, params map[string]any) (any, *diag.Fault) {
		if tool == "fail" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		if x, ok := params["x"]; ok {
			return x, nil
		}
		return tool + " done", nil
	}
	s.Mind = loop.New(s.Idea, "p", s.Bindings, Began)
	s.Join(s.Idea.Tokens())
	return s
}

// join begins the Runs of instances.
func (s *Stage) Join(tokens []string) {
	for _, token := range tokens {
		s.Runs[token] = dataflow.New(ideafile.Palette{Tools: s.Idea.Tools, Bindings: s.Bindings, ApprovalOverride: s.Idea.Config.Approval, Adapt: s.Idea.Config.Adapt}, s.Mind.Idea().Context, token)
		s.Said[token] = map[string]Said{}
		s.Runs[token].Begin()
	}
}

// runsPlans lets the Plans that run directly come as far as they can in every instance, and reports it.
func (s *Stage) RunsPlans() {
	for _, token := range s.Mind.Tokens() {
		if s.Runs[token].Direct() && s.member(token).Status == ideafile.InstanceWorking {
			s.SettleRun(token, 0)
			s.Heard(s.Report(token, 0))
		}
	}
}

const TwoInstances = `"context": [{"type": "state", "_instance": "①", "state": {"a": 1}}, {"type": "state", "_instance": "②", "state": {"a": 2}}]`

// asks lets the Mind go on, which must make a Request, or have made one that is not answered yet.
func (s *Stage) Asks() *turn.RequestInput {
	s.T.Helper()
	if b := s.Mind.InFlight(); b != nil {
		s.Brief = b
		return b
	}
	s.carries()
	step, b := s.Mind.Next(s.Now)
	if step != loop.StepAsk {
		s.T.Fatalf("the step is %s, paused by %v", step, s.Mind.Paused())
	}
	s.Brief = b
	return b
}

func (s *Stage) Expect(want loop.Step) {
	s.T.Helper()
	s.carries()
	if step, _ := s.Mind.Next(s.Now); step != want {
		s.T.Fatalf("the step is %s, not %s; paused by %v", step, want, s.Mind.Paused())
	}
}

// says is a Request that is answered whole.
func (s *Stage) Says(reply string) *loop.Conclusion {
	s.T.Helper()
	s.Asks()
	m := Value(s.T, reply).(map[string]any)
	calls, _ := m["calls"].([]any)
	r := s.Hear(calls)
	r.Whole, r.Output = true, m["output"]
	r.OutputFault = turn.CheckOutput(s.Idea, m["output"])
	return s.Concludes(r)
}

// breaksOff is a Request that ends otherwise than with a whole solution, after some Calls.
func (s *Stage) BreaksOff(end turn.Reply, calls ...string) *loop.Conclusion {
	s.T.Helper()
	s.Asks()
	var list []any
	for _, c := range calls {
		list = append(list, Value(s.T, c))
	}
	r := s.Hear(list)
	if end.Lost {
		r = turn.Reply{} // what the worker heard is lost with it; the instances have it
	}
	r.End, r.Lost, r.Final, r.Idle = end.End, end.Lost, end.Final, nil
	return s.Concludes(r)
}

// hear hands the Calls of a reply on, as they close in the stream.
func (s *Stage) Hear(values []any) turn.Reply {
	calls := ideafile.WrittenCalls(values)
	r := turn.Reply{Calls: calls, Usage: turn.Usage{PromptTokens: 100, CompletionTokens: 10}, Attempts: 1}
	p := ideafile.Palette{Tools: s.Idea.Tools, Bindings: s.Bindings, Tokens: s.Brief.Tokens()}
	if s.Brief.Closing {
		p.Tokens = nil
	}
	named := map[string]bool{}
	for n, call := range calls {
		var tokens []string
		var f *diag.Fault
		if len(s.Brief.Questions) > 0 {
			var a turn.Question
			var out any
			var params map[string]any
			if a, out, params, f = turn.ReadAnswer(s.Idea, s.Brief, call); f == nil && a.Why != "" {
				s.Runs[a.Token].Adapt(a.ID, params)
				continue
			} else if f == nil {
				s.Runs[a.Token].Succeed(a.ID, out)
				continue
			}
		} else {
			tokens, f = p.Targets(call)
		}
		if len(tokens) == 0 {
			r.Faults = append(r.Faults, turn.CallFault{Index: n + 1, Fault: *f})
		}
		for _, token := range tokens {
			named[token] = true
			s.Runs[token].Accept(s.Brief.Number, n+1, call)
		}
	}
	for _, token := range p.Tokens {
		if !named[token] {
			r.Idle = append(r.Idle, token)
		}
	}
	return r
}

// concludes lets everything that was accepted come to its end, and reports it.
func (s *Stage) Concludes(r turn.Reply) *loop.Conclusion {
	s.T.Helper()
	for _, token := range s.Brief.Tokens() {
		if !s.Brief.Closing {
			s.SettleRun(token, s.Brief.Number)
			s.Heard(s.Report(token, s.Brief.Number))
		}
	}
	s.Mind.ApplyReply(r)
	c := s.Mind.Conclude()
	if c == nil {
		s.T.Fatal("the Request is not concluded")
	}
	s.Ended = s.Mind.TakeEnded()
	s.carries()
	return c
}

// carries takes the Mind and the Runs to other runs of their workflows, as their histories grow. Nothing may come of it.
func (s *Stage) carries() {
	s.Mind = CarriedMind(s.T, s.Idea, s.Bindings, s.Mind)
	for token, run := range s.Runs {
		s.Runs[token] = CarriedRun(s.T, run)
	}
}

func (s *Stage) SettleRun(token string, request int) {
	run := s.Runs[token]
	run.At(s.Now)
	run.Close(request)
	for todo := run.Next(); len(todo) > 0; todo = run.Next() {
		for _, ready := range todo {
			if ready.Record.Tool == "slow" {
				continue // the test ends it
			}
			if out, f := s.Work(ready.Record.Tool, ready.Params); f != nil {
				run.Fail(ready.Record.ID, f)
			} else {
				run.Succeed(ready.Record.ID, out)
			}
		}
	}
}

// heard has the process hear the next report of an instance, as it does where a worker is lost: one that knew less was sent
// under the same number before, and comes again later. None of it may be seen.
func (s *Stage) Heard(r turn.Report) {
	s.reports++
	early := r
	early.Writes = r.Writes[:len(r.Writes)/2]
	early.Number, early.Heard = s.reports, 10
	r.Number, r.Heard = s.reports, 15
	known := s.Mind.Has(r.Token)
	for n, taken := range []bool{s.Mind.ApplyReport(early), s.Mind.ApplyReport(r), s.Mind.ApplyReport(r), s.Mind.ApplyReport(early)} {
		if want := known && n < 2; taken != want {
			s.T.Fatalf("report %d of %+v: taken %v, want %v", n, r, taken, want)
		}
	}
}

// report is what an instance tells its process when it has come to rest. It goes through JSON, as signals do.
func (s *Stage) Report(token string, closed int) turn.Report {
	run := s.Runs[token]
	r := turn.Report{Token: token, ClosedThrough: closed, Idle: run.Idle(), Missing: run.Missing(), PlanFailure: run.PlanFailure(), Writes: run.NewWrites(),
		Pending: run.Pending(), Overdue: run.Overdue(), CorrectionsAcked: s.Corrected[token]}
	for _, rec := range run.Records() {
		if now := (Said{rec.Status, len(rec.Decisions)}); s.Said[token][rec.ID] != now {
			s.Said[token][rec.ID] = now
			r.Calls = append(r.Calls, turn.CallReport{Request: rec.Request, Index: rec.Index, Status: rec.Status, Fault: rec.Fault, Result: rec.Result, Decisions: rec.Decisions, Adapted: rec.Adapted, Call: rec.Written})
		}
	}
	r.Questions = run.Questions()
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
func (s *Stage) Statuses() string {
	var parts []string
	for _, m := range s.Mind.Members() {
		parts = append(parts, strings.TrimSpace(m.Token+" "+string(m.Status)))
	}
	return strings.Join(parts, ", ")
}

// troubles tells what a Request is told went wrong.
func TroublesOf(b *turn.RequestInput) string {
	var lines []string
	for _, t := range b.Errors {
		line := strings.TrimSpace(t.Call + " " + t.Fault.Error())
		if len(t.Instances) > 0 {
			line += " in " + strings.Join(t.Instances, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// plannedIn tells the Calls that a Request is shown, and what became of them.
func PlannedIn(b *turn.RequestInput) string {
	var parts []string
	for _, e := range b.Plan {
		how := ""
		for _, status := range []ideafile.Status{ideafile.Done, ideafile.Failed, ideafile.Rejected, ideafile.Skipped, ideafile.Blocked, ideafile.Running, ideafile.Waiting, ideafile.AwaitingApproval} {
			if n := e.How[status]; n > 0 {
				how += fmt.Sprintf(" %s %d", status, n)
			}
		}
		parts = append(parts, e.ID+how)
	}
	return strings.Join(parts, "; ")
}

func (s *Stage) Want(what, got, want string) {
	s.T.Helper()
	if got != want {
		s.T.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (s *Stage) member(token string) *loop.InstanceProgress {
	for _, m := range s.Mind.Members() {
		if m.Token == token {
			return m
		}
	}
	return nil
}

// stateOf is the State of an instance as its process knows it.
func StateOf(m *loop.Loop, token string) string {
	return string(jsonval.Encode(m.Result(loop.StatusRunning, true).Instances[token].State))
}

func (s *Stage) Output() string { return string(jsonval.Encode(s.Mind.Output())) }
