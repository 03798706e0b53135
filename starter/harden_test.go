package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/model/harden"
	"processidea/model/jsonval"
	"processidea/starter/internal/exit"
)

// exampleFiles reads the files of an example's process.
func exampleFiles(t *testing.T, name string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, file := range []string{"idea.json", "replies.jsonl"} {
		data, err := os.ReadFile(filepath.Join("..", "examples", name, file))
		if err != nil {
			t.Fatal(err)
		}
		files[file] = string(data)
	}
	return files
}

func TestAHardenedProcessEndsAlikeWithNoLLM(t *testing.T) {
	d := newDesk(t, exampleFiles(t, "weather"))
	planned := d.do("run", "idea.json", "--id", "planned", "--replies", "replies.jsonl", "--json", noUI).is(exit.Done).result()
	d.do("harden", "planned", "-o", "hard.json").is(exit.Done).quiet()
	d.do("check", "hard.json").is(exit.Done)
	r := d.do("run", "hard.json", "--id", "hard", "--json", noUI).is(exit.Done).result()
	if r.Requests != 0 || !jsonval.Equal(jsonval.ToJSONValue(r.Instances), jsonval.ToJSONValue(planned.Instances)) || !jsonval.Equal(r.Output, planned.Output) {
		t.Errorf("%+v\nafter %+v", r, planned)
	}
	rows := `{"type": "state", "_instance": "Oslo", "state": {"city": "Oslo", "forecast": {"clouds": 12}}}`
	if err := os.WriteFile(filepath.Join(d.dir, "rows.jsonl"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("harden", "planned", "--template", "-o", "template.json").is(exit.Done).quiet()
	r = d.do("run", "template.json", "--instances", "rows.jsonl", "--id", "new", "--json", noUI).is(exit.Done).result()
	if got := string(jsonval.Encode(r.Output)); got != `{"days":{"Oslo":"Oslo. Out: hardly a cloud."}}` || r.Requests != 0 {
		t.Errorf("it ends with %s after %d Requests", got, r.Requests)
	}
}

func TestHardenNeedsTheStoreAlone(t *testing.T) {
	audited(t)
	says(t, "harden|q", exit.Usage, "!harden q: the store has no Idea of a process of this id")
	says(t, "harden|p 1", exit.Usage, "!harden p 1: it has not finished")
}

func TestHardenSaysWhatIsNotGeneralised(t *testing.T) {
	d := newDesk(t, judge())
	d.do("run", "idea.json", "--id", "j", "--replies", "replies.jsonl", noUI).is(exit.Done)
	e := d.do("harden", "j", "--json").is(exit.Done)
	e.complains("not generalised: judge → †state.mood: the tool has no code, the LLM writes its result")
	e.complains("not generalised: the output of j: the LLM wrote it")
	e.complains("2 things are not generalised: the Plan is not optimal")
	var made harden.Result
	e.json(&made)
	if len(made.Differences) != 2 || strings.Contains(e.out, `"stage"`) {
		t.Errorf("%s", e.out)
	}
}
