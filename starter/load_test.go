package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder makes a folder of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// loaded reads a source that nothing is wrong with.
func loaded(t *testing.T, s source, given string) *material {
	t.Helper()
	if err := s.find(given); err != nil {
		t.Fatal(err)
	}
	m, problems, err := load(s, knownTools(place{}))
	if err != nil || len(problems.Errors()) > 0 {
		t.Fatal(err, problems)
	}
	return m
}

const (
	aState = `{"context":[{"type":"state","a":1}]}`
	aReply = `{"solution":{"calls":[],"output":null}}`
)

func TestAFolderStandsForItsFiles(t *testing.T) {
	dir := folder(t, map[string]string{
		"idea.yaml": "context: [{type: text, text: hello}]", "instances.csv": "a\n1\n2\n", "replies.jsonl": aReply, "other.json": "{",
	})
	m := loaded(t, source{}, dir)
	if got := strings.Join(m.read.Tokens(), " "); got != "① ②" || m.script != aReply || m.source.scripted {
		t.Errorf("instances %s, script %q, asked for: %v", got, m.script, m.source.scripted)
	}
}

func TestWhatAFlagNamesCountsInsteadOfTheFoldersFile(t *testing.T) {
	dir := folder(t, map[string]string{
		"idea.json": aState, "instances.csv": "a\n1\n", "replies.jsonl": "{", "mine.jsonl": "{\"a\":1}\n{\"a\":2}\n{\"a\":3}", "said.jsonl": aReply,
	})
	m := loaded(t, source{instances: filepath.Join(dir, "mine.jsonl"), replies: filepath.Join(dir, "said.jsonl")}, dir)
	if got := len(m.read.Tokens()); got != 3 || m.script != aReply || !m.source.scripted {
		t.Errorf("%d instances, script %q, asked for: %v", got, m.script, m.source.scripted)
	}
}

func TestAFolderThatLeavesInDoubtWhatCountsIsRefused(t *testing.T) {
	for _, files := range []map[string]string{
		{},
		{"idea.json": aState, "idea.yml": "a: 1"},
		{"idea.json": aState, "instances.csv": "a\n1", "instances.jsonl": "{}"},
	} {
		var s source
		var e *exit
		if err := s.find(folder(t, files)); !errors.As(err, &e) || e.code != exitUsage {
			t.Errorf("%v: %v", files, err)
		}
	}
}

func TestAByteOrderMarkIsNoPartOfAFile(t *testing.T) {
	const mark = "\ufeff"
	dir := folder(t, map[string]string{
		"idea.json": mark + aState, "instances.csv": mark + "_instance,a\nx,1\n", "replies.jsonl": mark + aReply,
	})
	if got := loaded(t, source{}, dir).read.Tokens(); len(got) != 1 || got[0] != "x" {
		t.Errorf("the instances are %v", got)
	}
}

func TestEverythingThatIsWrongWithAnyFileIsSaidAtOnce(t *testing.T) {
	dir := folder(t, map[string]string{
		"idea.json": `{"contxt":[],"config":{"batch":0},"schema":{"tools":{"t":{"type":"object","_activity":"noSuchTool"}}},
			"context":[{"type":"note"},{"type":"plan","plan":[{"_tool":"nobody"}]}]}`,
		"instances.jsonl": "{\"a\":1}\n[]", "replies.jsonl": `{"solutoin":{}}`,
	})
	var s source
	if err := s.find(dir); err != nil {
		t.Fatal(err)
	}
	_, problems, err := load(s, knownTools(place{}))
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, problems, "$.contxt", "unknown key")
	wantProblem(t, problems, "$.config.batch", "")
	wantProblem(t, problems, "$.context[0].type", "unknown type")
	wantProblem(t, problems, "instances.jsonl:2", "a row is an object")
	wantProblem(t, problems, "replies.jsonl", "line 1: key \"solutoin\": unknown")

	_, problems, err = load(source{given: dir, file: s.file}, knownTools(place{}))
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, problems, "$.schema.tools.t._activity", "noSuchTool")
	wantProblem(t, problems, "$.context[1].plan[0]._tool", "nobody")
}

func TestAToolThatOnlyARemoteWorkerMayKnowIsAWarning(t *testing.T) {
	known := knownTools(place{})
	known.elsewhere = true
	problems := known.check(ideaOf(t, `{"schema":{"tools":{"t":{"type":"object","properties":{},"_activity":"noSuchTool"}}}}`))
	wantProblem(t, problems, "$.schema.tools.t._activity", "noSuchTool")
	if len(problems.Errors()) > 0 {
		t.Error(problems.Errors())
	}
}

func TestAScriptWithoutAReplyIsRefused(t *testing.T) {
	dir := folder(t, map[string]string{"idea.json": aState, "replies.jsonl": "\n"})
	var s source
	if err := s.find(dir); err != nil {
		t.Fatal(err)
	}
	_, problems, _ := load(s, knownTools(place{}))
	wantProblem(t, problems, "replies.jsonl", "it holds no reply")
}

func TestAFileThatCannotBeReadIsMisuse(t *testing.T) {
	dir := folder(t, map[string]string{"idea.json": aState})
	for _, s := range []source{{file: filepath.Join(dir, "no.json")}, {file: filepath.Join(dir, "idea.json"), instances: dir}, {file: filepath.Join(dir, "idea.json"), replies: "no"}} {
		var e *exit
		if _, _, err := load(s, knownTools(place{})); !errors.As(err, &e) || e.code != exitUsage {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestTheDigestIsOfWhatTheFilesSayAndNotOfHow(t *testing.T) {
	digest := func(name, text, replies string) string {
		dir := folder(t, map[string]string{name: text, "replies.jsonl": replies})
		return loaded(t, source{}, dir).digest()
	}
	first := digest("idea.json", `{"context":[{"type":"text","text":"a"}],"meta":{}}`, aReply)
	if got := digest("idea.yaml", "meta: {}\ncontext:\n- {text: a, type: text}\n", aReply); got != first {
		t.Error("the same Idea in YAML has another digest")
	}
	if got := digest("idea.json", `{"context":[{"type":"text","text":"b"}],"meta":{}}`, aReply); got == first {
		t.Error("another Idea has the same digest")
	}
	if got := digest("idea.json", `{"context":[{"type":"text","text":"a"}],"meta":{}}`, aReply+"\n"+aReply); got == first {
		t.Error("another script has the same digest")
	}
}

func TestAnIdeaBeyondReasonIsRefusedAndNothingPanics(t *testing.T) {
	for _, text := range []string{
		`{"a":1e10000000}`, strings.Repeat("[", 100_000), "\xff", `{"meta":{"path":"a","path":"b"}}`, "", "null", "7", `{} {}`,
	} {
		dir := folder(t, map[string]string{"idea.json": text})
		_, problems, err := load(source{file: filepath.Join(dir, "idea.json")}, knownTools(place{}))
		if err != nil || len(problems.Errors()) == 0 {
			t.Errorf("%.30q is taken: %v %v", text, problems, err)
		}
	}
}

func TestAProcessIsNamedAfterItsFileOrFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a refund")
	for given, want := range map[string]string{
		"x/moderation.json": "moderation", "b.c.yaml": "b.c", "plan": "plan", "plan.txt": "plan.txt", ".json": ".json", dir: "a-refund",
	} {
		if got := (&source{given: given}).name(); got != want {
			t.Errorf("%s gives %q, want %q", given, got, want)
		}
	}
}
