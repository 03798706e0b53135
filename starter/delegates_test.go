package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
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
	if r.Status != loop.StatusCompleted || !strings.Contains(string(jsonval.Encode(r.Output)),
		"A History of the Window Tax") {
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
	d.do("fork", "p", "--at", "1", "--file", "lacking.json", "--id",
		"f").is(exit.Usage).complains("the process is started without the file none.json")
	d.do("history", "f").is(exit.Usage)
	d.do("fork", "p", "--at", "1", "--id", "f", "--replies", "replies.jsonl").is(exit.Done)
}

// A process of several parts has the files of its delegates in the chains of all, and so have its fork, and the fork of
// that fork.
func TestTheFilesOfDelegatesTravelWithTheChainsOfParts(t *testing.T) {
	d := researched(t)
	if err := os.WriteFile(filepath.Join(d.dir, "several.json"), []byte(`{"config": {"batch": 1, "gather": "200ms"}, "schema": {"tools": {
		"research": {"type": "object", "properties": {"question": {"type": "string"}}, "_delegate": "researcher.json", "_scopes": ["state.audience"],
			"_writes": ["state.sources"], "_output": {"type": "string"}, "_outputPath": "findings"}}}, "context": [
		{"type": "state", "_instance": "①", "audience": "buyers"}, {"type": "state", "_instance": "②", "audience": "sellers"},
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "research", "question": "Why?"}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	found := func(r loop.ProcessResult) {
		t.Helper()
		for _, token := range []string{"①", "②"} {
			if state := string(jsonval.Encode(r.Instances[token].State)); !strings.Contains(state, "Glass was dear") ||
				!strings.Contains(state, "A History of the Window Tax") {
				t.Errorf("%s: %s", token, state)
			}
		}
	}
	found(d.do("run", "several.json", "--id", "s", "--replies", "replies.jsonl", "--json").is(exit.Done).result())
	d.removed()
	for _, of := range []string{"s", "s-fork-1"} {
		r := d.do("fork", of, "--at", "1", "--replies", "replies.jsonl", "--json").is(exit.Done).result()
		if r.Calls.Done != 2 {
			t.Errorf("the fork of %s: %+v", of, r)
		}
		found(r)
		d.do("verify", r.ProcessID).is(exit.Done)
	}
	shown := d.do("show", "s-fork-1", "--at", "1").is(exit.Done).out
	elsewhere := d.at(folder(t, map[string]string{"one.json": shown}))
	elsewhere.do("check", "one.json").is(exit.Done)
}

// A delegate under way at the Idea of a fork goes on from what it had done by then, within a part too: nothing is done
// twice.
func TestADelegateGoesOnInAForkOfItsCaller(t *testing.T) {
	for name, config := range map[string]string{"whole": "",
		"in parts": `"config": {"batch": 1, "gather": "200ms"}, `} {
		t.Run(name, func(t *testing.T) {
			c := newCounter(t)
			d := newDesk(t, map[string]string{
				"idea.json": `{` + config + `"schema": {"tools": {"ask": {"type": "object", "_delegate": "asked.json", "_output": {"type": "string"}, "_outputPath": "answer"}}},
			"context": [{"type": "state", "_instance": "①", "n": 1}, {"type": "state", "_instance": "②", "n": 2},
				{"type": "plan", "stage": "complete", "plan": [{"_tool": "ask", "_instance": "②"}]}]}`,
				"asked.json": `{"schema": {"tools": {` + c.tool("tell", "") + "," + c.tool("sign", `, "_approval": true`) + `}, "output": {"type": "string"}}, "context": [
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "_outputPath": "told"}, {"_tool": "sign", "text": "†state.told", "_outputPath": "signed"}], "output": "†state.signed"}]}`,
			}).set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(c.URL, "http://"))
			d.dev()
			waits := func(of string) (a protocol.Approval) {
				t.Helper()
				d.eventually("a delegate of "+of+" waits", func() bool {
					var list, all []protocol.Approval
					d.do("approvals", of+"/2", "--json").is(exit.Done).json(&list)
					d.do("approvals", of, "--json").is(exit.Done).json(&all)
					if len(list) == 0 || len(all) == 0 {
						return false
					}
					a = list[0]
					return strings.HasPrefix(a.Process, of+"/") && len(all) == 1
				})
				return a
			}
			d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
			waits("p")
			d.do("pause", "p").is(exit.Done) // seals
			var at string
			d.eventually("it is sealed", func() bool {
				at = d.latestWith("p", `"running"`)
				return at != ""
			})
			d.do("fork", "p", "--at", at, "--id", "again",
				"--detach").is(exit.Done).complains("continue from what they had done: those of 0.1@②")
			asked := waits("again")
			want(t, c.String(), `{"/tell":1}`)
			d.do("approve", asked.Process, asked.CallID).is(exit.Done)
			r := d.do("watch", "again", "--json").is(exit.Done).result()
			want(t, string(jsonval.Encode(r.Instances["②"].State)), `{"answer":"sign","n":2}`)
			want(t, c.String(), `{"/sign":1,"/tell":1}`)
			d.do("verify", "again").is(exit.Done)
		})
	}
}

// All of these Calls have the same id.
func TestADelegateWithinADelegateGoesOnInAFork(t *testing.T) {
	c := newCounter(t)
	plan := `"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "ask"}]}]}`
	d := newDesk(t, map[string]string{
		"idea.json":  `{"schema": {"tools": {"ask": {"type": "object", "_delegate": "asked.json"}}}, ` + plan,
		"asked.json": `{"schema": {"tools": {"ask": {"type": "object", "_delegate": "deeper.json"}}}, ` + plan,
		"deeper.json": `{"schema": {"tools": {` + c.tool("tell", "") + "," + c.tool("sign", `, "_approval": true`) + `}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "_outputPath": "told"},
				{"_tool": "sign", "text": "†state.told"}]}]}`,
	}).set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(c.URL, "http://"))
	d.dev()
	waits := func(of string) (a protocol.Approval) {
		t.Helper()
		d.eventually("a delegate of "+of+" waits", func() bool {
			var list []protocol.Approval
			d.do("approvals", "--json").is(exit.Done).json(&list)
			n := slices.IndexFunc(list, func(a protocol.Approval) bool { return strings.HasPrefix(a.Process, of+"/") })
			if n >= 0 {
				a = list[n]
			}
			return n >= 0
		})
		return a
	}
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	deepest := waits("p").Process
	d.do("pause", "p").is(exit.Done) // seals
	var at string
	between := path.Dir(path.Dir(deepest)) // without "/~call/ID"
	d.eventually("it is sealed, with its delegate and what its delegate's delegate did", func() bool {
		at = d.latestWith("p", `"running"`)
		return at != "" && d.latestWith(between, `"running"`) != "" && d.latestWith(deepest, `"told"`) != ""
	})
	d.do("fork", "p", "--at", at, "--id", "again", "--detach").is(exit.Done).complains("continue from what they had done")
	asked := waits("again")
	want(t, c.String(), `{"/tell":1}`)
	d.do("approve", asked.Process, asked.CallID).is(exit.Done)
	d.do("watch", "again", "--json").is(exit.Done)
	want(t, c.String(), `{"/sign":1,"/tell":1}`)
}

// latestWith is the number of the latest Idea of a process if it holds a text; "" if not.
func (d *desk) latestWith(id, text string) string {
	d.Helper()
	shown := d.do("show", id, "--json")
	var idea struct{ Meta struct{ At int } }
	if shown.code != exit.Done || !strings.Contains(shown.out, text) {
		return ""
	}
	shown.json(&idea)
	return strconv.Itoa(idea.Meta.At)
}

// A Plan that waits in a delegate is listed with its caller, in parts and in a fork too.
func TestThePlanOfADelegateIsListedWithItsCaller(t *testing.T) {
	d := newDesk(t, map[string]string{
		"idea.json": `{"config": {"batch": 1}, "schema": {"tools": {"ask": {"type": "object", "_delegate": "ask.json"}}}, "context": [` +
			threeTravellers + `{"type": "plan", "stage": "complete", "plan": [{"_tool": "ask"}]}]}`,
		"ask.json": `{"config": {"approval": {"plan": true}}, "schema": {"tools": {"tell": {"type": "object", "properties": {"text": {}}, "required": ["text"], "_activity": "note"}}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "text": "x"}]}]}`,
	})
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	lists := func(id string, n int) {
		d.eventually("they wait", func() bool { return strings.Count(d.do("approvals", id).is(exit.Done).out, "waits since") == n })
	}
	lists("p", 3)
	d.do("approvals", "p/2").is(exit.Done).tells("/~call/0.1@2: the Plan that begins the process waits since",
		"1 Plan; decide with")
	d.eventually("list says it in a sentence", func() bool {
		return strings.Contains(d.do("list").is(exit.Done).out, "a person: Tell, since 20")
	})
	d.do("fork", "p", "--at", "1", "--id", "q", "--detach").is(exit.Done)
	lists("q", 3)
	for _, id := range []string{"p", "q"} {
		for n := range 3 {
			d.do("approve-plan", id+"/~part/"+strconv.Itoa(n+1)+"/~call/0.1@"+strconv.Itoa(n+1)).is(exit.Done)
		}
		d.do("watch", id).is(exit.Done)
	}
	d.do("approvals", "p").is(exit.Done).tells("nothing waits for a person")
}
