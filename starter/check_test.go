package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/starter/internal/exit"
)

// checked is one problem of check --json.
type checked struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Warning bool   `json:"warning"`
}

func TestCheckSaysEverythingAtOnceAndNeedsNothing(t *testing.T) {
	d := newDesk(t, map[string]string{"bad.json": `{"contxt": [], "context": [{"type": "note"}]}`,
		"good.json": judgeIdea})
	var list []checked
	d.do("check", "bad.json", "--json").is(exit.Usage).json(&list)
	if len(list) < 2 || list[0].Path == "" || list[0].Message == "" || list[0].Warning {
		t.Errorf("%+v", list)
	}
	e := d.do("check", "bad.json").is(exit.Usage).quiet()
	if n := strings.Count(e.err, "\n"); n != len(list) {
		t.Errorf("%d lines for %d problems: %s", n, len(list), e.err)
	}
	if e := d.do("check", "good.json").is(exit.Done); !strings.Contains(e.out,
		"1 Tool, 2 instances: nothing is wrong") {
		t.Error(e.out)
	}
	if e := d.do("check", "good.json", "--json").is(exit.Done); e.out != "[]\n" {
		t.Error(e.out)
	}
	open := strings.Replace(judgeIdea, `"type": "object", "properties": {"text"`,
		`"type": "object", "properties": {"more": {"type": "object"}, "text"`, 1)
	if err := os.WriteFile(filepath.Join(d.dir, "open.json"), []byte(open), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("check", "open.json", "--json").is(exit.Done).json(&list)
	if len(list) != 1 || !list[0].Warning {
		t.Errorf("%+v", list)
	}
	if e := d.do("check", "open.json").is(exit.Done).complains(
		"check open.json: warning: $.schema.tools.judge"); !strings.HasSuffix(e.out,
		"no errors, 1 warning\n25 a Request: the LLM writes `judge` for each\n") {
		t.Error(e.out)
	}
	if _, err := os.Stat(filepath.Join(d.dir, ".processidea")); err == nil {
		t.Error("check left something behind")
	}
}

func TestAFilesGraphIsOfItsPlans(t *testing.T) {
	d := newDesk(t, map[string]string{
		"plan.json": `{"context": [{"type": "plan", "plan": [{"_tool": "a", "_outputPath": "x"}]}, {"type": "plan", "plan": [{"_tool": "b", "y": "†state.x"}]}],
			"solution": {"calls": [{"_tool": "unused"}]}}`,
		"solution.json": `{"solution": {"calls": [{"_tool": "c"}]}}`,
		"none.json":     `{}`,
	})
	e := d.do("graph", "plan.json").is(exit.Done)
	if !strings.Contains(e.out, "a") || !strings.Contains(e.out, "-->") || strings.Contains(e.out, "unused") {
		t.Error(e.out)
	}
	var g struct {
		Format string `json:"format"`
		Graph  string `json:"graph"`
		Calls  int    `json:"calls"`
	}
	d.do("graph", "solution.json", "--json", "--format", "dot").is(exit.Done).json(&g)
	if g.Format != "dot" || g.Calls != 1 || !strings.Contains(g.Graph, "digraph") {
		t.Errorf("%+v", g)
	}
	d.do("graph", "none.json").is(exit.Usage).quiet().complains("it has no Calls")
}

// Calls that take others back are written by undo alone: they use those others' idempotency keys.
func TestNobodyButUndoWritesACallThatTakesAnotherBack(t *testing.T) {
	const plan = `{"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "note", "text": "x", "_undoes": {"process": "other", "call": "0.1"}}]}],
		"schema": {"tools": {"note": {"type": "object", "properties": {"text": {}}, "required": ["text"]}}}}`
	d := newDesk(t, map[string]string{"plan.json": plan})
	for _, verb := range []string{"check", "run"} {
		d.do(verb, "plan.json").is(exit.Usage).quiet().complains("$.context[0].plan[0]._undoes: only undo writes this")
	}
}

// Everything that check is there to find stands in one file, and is told in the file's order with what would mend it.
func TestCheckFindsEveryKindOfMistakeWithAMend(t *testing.T) {
	values := make([]string, 1001)
	for n := range values {
		values[n] = fmt.Sprintf("\"v%d\"", n)
	}
	rank := `"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"], "additionalProperties": false`
	file := filepath.Join(t.TempDir(), "bad.json")
	text := `{"schema": {"tools": {
		"arrange": {` + rank + `, "_activity": "analyseSentiment"},
		"pick": {"type": "object", "properties": {"kind": {"type": "string", "enum": [` + strings.Join(values, ",") + `]}}, "required": ["kind"],
			"additionalProperties": false, "_output": {"type": "string"}},
		"rank": {` + rank + `, "_output": {"type": "number"}}}},
		"context": [
		{"type": "state", "_instance": "closed", "state": {}, "schema": {"type": "object", "additionalProperties": false,
			"properties": {"a": {}, "b": {}, "kind": {}, "rank": {}, "order": {}, "user": {}}}},
		{"type": "state", "_instance": "open", "state": {"user": {"name": "Ada"}}},
		{"type": "plan", "_instance": "open", "plan": [
			{"_tool": "rank", "score": "†state.b", "_outputPath": "a"},
			{"_tool": "rank", "score": "†state.a", "_outputPath": "b"},
			{"_tool": "rank", "score": "†state.rnk", "_outputPath": "order"},
			{"_tool": "rnk", "score": 1},
			{"_tool": "pick", "kind": "v1", "_outputPath": "kind"},
			{"_tool": "rank", "score": "†state.word", "_outputPath": "rank"},
			{"_tool": "pick", "kind": "v1", "_outputPath": "kind"},
			{"_tool": "pick", "kind": "v2", "_outputPath": "kind.of"},
			{"_tool": "pick", "kind": "v3", "_outputPath": "word"}]},
		{"type": "plan", "_instance": "closed", "plan": [{"_tool": "pick", "kind": "v1", "_outputPath": "kinds"}]}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_ADDRESS", "")
	out := says(t, "check|"+file+"|--json", exit.Usage)
	var list []checked
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	plan := "$.context[2].plan"
	wants := []checked{
		{"$.schema.tools.arrange._activity",
			`no activity "analyseSentiment" is registered; did you mean analyzeSentiment?`, false},
		{"$.schema.tools.pick", "the LLM's server cannot strictly enforce the schema of replies: 1002 enum values, " +
			"over 1000; move a part of it to a description, or check it in the tool", true},
		{plan + "[0].score", "a cycle: plan[0] (rank) → plan[1] (rank) → plan[0] (rank); each waits for the one " +
			"before it, so none can start: have one of them read something else", false},
		{plan + "[2].score", "no Call writes †state.rnk and no State holds it at the start; did you mean †state.rank?",
			false},
		{plan + "[3]._tool", `unknown tool "rnk"; did you mean rank?`, false},
		{plan + "[5].score",
			`†state.word, as plan[8] (pick) writes it, is of type string; the parameter "score" wants number; convert it first, or read another value`, false},
		{plan + "[6]", "the Call repeats plan[4] (pick): it runs only if that one fails; drop it, or write elsewhere",
			true},
		{plan + "[7]._outputPath", "one of †state.kind.of and †state.kind, which plan[4] (pick) writes, is within " +
			"the other: the Call is skipped unless that one fails; write to a path beside it", true},
		{"$.context[3].plan[0]._outputPath", "†state.kinds stands outside the closed State schema; did you mean kind?",
			false},
	}
	for n, want := range wants {
		if n >= len(list) || list[n] != want {
			t.Fatalf("finding %d is not %+v in %s", n, want, out)
		}
	}
	if len(list) != len(wants) {
		t.Errorf("it finds more: %s", out)
	}
}
