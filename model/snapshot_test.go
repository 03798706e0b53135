package model

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sealed gives the snapshot of a Request as a file: through bytes and back.
func sealed(t failer, i *Idea, seen *Brief, calls []any, output any) *Idea {
	text := Encode(Snapshot(i.Source, seen, calls, output))
	again, ps := ParseIdea(text)
	if len(ps) > 0 {
		t.Fatalf("%s\nin %s", ps, text)
	}
	return again
}

const snapshotContextText = `"meta": {"path": "p", "version": "1"}, "config": {"limits": {"requests": 9}}, "context": [
	{"type": "text", "text": "Do it."}, {"type": "input", "x": 1}, {"type": "data", "kind": "memo", "y": 2},
	{"type": "state", "state": {"shared": true, "a": 0}, "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
	{"type": "data", "kind": "state", "_instance": "①", "state": {"a": 1}},
		{"type": "state", "_instance": "②", "a": 2, "schema": {"type": "object"}}, {"type": "input", "_instance": "③", "x": 3},
		{"type": "input", "_instance": "②", "x": 2},
	{"type": "plan", "plan": [{"_tool": "work", "x": "†state.a", "_outputPath": "b"}]},
		{"type": "error", "call": "9.9", "error": {"code": "blocked", "message": "of the process before"}}]`

func TestASnapshotIsAFileThatBeginsWhereTheRequestStood(t *testing.T) {
	s := onStage(t, aSummary, snapshotContextText)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"},{"_tool":"fail","_instance":"②"},{"_tool":"log","_instance":"①"}],"output":null}`)
	c := s.says(`{"calls":[{"_tool":"work","_instance":"①","x":"†state.b","_outputPath":"c"}],"output":{"summary":"early"}}`)
	again := sealed(t, s.idea, c.Seen, c.Calls, c.Reply.Output)
	s.want("the instances keep their order", fmt.Sprint(again.Tokens()), "[① ② ③]")
	mind := NewMind(again, "q", s.bindings, began)
	for n, m := range mind.Members() {
		s.want("the State of "+m.Token, stateOf(mind, m.Token), string(Encode(c.Seen.Covered[n].State)))
		run := NewRun(Palette{Tools: again.Tools, Bindings: s.bindings}, again.Context, m.Token)
		s.want("and of its Run", string(Encode(run.State())), string(Encode(c.Seen.Covered[n].State)))
		before, after := ViewOf(s.idea.Context, m.Token), ViewOf(again.Context, m.Token)
		for _, kind := range []string{"input", "memo"} {
			s.want("what "+m.Token+" sees as "+kind, string(Encode(after.Payload[kind])), string(Encode(before.Payload[kind])))
		}
		s.want("the State schema of "+m.Token, string(Encode(after.Schema[TypeState])), string(Encode(before.Schema[TypeState])))
	}
	s.want("palette and configuration are as they were", string(Encode(again.Source["schema"]))+string(Encode(again.Source["config"])), string(Encode(s.idea.Source["schema"]))+string(Encode(s.idea.Source["config"])))
	s.want("the solution", string(Encode(again.Source["solution"])), `{"calls":[{"_instance":"①","_outputPath":"c","_tool":"work","x":"†state.b"}],"output":{"summary":"early"}}`)
}

func TestASnapshotHoldsTheRecordAndTheErrorsThatTheRequestSaw(t *testing.T) {
	s := onStage(t, "", snapshotContextText)
	first := s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"},{"_tool":"fail","_instance":"②"},"nonsense"],"output":null}`)
	again := sealed(t, s.idea, first.Seen, first.Calls, nil)
	s.want("the first has the file's Plan", string(Encode(contextOf(again, TypePlan))), `[{"plan":[{"_outputPath":"b","_tool":"work","x":"†state.a"}],"type":"plan"}]`)
	s.want("and the error that it was told", string(Encode(contextOf(again, TypeError))), `[{"call":"9.9","error":{"code":"blocked","message":"of the process before"},"type":"error"}]`)
	second := s.says(noCalls)
	again = sealed(t, s.idea, second.Seen, second.Calls, nil)
	s.want("the second has the Calls of the first, and how they stand", string(Encode(contextOf(again, TypePlan))),
		`[{"plan":[{"_outputPath":"b","_tool":"work","x":"†state.a"}],"type":"plan"},{"plan":[{"_instance":"*","_outputPath":"b","_tool":"work","x":"†state.a"},{"_instance":"②","_tool":"fail"},"nonsense"],"record":{"1.1":{"done":["①","②","③"]},"1.2":{"failed":["②"]},"1.3":{}},"type":"plan"}]`)
	s.want("and what went wrong", string(Encode(contextOf(again, TypeError))),
		`[{"call":"1.3","error":{"code":"bad_form","message":"a Call is an object, not string"},"type":"error"},{"call":"1.2","error":{"code":"tool_failed","message":"no luck"},"instances":["②"],"type":"error"}]`)
}

func contextOf(i *Idea, kind string) []any {
	out := []any{}
	for _, m := range i.Context {
		if m.Type == kind {
			out = append(out, m.Source)
		}
	}
	return out
}

func TestASnapshotLeavesTheIdeaAsItWas(t *testing.T) {
	s := onStage(t, "", snapshotContextText)
	before := string(Encode(s.idea.Source))
	c := s.says(`{"calls":[{"_tool":"fail","_instance":"*"}],"output":null}`)
	Snapshot(s.idea.Source, c.Seen, c.Calls, nil)
	s.want("the Idea", string(Encode(s.idea.Source)), before)
}

func TestASnapshotOfASnapshotIsTheSame(t *testing.T) {
	s := onStage(t, "", snapshotContextText)
	c := s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"}],"output":null}`)
	once := sealed(t, s.idea, c.Seen, c.Calls, nil)
	mind := NewMind(once, "p", s.bindings, began)
	twice := sealed(t, once, mind.Final(), c.Calls, nil)
	s.want("the context", string(Encode(twice.Source["context"])), string(Encode(once.Source["context"])))
}

func TestASnapshotOfAnIdeaWithNothingInItIsOne(t *testing.T) {
	i := ideaOf(t, `{}`)
	mind := NewMind(i, "p", nil, began)
	if got := string(Encode(sealed(t, i, mind.Final(), nil, nil).Source)); got != `{"context":[{"state":{},"type":"state"}],"solution":{"calls":[],"output":null}}` {
		t.Errorf("got %s", got)
	}
}

// Whatever Calls did to it, the State of a snapshot is the State that a process begins with.
func TestAnySnapshotBeginsWithTheStateItSaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawPlan(rt, planKnobs{calls: 5, requests: 1})
		p := newPlay(plan)
		p.through(rt, inOrder)
		i, ps := ReadIdea(map[string]any{"context": plan.context})
		if len(ps) > 0 {
			rt.Fatalf("%s", ps)
		}
		again := sealed(rt, i, &Brief{Covered: []Covered{{State: p.run.State()}}}, nil, nil)
		run := NewRun(playTools, again.Context, "")
		if got, want := string(Encode(run.State())), string(Encode(p.run.State())); got != want {
			rt.Fatalf("got %s, want %s\n%s", got, want, plan)
		}
		if strings.Join(run.Missing(), " ") != strings.Join(p.run.Missing(), " ") {
			rt.Fatalf("another schema")
		}
	})
}
