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
	Raw            map[string]any
	Fails          bool
	Result         func(params, scopes map[string]any) any
}

func (c DrawnCall) Id() string { return ideafile.CallID(c.Request, c.Index, "") }

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
			fmt.Fprintf(&b, "%s fails=%v %s\n", c.Id(), c.Fails, jsonval.Encode(c.Raw))
		}
	}
	return b.String()
}

// planKnobs says what a random Plan may hold.
type PlanKnobs struct {
	Calls, Requests int
	OnlyWriteOnce   bool // no update methods
	NoWhole         bool // nobody writes the whole State
	plain           bool // no expressions
	paths           []string
}

// playTools is the palette of random Plans: a Tool that code runs, one whose result the LLM writes at once, one whose
// result it is asked for later.
var PlayTools = func() ideafile.Palette {
	var ps diag.Problems
	source := map[string]any{
		"_outputMethod": map[string]any{"enum": []any{"set", "assign", "merge", "push", "concat"}},
		"_scopes":       map[string]any{"type": "array"},
	}
	p := ideafile.Palette{Bindings: map[string]ideafile.Binding{}}
	for name, kind := range map[string]ideafile.Kind{"work": ideafile.KindGo, "think": ideafile.KindLatent} {
		p.Tools = append(p.Tools, ideafile.ReadTool(name, source, "$", &ps))
		p.Bindings[name] = ideafile.Binding{Kind: kind, Name: name}
	}
	if ps != nil {
		panic(ps.Error())
	}
	return p
}()

var (
	PlayPaths = []string{"a", "a.b", "a.b.c", "a.d", "b", "b.a", "c", "c.e"}
	PlayStart = []string{`{}`, `{"a":{"b":{}}}`, `{"a":1}`, `{"b":null,"c":{"e":2}}`, `{"a":{"d":[1]},"b":"text"}`}
	// Schemas that make the place of a value matter: closed ones, short lists, narrow types.
	playSchemas = []string{``, ``, ``,
		`{"properties":{"a":{"properties":{"b":true,"d":{"maxItems":2}},"additionalProperties":false}}}`,
		`{"properties":{"b":{"maxItems":2,"maxLength":30},"c":{"maxProperties":2}}}`}
)

func DrawPlan(t *rapid.T, k PlanKnobs) DrawnPlan {
	if k.paths = PlayPaths; rapid.Bool().Draw(t, "few paths") {
		k.paths = []string{"a", "a.b", "b"} // where Calls meet more often
	}
	state := map[string]any{"type": "state", "state": MustDecode(rapid.SampledFrom(PlayStart).Draw(t, "start"))}
	if s := rapid.SampledFrom(playSchemas).Draw(t, "schema"); s != "" {
		state["schema"] = MustDecode(s)
	}
	p := DrawnPlan{Context: []any{state, map[string]any{"type": "input", "x": "in"}}}
	for request := 1; request <= rapid.IntRange(1, k.Requests).Draw(t, "requests"); request++ {
		var calls []DrawnCall
		for index := 1; index <= rapid.IntRange(1, k.Calls).Draw(t, "calls"); index++ {
			calls = append(calls, drawCall(t, k, request, index))
		}
		p.Requests = append(p.Requests, calls)
	}
	return p
}

func drawCall(t *rapid.T, k PlanKnobs, request, index int) DrawnCall {
	c := DrawnCall{Request: request, Index: index, Raw: map[string]any{"_tool": "work"}}
	for i := range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "reads") {
		c.Raw[fmt.Sprintf("p%d", i)] = drawRead(t, k)
	}
	if rapid.IntRange(0, 9).Draw(t, "scoped") == 0 {
		c.Raw["_scopes"] = []any{"state." + rapid.SampledFrom(k.paths).Draw(t, "scope")}
	}
	path := ""
	if rapid.IntRange(0, 9).Draw(t, "written") > 0 {
		path = rapid.SampledFrom(append([]string{"", ""}, k.paths...)).Draw(t, "path")
		if path == "" && k.NoWhole {
			path = "a"
		}
		c.Raw["_outputPath"] = strings.TrimSuffix("†state."+path, ".")
		if path != "" && !k.plain && rapid.IntRange(0, 2).Draw(t, "several paths") == 0 {
			c.Raw["_outputPath"] = drawBranches(t, k, path)
		}
	}
	if !k.OnlyWriteOnce && rapid.Bool().Draw(t, "updates") {
		methods := []string{"assign", "merge", "push", "concat"}
		if path == "" {
			methods = methods[:2]
		}
		c.Raw["_outputMethod"] = rapid.SampledFrom(methods).Draw(t, "method")
	}
	c.Fails = rapid.IntRange(0, 3).Draw(t, "fails") == 0
	c.Result = drawResult(t, c.Id(), path == "")
	if text, _ := c.Raw["_outputPath"].(string); strings.Contains(text, "||") {
		c.Result = drawTaken(t, text, c.Result)
	}
	c.makeLatent(t)
	return c
}

// makeLatent turns some Calls into latent ones, half of them with their result.
func (c *DrawnCall) makeLatent(t *rapid.T) {
	switch rapid.IntRange(0, 7).Draw(t, "latent") {
	case 0:
		c.Raw["_tool"] = "think"
	case 1:
		c.Raw["_tool"], c.Raw["_output"] = "think", c.Result(nil, nil)
	}
}

// drawRead draws a Reference or an expression.
func drawRead(t *rapid.T, k PlanKnobs) any {
	text := ""
	for i := range rapid.SampledFrom([]int{1, 1, 2, 2, 3}).Draw(t, "terms") {
		term := asParam(rapid.SampledFrom(append([]string{"", "x", "x.never"}, k.paths...)).Draw(t, "read"))
		if term == "†input.x.never" && i == 0 {
			term = "†input.x" // alone it can never be there
		}
		if i == 0 || k.plain {
			text = term
			continue
		}
		text += rapid.SampledFrom([]string{" || ", " || ", " && "}).Draw(t, "sign") + term
	}
	return text
}

// drawBranches draws an output path beside one that is drawn already, or two.
func drawBranches(t *rapid.T, k PlanKnobs, path string) string {
	text := "†state." + path
	for range rapid.IntRange(1, 2).Draw(t, "more paths") {
		more := rapid.SampledFrom(k.paths).Draw(t, "another path")
		longer := text + rapid.SampledFrom([]string{" && ", " || ", " || "}).Draw(t, "sign") + "†state." + more
		if _, err := refexpr.ParseOutputPath(longer); err == nil {
			text = longer
		}
	}
	return text
}

// drawTaken draws which branch a result says it takes; none says nothing, another is wrong.
func drawTaken(t *rapid.T, text string, result func(params, scopes map[string]any) any) func(params, scopes map[string]any) any {
	branches := strings.Split(text, " || ")
	taken := rapid.SampledFrom(append([]string{"", "", "nowhere"}, branches...)).Draw(t, "taken")
	if taken == "" {
		return result
	}
	return func(params, scopes map[string]any) any {
		return map[string]any{refexpr.BranchKey: taken, refexpr.ResultKey: result(params, scopes)}
	}
}

func asParam(path string) string {
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
		told := fmt.Sprintf("%s %s %s", id, jsonval.Encode(params), jsonval.Encode(scopes))
		switch form {
		case 0:
			return told
		case 1:
			return []any{told}
		case 2:
			return map[string]any{"b": told}
		case 3:
			return map[string]any{"a": map[string]any{"b": told}, "c": told}
		}
		return map[string]any{"d": told, "e": nil}
	}
}

// play is one Run of a drawn Plan, driven step by step.
type Play struct {
	Run     *dataflow.Instance
	Plan    DrawnPlan
	token   string
	Calls   map[string]DrawnCall
	Given   map[string]string // what every started Call was given
	Running []dataflow.Ready  // started by code, not ended
	After   func()            // looks at the Run after every step
}

func NewPlay(plan DrawnPlan) *Play { return NewPlayOf(plan, "") }

func NewPlayOf(plan DrawnPlan, token string) *Play {
	p := &Play{Plan: plan, token: token, Calls: map[string]DrawnCall{}, Given: map[string]string{}, After: func() {}}
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
	p.Run = dataflow.New(PlayTools, context, token)
	return p
}

// next runs what may run and fails the test where a Call starts for the second time.
func (p *Play) next(t Failer) {
	for _, ready := range p.Run.Next() {
		id := ready.Record.ID
		if _, twice := p.Given[id]; twice {
			t.Fatalf("%s started twice", id)
		}
		p.Given[id] = string(jsonval.Encode(map[string]any{"params": ready.Params, "scopes": ready.Scopes}))
		p.Running = append(p.Running, ready)
	}
	p.After()
}

// accept hears a Call, which names the instance where there is one.
func (p *Play) Accept(c DrawnCall) {
	raw := c.Raw
	if p.token != "" {
		raw = jsonval.Merge(raw, map[string]any{"_instance": p.token}).(map[string]any)
	}
	p.Run.Accept(c.Request, c.Index, ideafile.Written(raw))
}

// end lets the running Call at a place of the list end as its drawing says.
func (p *Play) End(at int) {
	ready := p.Running[at]
	p.Running = append(p.Running[:at:at], p.Running[at+1:]...)
	c := p.Calls[ready.Record.ID]
	if c.Fails {
		p.Run.Fail(ready.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "%s said no", c.Id()))
	} else {
		p.Run.Succeed(ready.Record.ID, c.Result(ready.Params, ready.Scopes))
	}
}

// answer gives a latent Call that asks for its result what the LLM writes.
func (p *Play) Answer(t Failer, rec *dataflow.Record) {
	c := p.Calls[rec.ID]
	params, err := p.Run.Resolved(rec)
	if err != nil {
		t.Fatalf("%s asks and cannot be resolved: %s", rec.ID, err)
	}
	p.Given[rec.ID] = string(jsonval.Encode(params))
	if c.Fails {
		p.Run.Fail(rec.ID, diag.Faultf(ideafile.CodeToolFailed, "%s was not answered", c.Id()))
	} else {
		p.Run.Succeed(rec.ID, c.Result(params, nil))
	}
}

// through plays the whole Plan. choose(n) picks one of n things that could happen next. A Request begins when all of the
// one before it has ended, as in a process. Several things may happen before the Run is asked what is next, as signals
// that come together do.
func (p *Play) Through(t Failer, choose func(n int) int) {
	for n, calls := range p.Plan.Requests {
		at, closed, behind := 0, false, false
		for {
			asking := p.Run.AwaitingLLM()
			heard := 1
			if closed {
				heard = 0
			}
			all := heard + len(p.Running) + len(asking)
			if all == 0 && !behind {
				break
			}
			if all > 0 {
				switch k := choose(all); {
				case k < heard && at < len(calls):
					p.Accept(calls[at])
					at++
				case k < heard:
					p.Run.Close(n + 1)
					closed = true
				case k < heard+len(p.Running):
					p.End(k - heard)
				default:
					p.Answer(t, asking[k-heard-len(p.Running)])
				}
			}
			if behind = all > 0 && choose(4) == 3; !behind {
				p.next(t)
			}
		}
	}
}

// fates tells all that must not depend on the order of things: each Call's end, why, what it was given, and the State.
func (p *Play) Fates() string {
	var b strings.Builder
	for _, rec := range p.Run.Records() {
		fmt.Fprintf(&b, "%s %s by=%q taken=%d untaken=%q", rec.ID, rec.Status, rec.By, rec.Branch, rec.Untaken)
		if rec.Fault != nil {
			fmt.Fprintf(&b, " fault=%s", rec.Fault)
		}
		fmt.Fprintf(&b, " given=%s result=%s\n", p.Given[rec.ID], jsonval.Encode(rec.Result))
	}
	fmt.Fprintf(&b, "state %s\n", jsonval.Encode(p.Run.State()))
	return b.String()
}

// inOrder is the plainest play: the whole Request is heard first, then what started first ends first.
func InOrder(int) int { return 0 }
