package ideafiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"processidea/internal/rehearsal"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/tools"
	"processidea/tools/builtin"
	"processidea/tools/kinds"
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
func loaded(t *testing.T, given, instances, replies string) *Definition {
	t.Helper()
	s, err := Find(given, instances, replies)
	if err != nil {
		t.Fatal(err)
	}
	d, problems, err := Load(s, builtins)
	if err != nil || len(problems.Errors()) > 0 {
		t.Fatal(err, problems)
	}
	return d
}

// builtins is what a worker knows that nobody gave tools of their own.
var builtins = func() WorkerTools {
	r := tools.NewRegistry()
	builtin.Register(r, nil)
	return WorkerTools{Registry: kinds.NewKnownTools(r, nil), CheckReplies: rehearsal.CountReplies}
}()

const (
	aState = `{"context":[{"type":"state","a":1}]}`
	aReply = `{"solution":{"calls":[],"output":null}}`
)

func TestAFolderStandsForItsFiles(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"idea.yaml": "context: [{type: text, text: hello}]", "instances.csv": "a\n1\n2\n", "replies.jsonl": aReply,
		"other.json": "{",
	})
	m := loaded(t, dir, "", "")
	if got := strings.Join(m.ParsedIdea.InstanceTokens(), " "); got != "① ②" || m.RepliesText != aReply ||
		m.Source.AreRepliesFromCaller {
		t.Errorf("instances %s, script %q, asked for: %v", got, m.RepliesText, m.Source.AreRepliesFromCaller)
	}
}

func TestWhatAFlagNamesCountsInsteadOfTheFoldersFile(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"idea.json": aState, "instances.csv": "a\n1\n", "replies.jsonl": "{",
		"mine.jsonl": "{\"a\":1}\n{\"a\":2}\n{\"a\":3}", "said.jsonl": aReply,
	})
	m := loaded(t, dir, filepath.Join(dir, "mine.jsonl"), filepath.Join(dir, "said.jsonl"))
	if got := len(m.ParsedIdea.InstanceTokens()); got != 3 || m.RepliesText != aReply ||
		!m.Source.AreRepliesFromCaller {
		t.Errorf("%d instances, script %q, asked for: %v", got, m.RepliesText, m.Source.AreRepliesFromCaller)
	}
}

func TestAFolderThatLeavesInDoubtWhatCountsIsRefused(t *testing.T) {
	t.Parallel()
	for _, files := range []map[string]string{
		{},
		{"idea.json": aState, "idea.yml": "a: 1"},
		{"idea.json": aState, "instances.csv": "a\n1", "instances.jsonl": "{}"},
	} {
		if _, err := Find(folder(t, files), "", ""); !errors.Is(err, ErrInvalid) {
			t.Errorf("%v: %v", files, err)
		}
	}
}

func TestAByteOrderMarkIsNoPartOfAFile(t *testing.T) {
	t.Parallel()
	const mark = "\ufeff"
	dir := folder(t, map[string]string{
		"idea.json": mark + aState, "instances.csv": mark + "_instance,a\nx,1\n", "replies.jsonl": mark + aReply,
	})
	if got := loaded(t, dir, "", "").ParsedIdea.InstanceTokens(); len(got) != 1 || got[0] != "x" {
		t.Errorf("the instances are %v", got)
	}
}

// Programs on Windows write UTF-16.
func TestFilesInUTF16AreRead(t *testing.T) {
	t.Parallel()
	utf16 := func(text string) string {
		out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	dir := folder(t, map[string]string{
		"idea.json": utf16(aState), "instances.csv": utf16("_instance,a\nä,1\n"), "replies.jsonl": utf16(aReply),
	})
	if got := loaded(t, dir, "", "").ParsedIdea.InstanceTokens(); len(got) != 1 || got[0] != "ä" {
		t.Errorf("the instances are %v", got)
	}
	dir = folder(t, map[string]string{"idea.json": `{"context": [{"type": "text", "text": "M` + "\xfc" + `ller"}]}`})
	_, problems, err := Load(Source{GivenPath: dir, IdeaPath: filepath.Join(dir, "idea.json")}, builtins)
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, problems, "idea.json:1", "save the file as UTF-8")
}

func TestEverythingThatIsWrongWithAnyFileIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"idea.json": `{"contxt":[],"config":{"batch":0},"schema":{"tools":{"t":{"type":"object","_activity":"noSuchTool"}}},
			"context":[{"type":"note"},{"type":"plan","plan":[{"_tool":"nobody"}]}]}`,
		"instances.jsonl": "{\"a\":1}\n[]", "replies.jsonl": `{"solutoin":{}}`,
	})
	s, err := Find(dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	_, problems, err := Load(s, builtins)
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, problems, "$.contxt", "unknown key")
	wantProblem(t, problems, "$.config.batch", "")
	wantProblem(t, problems, "$.context[0].type", "unknown type")
	wantProblem(t, problems, "instances.jsonl:2", "a row is an object")
	wantProblem(t, problems, "replies.jsonl", "line 1: key \"solutoin\": unknown")

	_, problems, err = Load(Source{GivenPath: dir, IdeaPath: s.IdeaPath}, builtins)
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, problems, "$.schema.tools.t._activity", "noSuchTool")
	wantProblem(t, problems, "$.context[1].plan[0]._tool", "nobody")
}

func TestWhatIsWrongWithARowIsSaidWithItsFileAndLine(t *testing.T) {
	t.Parallel()
	const typed = `{"context":[{"type":"state","schema":{"properties":{"n":{"type":"number"}}}},{"type":"input","schema":{"properties":{"m":{"type":"number"}}}}]}`
	for rows, want := range map[string][2]string{
		`{"type":"state","n":1}` + "\n\n" + `{"type":"state","n":"one"}`: {"instances.jsonl:3 $.n",
			"does not fit its schema"},
		`{"m":1}` + "\n" + `{"m":"two"}`: {"instances.jsonl:2 $",
			"does not fit the schema of the input: /m: expected number"},
	} {
		dir := folder(t, map[string]string{"idea.json": typed, "instances.jsonl": rows})
		s, err := Find(dir, "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, problems, err := Load(s, builtins)
		if err != nil {
			t.Fatal(err)
		}
		wantProblem(t, problems, want[0], want[1])
	}
}

func TestAToolThatAWorkerOfOnesOwnMayHaveIsAWarningUnlessItLooksLikeATypo(t *testing.T) {
	t.Parallel()
	known := builtins
	known.MayHaveOtherWorkers = true
	for name, isError := range map[string]bool{"checkStock": false, "formatTetx": true} {
		problems := known.Problems(ideaOf(t, `{"schema":{"tools":{"t":{"type":"object","properties":{},"_activity":"`+
			name+`"}}}}`))
		wantProblem(t, problems, "$.schema.tools.t._activity", name)
		if (len(problems.Errors()) > 0) != isError {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestAToolThatOnlyARemoteWorkerMayKnowIsAWarning(t *testing.T) {
	t.Parallel()
	known := builtins
	known.HasOtherWorkers = true
	problems := known.Problems(ideaOf(t,
		`{"schema":{"tools":{"t":{"type":"object","properties":{},"_activity":"noSuchTool"}}}}`))
	wantProblem(t, problems, "$.schema.tools.t._activity", "noSuchTool")
	if len(problems.Errors()) > 0 {
		t.Error(problems.Errors())
	}
}

// Of a complete Plan too, only what depends on the worker's Tools is left to it.
func TestWhatARemoteWorkerWouldFindAsWellIsAnError(t *testing.T) {
	t.Parallel()
	known := builtins
	known.HasOtherWorkers = true
	for place, idea := range map[string]string{
		"$.config.quality.recheck": `{"config":{"quality":{"recheck":0.1}},"context":[{"type":"plan","stage":"complete","plan":[]}]}`,
		"":                         `{"schema":{"tools":{"ask":{}}},"context":[{"type":"plan","stage":"complete","plan":[{"_tool":"ask"}]}]}`,
	} {
		problems := known.Problems(ideaOf(t, idea))
		found := problems.Errors()
		if (place == "") != (found.Count() == 0) || problems.Count() == 0 {
			t.Errorf("%s: %v", idea, problems)
		}
		if place != "" {
			wantProblem(t, found, place, "the LLM is never asked")
		}
	}
}

func TestAScriptWithoutAReplyIsRefused(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"idea.json": aState, "replies.jsonl": "\n"})
	s, err := Find(dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	_, problems, _ := Load(s, builtins)
	wantProblem(t, problems, "replies.jsonl", "it has no replies")
}

func TestAFileThatCannotBeReadIsInvalid(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"idea.json": aState})
	for _, s := range []Source{{IdeaPath: filepath.Join(dir, "no.json")},
		{IdeaPath: filepath.Join(dir, "idea.json"), InstancesPath: dir},
		{IdeaPath: filepath.Join(dir, "idea.json"), RepliesPath: "no"}} {
		if _, _, err := Load(s, builtins); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestAnIdeaBeyondReasonIsRefusedAndNothingPanics(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"a":1e10000000}`, strings.Repeat("[", 100_000), "\xff", `{"meta":{"path":"a","path":"b"}}`, "", "null",
		"7", `{} {}`,
	} {
		dir := folder(t, map[string]string{"idea.json": text})
		_, problems, err := Load(Source{IdeaPath: filepath.Join(dir, "idea.json")}, builtins)
		if err != nil || len(problems.Errors()) == 0 {
			t.Errorf("%.30q is taken: %v %v", text, problems, err)
		}
	}
}

func TestAProcessIsNamedAfterItsFileOrFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a refund")
	for given, want := range map[string]string{
		"x/moderation.json": "moderation", "b.c.yaml": "b.c", "plan": "plan", "plan.txt": "plan.txt", ".json": ".json",
		dir: "a-refund",
	} {
		if got := (Source{GivenPath: given}).Name(); got != want {
			t.Errorf("%s gives %q, want %q", given, got, want)
		}
	}
}

// inOrder is a Tool whose parameters are written in another order than that of their names.
const inOrder = `"pay": {"type": "object", "required": ["why"], "properties": {
	"to": {"type": "object", "properties": {"name": {}, "iban": {}}}, "why": {}, "properties": {}, "amount": {"default": {"properties": {"b": 1, "a": 2}}}}}`

// fieldsOf lists what people are shown of a Call, in its order.
func fieldsOf(idea *ideafile.Idea) string {
	params := map[string]any{"to": map[string]any{"iban": "1", "name": "2"}, "amount": "3", "why": "4",
		"properties": "5"}
	c := shown.NewPresenter(idea).Call("pay", params, "", shown.InstanceValues{}, shown.English)
	return strings.Join(jsonval.Map(c.Fields, func(f shown.Field) string { return f.Name }), " ")
}

func TestPeopleAreShownParametersAsTheFileHasThem(t *testing.T) {
	t.Parallel()
	const idea = `{"schema": {"tools": {` + inOrder + `,
		"below": {"_delegate": "d.yaml"}, "carried": {"_delegate": "c.json"}}},
		"delegates": {"c.json": {"schema": {"tools": {` + inOrder + `}}}},
		"context": [{"type": "text", "text": "Pay."}]}`
	yaml := strings.NewReplacer("\t", " ", "`", "").Replace(idea)
	dir := folder(t, map[string]string{"idea.json": "\ufeff" + idea, "idea.yaml": yaml, "d.yaml": `
schema:
  tools:
    pay:
      required: [why]
      properties:
        to: &to
          properties:
            name: {}
            iban: {}
        why: {}
        properties: {}
        amount: {}
        more: *to
`, "state.json": `{"schema": {"tools": {` + inOrder + `}}}`, "more.json": `{"schema": {"tools": {` + inOrder + `}}}`})
	const want = "to.name to.iban why properties amount"
	for _, name := range []string{"idea.json", "idea.yaml"} {
		d := loaded(t, filepath.Join(dir, name), "", "")
		for n, read := range d.AllIdeas() {
			if got := fieldsOf(read); got != want {
				t.Errorf("%s, its Idea %d: %s", name, n, got)
			}
		}
		if len(d.DelegateFiles) != 2 {
			t.Errorf("%s has the delegates %v", name, d.DelegateFiles)
		}
		// Sealed, the Idea has its keys by name.
		again, _ := ideafile.ParseIdea(jsonval.Encode(d.Idea))
		if got := fieldsOf(again); got != want {
			t.Errorf("%s, sealed: %s", name, got)
		}
	}
	changed, err := ForkChanges{AddedFile: filepath.Join(dir, "more.json")}.Apply(map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	read, _ := ideafile.ReadIdea(changed)
	if got := fieldsOf(read); got != want {
		t.Errorf("a Tool that a fork adds: %s", got)
	}
	state, err := ReadJSONOrYAMLFile(filepath.Join(dir, "state.json"))
	if text := string(jsonval.Encode(state)); err != nil || strings.Contains(text, "_order") {
		t.Errorf("data becomes %s, %v", text, err)
	}
}
