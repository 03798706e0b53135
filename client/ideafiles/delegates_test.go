package ideafiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/model/jsonval"
)

const aDelegate = `{"schema":{"tools":{"t":{"_delegate":"sub/b.json"}}},"context":[{"type":"text","text":"x"}]}`

// withDelegates is a folder with an Idea whose delegate has one of its own, in a folder below.
func withDelegates(t *testing.T, b, c string) string {
	t.Helper()
	dir := folder(t, map[string]string{"idea.json": aDelegate})
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"b.json": b, "c.yaml": c} {
		if err := os.WriteFile(filepath.Join(dir, "sub", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const namesC = `{"schema":{"tools":{"t":{"_delegate":"c.yaml"}}}}`

func TestDelegatesFilesAreCarriedWithTheProcess(t *testing.T) {
	t.Parallel()
	m := loaded(t, withDelegates(t, namesC, "context: [{type: text, text: deep}]"), "", "")
	if len(m.DelegateFiles) != 2 || m.DelegateFiles["sub/b.json"] == nil || m.DelegateFiles["sub/c.yaml"] == nil {
		t.Errorf("carried: %v", m.DelegateFiles)
	}
	if all := m.AllIdeas(); len(all) != 3 || all[1].Tools[0].DelegateFile != "c.yaml" || len(all[2].Context) != 1 {
		t.Errorf("read: %v", all)
	}
	other := loaded(t, withDelegates(t, namesC, "context: [{type: text, text: deeper}]"), "", "")
	if jsonval.Equal(m.DelegateFiles, other.DelegateFiles) {
		t.Error("the delegate's file is not carried as it is")
	}
}

func TestWhatIsWrongWithDelegatesIsSaidBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ b, c, want string }{
		"it is missing": {`{"schema":{"tools":{"t":{"_delegate":"none.json"}}}}`, "{}",
			"sub/b.json: $.schema.tools.t._delegate: the process is started without the file sub/none.json"},
		"it leads back": {`{"schema":{"tools":{"t":{"_delegate":"../idea.json"}}}}`, "{}",
			"idea.json is its own delegate"},
		"it leads out": {`{"schema":{"tools":{"t":{"_delegate":"../../x.json"}}}}`, "{}",
			"an Idea may only name files in the folder"},
		"it does not parse":  {`{"schema":`, "{}", "sub/b.json: $: "},
		"it breaks the form": {namesC, "oops: 1", `sub/c.yaml: $.oops: unknown key "oops"`},
		"it names no known activity": {`{"schema":{"tools":{"t":{"_activity":"nobodyKnowsThis"}}}}`, "{}",
			`sub/b.json: $.schema.tools.t._activity: no activity "nobodyKnowsThis"`},
	} {
		s, err := Find(withDelegates(t, c.b, c.c), "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, problems, err := Load(s, builtins)
		if err != nil || !strings.Contains(problems.Errors().Error(), c.want) {
			t.Errorf("%s: %v %q", name, err, problems.Error())
		}
	}
}

func TestALinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir := withDelegates(t, namesC, "{}")
	outside := folder(t, map[string]string{"secret.json": `{"context":[]}`})
	link := filepath.Join(dir, "sub", "b.json")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret.json"), link); err != nil {
		t.Skip("no links here")
	}
	s, err := Find(dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(s, builtins); err == nil {
		t.Error("it was read")
	}
}

func TestWhatACallGivesADelegateNeedNotBeInItsFile(t *testing.T) {
	t.Parallel()
	b := `{"schema":{"tools":{"note":{"type":"object","properties":{"text":{}},"required":["text"]}}},"context":[{"type":"plan","plan":[{"_tool":"note","text":"†input.text"}]}]}`
	if m := loaded(t, withDelegates(t, b, "{}"), "", ""); !jsonval.Equal(m.DelegateFiles["sub/b.json"],
		mustDecode(t, b)) {
		t.Error(m.DelegateFiles)
	}
}

func mustDecode(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheFilesOfInstructionsAreCarriedWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	named := `{"type":"instruction","file":"p.yaml"}`
	b := `{"context":[` + named + `]}`
	policy := func(step string) string { return "instruction: {steps: [{id: " + step + ", text: Look.}]}" }
	dir := withDelegates(t, b, "{}")
	for name, text := range map[string]string{"idea.json": strings.Replace(aDelegate, `[{`, `[`+named+`,{`, 1),
		"p.yaml":     policy("a"),
		"sub/p.yaml": policy("b")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := loaded(t, dir, "", "")
	if i := m.ParsedIdea.Context[0].Instruction; i == nil || i.Steps[0].ID != "a" {
		t.Errorf("the Idea carries %+v", i)
	}
	inner := jsonval.AsObject(m.DelegateFiles["sub/b.json"])["context"].([]any)[0]
	if jsonval.AsObject(inner)["instruction"] == nil || !strings.Contains(string(jsonval.Encode(inner)), `"id":"b"`) {
		t.Errorf("its delegate carries %s", jsonval.Encode(inner))
	}
}

func TestWhatIsWrongWithInstructionsIsSaidBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"it is missing":     {"none.json", `{}`, "$.context[0].file: the process is started without the file none.json"},
		"it leads out":      {"../p.json", `{}`, "$.context[0].file: an Idea may only name files in the folder"},
		"it does not parse": {"p.json", `{"instruction":`, "p.json: $: "},
		"it is an Idea": {"p.json", `{"context":[]}`,
			`p.json: $.context: unknown key "context"; an instruction's file has`},
	} {
		dir := folder(t, map[string]string{"p.json": c.text,
			"idea.json": `{"context":[{"type":"instruction","file":"` + c.file + `"}]}`})
		s, err := Find(dir, "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, problems, err := Load(s, builtins)
		if err != nil || !strings.Contains(problems.Errors().Error(), c.want) {
			t.Errorf("%s: %v %q", name, err, problems.Error())
		}
	}
}
