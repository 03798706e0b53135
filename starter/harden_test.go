package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/learn/harden"
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
	planned := d.do("run", "idea.json", "--id", "planned", "--replies", "replies.jsonl", "--json",
		noUI).is(exit.Done).result()
	d.do("harden", "planned", "-o", "hard.json").is(exit.Done).quiet()
	d.do("check", "hard.json").is(exit.Done)
	r := d.do("run", "hard.json", "--id", "hard", "--json", noUI).is(exit.Done).result()
	if r.RequestCount != 0 || !jsonval.Equal(jsonval.ToJSONValue(r.Instances),
		jsonval.ToJSONValue(planned.Instances)) ||
		!jsonval.Equal(r.Output, planned.Output) {
		t.Errorf("%+v\nafter %+v", r, planned)
	}
	rows := `{"type": "state", "_instance": "Oslo", "state": {"city": "Oslo", "forecast": {"clouds": 12}}}`
	if err := os.WriteFile(filepath.Join(d.dir, "rows.jsonl"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("harden", "planned", "--template", "-o", "template.json").is(exit.Done).quiet()
	r = d.do("run", "template.json", "--instances", "rows.jsonl", "--id", "new", "--json", noUI).is(exit.Done).result()
	if got := string(jsonval.Encode(r.Output)); got != `{"days":{"Oslo":"Oslo. Out: hardly a cloud."}}` ||
		r.RequestCount != 0 {
		t.Errorf("it ends with %s after %d Requests", got, r.RequestCount)
	}
}

func TestHardenNeedsTheStoreAlone(t *testing.T) {
	audited(t)
	says(t, "harden|q", exit.Usage, "!harden q: the store has no Idea of a process with this id")
	says(t, "harden|p 1", exit.Usage, "!harden p 1: it has not finished")
}

func TestHardenSaysWhatIsNotGeneralised(t *testing.T) {
	d := newDesk(t, judge())
	d.do("run", "idea.json", "--id", "j", "--replies", "replies.jsonl", noUI).is(exit.Done)
	e := d.do("harden", "j", "--json").is(exit.Done)
	e.complains("not generalised: judge → †state.mood: the tool has no code, the LLM writes its result")
	e.complains("decide what gives its result: name code as _activity in schema.tools.judge, or leave it to the LLM: context[")
	e.complains("not generalised: the output of j: the LLM wrote it", "write their References")
	e.complains("2 things are not generalised, so the Plan only guides the LLM")
	var made harden.Result
	e.json(&made)
	if len(made.Differences) != 2 || strings.Contains(e.out, `"stage"`) {
		t.Errorf("%s", e.out)
	}
}

// branchingRows are cases of which every second is large and every fourth is a complaint.
func branchingRows(from, n int) string {
	var rows []string
	for k := from; k < from+n; k++ {
		amount, text := 100+k%24*7, "This is wonderful!"
		if k%2 == 1 {
			amount = 900 + k%24*7
		}
		if k%4 > 1 {
			text = "This is terrible."
		}
		rows = append(rows, fmt.Sprintf(`{"type": "state", "_instance": "c%d", "state": {"amount": %d, "text": %q}}`, k,
			amount, text))
	}
	return strings.Join(rows, "\n")
}

// branching is a process in which the LLM decides twice: by the amount at once, and by the mood once that is there.
func branching(n int) map[string]string {
	var first, second []string
	for k := range n {
		size := map[bool]string{true: "large", false: "small"}[k%2 == 1]
		first = append(
			first,
			fmt.Sprintf(
				`{"_tool": "analyzeSentiment", "_instance": "c%d", "text": "†state.text", "_outputPath": "mood"}`, k),
			fmt.Sprintf(
				`{"_tool": "formatText", "_instance": "c%d", "template": %q, "values": {}, "_outputPath": "size"}`, k,
				size))
		if k%4 > 1 {
			second = append(
				second,
				fmt.Sprintf(
					`{"_tool": "formatText", "_instance": "c%d", "template": "sorry ({mood})", "values": "†state", "_outputPath": "letter"}`, k))
		}
	}
	reply := func(calls []string) string {
		return `{"solution": {"calls": [` + strings.Join(calls, ", ") + `], "output": null}}`
	}
	return map[string]string{
		"idea.json": `{"meta": {"path": "cases", "version": "1"}, "schema": {"tools": {
			"analyzeSentiment": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
			"formatText": {"type": "object", "properties": {"template": {"type": "string"}, "values": {"type": "object"}},
				"required": ["template", "values"], "_output": {"type": "string"}}}},
			"context": [` + strings.ReplaceAll(branchingRows(0, n), "\n", ", ") + `]}`,
		"replies.jsonl": reply(first) + "\n" + reply(second) + "\n" + reply(nil) + "\n" + reply(nil),
	}
}

// Where the LLM planned other Calls for some than for others, the conditions are found: one over what was there at the
// start, one over a result.
func TestAProcessWithTwoBranchesIsHardenedAndRunsOnNewCasesWithNoLLM(t *testing.T) {
	d := newDesk(t, branching(24))
	d.do("run", "idea.json", "--id", "planned", "--replies", "replies.jsonl", "--json", noUI).is(exit.Done)
	e := d.do("harden", "planned", "--template", "-o", "hard.json").is(exit.Done)
	e.complains(`runs where †state.amount > `)
	e.complains(
		`runs where †state.mood is "negative": this separates 12 instances that had it from 12 instances that had not`)
	d.do("check", "hard.json").is(exit.Done)
	rows := branchingRows(40, 8) +
		"\n" + `{"type": "state", "_instance": "between", "state": {"amount": 500, "text": "This is wonderful!"}}`
	if err := os.WriteFile(filepath.Join(d.dir, "rows.jsonl"), []byte(branchingRows(40, 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := d.do("run", "hard.json", "--instances", "rows.jsonl", "--id", "hard", "--json", noUI).is(exit.Done).result()
	for k := 40; k < 48; k++ {
		state := jsonval.AsObject(r.Instances[fmt.Sprintf("c%d", k)].State)
		if want := map[bool]any{true: "large", false: "small"}[k%2 == 1]; state["size"] != want {
			t.Errorf("c%d: size %v, want %v", k, state["size"], want)
		}
		if want := map[bool]any{true: "sorry (negative)", false: nil}[k%4 > 1]; state["letter"] != want {
			t.Errorf("c%d: letter %v, want %v", k, state["letter"], want)
		}
	}
	if r.RequestCount != 0 {
		t.Errorf("%d Requests", r.RequestCount)
	}
	// What no case has shown goes to the LLM, with all others left as they are.
	if err := os.WriteFile(filepath.Join(d.dir, "rows.jsonl"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	reply := `{"solution": {"calls": [{"_tool": "formatText", "_instance": "between", "template": "middle", "values": {}, "_outputPath": "size"},
		{"_tool": "analyzeSentiment", "_instance": "between", "text": "†state.text", "_outputPath": "mood"}], "output": null}}`
	if err := os.WriteFile(filepath.Join(d.dir, "between.jsonl"),
		[]byte(strings.ReplaceAll(reply, "\n", "")+"\n"+`{"solution": {"calls": [], "output": null}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	r = d.do("run", "hard.json", "--instances", "rows.jsonl", "--id", "between", "--replies", "between.jsonl", "--json",
		noUI).is(exit.Done).result()
	if state := jsonval.AsObject(r.Instances["between"].State); state["size"] != "middle" || r.RequestCount == 0 {
		t.Errorf("%v after %d Requests", state, r.RequestCount)
	}
}
