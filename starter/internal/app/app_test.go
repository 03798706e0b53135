package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"go.temporal.io/api/serviceerror"

	"processidea/client"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

func TestAnErrorsKindIsTheExitCode(t *testing.T) {
	for _, c := range []struct {
		err   error
		began bool
		want  int
	}{
		{nil, true, exit.Done},
		{errors.New("unknown flag"), false, exit.Usage},
		{errors.New("disk full"), true, exit.Failed},
		{fmt.Errorf("a: %w", exit.Usagef("b")), true, exit.Usage},
		{&client.InvalidError{Source: "f", Problems: diag.Problems{{JSONPath: "$", Message: "m"}}}, true, exit.Usage},
		{exit.Unreachablef("b"), true, exit.Unreachable},
		{fmt.Errorf("a: %w", serviceerror.NewUnavailable("gone")), true, exit.Unreachable},
		{fmt.Errorf("a: %w", context.DeadlineExceeded), true, exit.Unreachable},
		{exit.Unreachablef("a: %w", context.Canceled), true, exit.Interrupted},
		{client.ErrNotFound, true, exit.Usage},
		{&client.RefusedError{ProcessID: "p", Reason: "r"}, true, exit.Usage},
		{&client.ClaimedIDError{ID: "p"}, true, exit.Usage},
		{fmt.Errorf("a: %w", client.ErrNoWorker), true, exit.Unreachable},
		{exit.WithCode(exit.Paused), true, exit.Paused},
	} {
		a := &App{Err: new(bytes.Buffer), HasVerbBegun: c.began}
		if got := a.PrintError(c.err); got != c.want {
			t.Errorf("%v gives exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestAnErrorIsOneLineThatBeginsWithTheProgramsName(t *testing.T) {
	var b bytes.Buffer
	a := &App{Err: &b, HasVerbBegun: true}
	a.PrintError(errors.New("engine: start process x: first\n\n  second\x1b[31m"))
	if got, want := b.String(), "starter: start process x: first second·[31m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryProblemIsALineWithItsPlace(t *testing.T) {
	var b bytes.Buffer
	a := &App{Err: &b, HasVerbBegun: true}
	a.PrintError(&client.InvalidError{Source: "f.json",
		Problems: diag.Problems{{JSONPath: "$.a", Message: "one"}, {JSONPath: "$.b", Message: "two", IsWarning: true}}})
	if got, want := b.String(),
		"starter: check f.json: $.a: one\nstarter: check f.json: warning: $.b: two\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONIsOneLineWithEverythingAsItWas(t *testing.T) {
	var b bytes.Buffer
	a := &App{Out: &b, WritesJSON: true}
	if err := a.PrintResult(loop.ProcessResult{ProcessID: "p", Status: loop.StatusCompleted, Output: "<a> & \u2028",
		Instances: map[string]loop.InstanceResult{"": {Status: ideafile.InstanceSettled,
			State: map[string]any{}}}}, print.InstanceNaming{}); err != nil {
		t.Fatal(err)
	}
	want :=
		`{"process":"p","status":"completed","output":"<a> & \u2028","instances":{"":{"status":"settled","state":{}}},` +
			`"ideas":0,"requests":0,"calls":{"done":0,"failed":0,"rejected":0,"skipped":0,"blocked":0},"failures":[],` +
			`"usage":{"promptTokens":0,"completionTokens":0},"quality":null,"error":null}` + "\n"
	if b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}

func TestCallsCountInTheExitCodeWhereThatIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		calls turn.CallCounts
		asked bool
		want  int
	}{
		{turn.CallCounts{Failed: 1}, false, exit.Done}, {turn.CallCounts{Failed: 1}, true, exit.Failed},
		{turn.CallCounts{Blocked: 1}, true, exit.Failed}, {turn.CallCounts{Rejected: 1, Skipped: 1}, true, exit.Done},
	} {
		a := &App{Out: &bytes.Buffer{}, WritesJSON: true, CallsMustSucceed: c.asked}
		r := loop.ProcessResult{Status: loop.StatusCompleted, Calls: c.calls}
		if got := exit.CodeOf(a.PrintResult(r, print.InstanceNaming{})); got != c.want {
			t.Errorf("%+v: exit %d", c, got)
		}
	}
}
