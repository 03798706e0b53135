package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"processidea/starter/internal/exit"
)

// words are what a shell is offered to complete a command line with.
func (d *desk) words(line ...string) []string {
	d.Helper()
	e := d.do(append([]string{"__complete"}, line...)...).is(exit.Done)
	all := strings.Split(strings.TrimSpace(e.out), "\n")
	return all[:len(all)-1] // the last one tells the shell whether files may follow
}

func TestTheShellCompletesWithProcessesAndTheCallsThatWaitInThem(t *testing.T) {
	d := newDesk(t, map[string]string{
		"idea.json": `{"schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "_activity": "analyzeSentiment", "_approval": true}}},
			"context": [{"type": "text", "text": "Go."}]}`,
		"replies.jsonl": `{"solution": {"calls": [{"_tool": "shout", "text": "a", "_outputPath": "loud"}]}}`,
	})
	_, server := d.dev()
	d.do("run", ".", "--id", "sums-1", "--detach", "--replies", "replies.jsonl").is(exit.Done)
	d.do("run", ".", "--id", "sums-2", "--detach", "--replies", "replies.jsonl").is(exit.Done)
	d.eventually("both wait", func() bool { return strings.Count(d.do("approvals").out, "sums-") == 2 })
	if got := d.words("show", "sums"); !slices.Contains(got, "sums-1") || !slices.Contains(got, "sums-2") ||
		len(got) != 2 {
		t.Errorf("show completes with %q", got)
	}
	if got := d.words("approve", "sums-1", ""); !slices.Equal(got, []string{"1.1"}) {
		t.Errorf("approve completes with %q", got)
	}
	if got := d.words("approve", "sums-1", "1.1", ""); len(got) != 0 {
		t.Errorf("after its arguments approve completes with %q", got)
	}
	if got := d.words("watch", "x"); len(got) != 0 {
		t.Errorf("no process begins with x, and watch completes with %q", got)
	}
	server.cmd.Process.Kill()
	<-server.ended
	if got := d.words("history", ""); len(got) != 2 {
		t.Errorf("without a server history completes with %q", got)
	}
}

func TestTheScriptsOfCompletionAreGoodShell(t *testing.T) {
	d := newDesk(t, nil)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := d.do("completion", shell).is(exit.Done).out
		program, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here: its script was not checked", shell)
			continue
		}
		file := filepath.Join(t.TempDir(), "completion")
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(program, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", shell, err, said)
		}
	}
}

func TestAnArgumentThatIsMissingOrTooManyIsNamed(t *testing.T) {
	d := newDesk(t, nil)
	for line, want := range map[string]string{
		"run":             "run: FILE or FOLDER is missing; want starter run FILE|FOLDER",
		"approve p":       "approve: CALL is missing; want starter approve ID CALL",
		"blame":           "blame: ID is missing; want starter blame ID PATH",
		"harden":          "harden: ID is missing; want starter harden ID...",
		"show p q":        `show: unexpected argument "q"; want starter show ID`,
		"approvals p q":   `approvals: unexpected argument "q"`,
		"list everything": `list: unexpected argument "everything"`,
		"keys person":     "keys person: NAME is missing",
		"history":         "history: ID is missing",
		"graph":           "graph: FILE or FOLDER or ID is missing",
		"disallow p":      "disallow: ORDER is missing",
	} {
		d.do(strings.Fields(line)...).is(exit.Usage).quiet().complains(want)
	}
}

func TestTheVersionSaysWhatItWasBuiltOf(t *testing.T) {
	d := newDesk(t, nil)
	form := regexp.MustCompile(`^starter version .+ \(Go 1\.\d+(\.\d+)?, \w+/\w+\)\n$`)
	if e := d.do("--version").is(exit.Done); !form.MatchString(e.out) {
		t.Errorf("it is %q", e.out)
	}
	if e := d.do("worker", "--version").is(exit.Done); !strings.Contains(e.out, "version ") {
		t.Errorf("the worker's is %q", e.out)
	}
}
