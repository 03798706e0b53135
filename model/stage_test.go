package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// stage plays a process: a Mind, the Runs of its instances, and an LLM that says what the test has it say. It stands for
// what workflows and activities do between them.
type stage struct {
	t     rapid.TB
	idea  *Idea
	mind  *Mind
	runs  map[string]*Run
	said  map[string]map[string]said // what each instance has reported
	now   time.Time
	brief *Brief // of the Request under way
	// reports counts those of all instances.
	reports int
	ended   []*Member // by the last Request
	// corrected counts the corrections that each instance has taken in.
	corrected map[string]int
	revisions map[string][]Steering // that each instance is to be told of

	bindings map[string]Binding
	// work gives the result of a Tool that code runs; a Fault is how it failed.
	work func(tool string, params map[string]any) (any, *Fault)
}

// said is what was last reported of a Call.
type said struct {
	status    Status
	decisions int
}

// stagedTools is the palette of these tests: a Tool that code runs, one that fails, and one that the LLM is.
const stagedTools = `"work": {"type": "object", "properties": {"x": {}, "n": {"type": "integer"}}}, "fail": {"type": "object", "properties": {}},
	"think": {"type": "object", "properties": {"x": {}}, "_output": {"type": "string", "minLength": 1}},
	"log": {"type": "object", "properties": {}, "_outputPath": "†state.log", "_outputMethod": "push"}`

var began = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// onStage begins a process with more keys of its Idea beside the palette, such as `"context": […]`.
func onStage(t rapid.TB, output string, rest ...string) *stage {
	return onStageWith(t, stagedTools, output, rest...)
}

func onStageWith(t rapid.TB, tools, output string, rest ...string) *stage {
	schema := `"schema": {"tools": {` + tools + `}}`
	if output != "" {
		schema = `"schema": {"tools": {` + tools + `}, "output": ` + output + `}`
	}
	s := &stage{
		t: t, idea: ideaOf(t, "{"+strings.Join(append([]string{schema}, rest...), ", ")+"}"), now: began,
		runs: map[string]*Run{}, said: map[string]map[string]said{}, corrected: map[string]int{}, revisions: map[string][]Steering{}, bindings: map[string]Binding{},
	}
	for _, tool := range s.idea.Tools {
		s.bindings[tool.Name] = Binding{Kind: KindGo}
	}
	s.bindings["think"] = Binding{Kind: KindLatent}
	s.work = func(tool string, params map[string]any) (any, *Fault) {
		if tool == "fail" {
			return nil, fault(CodeToolFailed, "no luck")
		}
		if x, ok := params["x"]; ok {
			return x, nil
		}
		return tool + " done", nil
	}
	s.mind = NewMind(s.idea, "p", s.bindings, began)
	s.join(s.idea.Tokens())
	return s
}

// join begins the Runs of instances.
func (s *stage) join(tokens []string) {
	for _, token := range tokens {
		s.runs[token] = NewRun(Palette{Tools: s.idea.Tools, Bindings: s.bindings, Oversight: s.idea.Config.Approval, Adapt: s.idea.Config.Adapt}, s.mind.Idea().Context, token)
		s.said[token] = map[string]said{}
		s.runs[token].Begin()
	}
}

// runsPlans lets the Plans that run directly come as far as they can in every instance, and reports it.
func (s *stage) runsPlans() {
	for _, token := range s.mind.Tokens() {
		if s.runs[token].Direct() && s.member(token).Status == InstanceWorking {
			s.settleRun(token, 0)
			s.heard(s.report(token, 0))
		}
	}
}

const twoInstances = `"context": [{"type": "state", "_instance": "①", "state": {"a": 1}}, {"type": "state", "_instance": "②", "state": {"a": 2}}]`

// asks lets the Mind go on, which must make a Request, or have made one that is not answered yet.
func (s *stage) asks() *Brief {
	s.t.Helper()
	if b := s.mind.Asked(); b != nil {
		s.brief = b
		return b
	}
	s.carries()
	step, b := s.mind.Next(s.now)
	if step != StepAsk {
		s.t.Fatalf("the step is %s, paused by %v", step, s.mind.Paused())
	}
	s.brief = b
	return b
}

func (s *stage) expect(want Step) {
	s.t.Helper()
	s.carries()
	if step, _ := s.mind.Next(s.now); step != want {
		s.t.Fatalf("the step is %s, not %s; paused by %v", step, want, s.mind.Paused())
	}
}

// says is a Request that is answered whole.
func (s *stage) says(reply string) *Conclusion {
	s.t.Helper()
	s.asks()
	m := value(s.t, reply).(map[string]any)
	calls, _ := m["calls"].([]any)
	r := s.hear(calls)
	r.Whole, r.Output = true, m["output"]
	r.OutputFault = CheckOutput(s.idea, m["output"])
	return s.concludes(r)
}

// breaksOff is a Request that ends otherwise than with a whole solution, after some Calls.
func (s *stage) breaksOff(end Reply, calls ...string) *Conclusion {
	s.t.Helper()
	s.asks()
	var list []any
	for _, c := range calls {
		list = append(list, value(s.t, c))
	}
	r := s.hear(list)
	if end.Lost {
		r = Reply{} // what the worker heard is lost with it; the instances have it
	}
	r.End, r.Lost, r.Final, r.Idle = end.End, end.Lost, end.Final, nil
	return s.concludes(r)
}

// hear hands the Calls of a reply on, as they close in the stream.
func (s *stage) hear(calls []any) Reply {
	r := Reply{Calls: calls, Usage: Usage{PromptTokens: 100, CompletionTokens: 10}, Attempts: 1}
	p := Palette{Tools: s.idea.Tools, Bindings: s.bindings, Tokens: s.brief.Tokens()}
	if s.brief.Closing {
		p.Tokens = nil
	}
	named := map[string]bool{}
	for n, call := range calls {
		var tokens []string
		var f *Fault
		if len(s.brief.Asking) > 0 {
			var a Asked
			var out any
			var params map[string]any
			if a, out, params, f = ReadAnswer(s.idea, s.brief, call); f == nil && a.Why != "" {
				s.runs[a.Token].Adapt(a.ID, params)
				continue
			} else if f == nil {
				s.runs[a.Token].Succeed(a.ID, out)
				continue
			}
		} else {
			_, tokens, f = p.Read(call)
		}
		if len(tokens) == 0 {
			r.Faults = append(r.Faults, CallFault{Index: n + 1, Fault: *f})
		}
		for _, token := range tokens {
			named[token] = true
			s.runs[token].Accept(s.brief.Number, n+1, call)
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
func (s *stage) concludes(r Reply) *Conclusion {
	s.t.Helper()
	for _, token := range s.brief.Tokens() {
		if !s.brief.Closing {
			s.settleRun(token, s.brief.Number)
			s.heard(s.report(token, s.brief.Number))
		}
	}
	s.mind.Replied(r)
	c := s.mind.Conclude()
	if c == nil {
		s.t.Fatal("the Request is not concluded")
	}
	s.ended = s.mind.TakeEnded()
	s.carries()
	return c
}

// carries takes the Mind and the Runs to other runs of their workflows, as their histories grow. Nothing may come of it.
func (s *stage) carries() {
	s.mind = carriedMind(s.t, s.idea, s.bindings, s.mind)
	for token, run := range s.runs {
		s.runs[token] = carriedRun(s.t, run)
	}
}

func (s *stage) settleRun(token string, request int) {
	run := s.runs[token]
	run.At(s.now)
	run.Close(request)
	for todo := run.Next(); len(todo) > 0; todo = run.Next() {
		for _, ready := range todo {
			if ready.Record.Tool == "slow" {
				continue // the test ends it
			}
			if out, f := s.work(ready.Record.Tool, ready.Params); f != nil {
				run.Fail(ready.Record.ID, f)
			} else {
				run.Succeed(ready.Record.ID, out)
			}
		}
	}
}

// heard has the process hear the next report of an instance, as it does where a worker is lost: one that knew less was sent
// under the same number before, and comes again later. None of it may be seen.
func (s *stage) heard(r Report) {
	s.reports++
	early := r
	early.Writes = r.Writes[:len(r.Writes)/2]
	early.Number, early.Heard = s.reports, 10
	r.Number, r.Heard = s.reports, 15
	known := s.mind.Has(r.Token)
	for n, taken := range []bool{s.mind.Heard(early), s.mind.Heard(r), s.mind.Heard(r), s.mind.Heard(early)} {
		if want := known && n < 2; taken != want {
			s.t.Fatalf("report %d of %+v: taken %v, want %v", n, r, taken, want)
		}
	}
}

// report is what an instance tells its process when it has come to rest. It goes through JSON, as signals do.
func (s *stage) report(token string, closed int) Report {
	run := s.runs[token]
	r := Report{Token: token, Closed: closed, Quiet: run.Quiet(), Missing: run.Missing(), Unmet: run.Unmet(), Writes: run.NewWrites(),
		Pending: run.Pending(), Overdue: run.Overdue(), Corrected: s.corrected[token]}
	for _, rec := range run.Records() {
		if now := (said{rec.Status, len(rec.Decisions)}); s.said[token][rec.ID] != now {
			s.said[token][rec.ID] = now
			r.Calls = append(r.Calls, CallReport{Request: rec.Request, Index: rec.Index, Status: rec.Status, Fault: rec.Fault, Result: rec.Result, Decisions: rec.Decisions, Adapted: rec.Adapted, Call: rec.Written})
		}
	}
	r.Asking = run.Questions()
	data, err := json.Marshal(r)
	if err != nil {
		s.t.Fatal(err)
	}
	var out Report
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// statuses tells where every instance stands.
func (s *stage) statuses() string {
	var parts []string
	for _, m := range s.mind.Members() {
		parts = append(parts, strings.TrimSpace(m.Token+" "+string(m.Status)))
	}
	return strings.Join(parts, ", ")
}

// troubles tells what a Request is told went wrong.
func troublesOf(b *Brief) string {
	var lines []string
	for _, t := range b.Troubles {
		line := strings.TrimSpace(t.Call + " " + t.Fault.Error())
		if len(t.Instances) > 0 {
			line += " in " + strings.Join(t.Instances, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// plannedIn tells the Calls that a Request is shown, and what became of them.
func plannedIn(b *Brief) string {
	var parts []string
	for _, e := range b.Plan {
		how := ""
		for _, status := range []Status{Done, Failed, Rejected, Skipped, Blocked, Running, Waiting, AwaitingApproval} {
			if n := e.How[status]; n > 0 {
				how += fmt.Sprintf(" %s %d", status, n)
			}
		}
		parts = append(parts, e.ID+how)
	}
	return strings.Join(parts, "; ")
}

func (s *stage) want(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (s *stage) member(token string) *Member {
	for _, m := range s.mind.Members() {
		if m.Token == token {
			return m
		}
	}
	return nil
}

// stateOf is the State of an instance as its process knows it.
func stateOf(m *Mind, token string) string {
	return string(Encode(m.Result(StatusRunning, true).Instances[token].State))
}

func (s *stage) output() string { return string(Encode(s.mind.Output())) }
