package model

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAnExpressionIsRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a plain Reference is one", "†state.a", "†state.a"},
		{"spaces around a sign are free", "†state.a||†state.b  &&†input.c", "†state.a || †state.b && †input.c"},
		{"a sign in a quoted step is part of it", `†state["a || b"] || †state["x&&y"].z`, `†state["a || b"] || †state["x&&y"].z`},
		{"one bar and one ampersand are no signs", "†state.a|b && †state.c&d", "†state.a|b && †state.c&d"},
		{"indexes and whole kinds are terms too", "†state || †items[0].x", "†state || †items.0.x"},
	} {
		e, err := ParseExpression(c.text)
		if err != nil || e.String() != c.want {
			t.Errorf("%s: %q, %v", c.name, e, err)
		}
	}
}

func TestABadExpressionIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"a term has no dagger": "†state.a || state.b", "a term is missing": "†state.a ||", "the first is missing": "|| †state.a",
		"three bars": "†state.a ||| †state.b", "a literal as a default": `†state.a || "none"`, "a doubled dagger": "†state.a || ††b",
		"too many terms": strings.Repeat("†state.a || ", maxTerms) + "†state.a", "parentheses": "†state.a && (†state.b || †state.c)",
	} {
		if e, err := ParseExpression(text); err == nil {
			t.Errorf("%s: %q is read as %q", name, text, e)
		}
	}
}

// drawnTerm draws a Reference, some with steps that need quotes.
func drawnTerm(t *rapid.T) Reference {
	step := rapid.SampledFrom([]string{"a", "b", "0", "a||b", "c && d", `q"uote`, "dot.ted", "†"})
	return Reference{rapid.SampledFrom([]string{"state", "input"}).Draw(t, "kind"), Path(rapid.SliceOfN(step, 0, 3).Draw(t, "path"))}
}

func TestAnExpressionIsWrittenAsItIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var e Expression
		for range rapid.IntRange(1, 3).Draw(rt, "alternatives") {
			e = append(e, rapid.SliceOfN(rapid.Custom(drawnTerm), 1, 3).Draw(rt, "terms"))
		}
		back, err := ParseExpression(e.String())
		if err != nil || back.String() != e.String() || len(back) != len(e) {
			rt.Fatalf("%q is read as %q, %v", e, back, err)
		}
		for i := range e {
			if len(back[i]) != len(e[i]) {
				rt.Fatalf("%q is read as %q", e, back)
			}
		}
	})
}

func TestAnOutputPathInJSONIsAPlainPathOrAnExpression(t *testing.T) {
	for written, want := range map[string]string{
		"a.b": `"a.b"`, "†state": `""`, "†state.a && b": `"†state.a \u0026\u0026 †state.b"`, `†state["x||y"]`: `"[\"x||y\"]"`,
		"ok || failed && log": `"†state.ok || †state.failed \u0026\u0026 †state.log"`,
	} {
		o, err := parseOutputPath(written)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(o)
		if err != nil || string(data) != want {
			t.Errorf("%s is %s in JSON, %v", written, data, err)
		}
		var back OutputPath
		if err := json.Unmarshal(data, &back); err != nil || back.Reference() != o.Reference() || len(back) != len(o) {
			t.Errorf("%s came back as %q, %v", data, back, err)
		}
	}
	var none struct {
		Path OutputPath `json:"path"`
	}
	if data, err := json.Marshal(none); err != nil || string(data) != `{"path":null}` {
		t.Errorf("none is %s, %v", data, err)
	}
	if err := json.Unmarshal([]byte(`{"path":null}`), &none); err != nil || none.Path != nil {
		t.Errorf("none came back as %q, %v", none.Path, err)
	}
}

func TestAResultSaysWhichBranchItTook(t *testing.T) {
	o, err := parseOutputPath("ok || failed && log")
	if err != nil {
		t.Fatal(err)
	}
	l := &Landing{Path: o}
	for _, c := range []struct {
		value  string
		branch int
		result string
		said   bool
	}{
		{`{"x": 1}`, 0, `{"x":1}`, false}, {`7`, 0, `7`, false},
		{`{"_outputPath": "†state.failed && †state.log", "_result": 7}`, 1, `7`, true}, {`{"_outputPath": "log", "_result": null}`, 1, `null`, true},
		{`{"_outputPath": "ok", "_result": {"x": 1}}`, 0, `{"x":1}`, true},
		{`{"_outputPath": "failed", "_result": 1, "more": 2}`, 0, `{"_outputPath":"failed","_result":1,"more":2}`, false},
		{`{"_outputPath": "failed"}`, 0, `{"_outputPath":"failed"}`, false},
	} {
		branch, result, said, err := l.Take(mustDecode(c.value))
		if err != nil || branch != c.branch || said != c.said || string(Encode(result)) != c.result {
			t.Errorf("%s takes branch %d with %s, said %v, %v", c.value, branch, Encode(result), said, err)
		}
		if again, _, _, err := l.Take(l.Say(branch, result)); err != nil || again != branch {
			t.Errorf("what is said of branch %d is taken for %d, %v", branch, again, err)
		}
	}
	if _, _, _, err := l.Take(mustDecode(`{"_outputPath": "ok && failed", "_result": 1}`)); err == nil {
		t.Error("a branch that there is not is taken")
	}
}

// A parameter that is no string, and a leaf of the output, may be an expression wherever it may be a Reference.
func TestTheComposedSchemaAllowsExpressionsWhereItAllowsReferences(t *testing.T) {
	p := paletteFrom(t, `{"count": {"_activity": "c", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
		"think": {"properties": {"n": {"type": "integer"}}, "_output": {"type": "string"}}}`)
	form, err := CompileSchema(mustDecode(`{"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"], "additionalProperties": false}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, strict := range []bool{true, false} {
		in := ComposeInput{Tools: p.Tools, Bindings: p.Bindings, Tokens: []string{""}, Output: form}
		composed := Compose(in)
		if !composed.Strict {
			t.Fatal(composed.Reason)
		}
		if !strict {
			loose := composer{in: in}
			composed = Form{Schema: loose.root()}
		}
		s, err := CompileSchema(mustDecode(string(Encode(composed.Schema))))
		if err != nil {
			t.Fatal(err)
		}
		reply := `{"calls": [
			{"_tool": "count", "_reasoningForCall": null, "n": "†state.a || †state.b", "_outputPath": "†state.ok || †state.failed"},
			{"_tool": "think", "_reasoningForCall": null, "n": "†state.a && †state.b", "_outputPath": "†state.c && †state.d", "_output": null}],
			"output": {"sum": "†state.ok || †state.failed.code"}}`
		if err := s.Validate(mustDecode(reply)); err != nil {
			t.Errorf("strict %v: %s", strict, err)
		}
		if s.Validate(mustDecode(strings.Replace(reply, "†state.a ||", "state.a ||", 1))) == nil {
			t.Error("any text is taken for an expression")
		}
	}
}

// Each instance's value is found by itself: one may have taken the one branch, one the other.
func TestAWiredOutputTakesEachInstancesBranch(t *testing.T) {
	s := onStage(t, `{"type": "object"}`, twoInstances)
	s.work = func(_ string, params map[string]any) (any, *Fault) {
		if string(Encode(params["x"])) == "2" {
			return nil, fault(CodeToolFailed, "no luck")
		}
		return "fine", nil
	}
	s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"†state.ok || †state.failed"},
		{"_tool":"think","_instance":"*","x":"†state.ok","_outputPath":"said"}],
		"output":{"all":"†state.ok || †state.failed.message"}}`)
	s.says(`{"calls":[{"_call":"1.2@①","_output":"good"}],"output":null}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"all":{"①":"fine","②":"no luck"}}`)
	s.want("they", s.statuses(), "① settled, ② settled")
}
