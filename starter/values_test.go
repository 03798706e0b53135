package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/blobs"
)

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

func storeOf(t *testing.T) *blobs.Store {
	t.Helper()
	s, err := blobs.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestLargeValuesAreInTheStoreBeforeTheStart(t *testing.T) {
	large := strings.Repeat("x", jsonval.LargeValue)
	idea := ideaOf(t, `{"context":[
		{"type":"text","text":"t"},
		{"type":"state","_instance":"①","big":"`+large+`","small":1,"title":"a part of State"},
		{"type":"input","input":{"deep":{"big":"`+large+`","small":2}},"title":"a title","schema":{"type":"object"}},
		{"type":"data","kind":"page","data":"`+large+`"},
		{"type":"data","kind":"state","_instance":"②","state":{"looks":{"†blob":{"digest":"x"}}}},
		{"type":"state","_instance":"③","a":1}]}`).Source
	store := storeOf(t)
	light, err := offload(t.Context(), store, idea)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(jsonval.Encode(light)); n > 4000 {
		t.Errorf("the light Idea has %d bytes", n)
	}
	if !jsonval.Equal(light["context"].([]any)[5], idea["context"].([]any)[5]) {
		t.Error("a message without large values was rewritten")
	}
	read, problems := ideafile.ReadIdea(light)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	before, _ := ideafile.ReadIdea(idea)
	for n, m := range read.Context {
		whole, err := store.Restore(t.Context(), m.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if m.Kind != "" && !jsonval.Equal(whole, before.Context[n].Payload) {
			t.Errorf("message %d came back as %.200s", n, jsonval.Encode(whole))
		}
		if m.Type != before.Context[n].Type || m.Kind != before.Context[n].Kind || m.Instance != before.Context[n].Instance {
			t.Errorf("message %d became %+v", n, m.Source)
		}
	}
	if m := read.Context[2]; m.Source["title"] != "a title" || m.Schema == nil || m.Payload.(map[string]any)["deep"].(map[string]any)["small"] == nil {
		t.Errorf("the input became %.300s", jsonval.Encode(m.Source))
	}
}

func TestATapeTakesItsOwnProcessAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(path, []byte("an older recording\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tape := &tape{path: path}
	tape.heard("other", aSolution(1), "stop", "")
	tape.heard("mine", aSolution(2), "stop", "")
	if err := tape.start("mine", false); err != nil {
		t.Fatal(err)
	}
	tape.heard("mine", "no JSON", "length", "")
	tape.heard("other", aSolution(3), "stop", "")
	if err := tape.stop(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, `{"solution":{"calls":[],"output":2}}`+"\n"+`{"raw":"no JSON","finish_reason":"length"}`+"\n")
}

func TestATapeOfAProcessThatGoesOnGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	for n, goesOn := range []bool{false, true} {
		tape := &tape{path: path}
		if err := tape.start("p", goesOn); err != nil {
			t.Fatal(err)
		}
		tape.heard("p", aSolution(n), "stop", "")
		if err := tape.stop(); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, path, `{"solution":{"calls":[],"output":0}}`+"\n"+`{"solution":{"calls":[],"output":1}}`+"\n")
}

func TestATapeThatCannotBeWrittenIsMisuse(t *testing.T) {
	tape := &tape{path: filepath.Join(t.TempDir(), "no", "folder")}
	var e *exit
	if err := tape.start("p", false); !errors.As(err, &e) || e.code != exitUsage {
		t.Error(err)
	}
	if err := tape.stop(); err != nil {
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
	want(t, string(data), text)
}

func TestWhoAnswersDependsOnWhatIsConfigured(t *testing.T) {
	for _, c := range []struct {
		name     string
		key      string
		script   string
		scripted bool
		want     string
		plan     string
		refused  bool
	}{
		{name: "nobody", refused: true},
		{name: "nobody, where the Plan guides", plan: `{"type": "plan", "plan": []}`, refused: true},
		{name: "nobody, where the Plan runs without a Request", plan: `{"type": "plan", "stage": "optimal", "plan": []}`},
		{name: "the LLM", key: "k"},
		{name: "the folder's replies", script: "s", want: "s"},
		{name: "the LLM before the folder's replies", key: "k", script: "s"},
		{name: "replies that were asked for, before the LLM", key: "k", script: "s", scripted: true, want: "s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("OPENAI_BASE_URL", " ")
			t.Setenv("OPENAI_API_KEY", c.key)
			m := &material{script: c.script, source: source{scripted: c.scripted}, read: ideaOf(t, `{"context": [`+c.plan+`]}`)}
			err := place{data: t.TempDir()}.chooseScript(m)
			if (err != nil) != c.refused || m.script != c.want {
				t.Errorf("the script is %q, error %v", m.script, err)
			}
			if err != nil && (!strings.Contains(err.Error(), "OPENAI_API_KEY") || !strings.Contains(err.Error(), "--replies")) {
				t.Errorf("it does not say what to set: %v", err)
			}
		})
	}
}

func TestLargeValuesOfPlansRecordsAndSolutionsAreInTheStoreToo(t *testing.T) {
	large := strings.Repeat("x", jsonval.LargeValue)
	call := `{"_tool":"t","big":"` + large + `","looks":{"†blob":{"digest":"x"}}}`
	idea := ideaOf(t, `{"context":[{"type":"plan","plan":[`+call+`,"no Call"],"record":{"1.1":{"done":["①"],"results":{"①":"`+large+`"},
		"decided":[{"token":"①","decision":{"decision":"answer","call":"1.1@①","at":"2026-01-02T03:04:05Z","output":"`+large+`"}}]},"1.2":"failed"}},
		{"type":"state","_instance":"①","_status":"failed","_error":{"code":"c","message":"m"},"state":{"big":"`+large+`"}}],
		"solution":{"calls":[`+call+`,5],"output":{"big":"`+large+`"}}}`).Source
	store := storeOf(t)
	light, err := offload(t.Context(), store, idea)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(jsonval.Encode(light)); n > 4000 {
		t.Errorf("the light Idea has %d bytes", n)
	}
	whole, err := store.Restore(t.Context(), light)
	if err != nil || !jsonval.Equal(whole, idea) {
		t.Errorf("%v: it came back as %.300s", err, jsonval.Encode(whole))
	}
	read, problems := ideafile.ReadIdea(light)
	if len(problems) > 0 || read.Context[1].Status != ideafile.InstanceFailed || read.Context[1].Fault.Code != "c" {
		t.Errorf("%v: %+v", problems, read.Context[1])
	}
}
