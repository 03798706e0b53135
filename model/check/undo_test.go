package check

import (
	"fmt"
	"processidea/model/ideafile"
	"testing"
)

func TestCheckHoldsAnUndoAgainstTheToolThatCarriesItOut(t *testing.T) {
	t.Parallel()
	const cancel = `"cancel": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}, "required": ["id"]},
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
	idea = checkedIdea(t, `"sum": {"type": "object", "properties": {}}`, ``)
	function := ideafile.ToolBinding{Kind: ideafile.KindGo,
		Undo: &ideafile.Undo{Kind: ideafile.UndoByTool, Tool: "unsum"}}
	got = problemLines(Check(idea, map[string]ideafile.ToolBinding{"sum": function}))
	if got != `warning $.schema.tools.sum: its Go function is undone by "unsum", which is not in the palette: its Calls cannot be undone` {
		t.Errorf("of a Go function: %s", got)
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
