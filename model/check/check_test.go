package check

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
)

// checkedTools is the palette of these tests: it keeps the rules of strict mode.
const checkedTools = `
	"analyze": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
		"_output": {"type": "string", "enum": ["good", "bad"]}},
	"fetch": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "_activity": "fetch",
		"_output": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}, "additionalProperties": false}},
	"rank": {"type": "object", "properties": {"score": {"type": "number"}, "labels": {"type": "array", "items": {"type": "string"}}},
		"_output": {"type": "integer"}, "_outputMethod": {"type": "string", "enum": ["set", "push"]}}`

// checkedIdea is an Idea of the test palette, more Tools, and a context.
func checkedIdea(t modeltest.Fataler, tools, context string) *ideafile.Idea {
	if tools != "" {
		tools = ", " + tools
	}
	return modeltest.IdeaFrom(t, `{"schema": {"tools": {`+checkedTools+tools+`}}, "context": [`+context+`]}`)
}

// problemLines renders Problems one a line, each marked as error or warning.
func problemLines(ps diag.Problems) string {
	var lines []string
	for _, p := range ps {
		kind := "error "
		if p.IsWarning {
			kind = "warning "
		}
		lines = append(lines, kind+p.String())
	}
	return strings.Join(lines, "\n")
}

type checkCase struct {
	name, tools, context string
	want                 []string
}

func runChecks(t *testing.T, cases []checkCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := problemLines(Check(checkedIdea(t, c.tools, c.context), nil))
			if want := strings.Join(c.want, "\n"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestCheckFindsWhatIsWrongWithACallByItself(t *testing.T) {
	t.Parallel()
	runChecks(t, []checkCase{
		{"a Call is an object", ``, `{"type": "plan", "plan": ["analyze"]}`, []string{
			`error $.context[0].plan[0]: a Call is an object, not string`}},
		{"an unknown tool is named, with the one that was meant", ``, `{"type": "plan", "plan": [{"_tool": "analyse"},
			{"_tool": "sing"}]}`, []string{
			`error $.context[0].plan[0]._tool: unknown tool "analyse"; did you mean analyze?`,
			`error $.context[0].plan[1]._tool: unknown tool "sing"; the palette has analyze, fetch, rank`}},
		{"a Call names a tool", ``, `{"type": "plan", "plan": [{"text": "x"}]}`, []string{
			`error $.context[0].plan[0]: the Call names no tool: it needs "_tool"; the palette has analyze, fetch, rank`}},
		{"every parameter that does not fit is reported at its place", ``,
			`{"type": "plan", "plan": [{"_tool": "rank", "score": "high", "labels": ["a", 1]}]}`, []string{
				`error $.context[0].plan[0].labels: parameter "labels": /1: expected string, but got number`,
				`error $.context[0].plan[0].score: parameter "score": expected number, but got string`}},
		{"a parameter that the tool does not have", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "txt": "x"}]}`,
			[]string{
				`error $.context[0].plan[0]: parameter "text" is missing`,
				`error $.context[0].plan[0].txt: tool "analyze" has no parameter "txt"; did you mean text?`}},
		{"all that the tool has, where nothing is near", ``,
			`{"type": "plan", "plan": [{"_tool": "rank", "urgency": "x", "score": 1}]}`, []string{
				`error $.context[0].plan[0].urgency: tool "rank" has no parameter "urgency"; it has labels`}},
		{"a wired parameter is not the Call's to give",
			`"mail": {"type": "object", "properties": {"to": {"const": "†input.to"}}}`,
			`{"type": "input", "to": "x"}, {"type": "plan", "plan": [{"_tool": "mail", "to": "y"}]}`, []string{
				`error $.context[1].plan[0].to: parameter "to" is wired by the tool's designer`}},
		{"a bad Reference is reported at its place, however deep", ``,
			`{"type": "plan", "plan": [{"_tool": "rank", "labels": ["a", "†"], "score": "†.x"}]}`, []string{
				`error $.context[0].plan[0].labels[1]: reference "†": bad kind ""`,
				`error $.context[0].plan[0].score: reference "†.x": bad kind ""`}},
		{"a list or an object with a Reference in it is no text", ``,
			`{"type": "state", "state": {"a": "x"}}, {"type": "plan", "plan": [{"_tool": "analyze", "text": ["†state.a"]}, {"_tool": "analyze", "text": {"of": ["†state.a"]}},
				{"_tool": "rank", "labels": ["†state.a"]}, {"_tool": "rank", "labels": [["†state.a"]]}, {"_tool": "rank", "labels": {"of": "†state.a"}}]}`, []string{
				`error $.context[1].plan[0].text: a list with a Reference in it is of type array; the parameter "text" wants string`,
				`error $.context[1].plan[1].text: an object with a Reference in it is of type object; the parameter "text" wants string`,
				`error $.context[1].plan[3].labels[0]: a list with a Reference in it is of type array; the parameter "labels.0" wants string`,
				`error $.context[1].plan[4].labels: an object with a Reference in it is of type object; the parameter "labels" wants array`}},
		{"unknown meta properties are refused", ``,
			`{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_approval": true, "_outputpath": "a"}]}`,
			[]string{
				`error $.context[0].plan[0]._approval: a Call has no meta property "_approval"`,
				`error $.context[0].plan[0]._outputpath: a Call has no meta property "_outputpath"; did you mean _outputPath?`}},
		{"_outputMethod and _scopes stand only where the tool declares them", ``,
			`{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputMethod": "push", "_scopes": ["input"]},
				{"_tool": "rank", "_outputMethod": "merge"}]}`, []string{
				`error $.context[0].plan[0]._outputMethod: the tool declares no _outputMethod`,
				`error $.context[0].plan[0]._scopes: the tool declares no _scopes`,
				`error $.context[0].plan[1]._outputMethod: _outputMethod: value must be one of "set", "push"`}},
		{"an output path is a path in State", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "†input.a"},
			{"_tool": "rank", "_outputPath": 5}]}`, []string{
			`error $.context[0].plan[0]._outputPath: _outputPath "†input.a": only State can be written`,
			`error $.context[0].plan[1]._outputPath: _outputPath is a string, not number`}},
		{"output and _outputPath name one path", ``,
			`{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "output": "†state.a", "_outputPath": "b"}]}`,
			[]string{
				`error $.context[0].plan[0]._outputPath: _outputPath and output name two paths`}},
		{"a fixed output path is not the Call's to choose",
			`"log": {"type": "object", "properties": {}, "_outputPath": "†state.log"}`,
			`{"type": "plan", "plan": [{"_tool": "log", "_outputPath": "†state.other"}]}`, []string{
				`error $.context[0].plan[0]._outputPath: _outputPath is fixed by the tool's designer`}},
		{"the result of a tool that is run by code is not the Call's to give", ``,
			`{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_output": {}}]}`, []string{
				`error $.context[0].plan[0]._output: tool "fetch" is run by code: its result cannot be written by the LLM`}},
		{"the result of a latent tool fits its form", ``,
			`{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_output": "so so"}]}`, []string{
				`error $.context[0].plan[0]._output: _output: value must be one of "good", "bad"`}},
		{"what is wrong in one Call does not hide what is wrong in the next", ``,
			`{"type": "plan", "plan": [{"_tool": "x", "a": "†"}, 5, {"_tool": "rank", "score": true}]}`, []string{
				`error $.context[0].plan[0]._tool: unknown tool "x"; the palette has analyze, fetch, rank`,
				`error $.context[0].plan[0].a: reference "†": bad kind ""`,
				`error $.context[0].plan[1]: a Call is an object, not number`,
				`error $.context[0].plan[2].score: parameter "score": expected number, but got boolean`}},
	})
}

func TestCheckFindsInstancesThatThereAreNot(t *testing.T) {
	t.Parallel()
	runChecks(t, []checkCase{
		{"a Call for an instance that nobody names", ``, `{"type": "state", "_instance": "①", "a": "x"},
			{"type": "state", "_instance": "②", "a": "x"},
			{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "③", "text": "†state.nowhere"}]}`, []string{
			`error $.context[2].plan[0]._instance: unknown instance "③"; there are ①, ② and "*" for all`}},
		{"a token that is nearly one", ``, `{"type": "state", "_instance": "alice", "a": "x"},
			{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "alyce", "text": "x"}]}`, []string{
			`error $.context[1].plan[0]._instance: unknown instance "alyce"; did you mean alice?`}},
		{"a token in a process that has none", ``,
			`{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "①", "text": "x"}]}`, []string{
				`error $.context[0].plan[0]._instance: unknown instance "①": no message of the context names an instance; leave _instance out`}},
		{"a token is a string", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "_instance": 1, "text": "x"}]}`,
			[]string{
				`error $.context[0].plan[0]._instance: _instance is a token or a list of tokens, not number`}},
		{"a Call for another instance than its Plan", ``, `{"type": "state", "_instance": "①", "a": "x"},
			{"type": "state", "_instance": "②", "a": "x"},
			{"type": "plan", "_instance": "①", "plan": [{"_tool": "analyze", "_instance": "②", "text": "x"}]}`, []string{
			`error $.context[2].plan[0]._instance: the Plan is for instance ① only, but its Call is for "②"`}},
		{"an instance that begins with nothing is probably misspelt", ``, `{"type": "state", "_instance": "alice", "a": "x"},
			{"type": "instruction", "_instance": "alcie1", "instruction": "hurry"},
				{"type": "text", "_instance": "bob", "text": "x"}`, []string{
			`warning $.context[1]._instance: instance "alcie1" has no text, input, State or data of its own: a misspelt token makes a new instance`}},
	})
}

func TestCheckFindsReferencesThatFindNothing(t *testing.T) {
	t.Parallel()
	runChecks(t, []checkCase{
		{"no such kind", ``, `{"type": "input", "rules": []},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "†inputs.rules"},
			{"_tool": "analyze", "text": "†memo"}]}`, []string{
			`error $.context[1].plan[0].text: reference †inputs.rules: the context has no "inputs"; did you mean input?`,
			`error $.context[1].plan[1].text: reference †memo: the context has no "memo"`}},
		{"nothing there", ``, `{"type": "input", "rules": ["x"], "deep": {"a": 1}},
			{"type": "plan", "plan": [{"_tool": "rank", "labels": ["†input.rules[3]", "†input.ruels", "†input.deep.b", "†input.deep.a.c"]}]}`, []string{
			`error $.context[1].plan[0].labels[0]: reference †input.rules.3: nothing there; †input.rules has 1 elements`,
			`error $.context[1].plan[0].labels[1]: reference †input.ruels: nothing there; †input has deep, rules`,
			`error $.context[1].plan[0].labels[2]: reference †input.deep.b: nothing there; †input.deep has a`,
			`error $.context[1].plan[0].labels[3]: reference †input.deep.a.c: nothing there; †input.deep.a is of type number`}},
		{"there in some instances alone", ``, `{"type": "input", "_instance": "①", "x": "a"},
			{"type": "state", "_instance": "②", "y": "b"}, {"type": "state", "_instance": "③", "y": "b"},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "†input.x"},
				{"_tool": "analyze", "text": "†state.y"}]}`, []string{
			`error $.context[3].plan[0].text: reference †input.x: the context has no "input" (in ②, ③)`,
			`error $.context[3].plan[1].text: no Call writes †state.y and no State holds it at the start (in ①)`}},
		{"there in few of many instances", ``, `{"type": "state", "_instance": "0", "a": "x"},
			{"type": "state", "_instance": "1", "b": "x"}, {"type": "state", "_instance": "2", "b": "x"},
			{"type": "state", "_instance": "3", "b": "x"},
			{"type": "state", "_instance": "4", "b": "x"}, {"type": "state", "_instance": "5", "b": "x"},
				{"type": "state", "_instance": "6", "b": "x"}, {"type": "state", "_instance": "7", "b": "x"},
				{"type": "state", "_instance": "8", "b": "x"},
			{"type": "state", "_instance": "9", "b": "x"}, {"type": "state", "_instance": "10", "b": "x"},
				{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.a"}]}`, []string{
			`error $.context[11].plan[0].text: no Call writes †state.a and no State holds it at the start; there is †state.b (in 1, 2, 3, 4, 5, 6, 7, 8 and 2 more)`}},
		{"an instance is named only where the Call is for several", ``, `{"type": "state", "_instance": "①", "x": "a"},
			{"type": "state", "_instance": "②", "y": "b"},
			{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "①", "text": "†state.y"},
				{"_tool": "analyze", "_instance": "②", "text": "†state.y"}]}`, []string{
			`error $.context[2].plan[0].text: no Call writes †state.y and no State holds it at the start; there is †state.x`}},
		{"State that nobody writes and nothing holds", ``, `{"type": "state", "state": {"title": "x"}},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.titel1"},
			{"_tool": "analyze", "text": "†state.mod", "_outputPath": "mood"}]}`, []string{
			`error $.context[1].plan[0].text: no Call writes †state.titel1 and no State holds it at the start; did you mean †state.title?`,
			`error $.context[1].plan[1].text: no Call writes †state.mod and no State holds it at the start; there is †state.title`}},
		{"what another instance writes", ``, `{"type": "state", "_instance": "①", "a": "x"},
			{"type": "state", "_instance": "②", "a": "x"},
			{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "①", "text": "†state.a", "_outputPath": "mood"},
				{"_tool": "analyze", "text": "†state.mood"}]}`, []string{
			`error $.context[2].plan[1].text: no Call writes †state.mood and no State holds it at the start; there is †state.a (in ②)`}},
		{"what only the Call itself writes", ``,
			`{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.mood", "_outputPath": "mood"}]}`, []string{
				`error $.context[0].plan[0].text: the Call waits for †state.mood, which no other Call writes`}},
		{"an update that stands behind its reader", ``, `{"type": "plan", "plan": [{"_tool": "rank", "labels": "†state.list", "_outputPath": "n"},
			{"_tool": "rank", "_outputPath": "list", "_outputMethod": "push"}]}`, []string{
			`error $.context[0].plan[0].labels: †state.list is updated only by plan[1] (rank), which comes after the Call: put that one first`}},
		{"a writer that never runs, as its path is closed", ``, `{"type": "state", "user": {"id": 1}},
			{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"},
			{"_tool": "analyze", "text": "†state.user.name"}]}`, []string{
			`error $.context[1].plan[1].text: †state.user.name does not exist, and plan[0] (fetch), which would write it, never runs: its path is closed at the start`}},
		{"a wired parameter",
			`"mail": {"type": "object", "properties": {"to": {"const": "†input.too"}, "mood": {"const": "†state.mood"}}}`,
			`{"type": "input", "to": "x"}, {"type": "plan", "plan": [{"_tool": "mail"}]}`, []string{
				`error $.schema.tools.mail.properties.to.const: parameter "to" is wired to nothing: reference †input.too: nothing there; did you mean to?`,
				`error $.context[1].plan[0]: the wired parameter "mood": no Call writes †state.mood and no State holds it at the start`}},
		{"the output of a Plan", ``,
			`{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "mood"}], "output": {"a": "†state.mood", "b": ["†state.moods", "†"]}}`, []string{
				`error $.context[0].output.b[0]: no Call writes †state.moods and no State holds it at the start; did you mean †state.mood?`,
				`error $.context[0].output.b[1]: reference "†": bad kind ""`}},
	})
}

func TestCheckFindsCyclesAmongCalls(t *testing.T) {
	t.Parallel()
	runChecks(t, []checkCase{
		{"of two", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"},
			{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}]}`, []string{
			`error $.context[0].plan[0].text: a cycle: plan[0] (analyze) → plan[1] (analyze) → plan[0] (analyze); each waits for the one before it, so none can start: have one of them read something else`}},
		{"of three, reported once, and nothing about the Calls that wait for it", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.c", "_outputPath": "z"},
			{"_tool": "analyze", "text": "†state.c", "_outputPath": "a"},
				{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"},
			{"_tool": "analyze", "text": "†state.b", "_outputPath": "c"}]}`, []string{
			`error $.context[0].plan[1].text: a cycle: plan[1] (analyze) → plan[2] (analyze) → plan[3] (analyze) → plan[1] (analyze); each waits for the one before it, so none can start: have one of them read something else`}},
		{"two of them", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"},
			{"_tool": "analyze", "text": "†state.d", "_outputPath": "c"},
			{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"},
				{"_tool": "analyze", "text": "†state.c", "_outputPath": "d"}]}`, []string{
			`error $.context[0].plan[0].text: a cycle: plan[0] (analyze) → plan[2] (analyze) → plan[0] (analyze); each waits for the one before it, so none can start: have one of them read something else`,
			`error $.context[0].plan[1].text: a cycle: plan[1] (analyze) → plan[3] (analyze) → plan[1] (analyze); each waits for the one before it, so none can start: have one of them read something else`}},
		{"through what Calls come after", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_after": "†call.0.2"},
			{"_tool": "analyze", "text": "x", "_after": ["†state.c", "†call.0.9", "†input.x"]},
			{"_tool": "analyze", "text": "x", "_after": ["†call.0.3"], "_outputPath": "c"},
			{"_tool": "analyze", "text": "x", "_after": ["†state.c", "†call.1.2", "†state.d"], "_outputPath": "e"}]}`, []string{
			`error $.context[0].plan[1]._after: _after: †input.x: it names places in State, and Calls such as †call.1.3`,
			`error $.context[0].plan[2]._after: a cycle: plan[2] (analyze) → plan[2] (analyze); each waits for the one before it, so none can start: have one of them read something else`,
			`error $.context[0].plan[3]._after: no Call writes †state.d and no State holds it at the start; there is †state.c`}},
		{"of two that come after each other, one of which has its value already", ``, `{"type": "state", "a": "x"}, {"type": "plan", "plan": [
			{"_tool": "analyze", "text": "x", "_after": "†call.0.2", "_outputPath": "†state.a && †state.b"},
			{"_tool": "analyze", "text": "x", "_after": "†call.0.1", "_outputPath": "a"}]}`, []string{
			`error $.context[1].plan[0]._after: a cycle: plan[0] (analyze) → plan[1] (analyze) → plan[0] (analyze); each waits for the one before it, so none can start: have one of them read something else`}},
		{"of two of which the one that has its value writes where the other does, and waits for a Call that there is not", ``, `{"type": "state", "a": {"b": "x"}}, {"type": "plan", "plan": [
			{"_tool": "analyze", "text": "x", "_after": "†call.0.2", "_outputPath": "a.c"},
			{"_tool": "analyze", "text": "x", "_after": "†call.0.3", "_outputPath": "a"}]}`, []string{
			`error $.context[1].plan[0]._after: a cycle: plan[0] (analyze) → plan[1] (analyze) → plan[0] (analyze); each waits for the one before it, so none can start: have one of them read something else`}},
		{"none where the one that has its value waits for nobody", ``, `{"type": "state", "a": "x"}, {"type": "plan", "plan": [
			{"_tool": "analyze", "text": "x", "_after": "†call.0.2", "_outputPath": "†state.a && †state.b"},
			{"_tool": "analyze", "text": "x", "_outputPath": "a"}]}`, nil},
		{"in one instance alone", ``, `{"type": "state", "_instance": "①", "a": "x"},
			{"type": "state", "_instance": "②", "z": "x"}, {"type": "plan", "plan": [
			{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"},
				{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}]}`, []string{
			`error $.context[2].plan[0].text: a cycle: plan[0] (analyze) → plan[1] (analyze) → plan[0] (analyze); each waits for the one before it, so none can start: have one of them read something else (in ②)`}},
		{"none where an alternative breaks it", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"},
			{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"},
			{"_tool": "analyze", "text": "x", "_outputPath": "a"}]}`, nil},
		{"none where the State at the start breaks it", ``, `{"type": "state", "a": "x"},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"},
			{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}]}`, nil},
		{"none where they work in different instances", ``, `{"type": "state", "_instance": "①", "b": "x"},
			{"type": "state", "_instance": "②", "a": "x"}, {"type": "plan", "plan": [
			{"_tool": "analyze", "_instance": "①", "text": "†state.b", "_outputPath": "a"},
				{"_tool": "analyze", "_instance": "②", "text": "†state.a", "_outputPath": "b"}]}`, nil},
	})
}

func TestCheckGoesByTheBindingsWhereThereAreSome(t *testing.T) {
	t.Parallel()
	i := checkedIdea(
		t, "", `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_output": "good", "_outputPath": "a"}]}`)
	if got := problemLines(Check(i, nil)); got != "" {
		t.Errorf("with nothing known: %s", got)
	}
	got := problemLines(Check(i, map[string]ideafile.ToolBinding{"analyze": {Kind: ideafile.KindGo},
		"fetch": {Kind: ideafile.KindGo}, "rank": {Kind: ideafile.KindGo}}))
	if want := `error $.context[0].plan[0]._output: tool "analyze" is run by code: its result cannot be written by the LLM`; got != want {
		t.Errorf("got %s", got)
	}
}

// correct lists contexts with which nothing is wrong.
var correct = []struct{ name, tools, context string }{
	{"nothing at all", ``, ``},
	{"a chain through State, in any order", ``, `{"type": "plan", "plan": [{"_tool": "rank", "score": "†state.user.id"},
		{"_tool": "analyze", "text": "†state.user.name", "_outputPath": "mood"},
		{"_tool": "fetch", "id": 1, "_outputPath": "user"}]}`},
	{"alternatives for one path", ``, `{"type": "state", "text": "x"},
		{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.text", "_outputPath": "mood"},
		{"_tool": "analyze", "text": "again", "_outputPath": "mood"}, {"_tool": "analyze", "text": "†state.mood"}]}`},
	{"Plans that are alternatives", ``, `{"type": "plan", "name": "one", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "a"}]},
		{"type": "plan", "name": "two", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "a.b"}]}`},
	{"a template for every instance, with and without *", ``, `{"type": "state", "_instance": "①", "text": "x"},
		{"type": "state", "_instance": "②", "text": "y"}, {"type": "plan", "plan": [
		{"_tool": "analyze", "_instance": "*", "text": "†state.text", "_outputPath": "mood"},
			{"_tool": "analyze", "text": "†state.mood"}, {"_tool": "analyze", "_instance": "②", "text": "†state.mood"}]}`},
	{"* in a process without tokens", ``,
		`{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "*", "text": "x"}]}`},
	{"a Plan for one instance", ``, `{"type": "state", "_instance": "①", "text": "x"},
		{"type": "state", "_instance": "②", "other": "y"},
		{"type": "plan", "_instance": "①", "plan": [{"_tool": "analyze", "text": "†state.text"}]}`},
	{"output that means _outputPath", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "output": "†state.mood"},
		{"_tool": "analyze", "text": "†state.mood"}]}`},
	{"output that is a parameter", `"show": {"type": "object", "properties": {"output": {"type": "string"}}, "required": ["output"]}`, `{"type": "state", "x": "y"},
		{"type": "plan", "plan": [{"_tool": "show", "output": "†state.x"}]}`},
	{"a literal dagger", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "††state.nowhere"},
		{"_tool": "rank", "labels": ["††"]}]}`},
	{"wired parameters",
		`"mail": {"type": "object", "properties": {"to": {"const": "†input.to"}, "mood": {"type": "string", "const": "†state.mood"}}, "required": ["to", "mood"]}`,
		`{"type": "input", "to": "x"}, {"type": "plan", "plan": [{"_tool": "mail"}, {"_tool": "mail", "to": "†input.to"},
			{"_tool": "analyze", "text": "x", "_outputPath": "mood"}]}`},
	{"a fixed output path and method", `"log": {"type": "object", "properties": {}, "_outputPath": "†state.log", "_outputMethod": "push", "_output": {"type": "string"}}`, `{"type": "plan", "plan": [{"_tool": "log"},
		{"_tool": "log"}, {"_tool": "rank", "labels": "†state.log"}]}`},
	{"null for what may be absent", ``,
		`{"type": "plan", "plan": [{"_tool": "rank", "score": null, "labels": null, "_outputPath": null, "_scopes": null, "_approval": null}]}`},
	{"the whole State",
		`"all": {"type": "object", "properties": {"state": {"type": "object", "properties": {}}}, "_output": {"type": "object", "properties": {"a": {"type": "string"}}}}`,
		`{"type": "plan", "plan": [{"_tool": "all", "state": "†state", "_outputPath": "†state"},
			{"_tool": "analyze", "text": "†state.a"}]}`},
	{"a value that is there already", ``, `{"type": "state", "state": {"mood": "good", "user": {"name": "x"}}},
		{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.gone", "_outputPath": "mood"},
		{"_tool": "fetch", "id": 1, "_outputPath": "user"}, {"_tool": "analyze", "text": "†state.user.name"}]}`},
	{"updates side by side, and a value below one", `"merge": {"type": "object", "properties": {}, "_outputMethod": "merge"}`, `{"type": "plan", "plan": [{"_tool": "merge", "_outputPath": "a"},
		{"_tool": "merge", "_outputPath": "a"}, {"_tool": "analyze", "text": "x", "_outputPath": "a.b"},
		{"_tool": "rank", "_outputPath": "n"}, {"_tool": "rank", "_outputPath": "n", "_outputMethod": "push"}]}`},
	{"data of another kind", ``, `{"type": "data", "kind": "memo", "lines": ["x"]},
		{"type": "plan", "plan": [{"_tool": "analyze", "text": "†memo.lines[0]"}]}`},
	{"what may be inside a large value", ``, `{"type": "input", "input": {"big": {"†blob": {"digest": "d", "size": 9, "type": "array"}}}},
		{"type": "state", "big": {"†blob": {"digest": "d", "size": 9, "type": "object"}}}, {"type": "plan", "plan": [
		{"_tool": "analyze", "text": "†input.big[7].x"}, {"_tool": "rank", "labels": "†input.big"},
			{"_tool": "analyze", "text": "†state.big.any"}]}`},
	{"a shared setting that an instance has its own way", ``, `{"type": "input", "lang": "en"},
		{"type": "input", "_instance": "①", "lang": "de"}, {"type": "state", "_instance": "②", "state": {}},
		{"type": "plan", "plan": [{"_tool": "analyze", "text": "†input.lang"}]}`},
	{"a latent result that is there, and one that is not", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_output": "good", "_outputPath": "a"},
		{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}]}`},
	{"instructions for tools", ``,
		`{"type": "instruction", "instruction": {"be": "kind"}, "tools": ["analyze", "rank"]}`},
	{"a closed schema with room for everything", ``, `{"type": "state", "state": {"text": "x"}, "schema": {"type": "object", "properties": {"text": {"type": "string"}, "mood": {"$ref": "#/$defs/mood"}, "extra": {"type": "object", "additionalProperties": {"type": "string"}}},
		"required": ["mood"], "additionalProperties": false, "$defs": {"mood": {"type": "string"}}}},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.text", "_outputPath": "mood"},
			{"_tool": "analyze", "text": "†state.mood", "_outputPath": "extra.any"}]}`},
	{"the Plan's own output", ``, `{"type": "input", "a": 1},
		{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "mood"}], "output": {"mood": "†state.mood", "a": "†input.a", "all": "†state", "text": "††x"}}`},
}

func TestCheckFindsNothingInCorrectFiles(t *testing.T) {
	t.Parallel()
	for _, c := range correct {
		t.Run(c.name, func(t *testing.T) {
			if got := problemLines(Check(checkedIdea(t, c.tools, c.context), nil)); got != "" {
				t.Errorf("%s", got)
			}
		})
	}
}

// A Call of a correct Plan is accepted by every instance it is for: what Check lets pass, no instance refuses.
func TestWhatCheckLetsPassIsAcceptedByInstances(t *testing.T) {
	t.Parallel()
	for _, c := range correct {
		t.Run(c.name, func(t *testing.T) {
			i := checkedIdea(t, c.tools, c.context)
			checker := &checker{idea: i}
			for _, token := range i.InstanceTokens() {
				for _, m := range i.Context {
					if m.Type != ideafile.TypePlan || m.InstanceToken != "" && m.InstanceToken != token {
						continue
					}
					r := dataflow.New(ideafile.Palette{Tools: i.Tools, BindingByTool: checker.bindingsOrDefault(),
						UntargetedCallsGoToAll: true}, i.Context, token)
					for n, call := range m.PlanCalls {
						if !call.TargetsOtherInstance(token) {
							r.AcceptCall(1, n+1, call)
						}
					}
					for _, rec := range r.CallRecords() {
						if rec.Status == ideafile.CallFailed {
							t.Errorf("%s: %s", rec.ID, rec.Fault)
						}
					}
				}
			}
		})
	}
}

func TestAnIdeaThatBreaksTheFormIsCheckedAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	i, ps := ideafile.ParseIdea([]byte(`{"schema": {"tools": {"a": 5, "b": {"type": "object", "properties": {"x": {"type": "nonsense"}}, "_output": {"type": 5}, "_outputPath": {"type": 7}}}},
		"context": ["text", {"type": "plan"}, {"type": "plan", "plan": [{"_tool": "b", "x": 1}, {"_tool": "c"}]}]}`))
	if len(ps) == 0 {
		t.Fatal("the file is broken")
	}
	got := problemLines(Check(i, nil))
	if !strings.Contains(got, `error $.context[2].plan[1]._tool: unknown tool "c"`) {
		t.Errorf("got %s", got)
	}
	if Check(nil, nil) != nil {
		t.Error("there is nothing wrong with nothing")
	}
}

func TestProblemsStandInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	places := []string{
		"$.schema.output", "$.schema.tools.a", "$.schema.tools.a.properties.x", "$.context[1]._instance",
		"$.context[2].plan[2]",
		"$.context[2].plan[2].a", "$.context[2].plan[2].a[9]", "$.context[2].plan[2].a[10]", "$.context[2].plan[10]",
		"$.context[10].plan[0]",
	}
	for a := range places {
		for b := range places {
			if got := diag.PathPrecedesInFile(places[a], places[b]); got != (a < b) {
				t.Errorf("%s before %s: %v", places[a], places[b], got)
			}
		}
	}
}

func TestCheckSaysTheSameEachTime(t *testing.T) {
	t.Parallel()
	context := `{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "b": 1},
		{"type": "plan", "plan": [
		{"_tool": "rank", "score": "†state.a", "labels": ["†state.b", "†input.x"], "bad": 1, "_x": 1},
			{"_tool": "fetch", "id": "†state.c", "_outputPath": "d"}, {"_tool": "fetch", "id": "†state.d", "_outputPath": "c"}]}`
	first := problemLines(Check(checkedIdea(t, "", context), nil))
	for range 100 {
		if again := problemLines(Check(checkedIdea(t, "", context), nil)); again != first {
			t.Fatalf("first:\n%s\nthen:\n%s", first, again)
		}
	}
}

func TestAThousandInstancesAreCheckedTogether(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&b, `{"type": "state", "_instance": "i%d", "text": "text %d"},`, n, n)
	}
	got := Check(checkedIdea(t, "", b.String()+`{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.text", "_outputPath": "mood"},
		{"_tool": "analyze", "text": "†state.moot"},
			{"_tool": "analyze", "_instance": "i7", "text": "†state.nothing"}]}`), nil).Errors()
	want := `error $.context[1000].plan[1].text: no Call writes †state.moot and no State holds it at the start; did you mean †state.mood?
error $.context[1000].plan[2].text: no Call writes †state.nothing and no State holds it at the start; there are †state.mood, †state.text`
	if problemLines(got) != want {
		t.Errorf("got %s", problemLines(got))
	}
}

func TestAPlanHasTenThousandCallsAtMost(t *testing.T) {
	t.Parallel()
	for n, isTooLarge := range map[int]bool{0: false, 1: false, 10_000: false, 10_001: true} {
		calls := strings.TrimSuffix(strings.Repeat(`{"_tool": "analyze", "text": "x"},`, n), ",")
		got := problemLines(Check(checkedIdea(t, "", `{"type": "plan", "plan": [`+calls+`]}`), nil))
		if strings.Contains(got, "a Plan has at most 10000 Calls") != isTooLarge ||
			strings.Contains(got, "error ") != isTooLarge {
			t.Errorf("%d Calls: %.300s", n, got)
		}
	}
}
