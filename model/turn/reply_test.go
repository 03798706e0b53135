package turn_test

import (
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestAResultIsTakenForACallThatWasAskedFor(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t,
		`{"schema": {"tools": {"mood": {"type": "object", "properties": {}, "_output": {"type": "object", "properties": {"mood": {"type": "string"}, "why": {"type": "string"}}, "required": ["mood"]}}, "note": {"type": "object", "properties": {}}}}}`)
	b := &turn.RequestInput{Questions: []turn.QuestionToLLM{{CallID: "1.1@①", InstanceToken: "①", Tool: "mood"},
		{CallID: "1.2", Tool: "note"}, {CallID: "1.3", Tool: "gone"}}}
	for _, c := range []struct{ name, entry, id, out, fault string }{
		{"a result that fits", `{"_call":"1.1@①","_output":{"mood":"good"}}`, "1.1@①", `{"mood":"good"}`, ``},
		{"what may be left out may be null", `{"_call":"1.1@①","_output":{"mood":"good","why":null}}`, "1.1@①",
			`{"mood":"good"}`, ``},
		{"a result that does not fit", `{"_call":"1.1@①","_output":{"mood":null}}`, "1.1@①", `null`,
			`bad_output: the result of 1.1@①: /mood: expected string, but got null`},
		{"a Reference is no result of its own", `{"_call":"1.1@①","_output":"†state.x"}`, "1.1@①", `null`,
			`bad_output: the result of 1.1@①: expected object, but got string`},
		{"anything where nothing is said", `{"_call":"1.2","_output":[1]}`, "1.2", `[1]`, ``},
		{"null is a result", `{"_call":"1.2","_output":null}`, "1.2", `null`, ``},
		{"a tool that is gone", `{"_call":"1.3","_output":1}`, "1.3", `1`, ``},
		{"a large value is checked where it is whole",
			`{"_call":"1.1@①","_output":{"†blob":{"digest":"d","size":1,"type":"string"}}}`, "1.1@①",
			`{"†blob":{"digest":"d","size":1,"type":"string"}}`, ``},
		{"no output", `{"_call":"1.2"}`, "1.2", `null`, `bad_form: the result of 1.2 has no _output`},
		{"a Call that nobody asked for", `{"_call":"9.9","_output":1}`, "", `null`,
			`bad_form: no result of a Call "9.9" was asked for`},
		{"no Call", `{"_output":1}`, "", `null`, `bad_form: no result of a Call "" was asked for`},
		{"something else", `[]`, "", `null`, `bad_form: a result is an object, not array`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, out, _, f := turn.ReadLLMAnswer(i, b, ideafile.ParseWrittenCall(modeltest.DecodeJSON(t, c.entry)))
			said := ""
			if f != nil {
				said = f.Error()
			}
			if a.CallID != c.id || string(jsonval.Encode(out)) != c.out || said != c.fault {
				t.Errorf("got %q, %s, %q", a.CallID, jsonval.Encode(out), said)
			}
		})
	}
}

func TestAnOutputIsCheckedAsFarAsItIsWhole(t *testing.T) {
	t.Parallel()
	form := `{"schema": {"output": {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}, "required": ["n"]}}}`
	for _, c := range []struct{ name, idea, output, fault string }{
		{"one that fits", form, `{"n":1}`, ``},
		{"one that does not", form, `{"n":"one"}`,
			`bad_output: the output does not fit its form: /n: expected integer, but got string`},
		{"what may be left out may be null", form, `{"n":1,"s":null}`, ``},
		{"what must be there may not", form, `{"n":null}`,
			`bad_output: the output does not fit its form: /n: expected integer, but got null`},
		{"References are checked when they are resolved", form, `{"n":"†state.n"}`, ``},
		{"none at all is no fault by itself", form, `null`, ``},
		{"without a form everything goes", `{}`, `{"any":1}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := ""
			if f := turn.CheckOutput(modeltest.IdeaFrom(t, c.idea), modeltest.DecodeJSON(t, c.output)); f != nil {
				said = f.Error()
			}
			if said != c.fault {
				t.Errorf("got %q", said)
			}
		})
	}
}

func TestNullsThatStandForWhatIsLeftOutAreTakenOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, v, want string }{
		{"of a property that may be left out", `{"properties":{"a":{"type":"string"}}}`, `{"a":null}`, `{}`},
		{"not of one that must be there", `{"properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":null}`,
			`{"a":null}`},
		{"not of one that may be null", `{"properties":{"a":{"type":["string","null"]},"b":{}}}`, `{"a":null,"b":null}`,
			`{"a":null,"b":null}`},
		{"not of one of which nothing is said", `{"properties":{}}`, `{"a":null}`, `{"a":null}`},
		{"at any depth",
			`{"properties":{"a":{"type":"array","items":{"properties":{"b":{"type":"object","properties":{"c":{"type":"integer"}}}}}}}}`, `{"a":[{"b":{"c":null}},{"b":null},{"b":{"c":1}}]}`, `{"a":[{"b":{}},{},{"b":{"c":1}}]}`},
		{"through references",
			`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"properties":{"b":{"$ref":"#/$defs/y"}}},"y":{"type":"string"}}}`, `{"a":{"b":null}}`, `{"a":{}}`},
		{"in a schema that holds itself",
			`{"type":"object","properties":{"name":{"type":"string"},"below":{"$ref":"#"}}}`,
			`{"name":"x","below":{"name":null,"below":null}}`, `{"below":{},"name":"x"}`},
		{"by the choice that fits",
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"string"}},"required":["b"]}]}`, `{"b":1,"c":null}`, `{"b":1}`},
		{"where none does, it is left as it is",
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"integer"},"c":{"type":"string"}},"required":["a"]}]}`, `{"b":1,"c":null}`, `{"b":1,"c":null}`},
		{"of a list nothing is taken", `{"type":"array","items":{"type":"string"}}`, `[null,"a"]`, `[null,"a"]`},
		{"what is no object stays", `{"properties":{"a":{"type":"string"}}}`, `null`, `null`},
		{"odd names", `{"properties":{"a/b~c %\"":{"type":"string"}}}`, `{"a/b~c %\"":null}`, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := modeltest.DecodeJSON(t, c.v)
			if got := string(jsonval.Encode(jsonschema.WithoutNulls(modeltest.DecodeJSON(t, c.schema), nil,
				v))); got != c.want {
				t.Errorf("got %s", got)
			}
			if string(jsonval.Encode(v)) != string(jsonval.Encode(modeltest.DecodeJSON(t, c.v))) {
				t.Error("the value was changed in place")
			}
		})
	}
}

func TestACallOfWhichStrictModeDemandedEverythingIsRead(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t, `{"schema": {"tools": {"send": {"type": "object", "properties": {"to": {"type": "object", "properties": {"street": {"type": "string"}, "zip": {"type": "string"}}, "required": ["street"]}, "note": {"type": "string"}}, "required": ["to"],
		"_output": {"type": "object", "properties": {"ok": {"type": "boolean"}, "why": {"type": "string"}}}}}}}`)
	p := ideafile.Palette{Tools: i.Tools,
		BindingByTool:  map[string]ideafile.ToolBinding{"send": {Kind: ideafile.KindLatent}},
		InstanceTokens: []string{""}}
	c, _,
		f := p.ReadCall(
		ideafile.ParseWrittenCall(modeltest.DecodeJSON(t,
			`{"_tool":"send","_reasoningForCall":null,"to":{"street":"†state.street","zip":null},"note":null,"_outputPath":null,"_output":{"ok":true,"why":null}}`)))
	if f != nil {
		t.Fatal(f)
	}
	if got := string(jsonval.Encode(c.Params)) +
		string(jsonval.Encode(c.LatentOutput)); got != `{"to":{"street":"†state.street"}}{"ok":true}` {
		t.Errorf("got %s", got)
	}
}

func TestUsageAddsUp(t *testing.T) {
	t.Parallel()
	u := turn.TokenUsage{PromptTokens: 1, CompletionTokens: 2}
	if u.Add(turn.TokenUsage{PromptTokens: 10, CompletionTokens: 20}); u != (turn.TokenUsage{PromptTokens: 11,
		CompletionTokens: 22}) {
		t.Errorf("%+v", u)
	}
}
