package server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"processidea/starter/internal/exit"
)

func TestATapeTakesItsOwnProcessAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(path, []byte("an older recording\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tape := &RepliesRecording{Path: path}
	tape.RecordReply("other", 1, aSolution(1), "stop", "")
	tape.RecordReply("mine", 1, aSolution(2), "stop", "")
	if err := tape.Start("mine", false); err != nil {
		t.Fatal(err)
	}
	tape.RecordReply("mine", 2, "no JSON", "length", "")
	tape.RecordReply("other", 2, aSolution(3), "stop", "")
	if err := tape.Stop(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, `{"solution":{"calls":[],"output":2}}`+"\n"+`{"raw":"no JSON","finish_reason":"length"}`+"\n")
}

func TestATapeOfAProcessThatGoesOnGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	for n, goesOn := range []bool{false, true} {
		tape := &RepliesRecording{Path: path}
		if err := tape.Start("p", goesOn); err != nil {
			t.Fatal(err)
		}
		tape.RecordReply("p", 1, aSolution(n), "stop", "")
		if err := tape.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, path, `{"solution":{"calls":[],"output":0}}`+"\n"+`{"solution":{"calls":[],"output":1}}`+"\n")
}

// A script is read in the order in which the LLM is asked: the answer to a recheck may come after later ones.
func TestATapeHasRepliesInTheOrderInWhichTheLLMWasAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tape := &RepliesRecording{Path: path}
	if err := tape.Start("p", true); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []int{1, 3, 2} {
		tape.RecordReply("p", asked, aSolution(asked), "stop", "")
	}
	if err := tape.Stop(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "before\n"+`{"solution":{"calls":[],"output":1}}`+"\n"+`{"solution":{"calls":[],"output":2}}`+"\n"+
		`{"solution":{"calls":[],"output":3}}`+"\n")
}

func TestATapeThatCannotBeWrittenIsMisuse(t *testing.T) {
	tape := &RepliesRecording{Path: filepath.Join(t.TempDir(), "no", "folder")}
	var e *exit.Error
	if err := tape.Start("p", false); !errors.As(err, &e) || e.Code != exit.Usage {
		t.Error(err)
	}
	if err := tape.Stop(); err != nil {
		t.Error(err)
	}
}

func aSolution(n int) string { return `{"calls":[],"output":` + string(rune('0'+n)) + `}` }

func wantFile(t *testing.T, path, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != text {
		t.Errorf("got\n%s\nwant\n%s", data, text)
	}
}
