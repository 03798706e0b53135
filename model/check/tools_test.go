package check

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/modeltest"
)

func TestCheckComparesTypes(t *testing.T) {
	t.Parallel()
	runChecks(t, []checkCase{
		{"an _output with the parameter that reads it", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "mood"},
			{"_tool": "rank", "score": "†state.mood"}]}`, []string{
			`error $.context[0].plan[1].score: †state.mood, as plan[0] (analyze) writes it, is of type string; the parameter "score" wants number; convert it first, or read another value`}},
		{"at the path that is read", ``, `{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"},
			{"_tool": "analyze", "text": "†state.user.id"}, {"_tool": "analyze", "text": "†state.user.name"}]}`, []string{
			`error $.context[0].plan[1].text: †state.user.id, as plan[0] (fetch) writes it, is of type integer; the parameter "text" wants string; convert it first, or read another value`}},
		{"a path that the _output does not have", ``, `{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"},
			{"_tool": "analyze", "text": "†state.user.nam"}]}`, []string{
			`error $.context[0].plan[1].text: †state.user.nam: plan[0] (fetch) writes †state.user, and its _output has no nam; did you mean name?`}},
		{"a path that the _output does not have, with all that it has", ``, `{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"},
			{"_tool": "analyze", "text": "†state.user.email"}]}`, []string{
			`error $.context[0].plan[1].text: †state.user.email: plan[0] (fetch) writes †state.user, and its _output has no email; it has id, name`}},
		{"deep inside a parameter", ``, `{"type": "plan", "plan": [{"_tool": "rank", "_outputPath": "n"},
			{"_tool": "rank", "labels": ["a", "†state.n"]}]}`, []string{
			`error $.context[0].plan[1].labels[1]: †state.n, as plan[0] (rank) writes it, is of type integer; the parameter "labels.1" wants string; convert it first, or read another value`}},
		{"an object that Calls make piece by piece", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "a.b"},
			{"_tool": "analyze", "text": "†state.a"}]}`, []string{
			`error $.context[0].plan[1].text: †state.a, below which plan[0] (analyze) writes, is of type object; the parameter "text" wants string; convert it first, or read another value`}},
		{"what is there", ``, `{"type": "input", "n": 5, "s": "x"}, {"type": "state", "m": 1.5},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "†input.n"}, {"_tool": "rank", "score": "†input.n"},
			{"_tool": "fetch", "id": "†input.s"}, {"_tool": "fetch", "id": "†state.m"}]}`, []string{
			`error $.context[2].plan[0].text: †input.n is of type integer; the parameter "text" wants string; convert it first, or read another value`,
			`error $.context[2].plan[2].id: †input.s is of type string; the parameter "id" wants integer; convert it first, or read another value`,
			`warning $.context[2].plan[3].id: †state.m is of type number; the parameter "id" wants integer; convert it first, or read another value`}},
		{"an integer is a number", ``, `{"type": "plan", "plan": [{"_tool": "rank", "_outputPath": "n"},
			{"_tool": "rank", "score": "†state.n"}]}`, nil},
		{"a number may be an integer", `"sum": {"type": "object", "properties": {}, "_output": {"type": "number"}}`,
			`{"type": "plan", "plan": [{"_tool": "sum", "_outputPath": "n"}, {"_tool": "fetch", "id": "†state.n"}]}`,
			[]string{
				`warning $.context[0].plan[1].id: †state.n, as plan[0] (sum) writes it, is of type number; the parameter "id" wants integer; convert it first, or read another value`}},
		{"one of several types may fit", `"maybe": {"type": "object", "properties": {}, "_output": {"anyOf": [{"type": "number"},
			{"type": ["string", "null"]}]}}`,
			`{"type": "plan", "plan": [{"_tool": "maybe", "_outputPath": "n"}, {"_tool": "analyze", "text": "†state.n"}]}`, nil},
		{"what says no type is believed",
			`"any": {"type": "object", "properties": {}, "_output": {"description": "who knows"}}`,
			`{"type": "plan", "plan": [{"_tool": "any", "_outputPath": "n"},
				{"_tool": "rank", "score": "†state.n", "_outputPath": "m.n"}, {"_tool": "analyze", "text": "†state.n.o"}]}`, nil},
		{"what an update makes of a value is not known", ``, `{"type": "plan", "plan": [{"_tool": "rank", "_outputPath": "n", "_outputMethod": "push"},
			{"_tool": "rank", "labels": "†state.n"}]}`, nil},
	})
}

func TestCheckHoldsPlansAndStatesToTheStateSchema(t *testing.T) {
	t.Parallel()
	const closed = `"schema": {"type": "object", "properties": {"text": {"type": "string"}, "user": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"], "additionalProperties": false},
		"tags": {"type": "array", "items": {"type": "object", "required": ["id"]}}}, "required": ["text", "user"], "additionalProperties": false}`
	runChecks(t, []checkCase{
		{"output paths outside a closed schema", ``, `{"type": "state", ` + closed + `},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "txt"},
			{"_tool": "analyze", "text": "x", "output": "†state.user.nam"},
				{"_tool": "analyze", "text": "x", "_outputPath": "user.name"}]}`, []string{
			`error $.context[1].plan[0]._outputPath: †state.txt stands outside the closed State schema; did you mean text?`,
			`error $.context[1].plan[1].output: †state.user.nam stands outside the closed State schema; did you mean name?`}},
		{"a fixed output path, reported at the tool",
			`"log": {"type": "object", "properties": {}, "_outputPath": "†state.log"}`,
			`{"type": "state", ` + closed + `}, {"type": "plan", "plan": [{"_tool": "log"}]}`, []string{
				`error $.schema.tools.log._outputPath: †state.log stands outside the closed State schema`}},
		{"References outside a closed schema", ``, `{"type": "state", ` + closed + `},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "†state.txt"}]}`, []string{
			`error $.context[1].plan[0].text: †state.txt stands outside the closed State schema; did you mean text?`}},
		{"in one instance alone", ``, `{"type": "state", "_instance": "①", ` + closed + `},
			{"type": "state", "_instance": "②", "a": 1},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "mood"}]}`, []string{
			`error $.context[2].plan[0]._outputPath: †state.mood stands outside the closed State schema (in ①)`}},
		{"a start State of wrong types, and one that only lacks something", ``,
			`{"type": "state", "state": {"text": 5, "user": {"age": "old"}, "tags": [{}], "more": 1}, ` + closed + `}`,
			[]string{
				`error $.context[0].state.more: †state.more stands outside the closed schema`,
				`error $.context[0].state.tags: †state.tags does not fit its schema: /0: missing properties: 'id'`,
				`error $.context[0].state.text: †state.text does not fit its schema: expected string, but got number`,
				`error $.context[0].state.user.age: †state.user.age does not fit its schema: expected integer, but got string`}},
		{"an object where something else is wanted", ``, `{"type": "state", "text": {"a": 1}, ` + closed + `}`,
			[]string{
				`error $.context[0].text: †state.text is of type object; its schema wants string`}},
		{"a large value is not looked into", ``,
			`{"type": "state", "state": {"text": {"†blob": {"digest": "d", "size": 9, "type": "array"}}, "tags": [{"†blob": {"digest": "d", "size": 9, "type": "array"}}]}, ` + closed + `}`, nil},
		{"an instance's own misfit", ``, `{"type": "state", ` + closed + `},
			{"type": "state", "_instance": "①", "state": {"text": "x"}},
			{"type": "state", "_instance": "②", "state": {"text": 7}}`, []string{
			`error $.context[2].state.text: †state.text does not fit its schema: expected string, but got number`}},
		{"the message that gives the value is the one to blame", ``, `{"type": "state", "text": "x", ` + closed + `},
			{"type": "state", "text": 1}, {"type": "state", "_instance": "①", "text": "own"},
			{"type": "state", "_instance": "②", "state": {}}`, []string{
			`error $.context[1].text: †state.text does not fit its schema: expected string, but got number (in ②)`}},
		{"other payloads that do not fit will still be used", ``, `{"type": "input", "n": "x", "schema": {"properties": {"n": {"type": "integer"}}}},
			{"type": "data", "kind": "memo", "n": 1, "schema": {"properties": {"n": {"type": "string"}}}}`, []string{
			`warning $.context[0].n: †input.n does not fit its schema: expected integer, but got string`,
			`warning $.context[1].n: †memo.n does not fit its schema: expected string, but got number`}},
	})
}

func TestCheckWarnsOfCallsThatWillProbablyNotDoWhatTheyShould(t *testing.T) {
	t.Parallel()
	runChecks(t, []checkCase{
		{"a path within another's", ``, `{"type": "plan", "plan": [{"_tool": "fetch", "id": 1, "_outputPath": "user"},
			{"_tool": "analyze", "text": "x", "_outputPath": "user.mood"}]}`, []string{
			`warning $.context[0].plan[1]._outputPath: one of †state.user.mood and †state.user, which plan[0] (fetch) writes, is within the other: the Call is skipped unless that one fails; write to a path beside it`}},
		{"a value that is set behind its updates", ``, `{"type": "plan", "plan": [{"_tool": "rank", "_outputPath": "n", "_outputMethod": "push"},
			{"_tool": "rank", "_outputPath": "n"}]}`, []string{
			`warning $.context[0].plan[1]._outputPath: †state.n is updated by plan[0] (rank) before, so the Call is skipped: put it first, or give it an _outputMethod`}},
		{"a Call that stands twice", ``, `{"type": "plan", "plan": [{"_tool": "rank", "score": 1, "_outputPath": "n"},
			{"_tool": "rank", "score": 1, "_outputPath": "n", "_reasoningForCall": "again"}]}`, []string{
			`warning $.context[0].plan[1]: the Call repeats plan[0] (rank): it runs only if that one fails; drop it, or write elsewhere`}},
		{"a Call that reads what it writes", ``, `{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "draft"},
			{"_tool": "analyze", "text": "†state.draft", "_outputPath": "draft"}]}`, []string{
			`warning $.context[0].plan[1]._outputPath: the Call reads †state.draft, which closes its own path †state.draft, so it is always skipped; write elsewhere, or declare an _outputMethod on its tool`}},
		{"a path below a value", ``, `{"type": "state", "a": "text"},
			{"type": "plan", "plan": [{"_tool": "analyze", "text": "x", "_outputPath": "a.b"}]}`, []string{
			`warning $.context[1].plan[0]._outputPath: †state.a.b: something other than an object stands above it at the start, so the Call never runs`}},
	})
}

func TestCheckLooksAtThePalette(t *testing.T) {
	t.Parallel()
	runChecks(t, []checkCase{
		{"an instruction for a tool that there is not", ``,
			`{"type": "instruction", "instruction": "be kind", "tools": ["analyze", "rnak"]}`, []string{
				`error $.context[0].tools[1]: unknown tool "rnak"; the palette has analyze, fetch, rank`}},
		{"a parameter that must be given and cannot",
			`"odd": {"type": "object", "properties": {"subject": {"type": "string"}}, "required": ["subjct"]}`,
			``, []string{
				`error $.schema.tools.odd.required[0]: "subjct" is required but not declared as a parameter: no Call can fit; did you mean subject?`}},
		{"a wired parameter that finds nothing in some instances",
			`"mail": {"type": "object", "properties": {"to": {"const": "†input.to"}}}`,
			`{"type": "input", "_instance": "①", "to": "x"}, {"type": "state", "_instance": "②", "to": "x"}`, []string{
				`error $.schema.tools.mail.properties.to.const: parameter "to" is wired to nothing: reference †input.to: the context has no "input" (in ②)`}},
		{"every part that cannot be sent strict, with the reason", `"open": {"type": "object"},
			"picky": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "allOf": [{"minLength": 3}]}}},
			"zeal": {"type": "object", "properties": {}, "_outputMethod": {"type": "string", "allOf": [{"enum": ["merge", "push"]}]}}`, ``, []string{
			`warning $.schema.tools.open: the LLM's server cannot strictly enforce the schema of replies: tool open: it takes parameters beside those it names`,
			`warning $.schema.tools.picky.properties.b: the LLM's server cannot strictly enforce the schema of replies: tool picky, parameter "b": keyword "allOf"`,
			`warning $.schema.tools.zeal._outputMethod: the LLM's server cannot strictly enforce the schema of replies: tool zeal, _outputMethod: keyword "allOf"`}},
	})
}

func TestCheckWarnsOfAnOutputFormThatCannotBeSentStrict(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t, `{"schema": {"output": {"type": "object", "properties": {"x": {"type": "object"}}}}}`)
	want := `warning $.schema.output: the LLM's server cannot strictly enforce the schema of replies: output: an object without named properties`
	if got := problemLines(Check(i, nil)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCheckWarnsOfAPaletteThatIsTooLargeAsAWhole(t *testing.T) {
	t.Parallel()
	var tools []string
	for n := range 9 {
		var enum []string
		for v := range 120 {
			enum = append(enum, fmt.Sprintf(`"%d-%d"`, n, v))
		}
		tools = append(
			tools, fmt.Sprintf(`"t%d": {"type": "object", "properties": {"x": {"type": "string", "enum": [%s]}}}`, n,
				strings.Join(enum, ",")))
	}
	i := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+strings.Join(tools, ",")+`}}}`)
	want := `warning $.schema: the LLM's server cannot strictly enforce the schema of replies: 1089 enum values, over 1000; move a part of it to a description, or check it in the tool`
	if got := problemLines(Check(i, nil)); got != want {
		t.Errorf("got %s", got)
	}
}

// A condition that means nothing to JSON Schema would have people asked about everything, or about the wrong Calls.
func TestCheckFindsConditionsThatDoNotSayWhatTheySeemTo(t *testing.T) {
	t.Parallel()
	pay := func(when string) string {
		return `"pay": {"type": "object", "properties": {"amount": {"type": "number"}, "to": {"type": "string"},
			"kind": {"type": "string", "enum": ["a", "b"]}, "from": {"type": "object", "properties": {"iban": {"type": "string"}},
			"required": ["iban"]}, "any": {"type": "array", "items": {"type": "string"}}, "lines": {"anyOf": [{"type": "null"},
			{"type": "array", "items": {"$ref": "#/$defs/line"}}]}, "by": {"anyOf": [{"type": "object", "properties": {"card": {"type": "string"}}},
			{"type": "object", "properties": {"cash": {"type": "boolean"}}}, {"type": "null"}]}},
			"$defs": {"line": {"type": "object", "properties": {"sum": {"type": "number"}}}}, "required": ["amount", "to"], "_output": {"type": "string"}, "_approval": {"when": ` + when + `}}`
	}
	const noSchema = `it matches every Call, since %s is no keyword of JSON Schema; ` +
		`want a schema such as {"properties": {"amount": {"exclusiveMinimum": 1000}}}`
	const alone = "if without then or else has no effect, nor have these without if"
	for _, c := range []struct{ when, want string }{
		{`{"properties": {"amount": {"minimum": 5}}}`, ""},
		{`{}`, ""},
		{`{"amount": {">": 1000}}`, `.when: ` + fmt.Sprintf(noSchema, "amount")},
		{`{"properties": {"amount": {">": 1000}}}`, `.when.properties.amount: ` + fmt.Sprintf(noSchema, ">")},
		{`{"properties": {"amuont": {"minimum": 5}}}`,
			`.when.properties.amuont: the Tool has no parameter "amuont"; did you mean amount?`},
		{`{"anyOf": [{"properties": {"x": {"const": 1}}}, {"not": {"required": ["y"]}}]}`,
			`.when.anyOf.not.required: the Tool has no parameter "y"; there are amount, any, by, from, kind, lines, to` + "\n" +
				`.when.anyOf.properties.x: the Tool has no parameter "x"; there are amount, any, by, from, kind, lines, to`},
		{`{"if": {"properties": {"amount": {"minimum": 5}}}, "then": false}`, ""},
		{`{"if": {"properties": {"amount": {"minimum": 5}}}}`, `.when: ` + alone},
		{`{"allOf": [{"then": {"required": ["to"]}}]}`, `.when.allOf: ` + alone},
		{`{"properties": {"to": {"minimum": 1000}}}`, `.when.properties.to.minimum: minimum has no effect on a value of type string`},
		{`{"properties": {"amount": {"minLength": 2}}}`,
			`.when.properties.amount.minLength: minLength has no effect on a value of type number`},
		{`{"properties": {"kind": {"enum": ["a"]}, "any": {"minItems": 1}, "from": {"required": ["iban"]}}}`, ""},
		{`{"properties": {"kind": {"const": "c"}}}`, `.when.properties.kind: no Call can have the value "c" here: ` +
			`the Tool's schema does not allow it`},
		{`{"type": "object", "properties": {"amount": {"type": "integer"}, "any": {"type": ["array", "null"]}}}`, ""},
		{`{"properties": {"amount": {"type": "string"}}}`, `.when.properties.amount: no Call can have a value of type ` +
			`string here: the Tool's schema does not allow it`},
		{`{"not": {"properties": {"amount": {"enum": [1, "1"]}}}}`, `.when.not.properties.amount: no Call can have the ` +
			`value "1" here: the Tool's schema does not allow it`},
		{`{"properties": {"from": {"properties": {"ibn": {"const": "x"}}}}}`, `.when.properties.from.properties.ibn: ` +
			`the parameter has no member "ibn"; did you mean iban?`},
		{`{"properties": {"lines": {"items": {"properties": {"smu": {"minimum": 5}}}}}}`,
			`.when.properties.lines.items.properties.smu: the parameter has no member "smu"; there are sum`},
		{`{"properties": {"lines": {"contains": {"required": ["total"]}}}}`,
			`.when.properties.lines.contains.required: the parameter has no member "total"; there are sum`},
		{`{"properties": {"by": {"anyOf": [{"required": ["cash"]}, {"required": ["carb"]}]}}}`,
			`.when.properties.by.anyOf.required: the parameter has no member "carb"; did you mean card?`},
		{`{"properties": {"lines": {"items": {"properties": {"sum": {"minimum": 5}}}}, "by": {"required": ["card"]},
			"any": {"contains": {"const": "x"}}}}`, ""},
		{`{"allOf": [{"properties": {"from": {"required": ["bic"]}}}]}`, `.when.allOf.properties.from.required: ` +
			`the parameter has no member "bic"; there are iban`},
	} {
		want := strings.ReplaceAll(c.want, ".when", "warning $.schema.tools.pay._approval.when")
		if got := problemLines(Check(checkedIdea(t, pay(c.when), ""), nil)); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.when, got, want)
		}
	}
}
