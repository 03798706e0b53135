package ideafile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestAToolIsRefusedWhen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"it is no object", `"x"`, "$.t: a tool is an object, not string"},
		{"its parameters are no object", `{"type":"string"}`, `$.t.type: a tool's parameters are an object`},
		{"its schema is none", `{"properties":{"a":{"type":"strin"}}}`, "$.t: compile schema: "},
		{"its properties are none", `{"properties":7}`, "$.t: compile schema: "},
		{"its schema is remote", `{"properties":{"a":{"$ref":"http://x/"}}}`, "leaves the schema"},
		{"a parameter begins with _", `{"properties":{"_a":{}}}`,
			"$.t.properties._a: a parameter's name does not begin with _"},
		{"a meta property is unknown", `{"_aproval":true}`,
			"$.t._aproval: unknown meta property; a tool has _activity, _approval"},
		{"its _output is no schema", `{"_output":{"type":"x"}}`, "$.t._output: compile schema: "},
		{"its fixed _outputPath is no path", `{"_outputPath":"a..b"}`, "$.t._outputPath: "},
		{"its fixed _outputPath is not in State", `{"_outputPath":"†input.a"}`, "only State can be written"},
		{"its fixed _outputPath is empty", `{"_outputPath":""}`, "†state is the whole State"},
		{"its fixed _outputPath is a list", `{"_outputPath":["a"]}`, "_outputPath is a string, not array"},
		{"the schema of its _outputPath is none", `{"_outputPath":{"enum":1}}`, "$.t._outputPath: compile schema: "},
		{"its fixed _outputMethod is unknown", `{"_outputMethod":"overwrite"}`,
			"$.t._outputMethod: _outputMethod is set, assign, merge, push or concat"},
		{"its fixed _scopes are text", `{"_scopes":"input"}`, "$.t._scopes: _scopes is a list of places"},
		{"its fixed _scopes name no place", `{"_scopes":["state..a"]}`, "$.t._scopes: _scopes: reference"},
		{"its wired parameter is wired to nothing", `{"properties":{"a":{"const":"†state..b"}}}`,
			"$.t.properties.a.const: "},
		{"its wired parameter is wired by a bad expression", `{"properties":{"a":{"const":"†state.a || b"}}}`,
			"must begin with †"},
		{"its _activity is empty", `{"_activity":""}`, "an activity's name is not empty"},
		{"its _activity is of a kind that workflows carry out", `{"_activity":{"latent":{}}}`,
			`$.t._activity: want a name, or one kind of tool with its settings`},
		{"its _activity is a Go function in the form of a kind", `{"_activity":{"go":"known"}}`,
			`want a name, or one kind of tool`},
		{"its _activity is of two kinds", `{"_activity":{"http":{},"grpc":{}}}`,
			`want a name, or one kind of tool with its settings`},
		{"its _activity is a number", `{"_activity":1}`, "not number"},
		{"its _timeout is no duration", `{"_timeout":"soon"}`, "$.t._timeout: want a duration"},
		{"its _timeout is zero", `{"_timeout":0}`, "want a duration from 1ms to 10 years"},
		{"its _timeout is negative", `{"_timeout":"-1s"}`, "want a duration from 1ms to 10 years"},
		{"its _rate is none", `{"_rate":{"perSecond":0}}`, "$.t._rate.perSecond: want a number from 0.001 to 1000, not 0"},
		{"its _rate goes with a delegate", `{"_delegate":"a.json","_rate":{"atOnce":1}}`, "$.t._rate: a delegate cannot have it"},
		{"its _retry has no attempts", `{"_retry":{}}`, `$.t._retry: want {"attempts": N}`},
		{"it is tried zero times", `{"_retry":{"attempts":0}}`,
			"_retry.attempts: want a whole number from 1 to 2147483647, not 0"},
		{"it is tried one and a half times", `{"_retry":{"attempts":1.5}}`, "from 1 to 2147483647, not 1.5"},
		{"its _retry holds something else", `{"_retry":{"attempts":1,"backoff":2}}`, `want {"attempts": N}`},
		{"its _retry is a number", `{"_retry":3}`, `want {"attempts": N}`},
		{"its _undo is an unknown word", `{"_undo":"always"}`,
			`$.t._undo: want {"tool": NAME, "params": {…}}, "none" or "never", not "always"`},
		{"its _undo is a number", `{"_undo":1}`, `"none" or "never", not number`},
		{"its _undo names no tool", `{"_undo":{"params":{}}}`, `$.t._undo: want {"tool": NAME`},
		{"its _undo has a list of params", `{"_undo":{"tool":"x","params":[]}}`, `$.t._undo: want {"tool": NAME`},
		{"its _undo has an unknown key", `{"_undo":{"tool":"x","param":{}}}`,
			`$.t._undo.param: unknown key "param"; _undo has params and tool`},
		{"its _undo reads what no Call has", `{"_undo":{"tool":"x","params":{"a":"†input.a"}}}`,
			"$.t._undo.params.a: reference †input.a: an undo can read only †result, †params, †state"},
		{"its _undo holds a bad Reference", `{"_undo":{"tool":"x","params":{"a":"†result..b"}}}`,
			"$.t._undo.params.a: "},
		{"its _approval is a text", `{"_approval":"yes"}`, "$.t._approval: want true, false or an object, not string"},
		{"its _approval has an unknown key", `{"_approval":{"if":{}}}`,
			`$.t._approval.if: unknown key "if"; _approval has allow, by, escalate, note, onTimeout, proof, remind, timeout and when`},
		{"its approval's note is empty", `{"_approval":{"note":" "}}`,
			`$.t._approval.note: want a text of at most 2000 characters, not " "`},
		{"its approval's note is a list", `{"_approval":{"note":["a"]}}`,
			"want a text of at most 2000 characters, not array"},
		{"its approval's timeout is no duration", `{"_approval":{"timeout":"soon"}}`,
			"$.t._approval.timeout: want a duration"},
		{"its approval's onTimeout is no decision", `{"_approval":{"timeout":"1h","onTimeout":"amend"}}`,
			"$.t._approval.onTimeout: want reject, approve or pause"},
		{"its approval's onTimeout has no timeout", `{"_approval":{"onTimeout":"approve"}}`,
			"it has no effect: there is no timeout"},
		{"its approval allows nothing", `{"_approval":{"allow":[]}}`,
			"$.t._approval.allow: want a list of approve, reject, amend, replace, answer"},
		{"its approval allows something else", `{"_approval":{"allow":["approve","skip"]}}`, "want a list of approve"},
		{"its reminders are no durations", `{"_approval":{"remind":["soon"]}}`,
			"$.t._approval.remind[0]: want a duration"},
		{"its reminder comes after the deadline", `{"_approval":{"timeout":"4h","remind":["4h"]}}`,
			"$.t._approval.remind[0]: it never happens"},
		{"its escalation says how many",
			`{"_approval":{"by":{"groups":["a"]},"escalate":{"after":"4h","by":{"groups":["b"],"count":1}}}}`,
			`$.t._approval.escalate.by.count: unknown key "count"`},
		{"its approval's when loads something", `{"_approval":{"when":{"$ref":"https://example.com/s.json"}}}`,
			"$.t._approval.when: compile schema: "},
		{"its delegate is no file", `{"_delegate":7}`, "$.t._delegate: want an Idea file's path, or \"anonymous\""},
		{"it is a delegate and an activity", `{"_delegate":"other.json","_activity":"x"}`,
			"$.t._activity: a delegate cannot have it: it is a process with limits of its own"},
		{"an anonymous delegate has no output", `{"_delegate":"anonymous"}`,
			"$.t: an anonymous delegate needs _output: its output is all that it does"},
		{"it hands values back and is no delegate", `{"_writes":["state.a"]}`,
			"$.t._writes: want a list of places such as \"state.draft\", on a Tool with _delegate"},
		{"it hands the whole State back", `{"_delegate":"o.json","_writes":["state"]}`,
			"$.t._writes[0]: want a place in State such as \"state.draft\""},
		{"its fixed _outputPath is twice the same", `{"_outputPath":"†state.a && †state.a"}`, "lies within the other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ps diag.Problems
			ideafile.ReadTool("t", modeltest.MustDecodeJSON(c.source), "$.t", &ps)
			if len(ps.Errors()) != 1 || !strings.Contains(ps.Error(), c.want) {
				t.Errorf("got %q, want one problem that says %q", ps.Error(), c.want)
			}
			formIsRefused(t, `{"schema": {"tools": {"t": `+c.source+`}}}`, ps.Error())
		})
	}
}

func TestAToolsNameHasBounds(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"a": true, "": false, "_a": false, strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false} {
		var ps diag.Problems
		ideafile.ReadTool(name, map[string]any{}, "$", &ps)
		if (len(ps) == 0) != ok {
			t.Errorf("name %q: %v", name, ps)
		}
	}
}

func TestEverythingWrongWithAToolIsToldAtOnce(t *testing.T) {
	t.Parallel()
	var ps diag.Problems
	ideafile.ReadTool("_t", modeltest.MustDecodeJSON(`{"type":"array","_timeout":-1,"_x":1,"_approval":1,"_output":1}`),
		"$", &ps)
	if len(ps) != 6 {
		t.Errorf("got %d problems:\n%s", len(ps), ps)
	}
}

func TestAToolHasDefaults(t *testing.T) {
	t.Parallel()
	tool := modeltest.ToolFrom(t, "t",
		`{"description":"Does it.","_approval":false,"_timeout":null,"_retry":null,"_output":null,"_outputPath":null,"_activity":null}`)
	if tool.Timeout != 60*time.Second || tool.MaxAttempts != 3 || tool.OutputSchema != nil ||
		tool.Description != "Does it." {
		t.Errorf("got %+v", tool)
	}
	if tool.OutputPath.IsDeclared || tool.OutputMethod.IsDeclared || tool.ReadableScopes.IsDeclared ||
		tool.RawActivity != nil {
		t.Error("a meta property that is null is not absent")
	}
}

func TestAToolSaysHowHardItTries(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{`"72h"`: 72 * time.Hour, `10`: 10 * time.Second,
		`0.5`: time.Second / 2, `"1m30s"`: 90 * time.Second} {
		tool := modeltest.ToolFrom(t, "t", `{"_timeout":`+text+`,"_retry":{"attempts":1}}`)
		if tool.Timeout != want || tool.MaxAttempts != 1 {
			t.Errorf("%s: timeout %s, %d attempts", text, tool.Timeout, tool.MaxAttempts)
		}
	}
}

func TestAChoiceIsFixedOrWithinASchema(t *testing.T) {
	t.Parallel()
	tool := modeltest.ToolFrom(t, "t",
		`{"_outputPath":"†state.a.b","_outputMethod":{"enum":["push","concat"]},"_scopes":["state.user","†input"]}`)
	if p := tool.OutputPath; !p.IsDeclared || p.Schema != nil || p.FixedValue != "†state.a.b" {
		t.Errorf("a fixed path is read as %+v", p)
	}
	if m := tool.OutputMethod; !m.IsDeclared || m.FixedValue != nil || m.Schema.Validate("push") != nil ||
		m.Schema.Validate("merge") == nil {
		t.Errorf("a free method is read as %+v", m)
	}
	if s := tool.ReadableScopes; !s.IsDeclared || s.Schema != nil {
		t.Errorf("fixed scopes are read as %+v", s)
	}
}

func TestAWiredParameterFitsByItsValue(t *testing.T) {
	t.Parallel()
	tool := modeltest.ToolFrom(t, "t",
		`{"properties":{"rules":{"const":"†input.rules","type":"array"},"n":{"const":7},"x":{"const":"††plain"}},"required":["rules"]}`)
	if err := tool.ValidateParams(map[string]any{"rules": []any{"no spam"}}); err != nil {
		t.Errorf("the value behind a wired parameter does not fit: %s", err)
	}
	for name, params := range map[string]string{
		"the Reference itself is no value": `{"rules":"†input.rules"}`, "the rest of its schema counts": `{"rules":1}`,
		"it is required like any other": `{}`, "a constant that is no Reference stays one": `{"rules":[],"n":8}`,
		"a doubled dagger is no wire": `{"rules":[],"x":"other"}`,
	} {
		if tool.ValidateParams(modeltest.MustDecodeJSON(params).(map[string]any)) == nil {
			t.Errorf("%s: %s fits", name, params)
		}
	}
}

func TestParametersThatHoldAHandleAreLeftToTheActivity(t *testing.T) {
	t.Parallel()
	tool := modeltest.ToolFrom(t, "t",
		`{"properties":{"big":{"type":"string"},"n":{"type":"integer"}},"required":["big"]}`)
	big := jsonval.BlobHandle{Digest: "d", Size: 99, ValueType: "array"}.AsJSONValue()
	if err := tool.ValidateParams(map[string]any{"big": big, "n": modeltest.MustDecodeJSON(`1`)}); err != nil {
		t.Errorf("a handle does not fit: %s", err)
	}
	if err := tool.ValidateParams(map[string]any{"big": big, "n": "x"}); err == nil ||
		!strings.Contains(err.Error(), `parameter "n"`) {
		t.Errorf("what stands beside a handle is not checked: %v", err)
	}
}

func TestBindDecidesWhatRunsATool(t *testing.T) {
	t.Parallel()
	registered := map[string]bool{"known": false, "pure": true} // by name: pure or not
	lookup := func(name string) (pure, ok bool) { pure, ok = registered[name]; return }
	for _, c := range []struct {
		name, tool, source string
		want               ideafile.ToolBinding
	}{
		{"a named activity is a Go function", "t", `{"_activity":"known"}`,
			ideafile.ToolBinding{Kind: ideafile.KindGo, GoFunctionName: "known"}},
		{"a pure one runs as a local activity", "t", `{"_activity":"pure"}`,
			ideafile.ToolBinding{Kind: ideafile.KindGo, GoFunctionName: "pure", IsPureFunction: true}},
		{"without an activity it is the one of its name", "pure", `{}`,
			ideafile.ToolBinding{Kind: ideafile.KindGo, GoFunctionName: "pure", IsPureFunction: true}},
		{"else it is latent", "t", `{}`, ideafile.ToolBinding{Kind: ideafile.KindLatent}},
		{"its own activity comes before its name", "known", `{"_activity":{"http":{"url":"https://x/"}}}`,
			ideafile.ToolBinding{Kind: ideafile.KindHTTP}},
		{"any other kind is bound as it is written", "t", `{"_activity":{"grpc":{}}}`,
			ideafile.ToolBinding{Kind: "grpc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := modeltest.ToolFrom(t, c.tool, c.source).BindToRunner(lookup); err != nil || got != c.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	if _, err := modeltest.ToolFrom(t, "known", `{"_activity":"unheard"}`).BindToRunner(lookup); err == nil ||
		!strings.Contains(err.Error(), `no activity "unheard" is registered`) {
		t.Errorf("an activity that is not registered: %v", err)
	}
}

// Where a policy wants signed decisions, what does not, or cannot be read, takes nothing away from it.
func TestAPolicyWantsProofOfWhoDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		signed bool
		fault  string
	}{
		{`true`, false, ""},
		{`{"proof": "declared"}`, false, ""},
		{`{"proof": "signed"}`, true, ""},
		{`{"proof": "signed", "by": {"count": 2}}`, true, ""},
		{`{"proof": "sealed"}`, true, `$.t._approval.proof: want declared or signed`},
		{`{"proof": true}`, true, `$.t._approval.proof: want declared or signed`},
		{`{"by": {"signed": true}}`, false, `unknown key "signed"`},
		{`{"proof": "signed", "timeout": "1h", "onTimeout": "approve"}`, true, "want reject or pause"},
	} {
		m, err := jsonval.DecodeObject([]byte(`{"_approval": ` + c.policy + `}`))
		if err != nil {
			t.Fatal(err)
		}
		ps := &diag.Problems{}
		tool := ideafile.ReadTool("t", m, "$.t", ps)
		rules := policy.Oversight{}.DecidersFor(tool.Name, tool.Approval)
		text := fmt.Sprint(ps.Errors())
		if rules.RequiresSignature() != c.signed || (c.fault == "") != (len(ps.Errors()) == 0) ||
			!strings.Contains(text, c.fault) {
			t.Errorf("%s: signed %v, %s", c.policy, rules.RequiresSignature(), text)
		}
	}
}
