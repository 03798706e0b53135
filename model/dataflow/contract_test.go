package dataflow_test

import (
	"strings"
	"testing"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

func TestAResultFitsTheStateSchema(t *testing.T) {
	t.Parallel()
	const schema = `{
		"$defs": {"mood": {"enum": ["good", "bad"]}},
		"properties": {
			"n": {"type": "integer"}, "mood": {"$ref": "#/$defs/mood"}, "list": {"items": {"type": "string"}, "maxItems": 2},
			"user": {"properties": {"name": {"type": "string"}}, "required": ["name", "age"], "additionalProperties": false},
			"free": {"additionalProperties": {"type": "null"}}, "any": true},
		"required": ["n", "mood"], "additionalProperties": false}`
	for _, c := range []struct{ name, path, method, old, value, want string }{
		{"a value at a place", "n", "", `null`, `1`, ""},
		{"not another type", "n", "", `null`, `"1"`,
			"†state.n does not fit the State schema: expected integer, but got string"},
		{"through a reference", "mood", "", `null`, `"sad"`, "†state.mood does not fit"},
		{"a piece, though the whole is not there yet", "user.name", "", `null`, `"Ann"`, ""},
		{"but the whole must be whole", "user", "", `null`, `{"name":"Ann"}`, "missing properties: 'age'"},
		{"nothing outside", "x", "", `null`, `1`, "†state.x stands outside the closed State schema"},
		{"nothing outside, further down", "user.mail", "", `null`, `1`, "†state.user.mail stands outside"},
		{"any key, as other keys look like", "free.x", "", `null`, `1`,
			"†state.free.x does not fit the State schema: expected null"},
		{"anything, where the schema says nothing", "any.x.y", "", `null`, `1`, ""},
		{"a list with one more", "list", "push", `["a"]`, `"b"`, ""},
		{"not a list with one too many", "list", "push", `["a","b"]`, `"c"`, "maximum 2 items"},
		{"not a list with something else in it", "list", "push", `["a"]`, `1`, "/1: expected string"},
		{"an object after it was merged", "user", "merge", `{"name":"Ann"}`, `{"age":7}`,
			"additionalProperties 'age' not allowed"},
		{"the whole State, key by key, though others are missing", "", "", `{}`, `{"n":1}`, ""},
		{"no key of the whole State that does not fit", "", "", `{}`, `{"n":1,"mood":"sad"}`,
			"†state.mood does not fit"},
		{"no key of the whole State outside", "", "", `{}`, `{"x":1}`, "†state.x stands outside"},
		{"a merged State, key by key", "", "merge", `{"user":{"name":"Ann"},"n":1}`, `{"user":{"name":2}}`,
			"†state.user does not fit"},
		{"an assigned State, by what it assigns alone", "", "assign", `{"n":"wrong from the start"}`,
			`{"mood":"good"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := jsonval.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			l := &statelog.ResultContract{StateSchema: modeltest.MustDecodeJSON(schema),
				OutputPath: refexpr.NewOutputPath(p), OutputMethod: c.method}
			err = l.CheckAt(p, modeltest.MustDecodeJSON(c.old), modeltest.MustDecodeJSON(c.value))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWithoutASchemaEverythingLands(t *testing.T) {
	t.Parallel()
	var l *statelog.ResultContract
	if l.Check(0, 1) != nil {
		t.Error("something does not fit where nothing is said")
	}
	r := dataflow.New(*modeltest.PaletteFrom(t, sceneTools), nil, "")
	r.AcceptCall(1, 1, ideafile.ParseWrittenCall(map[string]any{"_tool": "do", "_outputPath": "a"}))
	if r.ResultContract(r.CallRecords()[0]) != nil {
		t.Error("there is something to fit")
	}
}

func TestAnActivityIsToldWhatItsResultMustFit(t *testing.T) {
	t.Parallel()
	r := dataflow.New(*modeltest.PaletteFrom(t, sceneTools),
		modeltest.MessagesFrom(t, `[{"type":"state","schema":{"properties":{"a":{"type":"string"}}}}]`), "")
	r.AcceptCall(
		1, 1, ideafile.ParseWrittenCall(
			modeltest.MustDecodeJSON(`{"_tool":"change","_outputPath":"a","_outputMethod":"concat"}`)))
	r.AcceptCall(1, 2, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(`{"_tool":"do"}`)))
	if l := r.ResultContract(r.CallRecords()[0]); l == nil || l.OutputPath.String() != "a" ||
		l.OutputMethod != "concat" || l.CheckAt(jsonval.Path{"a"}, "x", 1) == nil ||
		l.CheckAt(jsonval.Path{"a"}, "x", "y") != nil {
		t.Errorf("it is told %+v", l)
	}
	if r.ResultContract(r.CallRecords()[1]) != nil {
		t.Error("a result that goes nowhere must fit something")
	}
}

const anActivityDoesIt ideafile.CallStatus = "an activity does it"

// What is stored was checked by the activity, where it was whole; beside it there is nothing to look at.
func TestAStoredValueLandsUnchecked(t *testing.T) {
	t.Parallel()
	big := jsonval.BlobHandle{Digest: "d", Size: 70_000, ValueType: "array"}.AsJSONValue()
	r := dataflow.New(*modeltest.PaletteFrom(t, sceneTools),
		modeltest.MessagesFrom(t, `[{"type":"state","big":`+string(jsonval.Encode(big))+
			`,"schema":{"properties":{"a":{"type":"array"},"n":{"type":"integer"}}}}]`), "")
	for i, c := range []struct {
		call  string
		value any
		want  ideafile.CallStatus
	}{
		{`{"_tool":"do","_outputPath":"a"}`, big, ideafile.CallDone},
		// a stored value elsewhere is no excuse
		{`{"_tool":"do","_outputPath":"†state"}`, map[string]any{"n": "seven"}, ideafile.CallFailed},
		{`{"_tool":"change","_outputPath":"list","_outputMethod":"push"}`, big, ideafile.CallDone},
		{`{"_tool":"change","_outputPath":"new","_outputMethod":"merge"}`, big, ideafile.CallDone},
		{`{"_tool":"change","_outputPath":"new","_outputMethod":"merge"}`, map[string]any{}, anActivityDoesIt},
		{`{"_tool":"change","_outputPath":"list","_outputMethod":"concat"}`, big, anActivityDoesIt},
		{`{"_tool":"change","_outputPath":"†state","_outputMethod":"merge"}`,
			map[string]any{"a": map[string]any{"x": nil}}, anActivityDoesIt},
		{`{"_tool":"change","_outputPath":"†state","_outputMethod":"merge"}`,
			map[string]any{"b": map[string]any{"x": nil}}, ideafile.CallDone},
		{`{"_tool":"change","_outputPath":"†state","_outputMethod":"assign"}`, map[string]any{"b": big},
			ideafile.CallDone},
	} {
		r.AcceptCall(1, i+1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(c.call)))
		r.Advance()
		r.SucceedCall(ideafile.FormatCallID(1, i+1, ""), c.value)
		rec := r.CallRecords()[i]
		if c.want == anActivityDoesIt {
			if updates := r.TakeBlobUpdates(); len(updates) != 1 || updates[0].CallID != rec.ID {
				t.Errorf("%s is %s, and to be done by activities: %v", c.call, rec.Status, updates)
			}
			r.FailBlobUpdate(rec.ID, diag.Faultf(ideafile.CodeBadOutput, "no luck"))
			c.want = ideafile.CallFailed
		}
		if rec.Status != c.want {
			t.Errorf("%s is %s: %v", c.call, rec.Status, rec.Fault)
		}
	}
}

func TestWhatIsRequiredAndMissingIsListed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, state, want string }{
		{"nothing, where nothing is required", `{"properties":{"a":{}}}`, `{}`, ""},
		{"what is required at the top", `{"required":["b","a"]}`, `{"a":1}`, "b"},
		{"null that is there is not missing", `{"required":["a"]}`, `{"a":null}`, ""},
		{"what is required further down", `{"properties":{"u":{"required":["x y","age"]}}}`, `{"u":{}}`,
			`u["x y"],u.age`},
		{"nothing further down, where nothing is there yet", `{"properties":{"u":{"required":["age"]}}}`, `{}`, ""},
		{"both", `{"required":["s"],"properties":{"u":{"required":["age"]}}}`, `{"u":{}}`, "s,u.age"},
		{"through a reference", `{"$defs":{"u":{"required":["age"]}},"properties":{"u":{"$ref":"#/$defs/u"}}}`,
			`{"u":{}}`, "u.age"},
		{"through the whole that refers to itself", `{"required":["n"],"properties":{"next":{"$ref":"#"}}}`,
			`{"n":1,"next":{"next":{}}}`, "next.n,next.next.n"},
		{"nothing below what is no object", `{"properties":{"u":{"required":["age"]}}}`, `{"u":[]}`, ""},
		{"nothing inside what is stored", `{"properties":{"u":{"required":["age"]}}}`,
			`{"u":{"†blob":{"digest":"d"}}}`, ""},
		{"nothing, without a schema", `null`, `{}`, ""},
		{"nothing, where the schema is true", `true`, `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(statelog.MissingRequiredPaths(modeltest.MustDecodeJSON(c.schema),
				modeltest.MustDecodeJSON(c.state)), ","); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
	r := dataflow.New(*modeltest.PaletteFrom(t, sceneTools),
		modeltest.MessagesFrom(t, `[{"type":"state","schema":{"required":["a"]}}]`), "")
	if got := r.MissingRequiredPaths(); len(got) != 1 || got[0] != "a" {
		t.Errorf("the instance lacks %v", got)
	}
}
