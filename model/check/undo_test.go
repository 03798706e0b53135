package check

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestCheckHoldsAnUndoAgainstTheToolThatCarriesItOut(t *testing.T) {
	t.Parallel()
	const cancel = `"cancel": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"},
			"of": {"type": "object", "properties": {"id": {"type": "string"}, "rooms": {"type": "array", "items": {"type": "string"}}}}},
			"required": ["id"]},
		"book": {"type": "object", "properties": {"room": {"type": "string"}}, "_output": {"type": "object",
			"properties": {"id": {"type": "string"}, "at": {"type": "number"}}, "additionalProperties": false}, "_undo": %s}`
	closed := `{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}}`
	for _, c := range []struct {
		name, undo string
		want       []string
	}{
		{"one that fits", `{"tool": "cancel", "params": {"id": "†result.id"}}`, nil},
		{"a value of the Call's parameters, and one of State",
			`{"tool": "cancel", "params": {"id": "†params.room || †state.a"}}`, nil},
		{"nothing to take back", `"none"`, nil},
		{"an unknown tool", `{"tool": "cancle", "params": {"id": "†result.id"}}`, []string{
			`error $.schema.tools.book._undo.tool: unknown tool "cancle"; did you mean cancel?`}},
		{"a parameter that is missing", `{"tool": "cancel"}`,
			[]string{`error $.schema.tools.book._undo.params: cancel wants a parameter "id"`}},
		{"a parameter that there is not", `{"tool": "cancel", "params": {"id": "x", "idd": 1}}`, []string{
			`error $.schema.tools.book._undo.params.idd: cancel has no parameter "idd"; did you mean id?`}},
		{"a value that does not fit", `{"tool": "cancel", "params": {"id": 5}}`, []string{
			`error $.schema.tools.book._undo.params.id: it does not fit cancel: expected string, but got number`}},
		{"what the result does not have", `{"tool": "cancel", "params": {"id": "†result.idd"}}`, []string{
			`error $.schema.tools.book._undo.params.id: †result.idd: the tool's _output has no idd; did you mean id?`}},
		{"what the parameters do not have", `{"tool": "cancel", "params": {"id": "†params.rom"}}`, []string{
			`error $.schema.tools.book._undo.params.id: †params.rom: the tool's parameters have no rom; did you mean room?`}},
		{"what State cannot have", `{"tool": "cancel", "params": {"id": "†state.b"}}`, []string{
			`error $.schema.tools.book._undo.params.id: †state.b stands outside the closed State schema`}},
		{"a result of the wrong type", `{"tool": "cancel", "params": {"id": "†result.at"}}`, []string{
			`error $.schema.tools.book._undo.params.id: †result.at is of type number; the parameter "id" of cancel wants string`}},
		{"a text for a number", `{"tool": "cancel", "params": {"id": "†result.id", "n": "†` + "`booking ${result.id}`" + `"}}`, []string{
			`error $.schema.tools.book._undo.params.n: it is of type string; the parameter "n" of cancel wants integer`}},
		{"parts that fit", `{"tool": "cancel", "params": {"id": "†result.id", "of": {"id": "†` + "`${result.at}`" + `", "rooms": ["†params.room"]}}}`, nil},
		{"a list for an object", `{"tool": "cancel", "params": {"id": "†result.id", "of": ["†result.id"]}}`, []string{
			`error $.schema.tools.book._undo.params.of: it is of type array; the parameter "of" of cancel wants object`}},
		{"parts of the wrong type", `{"tool": "cancel", "params": {"id": "†result.id", "of": {"id": "†result.at", "rooms": ["†params.room", 5]}}}`, []string{
			`error $.schema.tools.book._undo.params.of.id: †result.at is of type number; the parameter "of.id" of cancel wants string`,
			`error $.schema.tools.book._undo.params.of.rooms[1]: it is of type number; the parameter "of.rooms.1" of cancel wants string`}},
		{"the tool itself", `{"tool": "book", "params": {}}`, []string{
			`error $.schema.tools.book._undo.tool: a circle: book → book; an undo Tool cannot be undone by what it undoes: give book "none" or "never"`}},
	} {
		runChecks(t, []checkCase{{c.name, fmt.Sprintf(cancel, c.undo), closed, c.want}})
	}
}

func TestCheckFindsUndosThatGoRoundInACircle(t *testing.T) {
	t.Parallel()
	undone := func(name, by string) string {
		return fmt.Sprintf(`%q: {"type": "object", "properties": {}, "_undo": {"tool": %q}}`, name, by)
	}
	runChecks(t, []checkCase{
		{"an undo that is taken back in its turn", undone("a", "b") + "," + undone("b", "c") +
			`, "c": {"type": "object", "properties": {}}`, ``, nil},
		{"two that take each other back", undone("a", "b") + "," + undone("b", "a"), ``, []string{
			`error $.schema.tools.a._undo.tool: a circle: a → b → a; an undo Tool cannot be undone by what it undoes: give b "none" or "never"`,
			`error $.schema.tools.b._undo.tool: a circle: b → a → b; an undo Tool cannot be undone by what it undoes: give a "none" or "never"`}},
		{"a way into a circle", undone("a", "b") + "," + undone("b", "b"), ``, []string{
			`error $.schema.tools.b._undo.tool: a circle: b → b; an undo Tool cannot be undone by what it undoes: give b "none" or "never"`}},
	})
}

func TestCheckWantsCodeThatTakesACallBack(t *testing.T) {
	t.Parallel()
	idea := checkedIdea(
		t, `"sum": {"type": "object", "properties": {}, "_undo": {"tool": "analyze", "params": {"text": "x"}}}`, ``)
	got := problemLines(Check(idea, map[string]ideafile.ToolBinding{"analyze": {Kind: ideafile.KindLatent}}))
	const want = `error $.schema.tools.sum._undo.tool: "analyze" cannot undo anything: it is a delegate, or the LLM writes its result`
	if got != want {
		t.Errorf("got %s", got)
	}
	// A Tool that takes back is one in a simulation too, whoever makes its results up.
	for _, from := range []string{ideafile.FakedByLLM, ideafile.FakedBySchemas} {
		played := ideafile.Simulation{ToolResultsFrom: from}.SimulateBinding(ideafile.ToolBinding{Kind: ideafile.KindGo})
		if got := problemLines(Check(idea, map[string]ideafile.ToolBinding{"analyze": played})); got != "" {
			t.Errorf("played by %s: %s", from, got)
		}
	}
}

// What a Go function says of its undo is held against the palette too: as a warning, unless failed instances are undone.
func TestCheckHoldsTheUndoOfAGoFunctionAgainstThePalette(t *testing.T) {
	t.Parallel()
	const says, unsum = `its Go function says how it is undone: `, `"unsum": {"properties": {"id": {"type": "string"}}, "required": ["id"]%s}`
	for _, c := range []struct{ name, unsum, params, want string }{
		{"what fits", fmt.Sprintf(unsum, ``), `{"id": "†result.id"}`, ""},
		{"a Tool that is not there", `"other": {"properties": {}}`, `{}`, `its Go function is undone by "unsum", which is not in the palette: its Calls cannot be undone`},
		{"a parameter that is missing", fmt.Sprintf(unsum, ``), `{}`, says + `_undo.params: unsum wants a parameter "id"`},
		{"a value that does not fit", fmt.Sprintf(unsum, ``), `{"id": 5}`,
			says + `_undo.params.id: it does not fit unsum: expected string, but got number`},
		{"a Tool that it takes back itself", fmt.Sprintf(unsum, `, "_undo": {"tool": "sum"}`), `{"id": "x"}`,
			says + `_undo.tool: a circle: sum → unsum → sum; an undo Tool cannot be undone by what it undoes: give unsum "none" or "never"`},
	} {
		for config, kind := range map[string]string{``: "warning", `"onFailure": "undo"`: "error"} {
			idea := modeltest.IdeaFrom(t, `{"config": {`+config+`}, "schema": {"tools": {"sum": {"properties": {}}, `+c.unsum+`}},
				"context": [{"type": "text", "text": "Go."}]}`)
			params := jsonval.AsObject(modeltest.DecodeJSON(t, c.params))
			got := problemLines(Check(idea, map[string]ideafile.ToolBinding{"sum": {Kind: ideafile.KindGo,
				Undo: &ideafile.UndoMethod{Kind: ideafile.UndoByTool, Tool: "unsum", Params: params}}}))
			want := ""
			if c.want != "" {
				want = kind + ` $.schema.tools.sum: ` + c.want
			}
			if mine, _, _ := strings.Cut(got, "\n"); mine != want {
				t.Errorf("%s, %s: %s", c.name, config, got)
			}
		}
	}
}

func TestCheckNamesWhatASagaCouldNotTakeBack(t *testing.T) {
	t.Parallel()
	const unsaid = "error $.schema.tools.book: config.onFailure undoes the Calls of failed instances, but this tool " +
		"does not say how: give it \"_undo\", with a tool, \"none\" or \"never\""
	for undo, want := range map[string]string{
		"": unsaid,
		`, "_delegate": "anonymous", "_output": {}`: unsaid, // an instance cannot undo what its process did
		`, "_undo": "never"`:                        "",
		`, "_undo": "none"`:                         "",
		`, "_undo": {"tool": "cancel"}`:             "",
	} {
		idea, _ := ideafile.ParseIdea([]byte(`{"config": {"onFailure": "undo"}, "schema": {"tools": {
			"cancel": {"type": "object", "properties": {}, "_undo": "never"},
			"tidy": {"type": "object", "properties": {}},
			"book": {"type": "object", "properties": {}` + undo + `}}}, "context": [{"type": "text", "text": "Go."}]}`))
		bindings := map[string]ideafile.ToolBinding{"cancel": {Kind: ideafile.KindHTTP}, "book": {Kind: ideafile.KindHTTP},
			"tidy": {Kind: ideafile.KindGo, IsPureFunction: true}}
		got := ""
		for _, p := range Check(idea, bindings).Errors() {
			got += "error " + p.String()
		}
		if got != want {
			t.Errorf("%q: %q", undo, got)
		}
	}
}
