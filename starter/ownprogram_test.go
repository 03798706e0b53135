// The tests of package command stand here, so that one test binary fewer links the server.
package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/starter/command"
	"processidea/starter/internal/print"
	"processidea/tools"
	"processidea/tools/runner"
)

type greeting struct {
	Name string `json:"name"`
}

func greet(_ context.Context, in greeting) (string, error) { return "Hello, " + in.Name, nil }

// shouter is a kind of Tool.
type shouter struct{}

func (shouter) Validate(spec any) error {
	if spec != "loudly" {
		return errors.New("it shouts loudly, or not at all")
	}
	return nil
}

func (shouter) Run(context.Context, runner.Input) (any, error) { return "HO", nil }

// own calls a program of one's own.
func own(t *testing.T, args ...string) (out, err string, code int) {
	t.Helper()
	t.Setenv("PROCESSIDEA_DATA", t.TempDir())
	t.Setenv("TEMPORAL_ADDRESS", "")
	name := print.ProgramName // which tests after this one call by its own
	t.Cleanup(func() { print.ProgramName = name })
	var o, e bytes.Buffer
	code = command.Execute(args, &o, &e, command.WithName("greeter"), command.WithRunner("shout", shouter{}),
		command.WithTools(func(r *tools.Registry) { tools.Register(r, "greetSomebody", greet) }))
	return o.String(), e.String(), code
}

func write(t *testing.T, tools string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "idea.json")
	if err := os.WriteFile(file, []byte(`{"schema": {"tools": {`+tools+`}}, "context": [{"type": "state", "a": 1}]}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const named = `"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false`

func TestCheckKnowsTheToolsOfAProgramOfOnesOwn(t *testing.T) {
	for tool, want := range map[string]struct {
		code     int
		out, err string
	}{
		`"greetSomebody": {` + named + `}`: {0, "greetSomebody is run by the Go function greetSomebody",
			""},
		`"hello": {` + named + `, "_activity": "greetSomebody"}`: {0,
			"hello is run by the Go function greetSomebody", ""},
		`"hello": {` + named + `, "_activity": {"shout": "loudly"}}`: {0, "hello is run by a worker, as shout", ""},
		`"hello": {` + named + `, "_activity": {"shout": "softly"}}`: {2, "", "it shouts loudly, or not at all"},
		`"hello": {` + named + `, "_activity": "bowBeforeSomebodyElse"}`: {2, "",
			`greeter: check FILE: $.schema.tools.hello._activity: no activity "bowBeforeSomebodyElse" is registered`},
		`"greet_somebody": {` + named + `}`: {0, "the LLM writes its result",
			`warning: $.schema.tools.greet_somebody: no Go tool has this name, so the LLM itself writes the result; did you mean the Go tool greetSomebody?`},
		`"greetSomebdy": {` + named + `}`: {0, "",
			"did you mean the Go tool greetSomebody?"},
		`"vote": {` + named + `}`: {0, "nothing is wrong", ""},
		`"greetSomebdy": {` + named + `}, "greetSomebody": {` + named + `}`: {0, "nothing is wrong", ""},
		`"greetSomebody": {"type": "object", "properties": {"nam": {"type": "string"}}, "required": ["nam"], "additionalProperties": false}`: {2, "",
			`takes no parameter "nam"; did you mean name?`},
	} {
		file := write(t, tool)
		out, err, code := own(t, "check", file)
		if code != want.code || !strings.Contains(out, want.out) ||
			!strings.Contains(err, strings.ReplaceAll(want.err, "FILE", file)) ||
			(want.err == "") != (err == "") {
			t.Errorf("%s: exit code %d, out %q, error %q", tool, code, out, err)
		}
	}
}

func TestAProgramOfOnesOwnSaysItsName(t *testing.T) {
	out, _, code := own(t, "worker", "--help")
	if code != 0 || !strings.Contains(out, "Examples:\n  greeter worker\n") || strings.Contains(out, "starter") {
		t.Errorf("%d %s", code, out)
	}
	out, _, _ = own(t, "run", "--help")
	if !strings.Contains(out, "\n  greeter run ") || strings.Contains(out, "starter ") {
		t.Error(out)
	}
	if _, err, code := own(t, "worker", "--json"); code != 2 || !strings.HasPrefix(err, "greeter: worker: ") {
		t.Errorf("%d %s", code, err)
	}
	if _, err, code := own(t, "worker", "--drain", "never"); code != 2 || !strings.HasPrefix(err, "greeter: ") {
		t.Errorf("%d %s", code, err)
	}
	if _, err, code := own(t, "list"); code != 4 || !strings.Contains(err, `start one with "greeter dev"`) {
		t.Errorf("%d %s", code, err)
	}
}

func TestAToolUnderANameThatIsTakenPanicsAtOnce(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(string), `"fetch": the name is taken`) {
			t.Error(p)
		}
	}()
	command.Execute(nil, new(bytes.Buffer), new(bytes.Buffer),
		command.WithTools(func(r *tools.Registry) { tools.Register(r, "fetch", greet) }))
}
