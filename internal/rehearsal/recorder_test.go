package rehearsal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func record(t rapid.TB, content, finish, refusal string) string {
	var file bytes.Buffer
	if err := NewRecorder(&file).Record(content, finish, refusal); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func TestWhatWasSaidIsRecordedInTheFormThatSaysItAgain(t *testing.T) {
	t.Parallel()
	deep := `{"calls":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`
	quoted, _ := json.Marshal(deep)
	cases := []struct{ rule, content, finish, refusal, line string }{
		{"a whole solution", "{ \"calls\": [{\"a\": 1.0}],\n\"output\": \"<①>\" }", "stop", "",
			`{"solution":{"calls":[{"a":1.0}],"output":"<①>"}}`},
		{"a solution in another order", `{"output":null,"calls":[]}`, "stop", "",
			`{"solution":{"calls":[],"output":null}}`},
		{"a truncated solution", `{"calls":[]}`, "length", "", `{"raw":"{\"calls\":[]}","finish_reason":"length"}`},
		{"a solution with another key", `{"calls":[],"a":1}`, "stop", "", `{"raw":"{\"calls\":[],\"a\":1}"}`},
		{"a solution with a key that stands twice", `{"calls":[],"calls":[]}`, "stop", "",
			`{"raw":"{\"calls\":[],\"calls\":[]}"}`},
		{"a solution too deep for a line", deep, "stop", "", `{"raw":` + string(quoted) + `}`},
		{"plain text", "Sure! Here <is>", "stop", "", `{"raw":"Sure! Here <is>"}`},
		{"nothing", "", "stop", "", `{"raw":""}`},
		{"a refusal", "", "stop", "no", `{"refusal":"no"}`},
		{"a refusal beside content", `{"calls": []}`, "stop", "no", `{"raw":"{\"calls\": []}","refusal":"no"}`},
		{"a stream that broke", `{"calls":[①`, "", "", `{"raw":"{\"calls\":[①","cut":11}`},
		{"a stream that broke at once", "", "", "", `{"raw":"","cut":0}`},
		{"no reply", "it is full", FinishReasonNoAnswer, "", `{"raw":"it is full","status":400}`},
	}
	for _, c := range cases {
		if got := record(t, c.content, c.finish, c.refusal); got != c.line+"\n" {
			t.Errorf("%s is recorded as %.300s, want %.300s", c.rule, got, c.line)
		}
	}
}

func TestARecordSaysTheSameWhenItIsReplayed(t *testing.T) {
	t.Parallel()
	solution := rapid.OneOf(rapid.String(),
		rapid.SampledFrom([]string{"", "{}", `{"calls":[]}`, "{\"output\":\"\u2028&\"}", "\xff\xfe"}))
	rapid.Check(t, func(t *rapid.T) {
		content, refusal := solution.Draw(t, "content"), solution.Draw(t, "refusal")
		finish := rapid.SampledFrom([]string{"", "stop", "length", "content_filter"}).Draw(t, "finish")
		replies, err := Parse([]byte(record(t, content, finish, refusal)))
		if err != nil || len(replies) != 1 {
			t.Fatalf("%d replies, error %v", len(replies), err)
		}
		got, chars := replies[0], utf8.RuneCountInString(content)+utf8.RuneCountInString(refusal)
		if got.Content != utf8Only(content) || got.Refusal != utf8Only(refusal) {
			t.Errorf("said %q and %q", got.Content, got.Refusal)
		}
		if broke := finish == ""; (broke != (got.CutAfterChars != nil)) || (broke && *got.CutAfterChars != chars) ||
			(!broke && got.FinishReason != finish) {
			t.Errorf("ended as %+v", got)
		}
	})
}

// utf8Only is what is left of a text on its way through JSON.
func utf8Only(text string) string { return string([]rune(text)) }

func TestLinesOfConcurrentRecordsNeverMix(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	recorder := NewRecorder(&file)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := recorder.Record(strings.Repeat("①", 1000), "stop", ""); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := parse(t, file.String()); len(got) != 20 {
		t.Errorf("%d replies", len(got))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAFileThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	err := NewRecorder(full{}).Record("a", "stop", "")
	if err == nil || err.Error() != "rehearsal: record reply: disk full" {
		t.Errorf("error %v", err)
	}
}

func TestARecordingOfTheServerIsItsRepliesFile(t *testing.T) {
	t.Parallel()
	file := `{"solution":{"calls":[{"_tool":"a","n":1.50}],"output":null}}
{"raw":"half","finish_reason":"length"}
{"refusal":"no"}
{"raw":"brok","cut":4}
`
	server := start(t, file)
	var again bytes.Buffer
	recorder := NewRecorder(&again)
	for range 4 {
		got := ask(t, server, "plan")
		if err := recorder.Record(got.content, got.finish, got.refusal); err != nil {
			t.Fatal(err)
		}
	}
	if again.String() != file {
		t.Errorf("recorded\n%s", again.String())
	}
}
