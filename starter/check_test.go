package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckSaysEverythingAtOnceAndNeedsNothing(t *testing.T) {
	d := newDesk(t, map[string]string{"bad.json": `{"contxt": [], "context": [{"type": "note"}]}`, "good.json": judgeIdea})
	var list []checked
	d.do("check", "bad.json", "--json").is(exitUsage).json(&list)
	if len(list) < 2 || list[0].Path == "" || list[0].Message == "" || list[0].Warning {
		t.Errorf("%+v", list)
	}
	e := d.do("check", "bad.json").is(exitUsage).quiet()
	if n := strings.Count(e.err, "\n"); n != len(list) {
		t.Errorf("%d lines for %d problems: %s", n, len(list), e.err)
	}
	if e := d.do("check", "good.json").is(exitDone); !strings.Contains(e.out, "1 Tool, 2 instances: nothing is wrong") {
		t.Error(e.out)
	}
	if e := d.do("check", "good.json", "--json").is(exitDone); e.out != "[]\n" {
		t.Error(e.out)
	}
	open := strings.Replace(judgeIdea, `"type": "object", "properties": {"text"`, `"type": "object", "properties": {"more": {"type": "object"}, "text"`, 1)
	if err := os.WriteFile(filepath.Join(d.dir, "open.json"), []byte(open), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("check", "open.json", "--json").is(exitDone).json(&list)
	if len(list) != 1 || !list[0].Warning {
		t.Errorf("%+v", list)
	}
	d.do("check", "open.json").is(exitDone).complains("check open.json: warning: $.schema.tools.judge")
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
	e := d.do("graph", "plan.json").is(exitDone)
	if !strings.Contains(e.out, "a") || !strings.Contains(e.out, "-->") || strings.Contains(e.out, "unused") {
		t.Error(e.out)
	}
	var g drawn
	d.do("graph", "solution.json", "--json", "--format", "dot").is(exitDone).json(&g)
	if g.Format != "dot" || g.Calls != 1 || !strings.Contains(g.Graph, "digraph") {
		t.Errorf("%+v", g)
	}
	d.do("graph", "none.json").is(exitUsage).quiet().complains("it has no Calls")
}
