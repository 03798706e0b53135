package plangraph

import (
	"encoding/json"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestTheEdgesOfAPlanSayWhatEachCallReadsAndFromWhere(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(ListEdges(callsOf(t, `[
		{"_tool": "fetch", "id": "†input.id", "_outputPath": "user"},
		{"_tool": "mail", "to": "†state.user.name", "and": "†state.user.mail", "_outputPath": "sent"},
		{"_tool": "log", "_after": ["†state.sent"], "_when": {"properties": {"input": {"properties": {"id": {"minimum": 2}}}}}, "_outputPath": "sent"}]`), Labels{}))
	want :=
		`[{"to":1,"given":"†input.id","kind":"reads"},{"from":1,"to":2,"paths":"user.mail, user.name","kind":"reads"},` +
			`{"from":2,"to":3,"kind":"after"},{"to":3,"given":"†input.id","kind":"if"},{"from":2,"to":3,"kind":"or"}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if list := ListEdges(nil, Labels{}); list == nil || len(list) != 0 {
		t.Errorf("%v", list)
	}
}

// A Tool's designer may fix where and how its result is written, and wire its parameters: the Call says nothing of that.
func TestWhatToolsFixIsDrawn(t *testing.T) {
	t.Parallel()
	idea := modeltest.IdeaFrom(t, `{"schema": {"tools": {
		"fetch": {"_outputPath": "user", "properties": {"id": {"const": "†input.id"}}},
		"note": {"_outputPath": "notes", "_outputMethod": "push"},
		"mail": {"properties": {"to": {"const": "†state.user.mail"}, "output": {"type": "string"}}}}}}`)
	calls := ideafile.ParseWrittenCalls(callsOf(t, `[{"_tool": "fetch"}, {"_tool": "note"}, {"_tool": "note", "output": "†state.notes"},
		{"_tool": "mail", "output": "†state.notes"}, {"_tool": "gone", "p": "†state.user"}, 5]`))
	fixed := ideafile.RawWrittenCalls(jsonval.Map(calls, idea.WithToolFixedValues))
	got, err := json.Marshal(ListEdges(fixed, Labels{}))
	want := `[{"to":1,"given":"†input.id","kind":"reads"},{"from":2,"to":4,"paths":"notes","kind":"reads"},` +
		`{"from":3,"to":4,"paths":"notes","kind":"reads"},{"from":1,"to":4,"paths":"user.mail","kind":"reads"},` +
		`{"from":1,"to":5,"paths":"user","kind":"reads"}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}
