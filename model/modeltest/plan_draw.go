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
	ResultFunc     resultFunc
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
	// OnlyWriteOnce leaves out update methods. NoWholeStateWrites leaves out Calls that write the whole State.
	OnlyWriteOnce, NoWholeStateWrites bool

	statePaths []string
}

// RandomPlanPalette is the palette of random Plans: work is run by code, think is latent.
var RandomPlanPalette = func() ideafile.Palette {
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
	RandomPlanStatePaths = strings.Fields("a a.b a.b.c a.d b b.a c c.e")
	RandomStartStates    = []string{`{}`, `{"a":{"b":{}}}`, `{"a":1}`, `{"b":null,"c":{"e":2}}`,
		`{"a":{"d":[1]},"b":"text"}`}
	// randomStateSchemas are closed or narrow, so that it matters where a value is written.
	randomStateSchemas = []string{``, ``, ``,
		`{"properties":{"a":{"properties":{"b":true,"d":{"maxItems":2}},"additionalProperties":false}}}`,
		`{"properties":{"b":{"maxItems":2,"maxLength":30},"c":{"maxProperties":2}}}`}
)

// GeneratePlan draws a Plan.
func GeneratePlan(t *rapid.T, opts PlanOptions) RandomPlan {
	opts.statePaths = RandomPlanStatePaths
	if rapid.Bool().Draw(t, "few paths") {
		opts.statePaths = []string{"a", "a.b", "b"} // so that Calls often write to the same path
	}
	stateMessage := jsonval.Object{"type": "state",
		"state": MustDecodeJSON(drawOneOf(t, "start", RandomStartStates...))}
	if s := drawOneOf(t, "schema", randomStateSchemas...); s != "" {
		stateMessage["schema"] = MustDecodeJSON(s)
	}
	p := RandomPlan{Context: []any{stateMessage, jsonval.Object{"type": "input", "x": "in"}}}
	for requestNumber := 1; requestNumber <= drawInt(t, "requests", 1, opts.MaxRequests); requestNumber++ {
		var calls []RandomCall
		for callIndex := 1; callIndex <= drawInt(t, "calls", 1, opts.MaxCalls); callIndex++ {
			calls = append(calls, generateCall(t, opts, requestNumber, callIndex))
		}
		p.Requests = append(p.Requests, calls)
	}
	return p
}

func generateCall(t *rapid.T, opts PlanOptions, requestNumber, callIndex int) RandomCall {
	c := RandomCall{Request: requestNumber, Index: callIndex, Source: jsonval.Object{"_tool": "work"}}
	for i := range drawOneOf(t, "reads", 0, 0, 1, 1, 2) {
		c.Source[fmt.Sprintf("p%d", i)] = generateReference(t, opts)
	}
	if drawInt(t, "scoped", 0, 9) == 0 {
		c.Source["_scopes"] = []any{"state." + drawOneOf(t, "scope", opts.statePaths...)}
	}
	afterChoices := []string{"", "", "", "", "†state." + drawOneOf(t, "awaited", opts.statePaths...),
		fmt.Sprintf("†call.%d.%d", requestNumber, drawInt(t, "awaited Call", 1, opts.MaxCalls))}
	if after := drawOneOf(t, "after", afterChoices...); after != "" {
		c.Source["_after"] = []any{after}
	}
	outputPath := ""
	if drawInt(t, "written", 0, 9) > 0 {
		outputPath = drawOneOf(t, "path", append([]string{"", ""}, opts.statePaths...)...)
		if outputPath == "" && opts.NoWholeStateWrites {
			outputPath = "a"
		}
		c.Source["_outputPath"] = strings.TrimSuffix("†state."+outputPath, ".")
		if outputPath != "" && drawInt(t, "several paths", 0, 2) == 0 {
			c.Source["_outputPath"] = generateOutputPaths(t, opts, outputPath)
		}
	}
	if !opts.OnlyWriteOnce && rapid.Bool().Draw(t, "updates") {
		methods := []string{"assign", "merge", "push", "concat"}
		if outputPath == "" {
			methods = methods[:2]
		}
		c.Source["_outputMethod"] = drawOneOf(t, "method", methods...)
	}
	c.Fails = drawInt(t, "fails", 0, 3) == 0
	c.ResultFunc = generateResultFunc(t, c.ID(), outputPath == "")
	if outputPathText := jsonval.AsText(c.Source["_outputPath"]); strings.Contains(outputPathText, "||") {
		c.ResultFunc = generateBranchChoice(t, outputPathText, c.ResultFunc)
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
		c.Source["_tool"], c.Source["_output"] = "think", c.ResultFunc(nil, nil)
	}
}

// generateReference draws a Reference or an expression.
func generateReference(t *rapid.T, opts PlanOptions) any {
	text := ""
	for i := range drawOneOf(t, "terms", 1, 1, 2, 2, 3) {
		term := referenceTo(drawOneOf(t, "read", append([]string{"", "x", "x.never"}, opts.statePaths...)...))
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
		nextPath := drawOneOf(t, "another path", opts.statePaths...)
		extendedText := text + drawOneOf(t, "sign", " && ", " || ", " || ") + "†state." + nextPath
		if _, err := refexpr.ParseOutputPath(extendedText); err == nil {
			text = extendedText
		}
	}
	return text
}

// generateBranchChoice draws the branch that a result names: none, one of the output path's, or one that the output
// path lacks.
func generateBranchChoice(t *rapid.T, outputPathText string, baseResultFunc resultFunc) resultFunc {
	branches := strings.Split(outputPathText, " || ")
	branch := drawOneOf(t, "taken", append([]string{"", "", "nowhere"}, branches...)...)
	if branch == "" {
		return baseResultFunc
	}
	return func(params, scopeValues jsonval.Object) any {
		return jsonval.Object{refexpr.BranchKey: branch, refexpr.ResultKey: baseResultFunc(params, scopeValues)}
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
