package model

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkedTools is the palette of these tests: it keeps the rules of strict mode.
const checkedTools = `
	"analyze": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
		"_output": {"type": "string", "enum": ["good", "bad"]}},
	"fetch": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "_activity": "fetch",
		"_output": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}, "additionalProperties": false}},
	"rank": {"type": "object", "properties": {"score": {"type": "number"}, "labels": {"type": "array", "items": {"type": "string"}}},
		"_output": {"type": "integer"}, "_outputMethod": {"type": "string", "enum": ["set", "push"]}}`

// ideaOf reads an Idea that has the form of one.
func ideaOf(t failer, text string) *Idea {
	i, ps := ParseIdea([]byte(text))
	if len(ps.Errors()) > 0 {
		t.Fatalf("%s\nin %s", ps, text)
	}
	return i
}

// checkedIdea is an Idea of the test palette, more Tools, and a context.
func checkedIdea(t failer, tools, context string) *Idea {
	if tools != "" {
		tools = ", " + tools
	}
	return ideaOf(t, `{"schema": {"tools": {`+checkedTools+tools+`}}, "context": [`+context+`]}`)
}

// told gives Problems one a line, errors and warnings told apart.
func told(ps Problems) string {
	var lines []string
	for _, p := range ps {
		kind := "error "
		if p.Warning {
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
			got := told(Check(checkedIdea(t, c.tools, c.context), nil))
			if want := strings.Join(c.want, "\n"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestCheckFindsWhatIsWrongWithACallByItself(t *testing.T) {
	runChecks(t, []checkCase{
		{"a Call is an object", ``, `{"type": "plan", "plan": ["analyze"]}`, []string{
			`error $.context[0].plan[0]: a Call is an object, not string`}},
		{"an unknown tool is named, with the one that was meant", ``, `{"type": "plan", "plan": [{"_tool": "analyse"}, {"_tool": "sing"}]}`, []string{
			`error $.context[0].plan[0]._tool: unknown tool "analyse"; did you mean analyze?`,
			`error $.context[0].plan[1]._tool: unknown tool "sing"; the palette has analyze, fetch, rank`}},
		{"a Call names a tool", ``, `{"type": "plan", "plan": [{"text": "x"}]}`, []string{
			`error $.context[0].plan[0]: the Call names no tool: it needs "_tool"; the palette has analyze, fetch, rank`}},
		{"every parameter that does not fit is told at its place", ``,
			`{"type": "plan", "plan": [{"_tool": "rank", "score": "high", "labels": ["a", 1]}]}`, []string{
				`error $.context[0].plan[0].labels: parameter "labels": /1: expected string, but got number`,
				`error $.context[0].plan[0].score: parameter "score": expected number, but got string`}},
		{"a parameter that the tool does not have", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "txt": "x"}]}`, []string{
			`error $.context[0].plan[0]: parameter "text" is missing`,
			`error $.context[0].plan[0].txt: tool "analyze" has no parameter "txt"; did you mean text?`}},
		{"a wired parameter is not the Call's to give", `"mail": {"type": "object", "properties": {"to": {"const": "†input.to"}}}`,
			`{"type": "input", "to": "x"}, {"type": "plan", "plan": [{"_tool": "mail", "to": "y"}]}`, []string{
				`error $.context[1].plan[0].to: parameter "to" is wired by the tool's designer`}},
		{"a bad Reference is told at its place, however deep", ``,
			`{"type": "plan", "plan": [{"_tool": "rank", "labels": ["a", "†"], "score": "†.x"}]}`, []string{
				`error $.context[0].plan[0].labels[1]: reference "†": bad kind ""`,
				`error $.context[0].plan[0].score: reference "†.x": bad kind ""`}},
		{"unknown meta properties are refused", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_approval": true, "_outputpath": "a"}]}`, []string{
			`error $.context[0].plan[0]._approval: a Call has no meta property "_approval"`,
			`error $.context[0].plan[0]._outputpath: a Call has no meta property "_outputpath"; did you mean _outputPath?`}},
		{"_outputMethod and _scopes stand only where the tool declares them", ``,
			`{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputMethod": "push", "_scopes": ["input"]}, {"_tool": "rank", "_outputMethod": "merge"}]}`, []string{
				`error $.context[0].plan[0]._outputMethod: the tool declares no _outputMethod`,
				`error $.context[0].plan[0]._scopes: the tool declares no _scopes`,
				`error $.context[0].plan[1]._outputMethod: _outputMethod: value must be one of "set", "push"`}},
		{"an output path is a path in State", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "†input.a"}, {"_tool": "rank", "_outputPath": 5}]}`, []string{
			`error $.context[0].plan[0]._outputPath: _outputPath "†input.a": only State can be written`,
			`error $.context[0].plan[1]._outputPath: _outputPath is a string, not number`}},
		{"output and _outputPath name one path", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "output": "†state.a", "_outputPath": "b"}]}`, []string{
			`error $.context[0].plan[0]._outputPath: _outputPath and output name two paths`}},
		{"a fixed output path is not the Call's to choose", `"log": {"type": "object", "properties": {}, "_outputPath": "†state.log"}`,
			`{"type": "plan", "plan": [{"_tool": "log", "_outputPath": "†state.other"}]}`, []string{
				`error $.context[0].plan[0]._outputPath: _outputPath is fixed by the tool's designer`}},
		{"the result of a tool that is run by code is not the Call's to give", ``, `{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_output": {}}]}`, []string{
			`error $.context[0].plan[0]._output: tool "fetch" is run by code: its result cannot be written by the LLM`}},
		{"the result of a latent tool fits its form", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_output": "so so"}]}`, []string{
			`error $.context[0].plan[0]._output: _output: value must be one of "good", "bad"`}},
		{"what is wrong in one Call does not hide what is wrong in the next", ``, `{"type": "plan", "plan": [{"_tool": "x", "a": "†"}, 5, {"_tool": "rank", "score": true}]}`, []string{
			`error $.context[0].plan[0]._tool: unknown tool "x"; the palette has analyze, fetch, rank`,
			`error $.context[0].plan[0].a: reference "†": bad kind ""`,
			`error $.context[0].plan[1]: a Call is an object, not number`,
			`error $.context[0].plan[2].score: parameter "score": expected number, but got boolean`}},
	})
}

func TestCheckFindsInstancesThatThereAreNot(t *testing.T) {
	runChecks(t, []checkCase{
		{"a Call for an instance that nobody names", ``, `{"type": "state", "_instance": "①", "a": "x"}, {"type": "state", "_instance": "②", "a": "x"},
			{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "③", "text": "†state.nowhere"}]}`, []string{
			`error $.context[2].plan[0]._instance: unknown instance "③"; there are ①, ② and "*" for all`}},
		{"a token in a process that has none", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "①", "text": "x"}]}`, []string{
			`error $.context[0].plan[0]._instance: unknown instance "①": no message of the context names an instance; leave _instance out`}},
		{"a token is a string", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "_instance": 1, "text": "x"}]}`, []string{
			`error $.context[0].plan[0]._instance: _instance is a token, not number`}},
		{"a Call for another instance than its Plan", ``, `{"type": "state", "_instance": "①", "a": "x"}, {"type": "state", "_instance": "②", "a": "x"},
			{"type": "plan", "_instance": "①", "plan": [{"_tool": "analyze", "_instance": "②", "text": "x"}]}`, []string{
			`error $.context[2].plan[0]._instance: the Plan is for instance ① alone, and its Call for "②"`}},
		{"an instance that begins with nothing is probably misspelt", ``, `{"type": "state", "_instance": "alice", "a": "x"},
			{"type": "instruction", "_instance": "alcie1", "instruction": "hurry"}, {"type": "text", "_instance": "bob", "text": "x"}`, []string{
			`warning $.context[1]._instance: instance "alcie1" has no text, input, State or data of its own: a misspelt token makes a new instance`}},
	})
}

func TestCheckFindsReferencesThatFindNothing(t *testing.T) {
	runChecks(t, []checkCase{
		{"no such kind", ``, `{"type": "input", "rules": []}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†inputs.rules"}, {"_tool": "analyze", "text": "†memo"}]}`, []string{
			`error $.context[1].plan[0].text: reference †inputs.rules: the context has no "inputs"; did you mean input?`,
			`error $.context[1].plan[1].text: reference †memo: the context has no "memo"`}},
		{"nothing there", ``, `{"type": "input", "rules": ["x"], "deep": {"a": 1}}, {"type": "plan", "plan": [{"_tool": "rank", "labels": ["†input.rules[3]", "†input.ruels", "†input.deep.b", "†input.deep.a.c"]}]}`, []string{
			`error $.context[1].plan[0].labels[0]: reference †input.rules.3: nothing there; †input.rules has 1 elements`,
			`error $.context[1].plan[0].labels[1]: reference †input.ruels: nothing there; †input has deep, rules`,
			`error $.context[1].plan[0].labels[2]: reference †input.deep.b: nothing there; †input.deep has a`,
			`error $.context[1].plan[0].labels[3]: reference †input.deep.a.c: nothing there; †input.deep.a is of type number`}},
		{"there in some instances alone", ``, `{"type": "input", "_instance": "①", "x": "a"}, {"type": "state", "_instance": "②", "y": "b"}, {"type": "state", "_instance": "③", "y": "b"},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "†input.x"}, {"_tool": "analyze", "text": "†state.y"}]}`, []string{
			`error $.context[3].plan[0].text: reference †input.x: the context has no "input" (in ②, ③)`,
			`error $.context[3].plan[1].text: no Call writes †state.y and no State holds it at the start (in ①)`}},
		{"an instance is named only where the Call is for several", ``, `{"type": "state", "_instance": "①", "x": "a"}, {"type": "state", "_instance": "②", "y": "b"},
			{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "①", "text": "†state.y"}, {"_tool": "analyze", "_instance": "②", "text": "†state.y"}]}`, []string{
			`error $.context[2].plan[0].text: no Call writes †state.y and no State holds it at the start; there is †state.x`}},
		{"State that nobody writes and nothing holds", ``, `{"type": "state", "state": {"title": "x"}}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.titel1"}, {"_tool": "analyze", "text": "†state.mod", "_outputPath": "mood"}]}`, []string{
			`error $.context[1].plan[0].text: no Call writes †state.titel1 and no State holds it at the start; did you mean †state.title?`,
			`error $.context[1].plan[1].text: no Call writes †state.mod and no State holds it at the start; there is †state.title`}},
		{"what another instance writes", ``, `{"type": "state", "_instance": "①", "a": "x"}, {"type": "state", "_instance": "②", "a": "x"},
			{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "①", "text": "†state.a", "_outputPath": "mood"}, {"_tool": "analyze", "text": "†state.mood"}]}`, []string{
			`error $.context[2].plan[1].text: no Call writes †state.mood and no State holds it at the start; there is †state.a (in ②)`}},
		{"what only the Call itself writes", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.mood", "_outputPath": "mood"}]}`, []string{
			`error $.context[0].plan[0].text: only the Call itself writes †state.mood, which it waits for`}},
		{"an update that stands behind its reader", ``, `{"type": "plan", "plan": [{"_tool": "rank", "labels": "†state.list", "_outputPath": "n"}, {"_tool": "rank", "_outputPath": "list", "_outputMethod": "push"}]}`, []string{
			`error $.context[0].plan[0].labels: †state.list is updated by plan[1] (rank) alone, which stands behind the Call: put it before`}},
		{"a writer that never runs, as its path is closed", ``, `{"type": "state", "user": {"id": 1}}, {"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"}, {"_tool": "analyze", "text": "†state.user.name"}]}`, []string{
			`error $.context[1].plan[1].text: †state.user.name is not there, and plan[0] (fetch), which would write it, never runs: its path is closed at the start`}},
		{"a wired parameter", `"mail": {"type": "object", "properties": {"to": {"const": "†input.too"}, "mood": {"const": "†state.mood"}}}`,
			`{"type": "input", "to": "x"}, {"type": "plan", "plan": [{"_tool": "mail"}]}`, []string{
				`error $.schema.tools.mail.properties.to.const: parameter "to" is wired to nothing: reference †input.too: nothing there; did you mean to?`,
				`error $.context[1].plan[0]: the wired parameter "mood": no Call writes †state.mood and no State holds it at the start`}},
		{"the output of a Plan", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "mood"}], "output": {"a": "†state.mood", "b": ["†state.moods", "†"]}}`, []string{
			`error $.context[0].output.b[0]: no Call writes †state.moods and no State holds it at the start; did you mean †state.mood?`,
			`error $.context[0].output.b[1]: reference "†": bad kind ""`}},
	})
}

func TestCheckFindsCyclesAmongCalls(t *testing.T) {
	runChecks(t, []checkCase{
		{"of two", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"}, {"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}]}`, []string{
			`error $.context[0].plan[0].text: a cycle: plan[0] (analyze) → plan[1] (analyze) → plan[0] (analyze); each waits for what the one before it writes, so none can start`}},
		{"of three, told once, and nothing of those that wait for it", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.c", "_outputPath": "z"},
			{"_tool": "analyze", "text": "†state.c", "_outputPath": "a"}, {"_tool": "analyze", "text": "†state.a", "_outputPath": "b"},
			{"_tool": "analyze", "text": "†state.b", "_outputPath": "c"}]}`, []string{
			`error $.context[0].plan[1].text: a cycle: plan[1] (analyze) → plan[2] (analyze) → plan[3] (analyze) → plan[1] (analyze); each waits for what the one before it writes, so none can start`}},
		{"two of them", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"}, {"_tool": "analyze", "text": "†state.d", "_outputPath": "c"},
			{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}, {"_tool": "analyze", "text": "†state.c", "_outputPath": "d"}]}`, []string{
			`error $.context[0].plan[0].text: a cycle: plan[0] (analyze) → plan[2] (analyze) → plan[0] (analyze); each waits for what the one before it writes, so none can start`,
			`error $.context[0].plan[1].text: a cycle: plan[1] (analyze) → plan[3] (analyze) → plan[1] (analyze); each waits for what the one before it writes, so none can start`}},
		{"in one instance alone", ``, `{"type": "state", "_instance": "①", "a": "x"}, {"type": "state", "_instance": "②", "z": "x"}, {"type": "plan", "plan": [
			{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"}, {"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}]}`, []string{
			`error $.context[2].plan[0].text: a cycle: plan[0] (analyze) → plan[1] (analyze) → plan[0] (analyze); each waits for what the one before it writes, so none can start (in ②)`}},
		{"none where an alternative breaks it", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"}, {"_tool": "analyze", "text": "†state.a", "_outputPath": "b"},
			{"_tool": "analyze", "text": "x", "_outputPath": "a"}]}`, nil},
		{"none where the State at the start breaks it", ``, `{"type": "state", "a": "x"}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.b", "_outputPath": "a"}, {"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}]}`, nil},
		{"none where they work in different instances", ``, `{"type": "state", "_instance": "①", "b": "x"}, {"type": "state", "_instance": "②", "a": "x"}, {"type": "plan", "plan": [
			{"_tool": "analyze", "_instance": "①", "text": "†state.b", "_outputPath": "a"}, {"_tool": "analyze", "_instance": "②", "text": "†state.a", "_outputPath": "b"}]}`, nil},
	})
}

func TestCheckComparesTypes(t *testing.T) {
	runChecks(t, []checkCase{
		{"an _output with the parameter that reads it", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "mood"}, {"_tool": "rank", "score": "†state.mood"}]}`, []string{
			`error $.context[0].plan[1].score: †state.mood, as plan[0] (analyze) writes it, is of type string; the parameter "score" wants number`}},
		{"at the path that is read", ``, `{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"}, {"_tool": "analyze", "text": "†state.user.id"}, {"_tool": "analyze", "text": "†state.user.name"}]}`, []string{
			`error $.context[0].plan[1].text: †state.user.id, as plan[0] (fetch) writes it, is of type integer; the parameter "text" wants string`}},
		{"a path that the _output does not have", ``, `{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"}, {"_tool": "analyze", "text": "†state.user.nam"}]}`, []string{
			`error $.context[0].plan[1].text: †state.user.nam: plan[0] (fetch) writes †state.user, and its _output has no nam; did you mean name?`}},
		{"deep inside a parameter", ``, `{"type": "plan", "plan": [{"_tool": "rank", "_outputPath": "n"}, {"_tool": "rank", "labels": ["a", "†state.n"]}]}`, []string{
			`error $.context[0].plan[1].labels[1]: †state.n, as plan[0] (rank) writes it, is of type integer; the parameter "labels.1" wants string`}},
		{"an object that Calls make piece by piece", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "a.b"}, {"_tool": "analyze", "text": "†state.a"}]}`, []string{
			`error $.context[0].plan[1].text: †state.a, below which plan[0] (analyze) writes, is of type object; the parameter "text" wants string`}},
		{"what is there", ``, `{"type": "input", "n": 5, "s": "x"}, {"type": "state", "m": 1.5}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†input.n"}, {"_tool": "rank", "score": "†input.n"},
			{"_tool": "fetch", "id": "†input.s"}, {"_tool": "fetch", "id": "†state.m"}]}`, []string{
			`error $.context[2].plan[0].text: †input.n is of type integer; the parameter "text" wants string`,
			`error $.context[2].plan[2].id: †input.s is of type string; the parameter "id" wants integer`,
			`warning $.context[2].plan[3].id: †state.m is of type number; the parameter "id" wants integer`}},
		{"an integer is a number", ``, `{"type": "plan", "plan": [{"_tool": "rank", "_outputPath": "n"}, {"_tool": "rank", "score": "†state.n"}]}`, nil},
		{"a number may be an integer", `"sum": {"type": "object", "properties": {}, "_output": {"type": "number"}}`,
			`{"type": "plan", "plan": [{"_tool": "sum", "_outputPath": "n"}, {"_tool": "fetch", "id": "†state.n"}]}`, []string{
				`warning $.context[0].plan[1].id: †state.n, as plan[0] (sum) writes it, is of type number; the parameter "id" wants integer`}},
		{"one of several types may fit", `"maybe": {"type": "object", "properties": {}, "_output": {"anyOf": [{"type": "number"}, {"type": ["string", "null"]}]}}`,
			`{"type": "plan", "plan": [{"_tool": "maybe", "_outputPath": "n"}, {"_tool": "analyze", "text": "†state.n"}]}`, nil},
		{"what says no type is believed", `"any": {"type": "object", "properties": {}, "_output": {"description": "who knows"}}`,
			`{"type": "plan", "plan": [{"_tool": "any", "_outputPath": "n"}, {"_tool": "rank", "score": "†state.n", "_outputPath": "m.n"}, {"_tool": "analyze", "text": "†state.n.o"}]}`, nil},
		{"what an update makes of a value is not known", ``, `{"type": "plan", "plan": [{"_tool": "rank", "_outputPath": "n", "_outputMethod": "push"}, {"_tool": "rank", "labels": "†state.n"}]}`, nil},
	})
}

func TestCheckHoldsPlansAndStatesToTheStateSchema(t *testing.T) {
	const closed = `"schema": {"type": "object", "properties": {"text": {"type": "string"}, "user": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"], "additionalProperties": false},
		"tags": {"type": "array", "items": {"type": "object", "required": ["id"]}}}, "required": ["text", "user"], "additionalProperties": false}`
	runChecks(t, []checkCase{
		{"output paths outside a closed schema", ``, `{"type": "state", ` + closed + `}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "txt"},
			{"_tool": "analyze", "text": "x", "output": "†state.user.nam"}, {"_tool": "analyze", "text": "x", "_outputPath": "user.name"}]}`, []string{
			`error $.context[1].plan[0]._outputPath: †state.txt stands outside the closed State schema; did you mean text?`,
			`error $.context[1].plan[1].output: †state.user.nam stands outside the closed State schema; did you mean name?`}},
		{"a fixed output path, told at the tool", `"log": {"type": "object", "properties": {}, "_outputPath": "†state.log"}`,
			`{"type": "state", ` + closed + `}, {"type": "plan", "plan": [{"_tool": "log"}]}`, []string{
				`error $.schema.tools.log._outputPath: †state.log stands outside the closed State schema`}},
		{"References outside a closed schema", ``, `{"type": "state", ` + closed + `}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.txt"}]}`, []string{
			`error $.context[1].plan[0].text: †state.txt stands outside the closed State schema; did you mean text?`}},
		{"in one instance alone", ``, `{"type": "state", "_instance": "①", ` + closed + `}, {"type": "state", "_instance": "②", "a": 1}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "mood"}]}`, []string{
			`error $.context[2].plan[0]._outputPath: †state.mood stands outside the closed State schema (in ①)`}},
		{"a start State of wrong types, and one that only lacks something", ``, `{"type": "state", "state": {"text": 5, "user": {"age": "old"}, "tags": [{}], "more": 1}, ` + closed + `}`, []string{
			`error $.context[0].state.more: †state.more stands outside the closed schema`,
			`error $.context[0].state.tags: †state.tags does not fit its schema: /0: missing properties: 'id'`,
			`error $.context[0].state.text: †state.text does not fit its schema: expected string, but got number`,
			`error $.context[0].state.user.age: †state.user.age does not fit its schema: expected integer, but got string`}},
		{"an object where something else is wanted", ``, `{"type": "state", "text": {"a": 1}, ` + closed + `}`, []string{
			`error $.context[0].text: †state.text is of type object; its schema wants string`}},
		{"a large value is not looked into", ``, `{"type": "state", "state": {"text": {"†blob": {"digest": "d", "size": 9, "type": "array"}}}, ` + closed + `}`, nil},
		{"the message that gives the value is the one to blame", ``, `{"type": "state", "text": "x", ` + closed + `}, {"type": "state", "text": 1}, {"type": "state", "_instance": "①", "text": "own"}, {"type": "state", "_instance": "②", "state": {}}`, []string{
			`error $.context[1].text: †state.text does not fit its schema: expected string, but got number (in ②)`}},
		{"other payloads that do not fit will still be used", ``, `{"type": "input", "n": "x", "schema": {"properties": {"n": {"type": "integer"}}}}, {"type": "data", "kind": "memo", "n": 1, "schema": {"properties": {"n": {"type": "string"}}}}`, []string{
			`warning $.context[0].n: †input.n does not fit its schema: expected integer, but got string`,
			`warning $.context[1].n: †memo.n does not fit its schema: expected string, but got number`}},
	})
}

func TestCheckWarnsOfCallsThatWillProbablyNotDoWhatTheyShould(t *testing.T) {
	runChecks(t, []checkCase{
		{"a path within another's", ``, `{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"}, {"_tool": "analyze", "text": "x", "_outputPath": "user.mood"}]}`, []string{
			`warning $.context[0].plan[1]._outputPath: one of †state.user.mood and †state.user, which plan[0] (fetch) writes, lies within the other: the Call is skipped unless that one fails`}},
		{"a value that is set behind its updates", ``, `{"type": "plan", "plan": [{"_tool": "rank", "_outputPath": "n", "_outputMethod": "push"}, {"_tool": "rank", "_outputPath": "n"}]}`, []string{
			`warning $.context[0].plan[1]._outputPath: †state.n is updated by plan[0] (rank) before, so the Call is skipped: put it first, or give it an _outputMethod`}},
		{"a Call that stands twice", ``, `{"type": "plan", "plan": [{"_tool": "rank", "score": 1, "_outputPath": "n"}, {"_tool": "rank", "score": 1, "_outputPath": "n", "_reasoningForCall": "again"}]}`, []string{
			`warning $.context[0].plan[1]: the Call repeats plan[0] (rank): it runs only if that one fails`}},
		{"a Call that reads what it writes", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "draft"}, {"_tool": "analyze", "text": "†state.draft", "_outputPath": "draft"}]}`, []string{
			`warning $.context[0].plan[1]._outputPath: the Call reads †state.draft and is skipped once that is there, as its own path †state.draft is closed then; write elsewhere, or declare an _outputMethod on its tool`}},
		{"a path below a value", ``, `{"type": "state", "a": "text"}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "a.b"}]}`, []string{
			`warning $.context[1].plan[0]._outputPath: †state.a.b: something other than an object stands above it at the start, so the Call never runs`}},
	})
}

func TestCheckLooksAtThePalette(t *testing.T) {
	runChecks(t, []checkCase{
		{"an instruction for a tool that there is not", ``, `{"type": "instruction", "instruction": "be kind", "tools": ["analyze", "rnak"]}`, []string{
			`error $.context[0].tools[1]: unknown tool "rnak"; the palette has analyze, fetch, rank`}},
		{"a parameter that must be given and cannot", `"odd": {"type": "object", "properties": {"subject": {"type": "string"}}, "required": ["subjct"]}`, ``, []string{
			`error $.schema.tools.odd.required[0]: "subjct" is required and no parameter: no Call can fit; did you mean subject?`}},
		{"a wired parameter that finds nothing in some instances", `"mail": {"type": "object", "properties": {"to": {"const": "†input.to"}}}`,
			`{"type": "input", "_instance": "①", "to": "x"}, {"type": "state", "_instance": "②", "to": "x"}`, []string{
				`error $.schema.tools.mail.properties.to.const: parameter "to" is wired to nothing: reference †input.to: the context has no "input" (in ②)`}},
		{"every part that cannot be sent strict, with the reason", `"open": {"type": "object"},
			"picky": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "minLength": 3}}},
			"zeal": {"type": "object", "properties": {}, "_outputMethod": {"type": "string", "not": {"const": "merge"}}}`, ``, []string{
			`warning $.schema.tools.open: the LLM's server cannot hold replies to the form strictly: tool open: it takes parameters beside those it names`,
			`warning $.schema.tools.picky.properties.b: the LLM's server cannot hold replies to the form strictly: tool picky, parameter "b": keyword "minLength"`,
			`warning $.schema.tools.zeal._outputMethod: the LLM's server cannot hold replies to the form strictly: tool zeal, _outputMethod: keyword "not"`}},
	})
}

func TestCheckWarnsOfAnOutputFormThatCannotBeSentStrict(t *testing.T) {
	i := ideaOf(t, `{"schema": {"output": {"type": "object", "properties": {"x": {"type": "object"}}}}}`)
	want := `warning $.schema.output: the LLM's server cannot hold replies to the form strictly: output: an object without named properties`
	if got := told(Check(i, nil)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCheckWarnsOfAPaletteThatIsTooLargeAsAWhole(t *testing.T) {
	var tools []string
	for n := range 9 {
		var enum []string
		for v := range 120 {
			enum = append(enum, fmt.Sprintf(`"%d-%d"`, n, v))
		}
		tools = append(tools, fmt.Sprintf(`"t%d": {"type": "object", "properties": {"x": {"type": "string", "enum": [%s]}}}`, n, strings.Join(enum, ",")))
	}
	i := ideaOf(t, `{"schema": {"tools": {`+strings.Join(tools, ",")+`}}}`)
	want := `warning $.schema: the LLM's server cannot hold replies to the form strictly: 1089 enum values, over 1000`
	if got := told(Check(i, nil)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCheckGoesByTheBindingsWhereThereAreSome(t *testing.T) {
	i := checkedIdea(t, "", `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_output": "good", "_outputPath": "a"}]}`)
	if got := told(Check(i, nil)); got != "" {
		t.Errorf("with nothing known: %s", got)
	}
	got := told(Check(i, map[string]Binding{"analyze": {Kind: KindGo}, "fetch": {Kind: KindGo}, "rank": {Kind: KindGo}}))
	if want := `error $.context[0].plan[0]._output: tool "analyze" is run by code: its result cannot be written by the LLM`; got != want {
		t.Errorf("got %s", got)
	}
}

// correct lists contexts with which nothing is wrong.
var correct = []struct{ name, tools, context string }{
	{"nothing at all", ``, ``},
	{"a chain through State, in any order", ``, `{"type": "plan", "plan": [{"_tool": "rank", "score": "†state.user.id"}, {"_tool": "analyze", "text": "†state.user.name", "_outputPath": "mood"}, {"_tool": "fetch", "id": 1, "_outputPath": "user"}]}`},
	{"alternatives for one path", ``, `{"type": "state", "text": "x"}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.text", "_outputPath": "mood"}, {"_tool": "analyze", "text": "again", "_outputPath": "mood"}, {"_tool": "analyze", "text": "†state.mood"}]}`},
	{"Plans that are alternatives", ``, `{"type": "plan", "name": "one", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "a"}]}, {"type": "plan", "name": "two", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "a.b"}]}`},
	{"a template for every instance, with and without *", ``, `{"type": "state", "_instance": "①", "text": "x"}, {"type": "state", "_instance": "②", "text": "y"}, {"type": "plan", "plan": [
		{"_tool": "analyze", "_instance": "*", "text": "†state.text", "_outputPath": "mood"}, {"_tool": "analyze", "text": "†state.mood"}, {"_tool": "analyze", "_instance": "②", "text": "†state.mood"}]}`},
	{"* in a process without tokens", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "_instance": "*", "text": "x"}]}`},
	{"a Plan for one instance", ``, `{"type": "state", "_instance": "①", "text": "x"}, {"type": "state", "_instance": "②", "other": "y"}, {"type": "plan", "_instance": "①", "plan": [{"_tool": "analyze", "text": "†state.text"}]}`},
	{"output that means _outputPath", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "output": "†state.mood"}, {"_tool": "analyze", "text": "†state.mood"}]}`},
	{"output that is a parameter", `"show": {"type": "object", "properties": {"output": {"type": "string"}}, "required": ["output"]}`, `{"type": "state", "x": "y"}, {"type": "plan", "plan": [{"_tool": "show", "output": "†state.x"}]}`},
	{"a literal dagger", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "††state.nowhere"}, {"_tool": "rank", "labels": ["††"]}]}`},
	{"wired parameters", `"mail": {"type": "object", "properties": {"to": {"const": "†input.to"}, "mood": {"type": "string", "const": "†state.mood"}}, "required": ["to", "mood"]}`,
		`{"type": "input", "to": "x"}, {"type": "plan", "plan": [{"_tool": "mail"}, {"_tool": "mail", "to": "†input.to"}, {"_tool": "analyze", "text": "x", "_outputPath": "mood"}]}`},
	{"a fixed output path and method", `"log": {"type": "object", "properties": {}, "_outputPath": "†state.log", "_outputMethod": "push", "_output": {"type": "string"}}`, `{"type": "plan", "plan": [{"_tool": "log"}, {"_tool": "log"}, {"_tool": "rank", "labels": "†state.log"}]}`},
	{"null for what may be absent", ``, `{"type": "plan", "plan": [{"_tool": "rank", "score": null, "labels": null, "_outputPath": null, "_scopes": null, "_approval": null}]}`},
	{"the whole State", `"all": {"type": "object", "properties": {"state": {"type": "object", "properties": {}}}, "_output": {"type": "object", "properties": {"a": {"type": "string"}}}}`,
		`{"type": "plan", "plan": [{"_tool": "all", "state": "†state", "_outputPath": "†state"}, {"_tool": "analyze", "text": "†state.a"}]}`},
	{"a value that is there already", ``, `{"type": "state", "state": {"mood": "good", "user": {"name": "x"}}}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.gone", "_outputPath": "mood"}, {"_tool": "fetch", "id": 1, "_outputPath": "user"}, {"_tool": "analyze", "text": "†state.user.name"}]}`},
	{"updates side by side, and a value below one", `"merge": {"type": "object", "properties": {}, "_outputMethod": "merge"}`, `{"type": "plan", "plan": [{"_tool": "merge", "_outputPath": "a"}, {"_tool": "merge", "_outputPath": "a"}, {"_tool": "analyze", "text": "x", "_outputPath": "a.b"},
		{"_tool": "rank", "_outputPath": "n"}, {"_tool": "rank", "_outputPath": "n", "_outputMethod": "push"}]}`},
	{"data of another kind", ``, `{"type": "data", "kind": "memo", "lines": ["x"]}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†memo.lines[0]"}]}`},
	{"what may be inside a large value", ``, `{"type": "input", "input": {"big": {"†blob": {"digest": "d", "size": 9, "type": "array"}}}}, {"type": "state", "big": {"†blob": {"digest": "d", "size": 9, "type": "object"}}}, {"type": "plan", "plan": [
		{"_tool": "analyze", "text": "†input.big[7].x"}, {"_tool": "rank", "labels": "†input.big"}, {"_tool": "analyze", "text": "†state.big.any"}]}`},
	{"a shared setting that an instance has its own way", ``, `{"type": "input", "lang": "en"}, {"type": "input", "_instance": "①", "lang": "de"}, {"type": "state", "_instance": "②", "state": {}}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†input.lang"}]}`},
	{"a latent result that is there, and one that is not", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_output": "good", "_outputPath": "a"}, {"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}]}`},
	{"instructions for tools", ``, `{"type": "instruction", "instruction": {"be": "kind"}, "tools": ["analyze", "rank"]}`},
	{"a closed schema with room for everything", ``, `{"type": "state", "state": {"text": "x"}, "schema": {"type": "object", "properties": {"text": {"type": "string"}, "mood": {"$ref": "#/$defs/mood"}, "extra": {"type": "object", "additionalProperties": {"type": "string"}}},
		"required": ["mood"], "additionalProperties": false, "$defs": {"mood": {"type": "string"}}}}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.text", "_outputPath": "mood"}, {"_tool": "analyze", "text": "†state.mood", "_outputPath": "extra.any"}]}`},
	{"the Plan's own output", ``, `{"type": "input", "a": 1}, {"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "mood"}], "output": {"mood": "†state.mood", "a": "†input.a", "all": "†state", "text": "††x"}}`},
}

func TestCheckFindsNothingInCorrectFiles(t *testing.T) {
	for _, c := range correct {
		t.Run(c.name, func(t *testing.T) {
			if got := told(Check(checkedIdea(t, c.tools, c.context), nil)); got != "" {
				t.Errorf("%s", got)
			}
		})
	}
}

// A Call of a correct Plan is accepted by every instance it is for: what Check lets pass, a Run does not refuse.
func TestWhatCheckLetsPassIsAcceptedByInstances(t *testing.T) {
	for _, c := range correct {
		t.Run(c.name, func(t *testing.T) {
			i := checkedIdea(t, c.tools, c.context)
			checker := &checker{idea: i}
			for _, token := range i.Tokens() {
				for _, m := range i.Context {
					if m.Type != TypePlan || m.Instance != "" && m.Instance != token {
						continue
					}
					r := NewRun(Palette{Tools: i.Tools, Bindings: checker.assumed(), Template: true}, i.Context, token)
					for n, call := range m.Calls {
						if target, ok := call.(map[string]any)["_instance"].(string); !ok || target == "*" || target == token {
							r.Accept(1, n+1, call)
						}
					}
					for _, rec := range r.Records() {
						if rec.Status == Failed {
							t.Errorf("%s: %s", rec.ID, rec.Fault)
						}
					}
				}
			}
		})
	}
}

func TestAnIdeaThatBreaksTheFormIsCheckedAsFarAsItGoes(t *testing.T) {
	i, ps := ParseIdea([]byte(`{"schema": {"tools": {"a": 5, "b": {"type": "object", "properties": {"x": {"type": "nonsense"}}, "_output": {"type": 5}, "_outputPath": {"type": 7}}}},
		"context": ["text", {"type": "plan"}, {"type": "plan", "plan": [{"_tool": "b", "x": 1}, {"_tool": "c"}]}]}`))
	if len(ps) == 0 {
		t.Fatal("the file is broken")
	}
	got := told(Check(i, nil))
	if !strings.Contains(got, `error $.context[2].plan[1]._tool: unknown tool "c"`) {
		t.Errorf("got %s", got)
	}
	if Check(nil, nil) != nil {
		t.Error("there is nothing wrong with nothing")
	}
}

func TestProblemsStandInTheOrderOfTheFile(t *testing.T) {
	places := []string{
		"$.schema.output", "$.schema.tools.a", "$.schema.tools.a.properties.x", "$.context[1]._instance", "$.context[2].plan[2]",
		"$.context[2].plan[2].a", "$.context[2].plan[2].a[9]", "$.context[2].plan[2].a[10]", "$.context[2].plan[10]", "$.context[10].plan[0]",
	}
	for a := range places {
		for b := range places {
			if got := placeBefore(places[a], places[b]); got != (a < b) {
				t.Errorf("%s before %s: %v", places[a], places[b], got)
			}
		}
	}
}

func TestCheckSaysTheSameEachTime(t *testing.T) {
	context := `{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "b": 1}, {"type": "plan", "plan": [
		{"_tool": "rank", "score": "†state.a", "labels": ["†state.b", "†input.x"], "bad": 1, "_x": 1}, {"_tool": "fetch", "id": "†state.c", "_outputPath": "d"}, {"_tool": "fetch", "id": "†state.d", "_outputPath": "c"}]}`
	first := told(Check(checkedIdea(t, "", context), nil))
	for range 100 {
		if again := told(Check(checkedIdea(t, "", context), nil)); again != first {
			t.Fatalf("first:\n%s\nthen:\n%s", first, again)
		}
	}
}

func TestAThousandInstancesAreCheckedTogether(t *testing.T) {
	var b strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&b, `{"type": "state", "_instance": "i%d", "text": "text %d"},`, n, n)
	}
	got := Check(checkedIdea(t, "", b.String()+`{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.text", "_outputPath": "mood"},
		{"_tool": "analyze", "text": "†state.moot"}, {"_tool": "analyze", "_instance": "i7", "text": "†state.nothing"}]}`), nil).Errors()
	want := `error $.context[1000].plan[1].text: no Call writes †state.moot and no State holds it at the start; did you mean †state.mood?
error $.context[1000].plan[2].text: no Call writes †state.nothing and no State holds it at the start; there are †state.mood, †state.text`
	if told(got) != want {
		t.Errorf("got %s", told(got))
	}
}

// oddValue draws what nobody would write in a Call's place.
var oddValue = rapid.SampledFrom([]any{nil, true, "†", "†state", "*", "x", []any{}, []any{"†input.x"}, map[string]any{}, map[string]any{"_tool": 5, "x": nil}})

// Whatever stands in a file, Check ends and does not panic.
func TestCheckSurvivesAnyPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawPlan(rt, planKnobs{calls: 6, requests: 1})
		var calls []any
		for _, c := range plan.requests[0] {
			raw := any(c.raw)
			switch rapid.IntRange(0, 9).Draw(rt, "broken") {
			case 0:
				raw = oddValue.Draw(rt, "call")
			case 1:
				raw = withoutKey(c.raw, "_tool")
			case 2:
				raw.(map[string]any)["_instance"] = oddValue.Draw(rt, "instance")
			}
			calls = append(calls, raw)
		}
		tools := map[string]any{}
		for _, tool := range playTools.Tools {
			tools[tool.Name] = tool.Source
		}
		idea := map[string]any{"schema": map[string]any{"tools": tools}, "context": append(plan.context, map[string]any{"type": "plan", "plan": calls})}
		i, ps := ReadIdea(idea)
		if len(ps) > 0 {
			rt.Fatalf("%s", ps)
		}
		Check(i, playTools.Bindings)
	})
}

// everything is a value that has all the paths of random Plans.
func everything(depth int) any {
	if depth == 0 {
		return "leaf"
	}
	out := map[string]any{}
	for _, k := range []string{"a", "b", "c", "d", "e"} {
		out[k] = everything(depth - 1)
	}
	return out
}

func aboutCalls(ps Problems) bool {
	for _, p := range ps {
		if strings.Contains(p.Path, ".plan[") {
			return true
		}
	}
	return false
}

// checkedPlay is a random Plan of Calls that all succeed, as it went and as Check sees it.
func checkedPlay(rt *rapid.T, k planKnobs) (*play, Problems) {
	plan := drawPlan(rt, k)
	var calls []any
	tools := map[string]any{}
	for _, tool := range playTools.Tools {
		tools[tool.Name] = tool.Source
	}
	for n := range plan.requests[0] {
		c := &plan.requests[0][n]
		c.index, c.fails, c.result = n+1, false, func(_, _ map[string]any) any { return everything(3) }
		delete(c.raw, "_output")
		calls = append(calls, c.raw)
	}
	i, ps := ReadIdea(map[string]any{
		"schema":  map[string]any{"tools": tools},
		"context": append(plan.context[:len(plan.context):len(plan.context)], map[string]any{"type": "plan", "plan": calls}),
	})
	if len(ps) > 0 {
		rt.Fatalf("%s", ps)
	}
	p := newPlay(plan)
	p.through(rt, inOrder)
	return p, Check(i, playTools.Bindings)
}

// Where Check has nothing to say about a Plan of write-once Calls that all succeed, no Call blocks.
func TestAPlanThatCheckFindsNothingInDoesNotBlock(t *testing.T) {
	blocked := 0
	rapid.Check(t, func(rt *rapid.T) {
		p, problems := checkedPlay(rt, planKnobs{calls: 5, requests: 1, onlyWriteOnce: true, noWhole: true})
		for _, rec := range p.run.Records() {
			if rec.Status == Failed {
				return // a result did not fit, which nobody can know before
			}
		}
		for _, rec := range p.run.Records() {
			if rec.Status == Blocked {
				blocked++
				if !aboutCalls(problems) {
					rt.Fatalf("%s is blocked and Check says nothing: %s\n%s", rec.ID, rec.Fault, p.plan)
				}
			}
		}
	})
	if blocked == 0 {
		t.Error("no Plan blocked: the test tests nothing")
	}
}

// A Call of which Check reports an error never runs to a good end.
func TestACallThatCheckReportsNeverSucceeds(t *testing.T) {
	reported := 0
	rapid.Check(t, func(rt *rapid.T) {
		p, problems := checkedPlay(rt, planKnobs{calls: 6, requests: 1})
		for n, rec := range p.run.Records() {
			for _, problem := range problems.Errors() {
				if !strings.HasPrefix(problem.Path, fmt.Sprintf("$.context[2].plan[%d]", n)) {
					continue
				}
				reported++
				if rec.Status == Done {
					rt.Fatalf("%s is done, and Check says: %s\n%s", rec.ID, problem, p.plan)
				}
			}
		}
	})
	if reported == 0 {
		t.Error("no Call was reported: the test tests nothing")
	}
}
