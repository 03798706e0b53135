package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
)

// called runs a command line in this program.
func called(t *testing.T, args ...string) (out, err string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = execute(args, &o, &e)
	return o.String(), e.String(), code
}

func TestAnErrorsKindIsTheExitCode(t *testing.T) {
	for _, c := range []struct {
		err   error
		began bool
		want  int
	}{
		{nil, true, exitDone},
		{errors.New("unknown flag"), false, exitUsage},
		{errors.New("disk full"), true, exitFailed},
		{fmt.Errorf("a: %w", misuse("b")), true, exitUsage},
		{&invalid{"f", diag.Problems{{Path: "$", Message: "m"}}}, true, exitUsage},
		{noServer("b"), true, exitUnreachable},
		{fmt.Errorf("a: %w", serviceerror.NewUnavailable("gone")), true, exitUnreachable},
		{fmt.Errorf("a: %w", context.DeadlineExceeded), true, exitUnreachable},
		{noServer("a: %w", context.Canceled), true, exitInterrupted},
		{errInterrupted, true, exitInterrupted},
		{&exit{code: exitPaused}, true, exitPaused},
	} {
		a := &app{err: new(bytes.Buffer), began: c.began}
		if got := a.exitCode(c.err); got != c.want {
			t.Errorf("%v gives exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestWhereAProcessStandsIsTheExitCode(t *testing.T) {
	waiting := map[string]loop.InstanceResult{"①": {Status: ideafile.InstanceWorking}, "②": {Status: ideafile.InstanceWaiting}}
	for _, c := range []struct {
		r    loop.Result
		want int
	}{
		{loop.Result{Status: loop.StatusCompleted}, exitDone},
		{loop.Result{Status: loop.StatusRunning}, exitDone},
		{loop.Result{Status: loop.StatusRunning, Instances: waiting}, exitPaused},
		{loop.Result{Status: loop.StatusFailed}, exitFailed},
		{loop.Result{Status: loop.StatusCancelled}, exitFailed},
		{loop.Result{Status: loop.StatusPaused}, exitPaused},
		{loop.Result{Status: loop.StatusPaused, Error: &diag.Fault{Code: turn.CodeLimitReached}}, exitPaused},
		{loop.Result{Status: loop.StatusPaused, Error: &diag.Fault{Code: turn.CodeLLMUnreachable}}, exitUnreachable},
	} {
		if got := codeOf(c.r); got != c.want {
			t.Errorf("%+v gives exit code %d, want %d", c.r, got, c.want)
		}
	}
}

func TestAnErrorIsOneLineThatBeginsWithTheProgramsName(t *testing.T) {
	var b bytes.Buffer
	a := &app{err: &b, began: true}
	a.exitCode(errors.New("engine: start process x: first\n\n  second\x1b[31m"))
	if got, want := b.String(), "starter: start process x: first second·[31m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryProblemIsALineWithItsPlace(t *testing.T) {
	var b bytes.Buffer
	a := &app{err: &b, began: true}
	a.exitCode(&invalid{"f.json", diag.Problems{{Path: "$.a", Message: "one"}, {Path: "$.b", Message: "two", Warning: true}}})
	if got, want := b.String(), "starter: check f.json: $.a: one\nstarter: check f.json: warning: $.b: two\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACommandLineThatCannotBeMeantIsMisuse(t *testing.T) {
	file := folder(t, map[string]string{"idea.json": aState, "replies.jsonl": aReply})
	data := "--data=" + t.TempDir()
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	for _, line := range []string{
		"frobnicate", "run", "run a b", "run --no-such-flag x", "run no-such-file", "run --wait x " + file, "run --wait -1s " + file,
		"run --id a/b " + file, "run --id= " + file, "run --id ~a " + file, "run --id .. " + file, "run --port -1 " + file,
		"run --record r --detach " + file, "run --record r " + file, "run --detach " + file,
		"watch", "watch --wait -1s x", "show", "show --at 0 x", "result", "check", "check no-such-file", "graph", "graph --format svg x", "list x", "dev x",
	} {
		out, err, code := called(t, append(strings.Fields(line), data)...)
		if code != exitUsage || out != "" || strings.Count(err, "\n") < 1 || !strings.HasPrefix(err, "starter: ") {
			t.Errorf("%q: exit code %d, out %q, error %q", line, code, out, err)
		}
	}
}

func TestEveryVerbHasHelpWithAnExample(t *testing.T) {
	for _, c := range (&app{}).root().Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		out, err, code := called(t, c.Name(), "--help")
		if code != exitDone || err != "" || !strings.Contains(out, "Examples:\n  starter "+c.Name()) {
			t.Errorf("%s: exit code %d, error %q, help:\n%s", c.Name(), code, err, out)
		}
	}
}
