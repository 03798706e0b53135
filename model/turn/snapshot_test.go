package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

const snapshotContextText = `"meta": {"path": "p", "version": "1"}, "config": {"limits": {"requests": 9}}, "context": [
	{"type": "text", "text": "Do it."}, {"type": "input", "x": 1}, {"type": "data", "kind": "memo", "y": 2},
	{"type": "state", "state": {"shared": true, "a": 0}, "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
	{"type": "data", "kind": "state", "_instance": "①", "state": {"a": 1}},
		{"type": "state", "_instance": "②", "a": 2, "schema": {"type": "object"}}, {"type": "input", "_instance": "③", "x": 3},
		{"type": "input", "_instance": "②", "x": 2},
	{"type": "plan", "plan": [{"_tool": "work", "x": "†state.a", "_outputPath": "b"}]},
		{"type": "error", "call": "9.9", "error": {"code": "blocked", "message": "of the process before"}}]`

func TestASnapshotIsAFileThatBeginsWhereTheRequestStood(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, snapshotContextText)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"},{"_tool":"fail","_instance":"②"},{"_tool":"log","_instance":"①"}],"output":null}`)
	c := s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","x":"†state.b","_outputPath":"c"}],"output":{"summary":"early"}}`)
	again := modeltest.SnapshotAndReparse(t, s.Idea, c.AllInstancesInput, c.Calls, c.Reply.Output)
	s.WantEqual("the instances keep their order", fmt.Sprint(again.InstanceTokens()), "[① ② ③]")
	next := loop.New(again, "q", s.Bindings, modeltest.StartTime)
	for n, m := range next.Instances {
		s.WantEqual("the State of "+m.Token, modeltest.StateJSON(next, m.Token),
			string(jsonval.Encode(c.AllInstancesInput.Instances[n].State)))
		instance := dataflow.New(ideafile.Palette{Tools: again.Tools, BindingByTool: s.Bindings},
			again.Context, m.Token)
		s.WantEqual("and of its dataflow", string(jsonval.Encode(instance.State())),
			string(jsonval.Encode(c.AllInstancesInput.Instances[n].State)))
		before, after := ideafile.InstanceViewOf(s.Idea.Context, m.Token),
			ideafile.InstanceViewOf(again.Context, m.Token)
		for _, kind := range []string{"input", "memo"} {
			s.WantEqual("what "+m.Token+" sees as "+kind, string(jsonval.Encode(after.PayloadByKind[kind])),
				string(jsonval.Encode(before.PayloadByKind[kind])))
		}
		s.WantEqual("the State schema of "+m.Token, string(jsonval.Encode(after.SchemaByKind[ideafile.TypeState])),
			string(jsonval.Encode(before.SchemaByKind[ideafile.TypeState])))
	}
	s.WantEqual("palette and configuration are as they were", string(jsonval.Encode(again.Source["schema"]))+
		string(jsonval.Encode(again.Source["config"])), string(jsonval.Encode(s.Idea.Source["schema"]))+
		string(jsonval.Encode(s.Idea.Source["config"])))
	s.WantEqual("the solution", string(jsonval.Encode(again.Source["solution"])),
		`{"calls":[{"_instance":"①","_outputPath":"c","_tool":"work","x":"†state.b"}],"output":{"summary":"early"}}`)
}

func TestASnapshotHoldsTheRecordAndTheErrorsThatTheRequestSaw(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", snapshotContextText)
	first := s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"},{"_tool":"fail","_instance":"②"},"nonsense"],"output":null}`)
	again := modeltest.SnapshotAndReparse(t, s.Idea, first.AllInstancesInput, first.Calls, nil)
	s.WantEqual("the first has the file's Plan", string(jsonval.Encode(contextOf(again, ideafile.TypePlan))),
		`[{"plan":[{"_outputPath":"b","_tool":"work","x":"†state.a"}],"type":"plan"}]`)
	s.WantEqual("and the error that the Request saw", string(jsonval.Encode(contextOf(again, ideafile.TypeError))),
		`[{"call":"9.9","error":{"code":"blocked","message":"of the process before"},"type":"error"}]`)
	second := s.ReplyWith(modeltest.EmptyReply)
	again = modeltest.SnapshotAndReparse(t, s.Idea, second.AllInstancesInput, second.Calls, nil)
	s.WantEqual("the second has the Calls of the first, and how they stand",
		string(jsonval.Encode(contextOf(again, ideafile.TypePlan))),
		`[{"plan":[{"_outputPath":"b","_tool":"work","x":"†state.a"}],"type":"plan"},{"plan":[{"_instance":"*","_outputPath":"b","_tool":"work","x":"†state.a"},{"_instance":"②","_tool":"fail"},"nonsense"],"record":{"1.1":{"done":["①","②","③"]},"1.2":{"failed":["②"]},"1.3":{}},"type":"plan"}]`)
	s.WantEqual("and what went wrong", string(jsonval.Encode(contextOf(again, ideafile.TypeError))),
		`[{"call":"1.3","error":{"code":"bad_form","message":"a Call is an object, not string"},"type":"error"},{"call":"1.2","error":{"code":"tool_failed","message":"no luck"},"instances":["②"],"type":"error"}]`)
}

func contextOf(i *ideafile.Idea, kind string) []any {
	out := []any{}
	for _, m := range i.Context {
		if m.Type == kind {
			out = append(out, m.Source)
		}
	}
	return out
}

func TestASnapshotLeavesTheIdeaAsItWas(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", snapshotContextText)
	before := string(jsonval.Encode(s.Idea.Source))
	c := s.ReplyWith(`{"calls":[{"_tool":"fail","_instance":"*"}],"output":null}`)
	turn.SnapshotIdea(s.Idea.Source, c.AllInstancesInput, c.Calls, nil)
	s.WantEqual("the Idea", string(jsonval.Encode(s.Idea.Source)), before)
}

func TestASnapshotOfASnapshotIsTheSame(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", snapshotContextText)
	c := s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"}],"output":null}`)
	once := modeltest.SnapshotAndReparse(t, s.Idea, c.AllInstancesInput, c.Calls, nil)
	next := loop.New(once, "p", s.Bindings, modeltest.StartTime)
	twice := modeltest.SnapshotAndReparse(t, once, next.AllInstancesInput(), c.Calls, nil)
	s.WantEqual("the context", string(jsonval.Encode(twice.Source["context"])),
		string(jsonval.Encode(once.Source["context"])))
}

func TestASnapshotOfAnIdeaWithNothingInItIsOne(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t, `{}`)
	next := loop.New(i, "p", nil, modeltest.StartTime)
	if got := string(jsonval.Encode(modeltest.SnapshotAndReparse(t, i, next.AllInstancesInput(), nil,
		nil).Source)); got != `{"context":[{"state":{},"type":"state"}],"solution":{"calls":[],"output":null}}` {
		t.Errorf("got %s", got)
	}
}

// Whatever Calls did to it, the State of a snapshot is the State that a process begins with.
func TestAnySnapshotBeginsWithTheStateItSaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.GeneratePlan(rt, modeltest.PlanOptions{MaxCalls: 5, MaxRequests: 1})
		p := modeltest.NewPlanExecution(plan)
		p.RunAll(rt, modeltest.PickFirst)
		i, ps := ideafile.ReadIdea(map[string]any{"context": plan.Context})
		if len(ps) > 0 {
			rt.Fatalf("%s", ps)
		}
		again := modeltest.SnapshotAndReparse(rt, i,
			&turn.RequestInput{Instances: []turn.InstanceInput{{State: p.Instance.State()}}}, nil, nil)
		instance := dataflow.New(modeltest.RandomPlanPalette, again.Context, "")
		if got, want := string(jsonval.Encode(instance.State())),
			string(jsonval.Encode(p.Instance.State())); got != want {
			rt.Fatalf("got %s, want %s\n%s", got, want, plan)
		}
		if strings.Join(instance.MissingRequiredPaths(), " ") != strings.Join(p.Instance.MissingRequiredPaths(), " ") {
			rt.Fatalf("another schema")
		}
	})
}
