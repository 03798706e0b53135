package modeltest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// RandomCall is a Call of a random Plan, and what its Tool answers.
type RandomCall struct {
	Request, Index int
	Source         jsonval.Object
	Fails          bool
	Result         resultFunc
}

type resultFunc = func(params, scopes jsonval.Object) any

// ID returns the Call's id without an instance.
func (c RandomCall) ID() string { return ideafile.FormatCallID(c.Request, c.Index, "") }

// RandomPlan is a random Plan of one or more Requests over an initial State, which may have a schema.
//
// Invariant: what a Tool answers is part of the Plan and depends only on what its Call was given. So two executions of
// one Plan can differ only because of the order of events.
type RandomPlan struct {
	Context  []any
	Requests [][]RandomCall
}

func (p RandomPlan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "context %s\n", jsonval.Encode(p.Context))
	for _, calls := range p.Requests {
		for _, c := range calls {
			fmt.Fprintf(&b, "%s fails=%v %s\n", c.ID(), c.Fails, jsonval.Encode(c.Source))
		}
	}
	return b.String()
}

// PlanOptions bound what a random Plan may hold.
type PlanOptions struct {
	MaxCalls, MaxRequests int
	// OnlyWriteOnce leaves out update methods. NoWholeState leaves out Calls that write the whole State.
	OnlyWriteOnce, NoWholeState bool

	paths []string
}

// RandomPlanTools is the palette of random Plans: work is run by code, think is latent.
var RandomPlanTools = func() ideafile.Palette {
	var ps diag.Problems
	source := jsonval.Object{
		"_outputMethod": jsonval.Object{"enum": []any{"set", "assign", "merge", "push", "concat"}},
		"_scopes":       jsonval.Object{"type": "array"},
	}
	p := ideafile.Palette{BindingByTool: ideafile.ToolBindings{}}
	for name, kind := range map[string]ideafile.ToolKind{"work": ideafile.KindGo, "think": ideafile.KindLatent} {
		p.Tools = append(p.Tools, ideafile.ReadTool(name, source, "$", &ps))
		p.BindingByTool[name] = ideafile.ToolBinding{Kind: kind, GoFunctionName: name}
	}
	if ps != nil {
		panic(ps.Error())
	}
	return p
}()

// The elements of random Plans.
var (
	RandomPlanPaths   = strings.Fields("a a.b a.b.c a.d b b.a c c.e")
	RandomStartStates = []string{`{}`, `{"a":{"b":{}}}`, `{"a":1}`, `{"b":null,"c":{"e":2}}`,
		`{"a":{"d":[1]},"b":"text"}`}
	// randomStateSchemas are closed or narrow, so that it matters where a value is written.
	randomStateSchemas = []string{``, ``, ``,
		`{"properties":{"a":{"properties":{"b":true,"d":{"maxItems":2}},"additionalProperties":false}}}`,
		`{"properties":{"b":{"maxItems":2,"maxLength":30},"c":{"maxProperties":2}}}`}
)

// GeneratePlan draws a Plan.
func GeneratePlan(t *rapid.T, opts PlanOptions) RandomPlan {
	opts.paths = RandomPlanPaths
	if rapid.Bool().Draw(t, "few paths") {
		opts.paths = []string{"a", "a.b", "b"} // so that Calls often write to the same path
	}
	state := jsonval.Object{"type": "state",
		"state": MustDecodeJSON(drawOneOf(t, "start", RandomStartStates...))}
	if s := drawOneOf(t, "schema", randomStateSchemas...); s != "" {
		state["schema"] = MustDecodeJSON(s)
	}
	p := RandomPlan{Context: []any{state, jsonval.Object{"type": "input", "x": "in"}}}
	for request := 1; request <= drawInt(t, "requests", 1, opts.MaxRequests); request++ {
		var calls []RandomCall
		for index := 1; index <= drawInt(t, "calls", 1, opts.MaxCalls); index++ {
			calls = append(calls, generateCall(t, opts, request, index))
		}
		p.Requests = append(p.Requests, calls)
	}
	return p
}

func generateCall(t *rapid.T, opts PlanOptions, request, index int) RandomCall {
	c := RandomCall{Request: request, Index: index, Source: jsonval.Object{"_tool": "work"}}
	for i := range drawOneOf(t, "reads", 0, 0, 1, 1, 2) {
		c.Source[fmt.Sprintf("p%d", i)] = generateReference(t, opts)
	}
	if drawInt(t, "scoped", 0, 9) == 0 {
		c.Source["_scopes"] = []any{"state." + drawOneOf(t, "scope", opts.paths...)}
	}
	afterChoices := []string{"", "", "", "", "†state." + drawOneOf(t, "awaited", opts.paths...),
		fmt.Sprintf("†call.%d.%d", request, drawInt(t, "awaited Call", 1, opts.MaxCalls))}
	if after := drawOneOf(t, "after", afterChoices...); after != "" {
		c.Source["_after"] = []any{after}
	}
	path := ""
	if drawInt(t, "written", 0, 9) > 0 {
		path = drawOneOf(t, "path", append([]string{"", ""}, opts.paths...)...)
		if path == "" && opts.NoWholeState {
			path = "a"
		}
		c.Source["_outputPath"] = strings.TrimSuffix("†state."+path, ".")
		if path != "" && drawInt(t, "several paths", 0, 2) == 0 {
			c.Source["_outputPath"] = generateOutputPaths(t, opts, path)
		}
	}
	if !opts.OnlyWriteOnce && rapid.Bool().Draw(t, "updates") {
		methods := []string{"assign", "merge", "push", "concat"}
		if path == "" {
			methods = methods[:2]
		}
		c.Source["_outputMethod"] = drawOneOf(t, "method", methods...)
	}
	c.Fails = drawInt(t, "fails", 0, 3) == 0
	c.Result = generateResultFunc(t, c.ID(), path == "")
	if text := jsonval.AsText(c.Source["_outputPath"]); strings.Contains(text, "||") {
		c.Result = generateBranchChoice(t, text, c.Result)
	}
	c.makeLatent(t)
	return c
}

// makeLatent turns some Calls into latent ones, half of them with their result.
func (c *RandomCall) makeLatent(t *rapid.T) {
	switch drawInt(t, "latent", 0, 7) {
	case 0:
		c.Source["_tool"] = "think"
	case 1:
		c.Source["_tool"], c.Source["_output"] = "think", c.Result(nil, nil)
	}
}

// generateReference draws a Reference or an expression.
func generateReference(t *rapid.T, opts PlanOptions) any {
	text := ""
	for i := range drawOneOf(t, "terms", 1, 1, 2, 2, 3) {
		term := referenceTo(drawOneOf(t, "read", append([]string{"", "x", "x.never"}, opts.paths...)...))
		if term == "†input.x.never" && i == 0 {
			term = "†input.x" // alone, †input.x.never would always be absent
		}
		if i == 0 {
			text = term
			continue
		}
		text += drawOneOf(t, "sign", " || ", " || ", " && ") + term
	}
	return text
}

// generateOutputPaths draws an expression of two or three output paths that begins with a path.
func generateOutputPaths(t *rapid.T, opts PlanOptions, path string) string {
	text := "†state." + path
	for range drawInt(t, "more paths", 1, 2) {
		nextPath := drawOneOf(t, "another path", opts.paths...)
		extendedText := text + drawOneOf(t, "sign", " && ", " || ", " || ") + "†state." + nextPath
		if _, err := refexpr.ParseOutputPath(extendedText); err == nil {
			text = extendedText
		}
	}
	return text
}

// generateBranchChoice draws the branch that a result names: none, one of the output path's, or one that the output
// path lacks.
func generateBranchChoice(t *rapid.T, text string, result resultFunc) resultFunc {
	branches := strings.Split(text, " || ")
	branch := drawOneOf(t, "taken", append([]string{"", "", "nowhere"}, branches...)...)
	if branch == "" {
		return result
	}
	return func(params, scopeValues jsonval.Object) any {
		return jsonval.Object{refexpr.BranchKey: branch, refexpr.ResultKey: result(params, scopeValues)}
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

// generateResultFunc draws the form of a result. The result holds everything that the Call was given, so that a
// difference cannot hide.
func generateResultFunc(t *rapid.T, id string, writesWholeState bool) resultFunc {
	form := drawInt(t, "result", 0, 4)
	if writesWholeState {
		form = drawInt(t, "whole result", 2, 4)
	}
	return func(params, scopeValues jsonval.Object) any {
		text := fmt.Sprintf("%s %s %s", id, jsonval.Encode(params), jsonval.Encode(scopeValues))
		switch form {
		case 0:
			return text
		case 1:
			return []any{text}
		case 2:
			return jsonval.Object{"b": text}
		case 3:
			return jsonval.Object{"a": jsonval.Object{"b": text}, "c": text}
		}
		return jsonval.Object{"d": text, "e": nil}
	}
}
