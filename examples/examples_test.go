package examples_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"processidea/client/ideafiles"
	"processidea/examples/texttools"
	"processidea/internal/rehearsal"
	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools"
	"processidea/tools/builtin"
	"processidea/tools/kinds"
)

// payout wants signed decisions, and journey is taken back by a process of its own: package starter plays them.
const (
	payout  = "payout"
	journey = "journey"
)

// every lists the examples: each folder with an Idea in it.
func every(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/idea.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("found %q, %v", files, err)
	}
	var names []string
	for _, f := range files {
		// The tools of three are another program's, or processes; package workflows has their tests. Two have no
		// replies.
		if name := filepath.Dir(f); name != payout && name != journey && name != "mcp" && name != "custom-worker" &&
			name != "research" && name != hardened {
			names = append(names, name)
		}
	}
	return names
}

// source reads an example's Idea with its instances; of each pair of texts the first is replaced by the second.
func source(t *testing.T, name string, replace ...string) map[string]any {
	t.Helper()
	text := read(t, name, "idea.json")
	for i := 0; i < len(replace); i += 2 {
		if !bytes.Contains(text, []byte(replace[i])) {
			t.Fatalf("%s/idea.json does not hold %q", name, replace[i])
		}
		text = bytes.ReplaceAll(text, []byte(replace[i]), []byte(replace[i+1]))
	}
	idea, err := jsonval.DecodeObject(text)
	if err != nil {
		t.Fatal(err)
	}
	context, _ := idea["context"].([]any)
	context = append(context, table(t, name, idea)...)
	for n, row := range rows(t, name) {
		row["_instance"] = token(n)
		context = append(context, row)
	}
	idea["context"] = context
	return idea
}

// table reads an example's instances where they are a table.
func table(t *testing.T, name string, source map[string]any) []any {
	t.Helper()
	file := filepath.Join(name, "instances.csv")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	idea, _ := ideafile.ReadIdea(source)
	messages, problems := ideafiles.ReadRowsAsMessages(file, data, idea, jsonval.TrustedTableNodeLimit)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return messages
}

// rows reads an example's instances; most have none beside their Idea.
func rows(t *testing.T, name string) (rows []map[string]any) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(name, "instances.jsonl")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range bytes.Lines(read(t, name, "instances.jsonl")) {
		row, err := jsonval.DecodeObject(line)
		if err != nil {
			t.Fatalf("%s/instances.jsonl: %v in %s", name, err, line)
		}
		rows = append(rows, row)
	}
	return rows
}

// token names a row without a name: ① … ㊿, then numbers.
func token(row int) string {
	switch n := rune(row + 1); {
	case n <= 20:
		return string('①' + n - 1)
	case n <= 35:
		return string('㉑' + n - 21)
	case n <= 50:
		return string('㊱' + n - 36)
	default:
		return strconv.Itoa(row + 1)
	}
}

func read(t *testing.T, name, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(name, file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// parsed is an example's Idea with its instances, and its replies without their pace.
func parsed(t *testing.T, name string, replace ...string) (*ideafile.Idea, []rehearsal.Reply) {
	t.Helper()
	idea, problems := ideafile.ReadIdea(source(t, name, replace...))
	if len(problems) > 0 {
		t.Fatalf("%s: %v", name, problems)
	}
	replies, err := rehearsal.Parse(read(t, name, "replies.jsonl"))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range replies {
		replies[i].TTFT, replies[i].TPS = 0, 0
	}
	return idea, replies
}

func builtins() *tools.Registry {
	r := tools.NewRegistry()
	builtin.Register(r, nil)
	texttools.Register(r)
	return r
}

func TestEveryExampleIsSoundAndItsToolsCanBeBound(t *testing.T) {
	for _, name := range every(t) {
		if _, problems := ideafile.ParseIdea(read(t, name, "idea.json")); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		idea, _ := parsed(t, name)
		bindings, problems := kinds.NewKnownTools(builtins(), nil).Bind(idea)
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		if errs := check.Check(idea, bindings).Errors(); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
		if idea.ProcessPath != name {
			t.Errorf("%s: its path is %q", name, idea.ProcessPath)
		}
	}
}

func TestEveryReplyAnswersByTheTaskAndAtARealPace(t *testing.T) {
	for _, name := range every(t) {
		replies, err := rehearsal.Parse(read(t, name, "replies.jsonl"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range replies {
			// An answer by turn would be another one after a Request that broke off.
			if r.PromptSubstring == "" || r.TTFT == 0 || r.TPS == 0 {
				t.Errorf("%s: a reply without when, ttft_ms or tps: %s", name, r.Line())
			}
		}
	}
}

func TestEveryExampleIsExplained(t *testing.T) {
	table := read(t, ".", "README.md")
	for _, name := range every(t) {
		text := read(t, name, "README.md")
		for _, want := range []string{"starter run examples/" + name, "```mermaid"} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%s/README.md does not hold %q", name, want)
			}
		}
		if !bytes.Contains(table, []byte("("+name+"/README.md)")) {
			t.Errorf("README.md does not lead to %s", name)
		}
	}
}
