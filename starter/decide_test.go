package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"

	"processidea/model/loop"
	"processidea/starter/internal/exit"
)

// decidedMany is what decide --json prints.
type decidedMany struct {
	Process, Signal, Decision string
	Fitting, Taken, Refused   int
	Decisions                 []struct {
		Call, Digest, Reason string
		Accepted             bool
		Count                struct{ Have, Want int }
	}
	Table struct {
		Calls   int
		Columns []string
		Rows    []struct {
			Call      string
			Instances []string
			Values    map[string]any
		}
	}
}

func TestManyCallsAreDecidedOnWithOneCommand(t *testing.T) {
	d := newDesk(t, signed(`{"by": {"groups": ["finance"], "count": 2}}`))
	d.dev()
	d.signable("p", 3)
	const long, none = `{"properties": {"text": {"minLength": 3}}}`, `{"properties": {"text": {"minLength": 9}}}`
	for _, c := range []struct {
		line []string
		says string
	}{
		{[]string{}, "want --approve or --reject"},
		{[]string{"--approve", "--reject", "--reason", "x"}, "want --approve or --reject"},
		{[]string{"--reject", "--yes"}, `a rejection says why: "reason" is missing`},
		{[]string{"--approve", "--yes", "--where", "{"}, "read --where"},
		{[]string{"--approve", "--yes", "--where", `{"type": "nonsense"}`}, "where: "},
		{[]string{"--approve", "--yes", "--where", none}, "none of the 3 Calls that wait there fits"},
		{[]string{"--approve", "--yes", "--tool", "nobody"}, "none of the 3 Calls that wait there fits"},
		{[]string{"--approve", "--yes", "--call", "1.1@9"}, `there is no Call "1.1@9"; did you mean 1.1@①?`},
	} {
		d.do(append([]string{"decide", "p"}, c.line...)...).is(exit.Usage).quiet().complains(c.says)
	}
	shown := d.do("decide", "p", "--approve").is(exit.Usage).complains("nothing was decided: confirm with --yes")
	for _, want := range []string{"p: 3 Calls\n", "Tool        note", "Decided by  2 of: people of finance",
		"Call   text\n", "1.1@②  bbb\n"} {
		if !strings.Contains(shown.out, want) {
			t.Errorf("%q is not in\n%s", want, shown.out)
		}
	}
	var r decidedMany
	d.do("decide", "p", "--approve", "--where", long, "--yes", "--by", "ann", "--group", "finance",
		"--json").is(exit.Done).json(&r)
	if r.Taken != 2 || r.Refused != 0 || r.Decisions[0].Count.Have != 1 || r.Decisions[0].Count.Want != 2 ||
		len(r.Table.Rows) != 2 || r.Table.Columns[0] != "text" {
		t.Errorf("%+v", r)
	}
	e := d.do("decide", "p/2", "--approve", "--yes", "--by", "ann", "--group", "finance").is(exit.Usage)
	if e.out != "p: approve taken on 0 Calls, refused on 1\n  1.1@② refused: ann has decided on it already "+
		"(approve); it takes 2 people\n" {
		t.Error(e.out)
	}
	d.set("PROCESSIDEA_GROUPS=staff, finance")
	if e := d.do("decide", "p", "--approve", "--call", "1.1", "--yes", "--by",
		"bob").is(exit.Done); e.out != "p: approve taken on 3 Calls, 1 of 2 on 1, 2 of 2 on 2\n" {
		t.Error(e.out)
	}
	if e := d.do("approvals", "p").is(exit.Done); !strings.Contains(e.out, "(so far bob of staff and finance)") {
		t.Error(e.out)
	}
	if e := d.do("approve", "p", "1.1@1", "--by", "cid").is(exit.Done); e.out != "p 1.1@1: approve taken, 2 of 2\n" {
		t.Error(e.out)
	}
	if r := d.do("watch", "p", "--json").is(exit.Done).result(); r.Status != loop.StatusCompleted || r.Calls.Done != 3 {
		t.Errorf("%+v", r)
	}
	d.do("decide", "p", "--approve", "--yes").is(exit.Usage).complains("nothing waits for a person")
}

func TestDecideShowsCasesAndAmountsInTheWordsOfTheBusiness(t *testing.T) {
	d := newDesk(t, map[string]string{"pay.json": strings.ReplaceAll(`{"config": {"instanceName": "†'order ${input.order}'"},
		"schema": {"tools": {"formatText": {"type": "object", "_approval": true, "additionalProperties": false,
			"properties": {"template": {"type": "string", "_display": "hidden"}, "values": {"type": "object", "properties": {
				"cents": {"type": "integer", "title": "Amount", "_display": "money", "currency": "EUR", "minorUnits": true}}}},
			"required": ["template", "values"]}}},
		"context": [{"type": "input", "_instance": "①", "order": 4711, "cents": 229900},
			{"type": "input", "_instance": "②", "order": 4712, "cents": 100},
			{"type": "plan", "stage": "complete", "plan": [
				{"_tool": "formatText", "_instance": "*", "template": "a template", "values": {"cents": "†input.cents"}}]}]}`, "'", "`")})
	d.dev()
	d.do("run", "pay.json", "--id", "p", "--detach").is(exit.Done)
	d.eventually("both wait", func() bool {
		var list []any
		d.do("approvals", "p", "--json").is(exit.Done).json(&list)
		return len(list) == 2
	})
	out := d.do("decide", "p", "--approve").is(exit.Usage).out
	for _, want := range []string{"Amount, in all  2,300.00 EUR\n", "Call   Case        Amount\n",
		"0.1@①  order 4711  2,299.00 EUR\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "a template") {
		t.Errorf("what is hidden is shown:\n%s", out)
	}
	if out := d.do("decide", "p", "--approve", "--yes", "--json").is(exit.Done).out; !strings.Contains(out, "229900") ||
		!strings.Contains(out, "a template") {
		t.Errorf("the raw values are not there: %s", out)
	}
}

// typist sits at a terminal of 60 columns.
type typist struct {
	d    *desk
	c    *exec.Cmd
	tty  *os.File
	seen screen
}

func (d *desk) typist(args ...string) *typist {
	d.Helper()
	p := &typist{d: d, c: exec.Command(os.Args[0], args...)}
	p.c.Dir, p.c.Env = d.dir, d.env
	tty, err := pty.StartWithSize(p.c, &pty.Winsize{Rows: 40, Cols: 60})
	if err != nil {
		d.Fatal(err)
	}
	p.tty = tty
	d.Cleanup(func() { _ = p.c.Process.Kill(); _ = tty.Close() })
	go func() { _, _ = io.Copy(&p.seen, tty) }()
	return p
}

// answers waits for a question and types the answer.
func (p *typist) answers(question, line string) {
	p.d.Helper()
	p.d.eventually("it asks "+question, func() bool { return strings.HasSuffix(p.seen.String(), question) })
	if _, err := p.tty.WriteString(line + "\n"); err != nil {
		p.d.Fatal(err)
	}
}

func TestDecideAsksAtTheTerminalAndFitsIt(t *testing.T) {
	files := signed("true")
	files["idea.json"] = strings.ReplaceAll(files["idea.json"], `"text": "cccc"`,
		`"text": "`+strings.Repeat("long ", 40)+`"`)
	d := newDesk(t, files).set("TERM=xterm")
	d.dev()
	d.signable("p", 3)
	no := d.typist("decide", "p", "--approve")
	no.answers("approve these 3 Calls? [y]es, [n]o: ", "n")
	d.eventually("nothing was decided",
		func() bool { return strings.Contains(no.seen.String(), "nothing was decided") })
	for _, line := range strings.Split(strings.ReplaceAll(no.seen.String(), "\r", ""), "\n") {
		if n := utf8.RuneCountInString(line); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	yes := d.typist("decide", "p", "--approve", "--where", `{"properties": {"text": {"maxLength": 3}}}`)
	yes.answers("approve these 2 Calls? [y]es, [n]o: ", "y")
	d.eventually("they are taken", func() bool {
		return strings.Contains(yes.seen.String(), "p: approve taken on 2 Calls")
	})
	d.do("decide", "p", "--reject", "--reason", "too long", "--yes").is(exit.Done)
	if r := d.do("watch", "p", "--json").is(exit.Done).result(); r.Calls.Done != 2 || r.Calls.Rejected != 1 {
		t.Errorf("%+v", r)
	}
}

// Who decides while a process runs is of the groups that the command line names.
func TestWhoDecidesAtTheTerminalNamesGroups(t *testing.T) {
	d := newDesk(t, signed(`{"when": {"properties": {"text": {"minLength": 4}}}, "by": {"groups": ["finance"]}}`)).set(
		"TERM=xterm")
	run := d.typist("run", ".", "--id", "p", "--ui-port", "-1", "--group", "finance")
	run.answers("[s]kip: ", "y")
	if err := run.c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, run.seen.String())
	}
}

func TestEachOfManyDecisionsIsSigned(t *testing.T) {
	d := newDesk(t, signed(signedByTwoOfFinance))
	d.keyed()
	d.dev()
	d.signable("p", 3)
	d.do("decide", "p", "--approve", "--yes", "--by", "ann", "--group", "finance").is(exit.Usage)
	if e := d.do("decide", "p", "--approve", "--yes", "--key",
		"ann.key").is(exit.Done); e.out != "p: approve taken on 3 Calls, 1 of 2\n" {
		t.Error(e.out)
	}
	if e := d.do("decide", "p", "--approve", "--yes", "--key", "bob.key", "--reason",
		"all fine").is(exit.Done); e.out != "p: approve taken on 3 Calls, 2 of 2\n" {
		t.Error(e.out)
	}
	d.eventually("it ends", func() bool {
		return d.do("result", "p", "--json").result().Status == loop.StatusCompleted
	})
	if e := d.do("verify", "p").is(exit.Done); !strings.Contains(e.out,
		"6 decisions: 0 declared, 6 signed; every signature is right") {
		t.Error(e.out)
	}
}
