package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/starter/internal/exit"
)

// signed is a process of three instances of which two wait for a signature.
func signed(policy string) map[string]string {
	return map[string]string{
		"idea.json": `{"meta": {"path": "signed"}, "config": {"gather": "200ms"}, "schema": {"tools": {"note": {"type": "object",
			"properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false, "_outputPath": "†state.noted", "_approval": ` + policy + `},
			"formatText": {"type": "object", "additionalProperties": false, "properties": {"template": {"type": "string"}, "values": {"type": "object"}}, "required": ["template", "values"]}}},
			"context": [{"type": "text", "text": "Sign."}, {"type": "state", "_instance": "①", "text": "a"}, {"type": "state", "_instance": "②", "text": "bbb"},
			{"type": "state", "_instance": "③", "text": "cccc"}]}`,
		"replies.jsonl": `{"when": "Calls so far", "solution": {"calls": [], "output": null}}
{"when": "Sign.", "solution": {"calls": [{"_tool": "note", "_instance": "*", "text": "†state.text"}], "output": null}}`,
	}
}

const long = `{"when": {"properties": {"text": {"minLength": 3}}}}`

// signable starts a process, and waits until so many of its Calls wait for a person and nothing else goes on.
func (d *desk) signable(id string, n int) (list []protocol.Approval) {
	d.Helper()
	d.do("run", ".", "--id", id, "--detach").is(exit.Done)
	d.eventually("they wait", func() bool {
		waiting := 0
		for _, i := range d.do("result", id, "--json").result().Instances {
			if i.Status == ideafile.InstanceWaiting || i.Status == ideafile.InstanceSettled {
				waiting++
			}
		}
		d.do("approvals", id, "--json").is(exit.Done).json(&list)
		return len(list) == n && waiting == 3
	})
	return list
}

func TestPeopleDecideFromTheCommandLine(t *testing.T) {
	d := newDesk(t, signed(long))
	d.dev()
	list := d.signable("p", 2)
	if e := d.do("run", ".", "--id", "p", "--wait", "3s").is(exit.Paused); !strings.Contains(e.err,
		"waits for 2 decisions (starter approvals p)") {
		t.Error(e.err)
	}
	var inWords []struct {
		Sentence string
		Fields   []struct{ Name, Title, Value, Shown string }
	}
	d.do("approvals", "--json").is(exit.Done).json(&inWords)
	if f := inWords[0].Fields; !strings.Contains(inWords[0].Sentence, "bbb") || len(f) != 1 || f[0].Name != "text" ||
		f[0].Title != "Text" || f[0].Value != "bbb" || f[0].Shown != "bbb" {
		t.Errorf("%+v", inWords)
	}
	d.do("approvals", "--json").is(exit.Done).json(&list)
	if len(list) != 2 || list[0].Process != "p" || list[0].Instance != "②" || list[0].CallID != "1.1@②" ||
		list[0].Tool != "note" {
		t.Fatalf("%+v", list)
	}
	if e := d.do("approvals", "p/2").is(exit.Done); !strings.Contains(e.out, `state  {"text":"bbb"}`) ||
		!strings.Contains(e.out, "1 approval;") ||
		!strings.Contains(e.out, "(1.1@② is typed 1.1@2, too)") {
		t.Error(e.out)
	}
	d.do("approve", "p/3", "1.1@②").is(exit.Usage).complains("it does not belong to p/3")
	d.do("approve", "p", "1.2@2").is(exit.Usage).complains(
		`there is no Call "1.2@2"; did you mean 1.1@②? What waits for a person here: 1.1@② note`)
	d.do("approve", "p", "1.1@9").is(exit.Usage).complains(
		`did you mean 1.1@②? What waits for a person here: 1.1@② note, 1.1@③ note`)
	d.do("approve", "p", "1.1@②", "--by", "your name").is(exit.Usage).complains(
		`"by" is still the placeholder "your name"`)
	if e := d.do("approvals", "p").is(exit.Done); !strings.Contains(e.out, `params {"text":"bbb"}`) ||
		!strings.Contains(e.out, "2 approvals") {
		t.Error(e.out)
	}
	for _, line := range [][]string{
		{"approve", "p", "1.1@②", "--digest", "0000"}, {"approve", "p", "1.1@①"}, {"approve", "p", "7.7@②"},
		{"approve", "nobody", "1.1"},
		{"reject", "p", "1.1@②"}, {"amend", "p", "1.1@②", "--params", `{"text": 7}`},
		{"amend", "p", "1.1@②", "--params", `{`},
		{"replace", "p", "1.1@②", "--with", `{"_tool": "nobody"}`}, {"answer", "p", "1.1@②"}, {"resume", "p"},
		{"resume", "p", "--requests", "-1"}, {"resume", "--all", "--because", ""},
	} {
		d.do(line...).is(exit.Usage).quiet()
	}
	d.do("approve", "p/②", "1.1", "--digest", list[0].Digest, "--by", "ann").is(exit.Done)
	d.do("approve", "p", "1.1@②", "--json").is(exit.Usage).complains("refused: ")
	d.do("amend", "p", "1.1@3", "--params", `{"text": "no"}`).is(exit.Done)
	r := d.do("watch", "p", "--json").is(exit.Done).result()
	if r.Status != loop.StatusCompleted || r.Calls.Done != 3 ||
		!strings.Contains(string(jsonval.Encode(r.Instances["③"].State)), `"text":"no"`) {
		t.Errorf("%+v", r)
	}
	d.do("approve", "p", "1.1@②").is(exit.Usage).complains(
		"1.1@② was decided on already (approved by ann) and waits for nobody: it is done")
	d.do("approve", "p", "1.1@①").is(exit.Usage).complains("1.1@① waits for nobody: it is done")
	d.do("approve", "p", "1.2@①").is(exit.Usage).complains(
		`there is no Call "1.2@①"; did you mean 1.1@①? Nothing waits for a person here`)
	if e := d.do("approvals").is(exit.Done); e.out != "nothing waits for a person\n" {
		t.Error(e.out)
	}
}

func TestPeopleSteerFromTheCommandLine(t *testing.T) {
	files := signed(long)
	files["more.csv"] = "text\nd\n"
	files["correction.yaml"] = "context:\n- {type: state, _instance: ③, text: z}\nlimits: {requests: 90}\n"
	files["wrong.json"] = `[{"type": "state", "_instance": "⑨", "text": "z"}]`
	d := newDesk(t, files)
	d.dev()
	d.signable("p", 2)
	d.do("pause", "p", "--by", "ann", "--reason", "lunch").is(exit.Done)
	d.do("pause", "p").is(exit.Usage).complains("paused already: paused by ann: lunch")
	if e := d.do("run", ".", "--id", "p").is(exit.Paused); !strings.Contains(e.out, "paused by ann: lunch") {
		t.Error(e.out)
	}
	d.do("approve", "p", "1.1@②").is(exit.Done)
	d.do("revise", "p", "--file", "wrong.json").is(exit.Usage).complains("there is no instance ⑨")
	d.do("revise", "p", "--file", "correction.yaml", "--reason", "a typo").is(exit.Done)
	d.do("add", "p", "--instances", "more.csv").is(exit.Done)
	if r := d.do("result", "p", "--json").is(exit.Paused).result(); len(r.Instances) != 4 || r.Calls.Done != 1 {
		t.Errorf("%+v", r)
	}
	d.do("resume", "p", "--requests", "50").is(exit.Done)
	d.do("cancel", "p").is(exit.Done)
	d.do("cancel", "p").is(exit.Usage).complains("the process has ended")
	if r := d.do("result", "p", "--json").is(exit.Failed).result(); r.Status != loop.StatusCancelled ||
		r.Instances["①"].Status != ideafile.InstanceSettled {
		t.Errorf("%+v", r)
	}
}

// A split process counts the Ideas of its parts, and has fewer of its own.
func TestRowsAreAddedToASplitProcess(t *testing.T) {
	files := signed(long)
	files["idea.json"] = strings.Replace(files["idea.json"], `"config": {`, `"config": {"batch": 2, `, 1)
	files["more.csv"] = "text\nd\n"
	d := newDesk(t, files)
	d.dev()
	d.signable("p", 2)
	d.do("add", "p", "--instances", "more.csv").is(exit.Done)
	d.eventually("a fourth is there", func() bool { return len(d.do("result", "p", "--json").result().Instances) == 4 })
	if e := d.do("run", ".", "--id", "p", "--detach").is(exit.Done); strings.Count(e.out, "\n") != 1 {
		t.Errorf("of what is at work it says more than a line: %s", e.out)
	}
	d.do("cancel", "p").is(exit.Done)
}

// Worker and server are killed together, as they are one program here.
func TestDeadlinesAndPausesOutliveTheServer(t *testing.T) {
	files := signed(`{"timeout": "4s", "onTimeout": "reject"}`)
	d := newDesk(t, files).ownServer()
	_, dev := d.dev()
	d.do("run", ".", "--id", "paused", "--detach").is(exit.Done)
	var list []protocol.Approval
	d.eventually("three wait", func() bool {
		d.do("approvals", "paused", "--json").json(&list)
		return len(list) == 3
	})
	d.do("pause", "paused").is(exit.Done)
	d.do("run", ".", "--id", "late", "--detach").is(exit.Done)
	d.eventually("three more wait", func() bool {
		d.do("approvals", "late", "--json").json(&list)
		return len(list) == 3
	})
	d.do("approve", "late", "1.1@②").is(exit.Done)
	dev.signal(syscall.SIGKILL)
	deadline := *list[2].Deadline
	d.eventually("the deadline has passed", func() bool { return time.Now().After(deadline) })
	d.dev()
	r := d.do("watch", "late", "--json").is(exit.Done).result()
	if r.Calls.Rejected != 2 || r.Calls.Done != 1 || r.Status != loop.StatusCompleted {
		t.Errorf("%+v", r)
	}
	if r := d.do("result", "paused", "--json").is(exit.Paused).result(); r.Status != loop.StatusPaused {
		t.Errorf("%+v", r)
	}
	d.do("resume", "--all", "--because", "llm_unreachable").is(exit.Done).tells("no process is paused for this reason")
	d.do("resume", "--all", "--because", "paused").is(exit.Done).tells("paused: resume taken")
	if r := d.do("watch", "paused", "--json").is(exit.Done).result(); r.Calls.Rejected != 3 {
		t.Errorf("%+v", r)
	}
}

// screen is what a program has written to its terminal.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestAPendingApprovalCanBeAnsweredAtTheTerminal(t *testing.T) {
	files := signed("true")
	files["editor"] = "#!/bin/sh\nsed -i s/cccc/edited/ \"$1\"\n"
	d := newDesk(t, files).set("TERM=xterm")
	if err := os.Chmod(filepath.Join(d.dir, "editor"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.set("EDITOR=" + filepath.Join(d.dir, "editor"))
	c := exec.Command(os.Args[0], "run", ".", "--id", "p", "--ui-port", "-1")
	c.Dir, c.Env = d.dir, d.env
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = tty.Close() })
	var seen screen
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := tty.Read(buffer)
			_, _ = seen.Write(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
	for n, step := range []struct{ prompt, line string }{
		{"[s]kip: ", "what?"}, {"[s]kip: ", "y"}, {"[s]kip: ", "n"}, {"why not? ", "not this one"}, {"[s]kip: ", "e"},
		{"[s]kip: ", "yes"}, // what was edited is asked about again
	} {
		asked := n
		if n < 3 {
			asked++
		}
		d.eventually("it asks", func() bool {
			text := seen.String()
			return strings.HasSuffix(text, step.prompt) && strings.Count(text, "[s]kip: ") == asked
		})
		if _, err := tty.WriteString(step.line + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	gone := make(chan error, 1)
	go func() { gone <- c.Wait() }()
	select {
	case err := <-gone:
		if err != nil {
			t.Fatalf("%v\n%s", err, seen.String())
		}
	case <-time.After(longest):
		t.Fatalf("it does not end\n%s", seen.String())
	}
	d.dev()
	r := d.do("result", "p", "--json").is(exit.Done).result()
	if r.Calls != (turn.CallCounts{Done: 2, Rejected: 1}) ||
		!strings.Contains(string(jsonval.Encode(r.Instances["③"].State)), "edited") {
		t.Errorf("%+v\n%s", r, seen.String())
	}
}

func TestACallIsTalkedAboutAndHandedOverFromTheCommandLine(t *testing.T) {
	d := newDesk(t, signed(`{"when": {"properties": {"text": {"minLength": 4}}}}`))
	d.dev()
	d.signable("p", 1)
	for _, c := range []struct{ args, complaint string }{
		{"comment|p|1.1@3", `it says nothing: "reason" is missing`},
		{"hand-over|p|1.1@3", `it is handed over to nobody: "to" or "toGroup" is missing`},
		{"ask|p|1.1@3|--text|why?|--to|bob|--to-group|finance", "exclude each other"},
		{"comment|p|1.7@1|--text|hm", `there is no Call "1.7@`},
	} {
		d.do(strings.Split(c.args, "|")...).is(exit.Usage).complains(c.complaint)
	}
	d.do("ask", "p", "1.1@3", "--to", "bob", "--text", "is it long?", "--by", "ann").is(exit.Done).tells("ask taken")
	d.do("comment", "p", "1.1@3", "--text", "it is not", "--by", "bob").is(exit.Done).tells("comment taken")
	d.do("hand-over", "p", "1.1@3", "--to", "bob", "--by", "ann").is(exit.Done).tells("hand-over taken")
	d.do("approvals", "p").is(exit.Done).tells("decided by bob", "ann asks bob: is it long?", "bob says: it is not",
		"ann has handed it over to bob")
	d.do("approve", "p", "1.1@3", "--by", "ann").is(exit.Usage).complains("ann has handed it over to bob")
	d.do("approve", "p", "1.1@3", "--by", "bob").is(exit.Done)
	d.do("comment", "p", "1.1@3", "--text", "late").is(exit.Usage).complains("1.1@")
	d.do("watch", "p").is(exit.Done)
	d.do("decisions", "p").is(exit.Done).tells("ask by ann to bob, because is it long?", "comment by bob",
		"hand-over by ann to bob",
		"approve by bob")
	var made []client.RecordedDecision
	d.do("decisions", "p", "--json").is(exit.Done).json(&made)
	for _, one := range made {
		if one.CallID == "1.1@③" && (one.ShownParams["text"] != "cccc" || one.Sentence != made[0].Sentence ||
			!strings.Contains(one.Sentence, "cccc")) {
			t.Errorf("what was shown is not on record: %+v", one)
		}
	}
}

func TestADeputyIsNamedFromTheCommandLineAndDecides(t *testing.T) {
	d := newDesk(t, signed(`{"when": {"properties": {"text": {"minLength": 3}}}, "by": {"people": ["ann"]},
		"allow": ["approve", "handOver"]}`))
	d.dev()
	d.signable("p", 2)
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	d.do("deputy", "p", "--to", "bob").is(exit.Usage).complains(`it would never end: "until" is missing`)
	d.do("deputy", "p", "--until", "monday").is(exit.Usage).complains("--until is a time such as")
	d.do("deputy", "p", "--to", "ann", "--until", until, "--by", "ann").is(exit.Usage).complains("their own deputy")
	d.do("comment", "p", "1.1@3", "--text", "hm", "--by", "ann").is(exit.Usage).complains(
		"comment is not allowed here; allowed: approve, hand-over")
	d.do("approve", "p", "1.1@3", "--by", "bob").is(exit.Usage).complains("bob may not decide on it, only ann may")
	d.do("deputy", "p", "leave", "--to", "bob", "--until", until, "--by", "ann").is(exit.Done).tells("deputy taken")
	d.eventually("the Calls are told", func() bool {
		return strings.Count(d.do("approvals", "p").is(exit.Done).out,
			"bob may decide in place of ann until "+until) == 2
	})
	d.do("deputy", "p", "no say", "--to", "carl", "--until", until, "--by", "eve").is(exit.Done)
	d.do("allow", "p").is(exit.Done).tells("leave: deputy bob, until", "by ann")
	if text := d.do("approvals", "p").out; strings.Contains(text, "in place of eve") {
		t.Errorf("a Call is told of the deputy of who may not decide: %s", text)
	}
	d.do("approve", "p", "1.1@3", "--by", "bob").is(exit.Done)
	d.do("disallow", "p", "leave", "--by", "ann").is(exit.Done)
	d.eventually("the end is told", func() bool {
		return !strings.Contains(d.do("approvals", "p").is(exit.Done).out, until)
	})
	d.do("approve", "p", "1.1@2", "--by", "bob").is(exit.Usage).complains("bob may not decide on it")
	d.do("approve", "p", "1.1@2", "--by", "ann").is(exit.Done)
	d.do("watch", "p").is(exit.Done)
	said := d.do("decisions", "p").is(exit.Done).tells("approve by bob in place of ann", "approve by ann",
		"deputy by ann to bob")
	if n := strings.Count(said.out, "deputy by"); n != 2 {
		t.Errorf("%d deputies are on record: %s", n, said.out)
	}
	d.do("verify", "p").is(exit.Done)
}

// A deputy decides on Plans as a whole, too: of a process, in a fork of it that has a deputy of its own, and in parts.
func TestADeputyDecidesOnPlans(t *testing.T) {
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for name, config := range map[string]string{"of a process": "", "of parts": `"batch": 2, `} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"idea.json": `{"config": {` + config + `"approval": {"plan": true, "by": {"people": ["ann"]}}},
				"schema": {"tools": {"tell": {"type": "object", "properties": {"text": {}}, "required": ["text"], "_activity": "note"}}}, "context": [` + threeTravellers +
				`{"type": "plan", "stage": "complete", "plan": [{"_tool": "tell", "text": "x"}]}]}`})
			d.dev()
			for _, start := range [][]string{{"run", ".", "--id", "p"}, {"fork", "p", "--at", "1", "--id", "q"}} {
				id := start[len(start)-1]
				d.do(append(start, "--detach")...).is(exit.Done)
				decide := func(by string) ended { return d.do("approve-plan", id, "--all", "--by", by, "--reason", "fine") }
				d.eventually("it waits", func() bool {
					return strings.Contains(decide("bob").err, "bob may not decide on it, only ann may")
				})
				d.do("deputy", id, "leave", "--to", "bob", "--until", until, "--by", "ann").is(exit.Done)
				decide("eve").is(exit.Usage).complains("eve may not decide on it")
				d.do("disallow", id, "leave", "--by", "ann").is(exit.Done)
				decide("bob").is(exit.Usage).complains("bob may not decide on it")
				d.do("deputy", id, "again", "--to", "bob", "--until", until, "--by", "ann").is(exit.Done)
				d.eventually("it ends", func() bool { // parts hear of a deputy, and have Plans, a little later
					decide("bob")
					return d.do("result", id, "--json").result().Status == "completed"
				})
				d.do("decisions", id).is(exit.Done).tells("approve-plan by bob in place of ann")
				d.do("verify", id).is(exit.Done)
			}
		})
	}
}

func TestStandingOrdersFromTheCommandLine(t *testing.T) {
	d := newDesk(t, signed(`true`))
	d.dev()
	d.signable("p", 3)
	d.do("allow", "p", "o", "--tool", "note").is(exit.Usage).complains("it would never end")
	d.do("allow", "p", "o", "--tool", "noet", "--count",
		"1").is(exit.Usage).complains(`there is no Tool "noet"; there are formatText, note`)
	d.do("allow", "p").is(exit.Done).tells("there are no standing orders")
	d.do("allow", "p", "short", "--tool", "note", "--when", `{"properties": {"text": {"maxLength": 3}}}`, "--count",
		"5", "--by", "ann").is(exit.Done).tells("p: allow taken")
	d.eventually("two are approved", func() bool {
		return strings.Contains(d.do("allow", "p").is(exit.Done).out,
			`short: Note where “Text” has at most 3 characters, 2 approved of 5, 3 left, by ann`)
	})
	if e := d.do("approvals", "p").is(exit.Done); !strings.HasSuffix(e.out,
		"standing orders:\nshort: Note where “Text” has at most 3 characters, 2 approved of 5, 3 left, by ann\n") {
		t.Error(e.out)
	}
	d.do("allow", "p", "short", "--tool", "note", "--count",
		"1").is(exit.Usage).complains("an order \"short\" exists already")
	d.do("disallow", "p", "short", "--by", "bob").is(exit.Done).tells("p: disallow taken")
	d.do("allow", "p").is(exit.Done).tells("; ended by bob")
	d.do("disallow", "p", "shrot").is(exit.Usage).complains(`there is no order "shrot"; there are short`)
	d.do("allow", "p", "--tool", "note", "--until", "2100-01-01T00:00:00Z").is(exit.Done)
	d.do("watch", "p").is(exit.Done)
	d.do("decisions", "p").is(exit.Done).tells("standing order short", "allow by ann", "disallow by bob")
	var blamed strings.Builder
	for _, place := range []string{"①:noted", "②:noted", "③:noted"} {
		blamed.WriteString(d.do("blame", "p", place).is(exit.Done).out)
	}
	const byOrder = "decided by the standing order short of ann, at which nobody looked: approve"
	if n := strings.Count(blamed.String(), byOrder); n != 2 {
		t.Errorf("%d values were approved under the order:\n%s", n, blamed.String())
	}
}
