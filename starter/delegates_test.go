package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
)

// researched is a desk on which the example with delegates has run as p.
func researched(t *testing.T) *desk {
	d := newDesk(t, map[string]string{})
	if err := os.CopyFS(d.dir, os.DirFS("../examples/research")); err != nil {
		t.Fatal(err)
	}
	d.do("run", ".", "--id", "p").is(exit.Done)
	return d
}

// removed takes the delegate's file away.
func (d *desk) removed() *desk {
	d.Helper()
	if err := os.Remove(filepath.Join(d.dir, "researcher.json")); err != nil {
		d.Fatal(err)
	}
	return d
}

func TestAForkHasTheFilesOfItsDelegates(t *testing.T) {
	d := researched(t).removed()
	r := d.do("fork", "p", "--at", "1", "--replies", "replies.jsonl", "--json").is(exit.Done).result()
	if r.Status != loop.StatusCompleted || !strings.Contains(string(jsonval.Encode(r.Output)), "A History of the Window Tax") {
		t.Errorf("%+v", r)
	}
	d.do("verify", "p-fork-1").is(exit.Done)
}

func TestAnIdeaOfTheChainIsOneFileThatRunsAnywhere(t *testing.T) {
	d := researched(t)
	shown := d.do("show", "p", "--at", "1").is(exit.Done).out
	elsewhere := d.at(folder(t, map[string]string{"one.json": shown}))
	elsewhere.do("check", "one.json").is(exit.Done)
	elsewhere.do("run", "one.json", "--id", "q", "--replies", filepath.Join(d.dir, "replies.jsonl")).is(exit.Done)
}

func TestAForkThatLacksADelegateStartsNothing(t *testing.T) {
	d := researched(t)
	lacking := `{"schema": {"tools": {"more": {"type": "object", "_delegate": "none.json", "_output": {"type": "string"}}}}}`
	if err := os.WriteFile(filepath.Join(d.dir, "lacking.json"), []byte(lacking), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("fork", "p", "--at", "1", "--file", "lacking.json", "--id", "f").is(exit.Usage).complains("the start brings no file none.json")
	d.do("history", "f").is(exit.Usage)
	d.do("fork", "p", "--at", "1", "--id", "f", "--replies", "replies.jsonl").is(exit.Done)
}
