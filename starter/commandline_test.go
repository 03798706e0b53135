package main

import (
	"bytes"
	"strings"
	"testing"

	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/verbs"
)

// called runs a command line in this program.
func called(t *testing.T, args ...string) (out, err string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = verbs.Execute(args, &o, &e, offered(), sharedTemporal{})
	return o.String(), e.String(), code
}

const (
	aState = `{"context":[{"type":"state","a":1}]}`
	aReply = `{"solution":{"calls":[],"output":null}}`
)

func TestACommandLineThatCannotBeMeantIsMisuse(t *testing.T) {
	file := folder(t, map[string]string{"idea.json": aState, "replies.jsonl": aReply})
	data := "--data=" + t.TempDir()
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	for _, line := range []string{
		"frobnicate", "run", "run a b", "run --no-such-flag x", "run no-such-file", "run --wait x " + file,
		"run --wait -1s " + file,
		"run --id a/b " + file, "run --id= " + file, "run --id ~a " + file, "run --id .. " + file,
		"run --port -1 " + file,
		"run --record r --detach " + file, "run --record r " + file, "run --detach " + file,
		"watch", "watch --wait -1s x", "show", "show --at 0 x", "result", "check", "check no-such-file", "graph",
		"graph --format png x", "list x", "dev x",
	} {
		out, err, code := called(t, append(strings.Fields(line), data)...)
		if code != exit.Usage || out != "" || strings.Count(err, "\n") < 1 || !strings.HasPrefix(err, "starter: ") {
			t.Errorf("%q: exit code %d, out %q, error %q", line, code, out, err)
		}
	}
}

func TestEveryVerbHasHelpWithAnExample(t *testing.T) {
	for _, c := range verbs.Root(&app.App{}).Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		out, err, code := called(t, c.Name(), "--help")
		if code != exit.Done || err != "" || !strings.Contains(out, "Examples:\n  starter "+c.Name()) {
			t.Errorf("%s: exit code %d, error %q, help:\n%s", c.Name(), code, err, out)
		}
	}
}
