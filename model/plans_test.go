package model

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// This file draws random Plans and plays them in random orders. What a Tool answers is fixed with the Plan and depends on
// nothing but what its Call was given, so that whatever two plays disagree about came from the order alone.

// drawnCall is a Call of a random Plan, and what its Tool will say.
type drawnCall struct {
	request, index int
	raw            map[string]any
	fails          bool
	result         func(params, scopes map[string]any) any
}

func (c drawnCall) id() string { return CallID(c.request, c.index, "") }

// drawnPlan is a random Plan of one or more Requests over a start State, which may have a schema.
type drawnPlan struct {
	context  []any
	requests [][]drawnCall
}

func (p drawnPlan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "context %s\n", Encode(p.context))
	for _, calls := range p.requests {
		for _, c := range calls {
			fmt.Fprintf(&b, "%s fails=%v %s\n", c.id(), c.fails, Encode(c.raw))
		}
	}
	return b.String()
}

// planKnobs says what a random Plan may hold.
type planKnobs struct {
	calls, requests int
	onlyWriteOnce   bool // no update methods
	noWhole         bool // nobody writes the whole State
	plain           bool // no expressions
	paths           []string
}

// playTools is the palette of random Plans: a Tool that code runs, one whose result the LLM writes at once, one whose
// result it is asked for later.
var playTools = func() Palette {
	var ps Problems
	source := map[string]any{
		"_outputMethod": map[string]any{"enum": []any{"set", "assign", "merge", "push", "concat"}},
		"_scopes":       map[string]any{"type": "array"},
	}
	p := Palette{Bindings: map[string]Binding{}}
	for name, kind := range map[string]Kind{"work": KindGo, "think": KindLatent} {
		p.Tools = append(p.Tools, ReadTool(name, source, "$", &ps))
		p.Bindings[name] = Binding{Kind: kind, Name: name}
	}
	if ps != nil {
		panic(ps.Error())
	}
	return p
}()

var (
	playPaths = []string{"a", "a.b", "a.b.c", "a.d", "b", "b.a", "c", "c.e"}
	playStart = []string{`{}`, `{"a":{"b":{}}}`, `{"a":1}`, `{"b":null,"c":{"e":2}}`, `{"a":{"d":[1]},"b":"text"}`}
	// Schemas that make the place of a value matter: closed ones, short lists, narrow types.
	playSchemas = []string{``, ``, ``,
		`{"properties":{"a":{"properties":{"b":true,"d":{"maxItems":2}},"additionalProperties":false}}}`,
		`{"properties":{"b":{"maxItems":2,"maxLength":30},"c":{"maxProperties":2}}}`}
)

func drawPlan(t *rapid.T, k planKnobs) drawnPlan {
	if k.paths = playPaths; rapid.Bool().Draw(t, "few paths") {
		k.paths = []string{"a", "a.b", "b"} // where Calls meet more often
	}
	state := map[string]any{"type": "state", "state": mustDecode(rapid.SampledFrom(playStart).Draw(t, "start"))}
	if s := rapid.SampledFrom(playSchemas).Draw(t, "schema"); s != "" {
		state["schema"] = mustDecode(s)
	}
	p := drawnPlan{context: []any{state, map[string]any{"type": "input", "x": "in"}}}
	for request := 1; request <= rapid.IntRange(1, k.requests).Draw(t, "requests"); request++ {
		var calls []drawnCall
		for index := 1; index <= rapid.IntRange(1, k.calls).Draw(t, "calls"); index++ {
			calls = append(calls, drawCall(t, k, request, index))
		}
		p.requests = append(p.requests, calls)
	}
	return p
}

func drawCall(t *rapid.T, k planKnobs, request, index int) drawnCall {
	c := drawnCall{request: request, index: index, raw: map[string]any{"_tool": "work"}}
	for i := range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "reads") {
		c.raw[fmt.Sprintf("p%d", i)] = drawRead(t, k)
	}
	if rapid.IntRange(0, 9).Draw(t, "scoped") == 0 {
		c.raw["_scopes"] = []any{"state." + rapid.SampledFrom(k.paths).Draw(t, "scope")}
	}
	path := ""
	if rapid.IntRange(0, 9).Draw(t, "written") > 0 {
		path = rapid.SampledFrom(append([]string{"", ""}, k.paths...)).Draw(t, "path")
		if path == "" && k.noWhole {
			path = "a"
		}
		c.raw["_outputPath"] = strings.TrimSuffix("†state."+path, ".")
		if path != "" && !k.plain && rapid.IntRange(0, 2).Draw(t, "several paths") == 0 {
			c.raw["_outputPath"] = drawBranches(t, k, path)
		}
	}
	if !k.onlyWriteOnce && rapid.Bool().Draw(t, "updates") {
		methods := []string{"assign", "merge", "push", "concat"}
		if path == "" {
			methods = methods[:2]
		}
		c.raw["_outputMethod"] = rapid.SampledFrom(methods).Draw(t, "method")
	}
	c.fails = rapid.IntRange(0, 3).Draw(t, "fails") == 0
	c.result = drawResult(t, c.id(), path == "")
	if text, _ := c.raw["_outputPath"].(string); strings.Contains(text, "||") {
		c.result = drawTaken(t, text, c.result)
	}
	c.makeLatent(t)
	return c
}

// makeLatent turns some Calls into latent ones, half of them with their result.
func (c *drawnCall) makeLatent(t *rapid.T) {
	switch rapid.IntRange(0, 7).Draw(t, "latent") {
	case 0:
		c.raw["_tool"] = "think"
	case 1:
		c.raw["_tool"], c.raw["_output"] = "think", c.result(nil, nil)
	}
}

// drawRead draws a Reference or an expression.
func drawRead(t *rapid.T, k planKnobs) any {
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
func drawBranches(t *rapid.T, k planKnobs, path string) string {
	text := "†state." + path
	for range rapid.IntRange(1, 2).Draw(t, "more paths") {
		more := rapid.SampledFrom(k.paths).Draw(t, "another path")
		longer := text + rapid.SampledFrom([]string{" && ", " || ", " || "}).Draw(t, "sign") + "†state." + more
		if _, err := parseOutputPath(longer); err == nil {
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
		return map[string]any{branchKey: taken, resultKey: result(params, scopes)}
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
		told := fmt.Sprintf("%s %s %s", id, Encode(params), Encode(scopes))
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

func mustDecode(s string) any {
	v, err := Decode([]byte(s))
	if err != nil {
		panic(err)
	}
	return v
}

// failer is what testing and rapid have in common.
type failer interface {
	Fatalf(format string, args ...any)
}

// play is one Run of a drawn Plan, driven step by step.
type play struct {
	run     *Run
	plan    drawnPlan
	token   string
	calls   map[string]drawnCall
	given   map[string]string // what every started Call was given
	running []Ready           // started by code, not ended
	after   func()            // looks at the Run after every step
}

func newPlay(plan drawnPlan) *play { return newPlayOf(plan, "") }

func newPlayOf(plan drawnPlan, token string) *play {
	p := &play{plan: plan, token: token, calls: map[string]drawnCall{}, given: map[string]string{}, after: func() {}}
	var context []Message
	var ps Problems
	for _, raw := range plan.context {
		m, ok := ReadMessage(raw, "$", &ps)
		if !ok {
			panic(ps.Error())
		}
		context = append(context, m)
	}
	for _, calls := range plan.requests {
		for _, c := range calls {
			p.calls[CallID(c.request, c.index, token)] = c
		}
	}
	p.run = NewRun(playTools, context, token)
	return p
}

// next runs what may run and fails the test where a Call starts for the second time.
func (p *play) next(t failer) {
	for _, ready := range p.run.Next() {
		id := ready.Record.ID
		if _, twice := p.given[id]; twice {
			t.Fatalf("%s started twice", id)
		}
		p.given[id] = string(Encode(map[string]any{"params": ready.Params, "scopes": ready.Scopes}))
		p.running = append(p.running, ready)
	}
	p.after()
}

// accept hears a Call, which names the instance where there is one.
func (p *play) accept(c drawnCall) {
	raw := c.raw
	if p.token != "" {
		raw = Merge(raw, map[string]any{"_instance": p.token}).(map[string]any)
	}
	p.run.Accept(c.request, c.index, raw)
}

// end lets the running Call at a place of the list end as its drawing says.
func (p *play) end(at int) {
	ready := p.running[at]
	p.running = append(p.running[:at:at], p.running[at+1:]...)
	c := p.calls[ready.Record.ID]
	if c.fails {
		p.run.Fail(ready.Record.ID, fault(CodeToolFailed, "%s said no", c.id()))
	} else {
		p.run.Succeed(ready.Record.ID, c.result(ready.Params, ready.Scopes))
	}
}

// answer gives a latent Call that asks for its result what the LLM writes.
func (p *play) answer(t failer, rec *Record) {
	c := p.calls[rec.ID]
	params, err := p.run.Resolved(rec)
	if err != nil {
		t.Fatalf("%s asks and cannot be resolved: %s", rec.ID, err)
	}
	p.given[rec.ID] = string(Encode(params))
	if c.fails {
		p.run.Fail(rec.ID, fault(CodeToolFailed, "%s was not answered", c.id()))
	} else {
		p.run.Succeed(rec.ID, c.result(params, nil))
	}
}

// through plays the whole Plan. choose(n) picks one of n things that could happen next. A Request begins when all of the
// one before it has ended, as in a process. Several things may happen before the Run is asked what is next, as signals
// that come together do.
func (p *play) through(t failer, choose func(n int) int) {
	for n, calls := range p.plan.requests {
		at, closed, behind := 0, false, false
		for {
			asking := p.run.Asking()
			heard := 1
			if closed {
				heard = 0
			}
			all := heard + len(p.running) + len(asking)
			if all == 0 && !behind {
				break
			}
			if all > 0 {
				switch k := choose(all); {
				case k < heard && at < len(calls):
					p.accept(calls[at])
					at++
				case k < heard:
					p.run.Close(n + 1)
					closed = true
				case k < heard+len(p.running):
					p.end(k - heard)
				default:
					p.answer(t, asking[k-heard-len(p.running)])
				}
			}
			if behind = all > 0 && choose(4) == 3; !behind {
				p.next(t)
			}
		}
	}
}

// fates tells all that must not depend on the order of things: each Call's end, why, what it was given, and the State.
func (p *play) fates() string {
	var b strings.Builder
	for _, rec := range p.run.Records() {
		fmt.Fprintf(&b, "%s %s by=%q taken=%d untaken=%q", rec.ID, rec.Status, rec.By, rec.Taken, rec.Untaken)
		if rec.Fault != nil {
			fmt.Fprintf(&b, " fault=%s", rec.Fault)
		}
		fmt.Fprintf(&b, " given=%s result=%s\n", p.given[rec.ID], Encode(rec.Result))
	}
	fmt.Fprintf(&b, "state %s\n", Encode(p.run.State()))
	return b.String()
}

// inOrder is the plainest play: the whole Request is heard first, then what started first ends first.
func inOrder(int) int { return 0 }
