package examples_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"processidea/internal/rehearsal"
	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/prompt"
	"processidea/model/turn"
	"processidea/tools"
	"processidea/tools/httptool"
	"processidea/tools/kinds"
)

// play runs an example in memory: the decisions of the engine, the scripted LLM and the real tools, without Temporal.
type play struct {
	t        *testing.T
	idea     *ideafile.Idea
	bindings map[string]ideafile.ToolBinding
	llm      *rehearsal.Handler
	tools    *tools.Registry
	http     *httptool.Client
	mind     *loop.Loop
	runs     map[string]*dataflow.Instance
	told     map[string]ideafile.CallStatus // what the mind was told of each Call
	// Requests whose worker is lost, and after how many Calls were handed out
	lost    map[int]int
	left    int                                          // Calls that may still be handed out in this Request
	number  int                                          // of the last Request
	person  func(approval.PendingCall) approval.Decision // who decides; nil: nobody
	sealed  func(idea map[string]any)                    // hears the Idea of every Request; nil: nobody
	log     []turn.LogEntry                              // of all Requests that were concluded
	started time.Time
	reports int // that the mind has heard
	inVain  int // Requests whose reply has neither Calls nor output
}

// start begins a play. allow names the hosts that HTTP tools may reach.
func start(t *testing.T, idea *ideafile.Idea, replies []rehearsal.Reply, allow string) *play {
	t.Helper()
	return startWith(t, idea, replies, allow, builtins())
}

// startWith is start with these functions as tools.
func startWith(t *testing.T, idea *ideafile.Idea, replies []rehearsal.Reply, allow string,
	functions *tools.Registry) *play {
	t.Helper()
	p := &play{t: t, idea: idea, llm: rehearsal.NewHandler(replies), tools: functions,
		runs: map[string]*dataflow.Instance{},
		told: map[string]ideafile.CallStatus{}, lost: map[int]int{},
		http: httptool.New(httptool.Options{AllowList: allow})}
	t.Cleanup(p.http.Close)
	p.bindings, _ = kinds.NewKnownTools(p.tools, nil).Bind(idea)
	p.mind = loop.New(idea, "play", p.bindings, p.started)
	for _, token := range idea.InstanceTokens() {
		p.runs[token] = dataflow.New(ideafile.Palette{Tools: idea.Tools, BindingByTool: p.bindings},
			own(idea, token), token)
	}
	return p
}

func own(idea *ideafile.Idea, token string) (context []ideafile.Message) {
	for _, m := range idea.Context {
		if m.InstanceToken == "" || m.InstanceToken == token {
			context = append(context, m)
		}
	}
	return context
}

// through plays to the end.
func (p *play) through() loop.ProcessResult {
	p.t.Helper()
	for range 50 {
		step, brief := p.mind.Advance(p.started)
		switch step {
		case loop.StepFinished:
			return p.mind.Result(p.mind.FinalStatus(), true)
		case loop.StepRequest:
			p.request(brief)
		case loop.StepWait:
			if p.person == nil {
				return p.mind.Result(loop.StatusRunning, true)
			}
			p.decide()
		default:
			p.t.Fatalf("%s: %v", step, p.mind.PauseReason)
		}
	}
	p.t.Fatal("it does not end")
	return loop.ProcessResult{}
}

// runPlans lets the Plans that run directly come to their end.
func (p *play) runPlans() {
	for _, token := range p.idea.InstanceTokens() {
		p.runs[token].StartDirectPlan()
		p.work(token)
		p.mind.ApplyReport(p.report(token, false))
	}
}

// decide lets the person decide on everything that waits.
func (p *play) decide() {
	p.t.Helper()
	for _, token := range p.idea.InstanceTokens() {
		pending := p.runs[token].PendingApprovals()
		for _, what := range pending {
			if err := p.runs[token].ApplyDecision(p.person(what)); err != nil {
				p.t.Fatal(err)
			}
		}
		if len(pending) > 0 {
			p.work(token)
			p.mind.ApplyReport(p.report(token, false))
		}
	}
}

// request makes one Request, hands its Calls out, runs them, and tells the mind what became of it.
func (p *play) request(brief *turn.RequestInput) {
	p.t.Helper()
	p.number = brief.RequestNumber
	solution := p.ask(brief)
	cut, lost := p.lost[brief.RequestNumber]
	if p.left = cut; !lost {
		p.left = 1 << 30
	}
	reply := turn.LLMReply{IsComplete: !lost, IsWorkerLost: lost, Output: solution["output"]}
	reply.SaysFinished, _ = solution["finished"].(bool)
	if lost {
		reply.Output, reply.SaysFinished, reply.Fault = nil, false,
			&diag.Fault{Code: turn.CodeWorkerLost, Message: "the worker was lost"}
	}
	named := map[string]bool{}
	for i, call := range ideafile.ParseWrittenCalls(solution["calls"].([]any)) {
		if !lost {
			reply.Calls = append(reply.Calls, call)
		}
		p.give(brief, i+1, call, named)
	}
	for _, token := range brief.InstanceTokens() {
		if !named[token] {
			reply.InstanceTokensWithoutCalls = append(reply.InstanceTokensWithoutCalls, token)
		}
		if !brief.IsOutputOnly {
			p.runs[token].CloseRequest(brief.RequestNumber)
			p.work(token)
			p.mind.ApplyReport(p.report(token, lost))
		}
	}
	p.mind.ApplyReply(reply)
	c := p.mind.ConcludeRequest()
	if c == nil {
		p.t.Fatalf("request %d did not conclude", brief.RequestNumber)
	}
	p.log = append(p.log, c.LogBeforeRequest...)
	if p.sealed != nil {
		p.sealed(turn.SnapshotIdea(p.idea.Source, c.AllInstancesInput, c.Calls, c.Reply.Output))
	}
}

// ask hears what the scripted LLM says.
func (p *play) ask(brief *turn.RequestInput) map[string]any {
	p.t.Helper()
	var messages []any
	for _, m := range prompt.Render(p.idea, p.bindings, brief, nil) {
		messages = append(messages, map[string]any{"role": m.Role, "content": m.Content})
	}
	body := jsonval.Encode(map[string]any{"model": "any", "messages": messages})
	r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(string(body)))
	r.Header.Set(rehearsal.TurnNumberHeader, strconv.Itoa(brief.TurnNumber))
	w := httptest.NewRecorder()
	p.llm.ServeHTTP(w, r)
	answer, err := jsonval.Decode(w.Body.Bytes())
	said, ok := jsonval.ValueAt(answer, jsonval.Path{"choices", "0", "message", "content"})
	if err != nil || !ok {
		p.t.Fatalf("request %d: %v %s", brief.RequestNumber, err, w.Body)
	}
	solution, err := jsonval.DecodeObject([]byte(said.(string)))
	if err != nil {
		p.t.Fatalf("request %d: %v", brief.RequestNumber, err)
	}
	if calls, _ := solution["calls"].([]any); len(calls) == 0 && solution["output"] == nil {
		p.inVain++
	}
	if f := turn.CheckOutput(p.idea, solution["output"]); f != nil {
		p.t.Fatalf("request %d: %v", brief.RequestNumber, f)
	}
	return solution
}

// give hands one Call, or one result, to the instances that it is for.
func (p *play) give(brief *turn.RequestInput, index int, call ideafile.WrittenCall, named map[string]bool) {
	p.t.Helper()
	if len(brief.Questions) > 0 {
		a, out, _, f := turn.ReadLLMAnswer(p.idea, brief, call)
		if f != nil {
			p.t.Fatalf("request %d, result %d: %v", brief.RequestNumber, index, f)
		}
		if p.left > 0 {
			p.left--
			p.runs[a.InstanceToken].SucceedCall(a.CallID, out)
		}
		return
	}
	palette := ideafile.Palette{Tools: p.idea.Tools, BindingByTool: p.bindings, InstanceTokens: brief.InstanceTokens()}
	_, tokens, f := palette.ReadCall(call)
	if f != nil {
		p.t.Fatalf("request %d, call %d: %v", brief.RequestNumber, index, f)
	}
	for _, token := range tokens {
		if named[token] = true; p.left > 0 {
			p.left--
			p.runs[token].AcceptCall(brief.RequestNumber, index, call)
			p.work(token)
		}
	}
}

// work runs every Call that is ready in an instance, and those that become so.
func (p *play) work(token string) {
	run := p.runs[token]
	for ready := run.Advance(); len(ready) > 0; ready = run.Advance() {
		for _, r := range ready {
			out, err := p.execute(r)
			if err == nil {
				err = r.Tool.OutputSchema.Validate(out)
			}
			if err != nil {
				run.FailCall(r.Record.ID, &diag.Fault{Code: ideafile.CodeToolFailed, Message: err.Error()})
			} else {
				run.SucceedCall(r.Record.ID, out)
			}
		}
	}
}

func (p *play) execute(r dataflow.ReadyCall) (any, error) {
	if r.Binding.Kind == ideafile.KindHTTP {
		activity, _ := r.Tool.RawActivity.(map[string]any)
		spec, err := httptool.ParseSpec(activity["http"])
		if err != nil {
			return nil, err
		}
		return p.http.Do(context.Background(), spec, r.Params, r.ScopeValues, r.Record.ID)
	}
	tool, ok := p.tools.Lookup(r.Binding.GoFunctionName)
	if !ok {
		return nil, fmt.Errorf("no tool %q", r.Binding.GoFunctionName)
	}
	return tool.Call(context.Background(), r.Params)
}

// report is what an instance tells the mind at the end of a Request.
func (p *play) report(token string, lost bool) turn.InstanceReport {
	run := p.runs[token]
	p.reports++
	r := turn.InstanceReport{InstanceToken: token, ReportNumber: p.reports, ClosedThroughRequest: p.number,
		InstanceStatusDetails: turn.InstanceStatusDetails{PendingApprovals: run.PendingApprovals(),
			IsIdle:  run.IsIdle(),
			HasGoal: run.HasGoal(), MissingRequiredPaths: run.MissingRequiredPaths(),
			PlanFailure: run.DirectPlanFault()},
		Writes: run.TakeUnreportedWrites()}
	if lost {
		r.ReportedThroughRequest = p.number
	}
	for _, rec := range run.CallRecords() {
		if p.told[rec.ID] == rec.Status {
			continue
		}
		p.told[rec.ID] = rec.Status
		c := turn.CallReport{Request: rec.Request, Index: rec.Index, CallState: turn.CallState{Status: rec.Status,
			Fault: rec.Fault, Result: rec.Result, Decisions: rec.Decisions}}
		if lost {
			c.Call = rec.WrittenCall
		}
		r.Calls = append(r.Calls, c)
	}
	for _, rec := range run.CallsAwaitingLLM() {
		params, err := run.ResolvedParams(rec)
		if err != nil {
			p.t.Fatal(err)
		}
		r.Questions = append(r.Questions, turn.QuestionToLLM{CallID: rec.ID, InstanceToken: token, Tool: rec.Tool,
			Params: params})
	}
	return r
}
