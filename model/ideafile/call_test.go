package ideafile_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

const callTools = `{
	"free":   {"_activity": "f"},
	"none":   {"_activity": "n", "properties": {}},
	"open":   {"_activity": "o", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
	"greet":  {"_activity": "g", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "nick": {"type": ["string", "null"]},
	           "address": {"type": "object", "properties": {"zip": {"type": "string"}}}}, "required": ["name"]},
	"need":   {"_activity": "g", "properties": {"maybe": {"type": ["string", "null"]}}, "required": ["maybe"]},
	"wired":  {"_activity": "w", "properties": {"rules": {"const": "†input.rules"}, "text": {"type": "string"}}, "required": ["rules", "text"]},
	"fixed":  {"_activity": "x", "_outputPath": "user.score", "_outputMethod": "push", "_scopes": ["state.user"]},
	"set":    {"_activity": "x", "_outputMethod": "set"},
	"choice": {"_activity": "c", "_outputPath": {"enum": ["†state.a", "b"]}, "_outputMethod": {"enum": ["merge", "set", "push", "bogus"]},
	           "_scopes": {"type": "array", "maxItems": 1}},
	"think":  {"_output": {"type": "string"}},
	"output": {"_activity": "o", "properties": {"output": {"type": "string"}}}
}`

func TestACallIsRefusedWhen(t *testing.T) {
	t.Parallel()
	p := modeltest.PaletteFrom(t, callTools)
	for _, c := range []struct{ name, call, code, want string }{
		{"it is no object", `"greet"`, ideafile.CodeBadForm, "a Call is an object, not string"},
		{"it names no tool", `{"name":"x"}`, ideafile.CodeUnknownTool, `unknown tool ""`},
		{"its tool is unknown", `{"_tool":"grete"}`, ideafile.CodeUnknownTool, `unknown tool "grete"`},
		{"its tool is no string", `{"_tool":7}`, ideafile.CodeUnknownTool, `unknown tool ""`},
		{"a required parameter is missing", `{"_tool":"greet"}`, ideafile.CodeBadParams, `parameter "name" is missing`},
		{"a required parameter is null and may not be", `{"_tool":"greet","name":null}`, ideafile.CodeBadParams,
			`parameter "name": expected string`},
		{"a parameter does not fit", `{"_tool":"greet","name":1}`, ideafile.CodeBadParams,
			`parameter "name": expected string, but got number`},
		{"a literal inside a parameter does not fit", `{"_tool":"greet","name":"x","address":{"zip":1}}`,
			ideafile.CodeBadParams, "/zip: expected string"},
		{"the tool has no such parameter", `{"_tool":"greet","name":"x","email":"y"}`, ideafile.CodeBadParams,
			`tool "greet" has no parameter "email"`},
		{"the tool has no parameters at all", `{"_tool":"none","a":1}`, ideafile.CodeBadParams, `has no parameter "a"`},
		{"a wired parameter is given", `{"_tool":"wired","text":"x","rules":["mine"]}`, ideafile.CodeBadParams,
			`parameter "rules" is wired by the tool's designer`},
		{"a wired parameter is rewired", `{"_tool":"wired","text":"x","rules":"†state.rules"}`,
			ideafile.CodeBadParams, "is wired"},
		{"a Reference is broken", `{"_tool":"greet","name":"†state..x"}`, ideafile.CodeBadReference,
			`parameter "name": reference`},
		{"a Reference deep down is broken", `{"_tool":"greet","name":"x","address":{"zip":"†"}}`,
			ideafile.CodeBadReference, `parameter "address": reference`},
		{"a term of an expression is no Reference", `{"_tool":"greet","name":"†state.a || nobody"}`,
			ideafile.CodeBadReference, "must begin with †"},
		{"an expression lacks a term", `{"_tool":"greet","name":"†state.a && "}`, ideafile.CodeBadReference,
			"must begin with †"},
		{"it grants itself an approval", `{"_tool":"free","_approval":false}`, ideafile.CodeUnknownKey,
			`a Call has no meta property "_approval"`},
		{"it grants itself an activity", `{"_tool":"free","_activity":"rm"}`, ideafile.CodeUnknownKey, `"_activity"`},
		{"it grants itself a retry", `{"_tool":"free","_retry":{"attempts":9}}`, ideafile.CodeUnknownKey, `"_retry"`},
		{"it has any other key with a leading _", `{"_tool":"free","_foo":0}`, ideafile.CodeUnknownKey, `"_foo"`},
		{"its output path is broken", `{"_tool":"free","_outputPath":"a..b"}`, ideafile.CodeBadPath, "bad step"},
		{"its output path is empty", `{"_tool":"free","_outputPath":""}`, ideafile.CodeBadPath,
			"†state is the whole State"},
		{"its output path is a number", `{"_tool":"free","_outputPath":1}`, ideafile.CodeBadPath,
			"_outputPath is a string, not number"},
		{"its output path is in the input", `{"_tool":"free","_outputPath":"†input.a"}`, ideafile.CodeBadPath,
			"only State can be written"},
		{"one of its output paths lies within another", `{"_tool":"free","_outputPath":"†state.a && †state.a.b"}`,
			ideafile.CodeBadPath, "lies within the other"},
		{"two of its branches are one", `{"_tool":"free","_outputPath":"a || a"}`, ideafile.CodeBadPath,
			"lies within the other"},
		{"one of its branches is the whole State", `{"_tool":"free","_outputPath":"†state || b"}`, ideafile.CodeBadPath,
			"lies within the other"},
		{"one of its output paths is missing", `{"_tool":"free","_outputPath":"a || "}`, ideafile.CodeBadPath,
			"_outputPath is empty"},
		{"_outputPath and output name two paths", `{"_tool":"free","_outputPath":"a","output":"†state.b"}`,
			ideafile.CodeBadPath, "name two paths"},
		{"output names a branch outside State", `{"_tool":"free","output":"†state.a || †input.b"}`,
			ideafile.CodeBadPath, "only State can be written"},
		{"a fixed output path is chosen", `{"_tool":"fixed","_outputPath":"user.name"}`, ideafile.CodeUnknownKey,
			"_outputPath is fixed by the tool's designer"},
		{"a fixed output path is chosen by another name", `{"_tool":"fixed","output":"†state.user.name"}`,
			ideafile.CodeUnknownKey, "_outputPath is fixed"},
		{"a fixed method is chosen", `{"_tool":"fixed","_outputMethod":"merge"}`, ideafile.CodeUnknownKey,
			"_outputMethod is fixed"},
		{"fixed scopes are chosen", `{"_tool":"fixed","_scopes":["state"]}`, ideafile.CodeUnknownKey,
			"_scopes is fixed"},
		{"the tool declares no method", `{"_tool":"free","_outputMethod":"push"}`, ideafile.CodeUnknownKey,
			"the tool declares no _outputMethod"},
		{"the tool declares no scopes", `{"_tool":"free","_scopes":["state"]}`, ideafile.CodeUnknownKey,
			"the tool declares no _scopes"},
		{"the output path is none of those to choose from", `{"_tool":"choice","_outputPath":"c"}`,
			ideafile.CodeBadForm, "_outputPath: value must be one of"},
		{"the method is none of those to choose from", `{"_tool":"choice","_outputMethod":"concat"}`,
			ideafile.CodeBadForm, "_outputMethod: value must be one of"},
		{"the method is none, though the tool allows it", `{"_tool":"choice","_outputMethod":"bogus"}`,
			ideafile.CodeBadForm, "_outputMethod is set, assign"},
		{"the scopes are more than may be chosen", `{"_tool":"choice","_scopes":["state.a","state.b"]}`,
			ideafile.CodeBadForm, "_scopes: maximum 1 items"},
		{"a scope is no place", `{"_tool":"choice","_scopes":["state..a"]}`, ideafile.CodeBadReference,
			"_scopes: reference"},
		{"a scope is a number", `{"_tool":"choice","_scopes":[1]}`, ideafile.CodeBadReference,
			"_scopes is a list of places"},
		{"it writes the result of a tool that code runs", `{"_tool":"free","_output":"done"}`, ideafile.CodeUnknownKey,
			`tool "free" is run by code`},
		{"the result it writes does not fit", `{"_tool":"think","_output":7}`, ideafile.CodeBadOutput,
			"_output: expected string"},
		{"it names an instance where there are none", `{"_tool":"free","_instance":"①"}`, ideafile.CodeBadInstance,
			`the Request covers no instance "①"`},
		{"its instance is a number", `{"_tool":"free","_instance":1}`, ideafile.CodeBadInstance,
			"_instance is a token or a list of tokens, not number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, f := p.ReadCall(ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(c.call)))
			if f == nil || f.Code != c.code || !strings.Contains(f.Message, c.want) {
				t.Errorf("got %v, want %s: %s", f, c.code, c.want)
			}
		})
	}
}

func TestTheWholeStateIsNoList(t *testing.T) {
	t.Parallel()
	p := modeltest.PaletteFrom(t, `{"any": {"_activity": "a", "_outputMethod": {"type": "string"}}}`)
	for method, ok := range map[string]bool{"set": true, "assign": true, "merge": true, "push": false,
		"concat": false} {
		_, _, f := p.ReadCall(ideafile.ParseWrittenCall(map[string]any{"_tool": "any", "_outputPath": "†state",
			"_outputMethod": method}))
		if (f == nil) != ok || !ok && f.Code != ideafile.CodeBadPath {
			t.Errorf("%s to the whole State: %v", method, f)
		}
	}
}

func TestACallIsRead(t *testing.T) {
	t.Parallel()
	p := modeltest.PaletteFrom(t, callTools)
	for _, c := range []struct{ name, call, want string }{
		{"with its parameters written directly in it", `{"_tool":"greet","name":"Ann","age":7}`,
			`{"params":{"age":7,"name":"Ann"}}`},
		{"with any parameters, where the tool declares none", `{"_tool":"free","x":1,"y":[null]}`,
			`{"params":{"x":1,"y":[null]}}`},
		{"with other parameters, where the tool allows them", `{"_tool":"open","a":1,"more":"x"}`,
			`{"params":{"a":1,"more":"x"}}`},
		{"with References left as they are",
			`{"_tool":"greet","name":"†state.name","age":"†input.ages[0]","address":{"zip":"†state.zip"}}`,
			`{"params":{"address":{"zip":"†state.zip"},"age":"†input.ages[0]","name":"†state.name"}}`},
		{"with doubled daggers checked as the text they stand for", `{"_tool":"greet","name":"††state"}`,
			`{"params":{"name":"††state"}}`},
		{"without a parameter that is null, neither required nor nullable", `{"_tool":"greet","name":"x","age":null}`,
			`{"params":{"name":"x"}}`},
		{"without what is null and may be left out inside a parameter",
			`{"_tool":"greet","name":"x","address":{"zip":null}}`, `{"params":{"address":{},"name":"x"}}`},
		{"with null for a nullable parameter", `{"_tool":"greet","name":"x","nick":null}`,
			`{"params":{"name":"x","nick":null}}`},
		{"with null for a required parameter that may be null", `{"_tool":"need","maybe":null}`,
			`{"params":{"maybe":null}}`},
		{"without an unknown parameter that is null", `{"_tool":"greet","name":"x","email":null}`,
			`{"params":{"name":"x"}}`},
		{"with wired parameters filled in", `{"_tool":"wired","text":"x"}`,
			`{"params":{"rules":"†input.rules","text":"x"}}`},
		{"with a wired parameter that is null or as it is wired", `{"_tool":"wired","text":"x","rules":"†input.rules"}`,
			`{"params":{"rules":"†input.rules","text":"x"}}`},
		{"with its output path", `{"_tool":"free","_outputPath":"a[0].b"}`, `{"outputPath":"a.0.b","params":{}}`},
		{"with its output path behind †state", `{"_tool":"free","_outputPath":"†state.a.b"}`,
			`{"outputPath":"a.b","params":{}}`},
		{"with †state alone as the whole State", `{"_tool":"free","_outputPath":"†state"}`,
			`{"outputPath":"","params":{}}`},
		{"with a parameter output as its output path", `{"_tool":"none","output":"†state.a"}`,
			`{"outputPath":"a","params":{}}`},
		{"with output as the whole State", `{"_tool":"none","output":"†state"}`, `{"outputPath":"","params":{}}`},
		{"with output as an element", `{"_tool":"none","output":"†state[0]"}`, `{"outputPath":"0","params":{}}`},
		{"with output beside the same _outputPath", `{"_tool":"none","output":"†state.a","_outputPath":"†state.a"}`,
			`{"outputPath":"a","params":{}}`},
		{"with output as a parameter, where the tool declares one", `{"_tool":"output","output":"†state.a"}`,
			`{"params":{"output":"†state.a"}}`},
		{"with output as a parameter, where it is no State reference", `{"_tool":"free","output":"†input.a"}`,
			`{"params":{"output":"†input.a"}}`},
		{"with output as a parameter, where another kind begins like State", `{"_tool":"free","output":"†statement.a"}`,
			`{"params":{"output":"†statement.a"}}`},
		{"with what its tool's designer fixed", `{"_tool":"fixed"}`,
			`{"method":"push","outputPath":"user.score","params":{},"scopes":["state.user"]}`},
		{"with what is fixed, said again",
			`{"_tool":"fixed","_outputPath":"†state.user.score","_outputMethod":"push","_scopes":["state.user"]}`,
			`{"method":"push","outputPath":"user.score","params":{},"scopes":["state.user"]}`},
		{"with what it may choose", `{"_tool":"choice","_outputPath":"b","_outputMethod":"merge","_scopes":["†input"]}`,
			`{"method":"merge","outputPath":"b","params":{},"scopes":["†input"]}`},
		{"with set as no method", `{"_tool":"choice","_outputMethod":"set"}`, `{"params":{}}`},
		{"with a fixed set as no method", `{"_tool":"set","_outputPath":"a"}`, `{"outputPath":"a","params":{}}`},
		{"without meta properties that are null",
			`{"_tool":"choice","_outputPath":null,"_outputMethod":null,"_scopes":null,"_output":null,"_instance":null,"_approval":null,"_reasoningForCall":null}`, `{"params":{}}`},
		{"with expressions left as they are",
			`{"_tool":"greet","name":"†state.name || †input.name","age":"†state.a && †state.b"}`,
			`{"params":{"age":"†state.a && †state.b","name":"†state.name || †input.name"}}`},
		{"with several output paths", `{"_tool":"free","_outputPath":"†state.a&&b.c"}`,
			`{"outputPath":"†state.a && †state.b.c","params":{}}`},
		{"with branches", `{"_tool":"free","_outputPath":"ok || †state.failed && †state.log"}`,
			`{"outputPath":"†state.ok || †state.failed && †state.log","params":{}}`},
		{"with output as branches", `{"_tool":"none","output":"†state.a || †state.b"}`,
			`{"outputPath":"†state.a || †state.b","params":{}}`},
		{"with the result of a latent tool", `{"_tool":"think","_output":"deep","_reasoningForCall":"because"}`,
			`{"hasOutput":true,"output":"deep","params":{},"reasoning":"because"}`},
		{"with a result that looks like a Reference as text", `{"_tool":"think","_output":"†state.a"}`,
			`{"hasOutput":true,"output":"†state.a","params":{}}`},
		{"with a latent result still to come", `{"_tool":"think","_outputPath":"a"}`, `{"outputPath":"a","params":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, tokens, f := p.ReadCall(ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(c.call)))
			if f != nil || !reflect.DeepEqual(tokens, []string{""}) {
				t.Fatalf("got %v for %q", f, tokens)
			}
			got := jsonval.ToJSONValue(call).(map[string]any)
			for _, k := range []string{"id", "request", "index", "tool"} {
				delete(got, k)
			}
			if string(jsonval.Encode(got)) != c.want {
				t.Errorf("got %s", jsonval.Encode(got))
			}
		})
	}
}

func TestACallIsForTheInstancesThatItNames(t *testing.T) {
	t.Parallel()
	two := []string{"①", "②"}
	for _, c := range []struct {
		name, call string
		template   bool
		tokens     []string
		want       []string
		fault      string
	}{
		{"one token is one instance", `{"_tool":"free","_instance":"②"}`, false, two, []string{"②"}, ""},
		{"* is every instance that the Request covers", `{"_tool":"free","_instance":"*"}`, false, two, two, ""},
		{"a forgotten token must not become a hundred refunds", `{"_tool":"free"}`, false, two, nil,
			"the Call names no instance"},
		{"null is forgotten too", `{"_tool":"free","_instance":null}`, false, two, nil, "the Call names no instance"},
		{"one token alone must be named too", `{"_tool":"free"}`, false, []string{"①"}, nil,
			"the Call names no instance"},
		{"a token that the Request does not cover is no instance", `{"_tool":"free","_instance":"③"}`, false, two, nil,
			`covers no instance "③"`},
		{"a list names several, in its order", `{"_tool":"free","_instance":["②","①","②"]}`, false, two,
			[]string{"②", "①"}, ""},
		{"of a list, those that the Request covers get the Call", `{"_tool":"free","_instance":["①","③"]}`, false, two,
			[]string{"①"}, ""},
		{"a list of none that the Request covers names none", `{"_tool":"free","_instance":["③"]}`, false, two, nil,
			`covers no instance "③"`},
		{"an empty list names none", `{"_tool":"free","_instance":[]}`, false, two, nil, "an empty list"},
		{"a list of other things names none", `{"_tool":"free","_instance":[["①"]]}`, false, two, nil,
			"a token or a list of tokens, not array"},
		{"the empty token is none", `{"_tool":"free","_instance":""}`, false, two, nil, `covers no instance ""`},
		{"in a Plan message it may name none and is for every instance", `{"_tool":"free"}`, true, two, two, ""},
		{"in a Plan message it may name one", `{"_tool":"free","_instance":"①"}`, true, two, []string{"①"}, ""},
		{"the anonymous instance needs no name", `{"_tool":"free"}`, false, []string{""}, []string{""}, ""},
		{"* is the anonymous instance too", `{"_tool":"free","_instance":"*"}`, false, []string{""}, []string{""}, ""},
		{"a Request for the output alone covers nobody", `{"_tool":"free","_instance":"*"}`, false, []string{}, nil,
			"covers no instance"},
		{"a broken Call still names its instance", `{"_tool":"nobody","_instance":"②"}`, false, two, []string{"②"},
			"unknown tool"},
		{"a Call broken in its parameters still names its instances", `{"_tool":"greet","_instance":"*"}`, false, two,
			two, "is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := modeltest.PaletteFrom(t, callTools, c.tokens...)
			p.UntargetedCallsGoToAll = c.template
			_, got, f := p.ReadCall(ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(c.call)))
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("it is for %q", got)
			}
			if (f == nil) != (c.fault == "") || f != nil && !strings.Contains(f.Message, c.fault) {
				t.Errorf("got %v, want %q", f, c.fault)
			}
		})
	}
}

func TestACallIsNamedByRequestIndexAndInstance(t *testing.T) {
	t.Parallel()
	if got := ideafile.FormatCallID(3, 2, "①") + " " + ideafile.FormatCallID(3, 2, "") + " " + ideafile.FormatCallID(0,
		12, "a b"); got != "3.2@① 3.2 0.12@a b" {
		t.Errorf("got %s", got)
	}
}

func TestAFaultTellsItsCode(t *testing.T) {
	t.Parallel()
	if got := diag.Faultf(ideafile.CodeBadPath, "at %s", "a").Error(); got != "bad_path: at a" {
		t.Errorf("got %s", got)
	}
}

func TestACallIsWrittenAsItWasRead(t *testing.T) {
	t.Parallel()
	p := modeltest.PaletteFrom(t, `{"any": {"_activity": "a", "_outputMethod": {"type": "string"}, "_scopes": {"type": "array"}},
		"fixed": {"_activity": "f", "properties": {"w": {"const": "†input.x"}}, "_outputPath": "a.b", "_outputMethod": "push", "_scopes": ["input"]}}`, "①")
	rapid.Check(t, func(rt *rapid.T) {
		raw := map[string]any{"_tool": "any", "_instance": "①"}
		for i := range rapid.IntRange(0, 2).Draw(rt, "params") {
			raw[string(rune('p'+i))] = jsonval.EscapeBlobHandles(modeltest.AnyJSON(2).Draw(rt, "param"))
		}
		if rapid.Bool().Draw(rt, "written") {
			raw["_outputPath"] = rapid.SampledFrom([]string{"a", "†state.b.c", "†state", `a["x y"]`}).Draw(rt, "path")
			raw["_outputMethod"] = rapid.SampledFrom([]any{nil, "set", "merge", "assign"}).Draw(rt, "method")
			raw["_scopes"] = []any{"state.a"}
		}
		if rapid.IntRange(0, 3).Draw(rt, "fixed") == 0 {
			raw = map[string]any{"_tool": "fixed", "_instance": "①"}
		}
		call, _, f := p.ReadCall(ideafile.ParseWrittenCall(raw))
		if f != nil {
			return // a dagger that is no Reference
		}
		again, _, f := p.ReadCall(ideafile.ParseWrittenCall(toLLMFormat(call, "①")))
		if f != nil || !jsonval.Equal(jsonval.ToJSONValue(again), jsonval.ToJSONValue(call)) {
			rt.Fatalf("%s was read as %s, written as %s and read as %s, %v", jsonval.Encode(raw), jsonval.Encode(call),
				jsonval.Encode(toLLMFormat(call, "①")), jsonval.Encode(again), f)
		}
		data, err := json.Marshal(call) // as it travels in a workflow's input
		var back ideafile.Call
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(data))
			d.UseNumber()
			err = d.Decode(&back)
		}
		if err != nil || !jsonval.Equal(jsonval.ToJSONValue(back), jsonval.ToJSONValue(call)) {
			rt.Fatalf("%s came back as %s, %v", jsonval.Encode(call), jsonval.Encode(back), err)
		}
	})
}

// toLLMFormat returns a Call in the form in which the LLM writes it.
func toLLMFormat(c ideafile.Call, token string) map[string]any {
	m := map[string]any{"_tool": c.Tool}
	for k, v := range c.Params {
		m[k] = v
	}
	if token != "" {
		m["_instance"] = token
	}
	if c.OutputPath != nil {
		m["_outputPath"] = c.OutputPath.ReferenceText()
	}
	if c.OutputMethod != "" {
		m["_outputMethod"] = c.OutputMethod
	}
	if len(c.ReadableScopes) > 0 {
		m["_scopes"] = jsonval.ToJSONValue(c.ReadableScopes)
	}
	if len(c.AfterReferences) > 0 {
		m["_after"] = jsonval.ToJSONValue(c.AfterReferences)
	}
	return m
}
