package plangraph

import (
	"encoding/json"
	"testing"
)

func TestTheEdgesOfAPlanSayWhatEachCallReadsAndFromWhere(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(Edges(callsOf(t, `[
		{"_tool": "fetch", "id": "†input.id", "_outputPath": "user"},
		{"_tool": "mail", "to": "†state.user.name", "and": "†state.user.mail", "_outputPath": "sent"},
		{"_tool": "log", "_after": ["†state.sent"], "_when": {"properties": {"input": {"properties": {"id": {"minimum": 2}}}}}, "_outputPath": "sent"}]`), Labels{}))
	want :=
		`[{"to":1,"given":"†input.id","kind":"reads"},{"from":1,"to":2,"paths":"user.mail, user.name","kind":"reads"},` +
			`{"from":2,"to":3,"kind":"after"},{"to":3,"given":"†input.id","kind":"if"},{"from":2,"to":3,"kind":"or"}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if list := Edges(nil, Labels{}); list == nil || len(list) != 0 {
		t.Errorf("%v", list)
	}
}
