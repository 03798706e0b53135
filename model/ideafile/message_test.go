package ideafile_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestAMessageIsRefusedWhen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, message, want string }{
		{"it is no object", `"hello"`, "$.m: a message is an object, not string"},
		{"it says no type", `{"text":"x"}`, "$.m.type: a message needs a type"},
		{"its type is a number", `{"type":1}`, "$.m.type: a message needs a type"},
		{"its type is unknown", `{"type":"inputs"}`, `$.m.type: unknown type "inputs"`},
		{"a text has no text", `{"type":"text"}`, "$.m.text: want a string, not null"},
		{"a text has another key", `{"type":"text","text":"x","role":"user"}`,
			`$.m.role: unknown key "role" in a message of type text`},
		{"a payload stands under its key and flat at once", `{"type":"state","state":{"a":1},"b":2}`,
			`$.m.b: the message has its payload both as "state" and in its own keys: keep one of them`},
		{"an input stands under its key and flat at once", `{"type":"input","input":1,"x":2}`,
			`$.m.x: the message has its payload both as "input" and in its own keys: keep one of them`},
		{"State is a list", `{"type":"state","state":[]}`, "$.m.state: State is an object, not array"},
		{"State is null", `{"type":"state","state":null}`, "$.m.state: State is an object, not null"},
		{"a schema is none", `{"type":"state","a":1,"schema":{"type":"x"}}`, "$.m.schema: compile schema: "},
		{"a schema is remote", `{"type":"input","a":1,"schema":{"$ref":"http://x/"}}`, "leaves the schema"},
		{"a data message has no kind", `{"type":"data","x":1}`, "$.m.kind: a data message needs a kind"},
		{"a kind is no plain name", `{"type":"data","kind":"a.b"}`,
			"$.m.kind: a data message needs a kind, a plain name"},
		{"a kind could be an expression", `{"type":"data","kind":"a|b"}`, "a plain name"},
		{"its token is a number", `{"type":"input","_instance":1}`, "$.m._instance: want a string, not number"},
		{"its token is every instance", `{"type":"input","_instance":"*"}`, `$.m._instance: "*" means every instance`},
		{"its token begins with ~", `{"type":"input","_instance":"~part"}`, "may not begin with ~"},
		{"its token is empty", `{"type":"input","_instance":""}`, "1 to 200 bytes"},
		{"its token is too long", `{"type":"input","_instance":"` + strings.Repeat("a", 201) + `"}`, "1 to 200 bytes"},
		{"its token holds a line break", `{"type":"input","_instance":"a\nb"}`, "no control characters"},
		{"a plan is no list", `{"type":"plan","plan":{}}`, "$.m.plan: want a list of calls, not object"},
		{"a plan is missing", `{"type":"plan"}`, "$.m.plan: want a list of calls, not null"},
		{"a plan has another key", `{"type":"plan","plan":[],"calls":[]}`,
			`$.m.calls: unknown key "calls" in a message of type plan`},
		{"a plan has a stage that there is not", `{"type":"plan","plan":[],"stage":"perfect"}`,
			"$.m.stage: want optimal or complete"},
		{"a plan's condition is no schema", `{"type":"plan","plan":[],"when":{"type":"thing"}}`, "$.m.when: "},
		{"a plan's condition loads something", `{"type":"plan","plan":[],"when":{"$ref":"http://x/y"}}`, "$.m.when: "},
		{"a plan's name is a number", `{"type":"plan","plan":[],"name":1}`, "$.m.name: want a string, not number"},
		{"a plan's record is a list", `{"type":"plan","plan":[],"record":[]}`, "$.m.record: want an object"},
		{"a plan's record names no Call", `{"type":"plan","plan":[],"stage": "optimal", "record":{"first":"done"}}`,
			"$.m.record.first: want a status"},
		{"an instruction says nothing", `{"type":"instruction"}`,
			"$.m.instruction: an instruction message needs its instruction"},
		{"an instruction's tools are text", `{"type":"instruction","instruction":"x","tools":"a"}`,
			"$.m.tools: want a list of tools' names"},
		{"an instruction's tools are numbers", `{"type":"instruction","instruction":"x","tools":[1]}`,
			"$.m.tools: want a list of tools' names"},
		{"an error has another key", `{"type":"error","call":"1.1","error":{},"code":1}`,
			`$.m.code: unknown key "code" in a message of type error`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ps diag.Problems
			_, ok := ideafile.ReadMessage(modeltest.MustDecodeJSON(c.message), "$.m", &ps)
			if ok || len(ps) != 1 || !strings.Contains(ps.Error(), c.want) {
				t.Errorf("got %v, %q, want one problem that says %q", ok, ps.Error(), c.want)
			}
			formIsRefused(t, `{"context": [`+c.message+`]}`, ps.Error())
		})
	}
}

func TestAWrongStageDoesNotHideAWrongRecord(t *testing.T) {
	t.Parallel()
	var ps diag.Problems
	message := modeltest.MustDecodeJSON(`{"type":"plan","plan":[],"stage":"best","record":{"first":"done"}}`)
	ideafile.ReadMessage(message, "$.m", &ps)
	got := ps.Error()
	if !strings.Contains(got, "$.m.stage: want") || !strings.Contains(got, "$.m.record.first: want a status") {
		t.Error(got)
	}
}

func TestAPayloadIsTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, message, kind, want string }{
		{"from under its key", `{"type":"state","state":{"a":1}}`, "state", `{"a":1}`},
		{"from the flat message, without the message's own keys",
			`{"type":"state","_instance":"①","schema":{},"a":1,"b":2}`, "state", `{"a":1,"b":2}`},
		{"from under its key beside title and description",
			`{"type":"input","title":"t","description":"d","input":{"a":1}}`, "input", `{"a":1}`},
		{"with title and description, where it is flat", `{"type":"input","title":"t","a":1}`, "input",
			`{"a":1,"title":"t"}`},
		{"as it is, where an input is no object", `{"type":"input","input":[1]}`, "input", `[1]`},
		{"as null, where it is null under its key", `{"type":"input","input":null}`, "input", `null`},
		{"as empty, where there is none", `{"type":"state"}`, "state", `{}`},
		{"from a data message of kind state, flat", `{"type":"data","kind":"state","a":1}`, "state", `{"a":1}`},
		{"from a data message of kind state, under state", `{"type":"data","kind":"state","state":{"a":1}}`,
			"state", `{"a":1}`},
		{"from a data message of kind input", `{"type":"data","kind":"input","a":1}`, "input", `{"a":1}`},
		{"from a data message of another kind, flat", `{"type":"data","kind":"weather","sky":"grey"}`, "weather",
			`{"sky":"grey"}`},
		{"from a data message of another kind, under data", `{"type":"data","kind":"weather","data":{"sky":"grey"}}`,
			"weather", `{"sky":"grey"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := modeltest.MessagesFrom(t, "["+c.message+"]")[0]
			if m.PayloadKind != c.kind || string(jsonval.Encode(m.Payload)) != c.want {
				t.Errorf("got %s: %s", m.PayloadKind, jsonval.Encode(m.Payload))
			}
		})
	}
}

func TestAnInstructionMayBeTextOrAnyValue(t *testing.T) {
	t.Parallel()
	ms := modeltest.MessagesFrom(t, `[{"type":"instruction","instruction":"Be kind.","tools":["a","b"]},{"type":"instruction","instruction":{"b":1,"a":[2]}},
		{"type":"error","call":"1.1","error":{"code":"x"}},{"type":"plan","name":"short","plan":[{"_tool":"a"}],"record":{},"output":"†state.a"}]`)
	if ms[0].Text != "Be kind." || strings.Join(ms[0].InstructionToolNames, ",") != "a,b" ||
		ms[1].Text != `{"a":[2],"b":1}` || ms[1].InstructionToolNames != nil {
		t.Errorf("got %+v and %+v", ms[0], ms[1])
	}
	if len(ms[3].PlanCalls) != 1 {
		t.Errorf("the plan has %v", ms[3].PlanCalls)
	}
}

func TestAnInstanceSees(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, context, token, kind, want string }{
		{"messages of one kind, merged deeply as patches",
			`[{"type":"state","a":{"x":1,"y":1},"l":[1,2]},{"type":"state","a":{"y":2,"z":2},"l":[3]}]`,
			"", "state", `{"a":{"x":1,"y":2,"z":2},"l":[3]}`},
		{"null in a patch as a value", `[{"type":"state","a":{"x":1}},{"type":"state","a":null}]`, "", "state",
			`{"a":null}`},
		{"its own messages, merged deeply too",
			`[{"type":"state","_instance":"①","a":{"x":1}},{"type":"state","_instance":"①","a":{"y":2}}]`,
			"①", "state", `{"a":{"x":1,"y":2}}`},
		{"its own keys laid over the shared ones as a whole",
			`[{"type":"input","s":{"x":1,"y":1},"t":1},{"type":"input","_instance":"①","s":{"y":2}}]`,
			"①", "input", `{"s":{"y":2},"t":1}`},
		{"its own over the shared, whichever stands first",
			`[{"type":"input","_instance":"①","s":1},{"type":"input","s":2,"t":2}]`,
			"①", "input", `{"s":1,"t":2}`},
		{"nothing of another instance", `[{"type":"input","s":1},{"type":"input","_instance":"②","s":2,"u":3}]`, "①",
			"input", `{"s":1}`},
		{"nothing of any instance, where it is the shared view",
			`[{"type":"input","s":1},{"type":"input","_instance":"②","s":2}]`, "", "input", `{"s":1}`},
		{"its own payload whole, where it is no object",
			`[{"type":"input","input":[1]},{"type":"input","_instance":"①","input":[2]}]`, "①", "input", `[2]`},
		{"data by its kind", `[{"type":"data","kind":"sky","a":1},{"type":"data","kind":"sky","b":2}]`, "①", "sky",
			`{"a":1,"b":2}`},
		{"data of kind state as State", `[{"type":"state","a":1},{"type":"data","kind":"state","b":2}]`, "", "state",
			`{"a":1,"b":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			context := modeltest.MessagesFrom(t, c.context)
			if got := ideafile.InstanceViewOf(context,
				c.token).PayloadByKind[c.kind]; string(jsonval.Encode(got)) != c.want {
				t.Errorf("got %s", jsonval.Encode(got))
			}
		})
	}
}

func TestTheLastSchemaWins(t *testing.T) {
	t.Parallel()
	context := modeltest.MessagesFrom(t, `[{"type":"state","schema":{"title":"one"}},{"type":"state","schema":{"title":"two"}},{"type":"state","a":1},
		{"type":"state","_instance":"①","schema":{"title":"own"}}]`)
	for token, want := range map[string]string{"": "two", "①": "own", "②": "two"} {
		if got := ideafile.InstanceViewOf(context,
			token).SchemaByKind[ideafile.TypeState].(map[string]any)["title"]; got != want {
			t.Errorf("instance %q has schema %v", token, got)
		}
	}
}

func TestAViewLeavesTheMessagesAsTheyAre(t *testing.T) {
	t.Parallel()
	const list = `[{"type":"state","a":{"x":1}},{"type":"state","a":{"y":1}},{"type":"state","_instance":"①","a":{"z":1}}]`
	context := modeltest.MessagesFrom(t, list)
	ideafile.InstanceViewOf(context, "①")
	for i, m := range context {
		if !jsonval.Equal(m.Source, modeltest.MustDecodeJSON(list).([]any)[i]) ||
			!jsonval.Equal(m.Payload, modeltest.MessagesFrom(t, list)[i].Payload) {
			t.Errorf("message %d became %s", i, jsonval.Encode(m.Payload))
		}
	}
}

func TestAnInstanceSeesItsOwnViewAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var all, without []ideafile.Message
		for range rapid.IntRange(1, 6).Draw(rt, "messages") {
			m := ideafile.Message{Type: ideafile.TypeInput,
				PayloadKind:   rapid.SampledFrom([]string{"input", "state", "sky"}).Draw(rt, "kind"),
				InstanceToken: rapid.SampledFrom([]string{"", "①", "②"}).Draw(rt, "token"),
				Payload: map[string]any{"a": modeltest.AnyJSON(2).Draw(rt, "a"),
					modeltest.AnyText().Draw(rt, "key"): modeltest.AnyJSON(1).Draw(rt, "b")}}
			if all = append(all, m); m.InstanceToken != "②" {
				without = append(without, m)
			}
		}
		if a, b := jsonval.Encode(ideafile.InstanceViewOf(all, "①")),
			jsonval.Encode(ideafile.InstanceViewOf(without, "①")); string(a) != string(b) {
			rt.Fatalf("with another instance's messages it sees\n%s\nwithout them\n%s", a, b)
		}
	})
}
