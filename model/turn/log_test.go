package turn_test

import (
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/statelog"
	"processidea/model/turn"
)

func TestALogEntryTouchesWhatItWroteAboveOrBelow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, value, asked string
		want                     bool
	}{
		{"the path itself", "user.name", `"Ada"`, "user.name", true},
		{"a path above, written whole", "user", `{"name":"Ada"}`, "user.name", true},
		{"a path below", "user.name", `"Ada"`, "user", true},
		{"a neighbour", "user.name", `"Ada"`, "user.age", false},
		{"a key of the whole State that was written", "", `{"user":{}}`, "user.name", true},
		{"a key of the whole State that was not", "", `{"user":{}}`, "age", false},
		{"the whole State", "user", `1`, "", true},
		{"a decision that wrote nothing", "", `null`, "user", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := turn.LogEntry{Write: statelog.Write{Path: pathOf(t, c.path), Value: modeltest.DecodeJSON(t, c.value),
				Author: "1.1"}}
			if got := e.OverlapsPath(pathOf(t, c.asked)); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func pathOf(t *testing.T, s string) jsonval.Path {
	t.Helper()
	p, err := jsonval.ParsePath(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestALogComesBackAsItWasKept(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 3, 10, 0, 0, 5, time.FixedZone("elsewhere", 3600))
	log := []turn.LogEntry{
		{InstanceToken: "①", Write: statelog.Write{Path: jsonval.Path{"a", "x y"},
			Value:  modeltest.DecodeJSON(t, `12345678901234567890`),
			Author: "1.2@①", Request: 1, Index: 2, WrittenAt: at},
			AuthorCall: ideafile.ParseWrittenCall(map[string]any{"_tool": "x"})},
		{Write: statelog.Write{Path: jsonval.Path{}, Value: map[string]any{"a": nil}, OutputMethod: "assign",
			Author: turn.PersonPrefix + "Ada"}, Decision: &approval.Decision{Kind: "answer", DecidedBy: "Ada",
			Reason: "<b> & why", DecidedAt: at}},
	}
	log = append(log,
		turn.LogEntry{InstanceToken: "①", Decision: &approval.Decision{Kind: "amend", CallID: "1.2@①", DecidedBy: "Bo",
			DecidedAt: at, Tool: "pay", ShownParams: map[string]any{"n": 5}, AmendedParams: map[string]any{"n": 4}}},
		turn.LogEntry{InstanceToken: "①",
			Outcome: &turn.CallOutcome{CallID: "1.2@①", Status: "done",
				ExecutedCall: &turn.ExecutedCall{Tool: "pay", Params: map[string]any{"n": 4}}}})
	v := turn.EncodeLog(log)
	for n, want := range []string{
		`{"decision":{"at":"2026-11-03T09:00:00.000000005Z","by":"Bo","call":"1.2@①","decision":"amend","params":{"n":4},"shown":{"n":5},"tool":"pay"},"instance":"①"}`,
		`{"instance":"①","outcome":{"call":"1.2@①","ran":{"params":{"n":4},"tool":"pay"},"status":"done"}}`,
	} {
		if got := string(jsonval.Encode(v.([]any)[n+2])); got != want {
			t.Errorf("it is kept as %s", got)
		}
	}
	if got := string(
		jsonval.Encode(
			turn.SummarizeDecisions(
				log))); got != `[{"at":"2026-11-03T09:00:00.000000005Z","by":"Bo","call":"1.2@①","decision":"amend"}]` {
		t.Errorf("the decisions are %s", got)
	}
	text := string(jsonval.Encode(v))
	for _, want := range []string{`"at":"2026-11-03T09:00:00.000000005Z"`, `12345678901234567890`,
		`"reason":"<b> & why"`, `"path":"a[\"x y\"]"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(text, "0001-01-01") {
		t.Errorf("a time that was not set is in the log: %s", text)
	}
	back, err := turn.DecodeLog(v)
	if err != nil || !jsonval.Equal(turn.EncodeLog(back), v) {
		t.Fatalf("%+v, %v", back, err)
	}
	if name, ok := back[1].PersonName(); name != "Ada" || !ok || back[1].Decision.Reason != "<b> & why" {
		t.Errorf("%+v", back[1])
	}
	if _, ok := back[0].PersonName(); ok {
		t.Error("a Call is taken for a person")
	}
	if log[1].Decision.DecidedAt.Location().String() != "elsewhere" {
		t.Error("the log that was given has changed")
	}
	if _, err := turn.DecodeLog("no log"); err == nil {
		t.Error("a text is taken for a log")
	}
}
