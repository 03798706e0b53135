package modeltest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file draws random Plans and plays them in random orders. What a Tool answers is fixed with the Plan and depends on
// nothing but what its Call was given, so that whatever two plays disagree about came from the order alone.

// drawnCall is a Call of a random Plan, and what its Tool will say.
type DrawnCall struct {
	Request, Index int
	Source            map[string]any
	Fails          bool
	Result         func(params, scopes map[string]any) any
}

func (c DrawnCall) ID() string { return ideafile.CallID(c.Request, c.Index, "") }

// drawnPlan is a random Plan of one or more Requests over a start State, which may have a schema.
type DrawnPlan struct {
	Context  []any
	Requests [][]DrawnCall
}

func (p DrawnPlan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "context %s\n", jsonval.Encode(p.Context))
	for _, calls := range p.Requests {
		for _, c := range calls {
			fmt.Fprintf(&b, "%s fails=%v %s\n", c.ID(), c.Fails, jsonval.Encode(c.Source))
		}
	}
	return b.String()
}

// planKnobs says what a random Plan may hold.
type PlanOptions struct {
	Calls, Requests int
	OnlyWriteOnce   bool // no update methods
	NoWholeState         bool // nobody writes the whole State
	noExpressions           bool // no expressions
	paths           []string
}

// playTools is the palette of random Plans: a Tool that code runs, one whose result the LLM writes at once, one whose
// result it is asked for later.
var DrawnPlanTools = func() ideafile.Palette {
	var ps diag.Problems
	source := map[string]any{
		"_outputMethod": map[string]any{"enum": []any{"set", "assign", "merge", "push", "concat"}},
		"_scopes":       map[string]any{"type": "array"},
	}
	p := ideafile.Palette{Bindings: map[string]ideafile.Binding{}}
	for name, kind := range map[string]ideafile.ToolKind{"work": ideafile.KindGo, "think": ideafile.KindLatent} {
		p.Tools = append(p.Tools, ideafile.ReadTool(name, source, "$", &ps))
		p.Bindings[name] = ideafile.Binding{Kind: kind, Name: name}
	}
	if ps != nil {
		panic(ps.Error())
	}
	return p
}()

var (
	DrawnPlanPaths = []string{"a", "a.b", "a.b.c", "a.d", "b", "b.a", "c", "c.e"}
	DrawnStartStates = []string{`{}`, `{"a":{"b":{}}}`, `{"a":1}`, `{"b":null,"c":{"e":2}}`, `{"a":{"d":[1]},"b":"text"}`}
	// Schemas that make the place of a value matter: closed ones, short lists, narrow types.
	drawnStateSchemas = []string{``, ``, ``,
		`{"properties":{"a":{"properties":{"b":true,"d":{"maxItems":2}},"additionalProperties":false}}}`,
		`{"properties":{"b":{"maxItems":2,"maxLength":30},"c":{"maxProperties":2}}}`}
)

func DrawPlan(t *rapid.T, opts PlanOptions) DrawnPlan {
	if opts.paths = DrawnPlanPaths; rapid.Bool().Draw(t, "few paths") {
		opts.paths = []string{"a", "a.b", "b"} // where Calls meet more often
	}
	state := map[string]any{"type": "state", "state": MustDecodeJSON(rapid.SampledFrom(DrawnStartStates).Draw(t, "start"))}
	if s := rapid.SampledFrom(drawnStateSchemas).Draw(t, "schema"); s != "" {
		state["schema"] = MustDecodeJSON(s)
	}
	p := DrawnPlan{Context: []any{state, map[string]any{"type": "input", "x": "in"}}}
	for request := 1; request <= rapid.IntRange(1, opts.Requests).Draw(t, "requests"); request++ {
		var calls []DrawnCall
		for index := 1; index <= rapid.IntRange(1, opts.Calls).Draw(t, "calls"); index++ {
			calls = append(calls, drawCall(t, opts, request, index))
		}
		p.Requests = append(p.Requests, calls)
	}
	return p
}

func drawCall(t *rapid.T, opts PlanOptions, request, index int) DrawnCall {
	c := DrawnCall{Request: request, Index: index, Source: map[string]any{"_tool": "work"}}
	for i := range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "reads") {
		c.Source[fmt.Sprintf("p%d", i)] = drawReference(t, opts)
	}
	if rapid.IntRange(0, 9).Draw(t, "scoped") == 0 {
		c.Source["_scopes"] = []any{"state." + rapid.SampledFrom(opts.paths).Draw(t, "scope")}
	}
	path := ""
	if rapid.IntRange(0, 9).Draw(t, "written") > 0 {
		path = rapid.SampledFrom(append([]string{"", ""}, opts.paths...)).Draw(t, "path")
		if path == "" && opts.NoWholeState {
			path = "a"
		}
		c.Source["_outputPath"] = strings.TrimSuffix("†state."+path, ".")
		if path != "" && !opts.noExpressions && rapid.IntRange(0, 2).Draw(t, "several paths") == 0 {
			c.Source["_outputPath"] = drawOutputPaths(t, opts, path)
		}
	}
	if !opts.OnlyWriteOnce && rapid.Bool().Draw(t, "updates") {
		methods := []string{"assign", "merge", "push", "concat"}
		if path == "" {
			methods = methods[:2]
		}
		c.Source["_outputMethod"] = rapid.SampledFrom(methods).Draw(t, "method")
	}
	c.Fails = rapid.IntRange(0, 3).Draw(t, "fails") == 0
	c.Result = drawResult(t, c.ID(), path == "")
	if text, _ := c.Source["_outputPath"].(string); strings.Contains(text, "||") {
		c.Result = drawBranchChoice(t, text, c.Result)
	}
	c.makeLatent(t)
	return c
}

// makeLatent turns some Calls into latent ones, half of them with their result.
func (c *DrawnCall) makeLatent(t *rapid.T) {
	switch rapid.IntRange(0, 7).Draw(t, "latent") {
	case 0:
		c.Source["_tool"] = "think"
	case 1:
		c.Source["_tool"], c.Source["_output"] = "think", c.Result(nil, nil)
	}
}

// drawReference draws a Reference or an expression.
func drawReference(t *rapid.T, opts PlanOptions) any {
	text := ""
	for i := range rapid.SampledFrom([]int{1, 1, 2, 2, 3}).Draw(t, "terms") {
		term := referenceTo(rapid.SampledFrom(append([]string{"", "x", "x.never"}, opts.paths...)).Draw(t, "read"))
		if term == "†input.x.never" && i == 0 {
			term = "†input.x" // alone it can never be there
		}
		if i == 0 || opts.noExpressions {
			text = term
			continue
		}
		text += rapid.SampledFrom([]string{" || ", " || ", " && "}).Draw(t, "sign") + term
	}
	return text
}

// drawOutputPaths draws an output path beside one that is drawn already, or two.
func drawOutputPaths(t *rapid.T, opts PlanOptions, path string) string {
	text := "†state." + path
	for range rapid.IntRange(1, 2).Draw(t, "more paths") {
		more := rapid.SampledFrom(opts.paths).Draw(t, "another path")
		longer := text + rapid.SampledFrom([]string{" && ", " || ", " || "}).Draw(t, "sign") + "†state." + more
		if _, err := refexpr.ParseOutputPath(longer); err == nil {
			text = longer
		}
	}
	return text
}

// drawBranchChoice draws which branch a result says it takes; none says nothing, another is wrong.
func drawBranchChoice(t *rapid.T, text string, result func(params, scopes map[string]any) any) func(params, scopes map[string]any) any {
	branches := strings.Split(text, " || ")
	chosen := rapid.SampledFrom(append([]string{"", "", "nowhere"}, branches...)).Draw(t, "taken")
	if chosen == "" {
		return result
	}
	return func(params, scopes map[string]any) any {
		return map[string]any{refexpr.BranchKey: chosen, refexpr.ResultKey: result(params, scopes)}
	}
}

func referenceTo(path string) string {
	switch path {
	case "":
		return "†state"
	case "x", "x.never":
		return "†input." + path
	}
	return "†state." + path
}

// drawResult draws the form of a result. It tells all that its Call was given, so that a difference cannot hide.
func drawResult(t *rapid.T, id string, whole bool) func(params, scopes map[string]any) any {
	form := rapid.IntRange(0, 4).Draw(t, "result")
	if whole {
		form = rapid.IntRange(2, 4).Draw(t, "whole result")
	}
	return func(params, scopes map[string]any) any {
		text := fmt.Sprintf("%s %s %s", id, jsonval.Encode(params), jsonval.Encode(scopes))
		switch form {
		case 0:
			return text
		case 1:
			return []any{text}
		case 2:
			return map[string]any{"b": text}
		case 3:
			return map[string]any{"a": map[string]any{"b": text}, "c": text}
		}
		return map[string]any{"d": text, "e": nil}
	}
}

// play is one Run of a drawn Plan, driven step by step.
type PlanExecution struct {
	Instance     *dataflow.Instance
	Plan    DrawnPlan
	token   string
	Calls   map[string]DrawnCall
	Inputs   map[string]string    // what every started Call was given
	Running []dataflow.ReadyCall // started by code, not ended
	AfterStep   func()               // looks at the Run after every step
}

func NewPlanExecution(plan DrawnPlan) *PlanExecution { return NewPlanExecutionFor(plan, "") }

func NewPlanExecutionFor(plan DrawnPlan, token string) *PlanExecution {
	p := &PlanExecution{Plan: plan, token: token, Calls: map[string]DrawnCall{}, Inputs: map[string]string{}, AfterStep: func() {}}
	var context []ideafile.Message
	var ps diag.Problems
	for _, raw := range plan.Context {
		m, ok := ideafile.ReadMessage(raw, "$", &ps)
		if !ok {
			panic(ps.Error())
		}
		context = append(context, m)
	}
	for _, calls := range plan.Requests {
		for _, c := range calls {
			p.Calls[ideafile.CallID(c.Request, c.Index, token)] = c
		}
	}
	p.Instance = dataflow.New(DrawnPlanTools, context, token)
	return p
}

// startReady runs what may run and fails the test where a Call starts for the second time.
func (p *PlanExecution) startReady(t Fataler) {
	for _, ready := range p.Instance.Advance() {
		id := ready.Record.ID
		if _, twice := p.Inputs[id]; twice {
			t.Fatalf("%s started twice", id)
		}
		p.Inputs[id] = string(jsonval.Encode(map[string]any{"params": ready.Params, "scopes": ready.Scopes}))
		p.Running = append(p.Running, ready)
	}
	p.AfterStep()
}

// accept hears a Call, which names the instance where there is one.
func (p *PlanExecution) Accept(c DrawnCall) {
	raw := c.Source
	if p.token != "" {
		raw = jsonval.Merge(raw, map[string]any{"_instance": p.token}).(map[string]any)
	}
	p.Instance.AcceptCall(c.Request, c.Index, ideafile.ParseWrittenCall(raw))
}

// end lets the running Call at a place of the list end as its drawing says.
func (p *PlanExecution) EndCall(at int) {
	ready := p.Running[at]
	p.Running = append(p.Running[:at:at], p.Running[at+1:]...)
	c := p.Calls[ready.Record.ID]
	if c.Fails {
		p.Instance.Fail(ready.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "%s said no", c.ID()))
	} else {
		p.Instance.Succeed(ready.Record.ID, c.Result(ready.Params, ready.Scopes))
	}
}

// answer gives a latent Call that asks for its result what the LLM writes.
func (p *PlanExecution) AnswerLatent(t Fataler, rec *dataflow.Record) {
	c := p.Calls[rec.ID]
	params, err := p.Instance.ResolvedParams(rec)
	if err != nil {
		t.Fatalf("%s asks and cannot be resolved: %s", rec.ID, err)
	}
	p.Inputs[rec.ID] = string(jsonval.Encode(params))
	if c.Fails {
		p.Instance.Fail(rec.ID, diag.Faultf(ideafile.CodeToolFailed, "%s was not answered", c.ID()))
	} else {
		p.Instance.Succeed(rec.ID, c.Result(params, nil))
	}
}

// through plays the whole Plan. choose(n) picks one of n things that could happen next. A Request begins when all of the
// one before it has ended, as in a process. Several things may happen before the Run is asked what is next, as signals
// that come together do.
func (p *PlanExecution) RunAll(t Fataler, choose func(n int) int) {
	for n, calls := range p.Plan.Requests {
		next, closed, pending := 0, false, false
		for {
			latent := p.Instance.AwaitingLLM()
			unheard := 1
			if closed {
				unheard = 0
			}
			possible := unheard + len(p.Running) + len(latent)
			if possible == 0 && !pending {
				break
			}
			if possible > 0 {
				switch k := choose(possible); {
				case k < unheard && next < len(calls):
					p.Accept(calls[next])
					next++
				case k < unheard:
					p.Instance.CloseRequest(n + 1)
					closed = true
				case k < unheard+len(p.Running):
					p.EndCall(k - unheard)
				default:
					p.AnswerLatent(t, latent[k-unheard-len(p.Running)])
				}
			}
			if pending = possible > 0 && choose(4) == 3; !pending {
				p.startReady(t)
			}
		}
	}
}

// fates tells all that must not depend on the order of things: each Call's end, why, what it was given, and the State.
func (p *PlanExecution) Outcome() string {
	var b strings.Builder
	for _, rec := range p.Instance.Records() {
		fmt.Fprintf(&b, "%s %s by=%q taken=%d untaken=%q", rec.ID, rec.Status, rec.By, rec.Branch, rec.Untaken)
		if rec.Fault != nil {
			fmt.Fprintf(&b, " fault=%s", rec.Fault)
		}
		fmt.Fprintf(&b, " given=%s result=%s\n", p.Inputs[rec.ID], jsonval.Encode(rec.Result))
	}
	fmt.Fprintf(&b, "state %s\n", jsonval.Encode(p.Instance.State()))
	return b.String()
}

// inOrder is the plainest play: the whole Request is heard first, then what started first ends first.
func PickFirst(int) int { return 0 }
