package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/starter/internal/exit"
)

// temporalCLI names the real temporal CLI, where it is not found by its name; .ci/run installs one.
const temporalCLI = "PROCESSIDEA_TEMPORAL_CLI"

// asTemporal makes the test binary stand in for the temporal CLI where there is none: a program with nothing but the
// SDK as it comes.
const asTemporal = "STARTER_TEST_AS_TEMPORAL"

// programs makes a folder with the programs that documents name.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := os.Getenv(temporalCLI)
	if found, err := exec.LookPath("temporal"); err == nil && path == "" {
		path = found
	}
	for name, program := range map[string]string{"starter": os.Args[0], "temporal": cmp.Or(path, os.Args[0])} {
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// temporalCommand does what "temporal workflow query", "signal" and "update execute" do.
func temporalCommand(args []string, out io.Writer) error {
	if len(args) < 2 || args[0] != "workflow" {
		return fmt.Errorf("temporal %q: not here", args)
	}
	verb, rest := args[1], args[2:]
	if verb == "update" && len(rest) > 0 && rest[0] == "execute" {
		rest = rest[1:]
	}
	f := flag.NewFlagSet(verb, flag.ContinueOnError)
	id, kind, name, input := f.String("workflow-id", "", ""), f.String("type", "", ""), f.String("name", "", ""),
		f.String("input", "", "")
	if err := f.Parse(rest); err != nil {
		return err
	}
	c, err := sdk.Dial(sdk.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS")})
	if err != nil {
		return err
	}
	defer c.Close()
	var payload, answer any
	if *input != "" {
		if payload, err = jsonval.Decode([]byte(*input)); err != nil {
			return err
		}
	}
	ctx := context.Background()
	switch verb {
	case "signal":
		return c.SignalWorkflow(ctx, *id, "", *name, payload)
	case "update":
		var update sdk.WorkflowUpdateHandle
		update, err = c.UpdateWorkflow(ctx, sdk.UpdateWorkflowOptions{WorkflowID: *id, UpdateName: *name,
			Args:         []any{payload},
			WaitForStage: sdk.WorkflowUpdateStageCompleted})
		if err == nil {
			err = update.Get(ctx, &answer)
		}
	default:
		var query converter.EncodedValue
		if query, err = c.QueryWorkflow(ctx, *id, "", *kind); err == nil {
			err = query.Get(&answer)
		}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, string(jsonval.Encode(answer)))
	return err
}

// commandsOf lists the lines of a document's shell blocks that begin with one of the words.
func commandsOf(t *testing.T, file string, words ...string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	inShell := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			inShell = line == "```sh"
		}
		for _, w := range words {
			if inShell && strings.HasPrefix(line, w) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s has no commands", file)
	}
	return lines
}

func TestTheCommandsOfTheDocumentsWork(t *testing.T) {
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	bin := programs(t)
	// The temporal CLI is given its address alone.
	d := newDesk(t, nil).ownServer()
	n, _ := d.dev()
	if err := os.Symlink(examples, filepath.Join(d.dir, "examples")); err != nil {
		t.Fatal(err)
	}
	d.set("PATH="+bin+":"+os.Getenv("PATH"), asTemporal+"=1")
	d.writePasskey("passkey.json", "a", "http://localhost:8300")
	d.do("run", filepath.Join(examples, "refunds"), "--id", "refunds", "--detach").is(exit.Done)
	var waiting []protocol.Approval
	d.eventually("eleven wait and the others have settled", func() bool {
		settled := 0
		for _, i := range d.do("result", "refunds", "--json").result().Instances {
			if i.Status == ideafile.InstanceSettled {
				settled++
			}
		}
		if settled < 189 {
			return false
		}
		waiting = nil
		d.do("approvals", "refunds", "--json").is(exit.Done).json(&waiting)
		return len(waiting) == 11
	})
	for _, id := range []string{"refund-17", "refund-18", "refund-19"} { // whose Plans wait as a whole
		d.do("run", filepath.Join(examples, "sentiment"), "--id", id, "--plan-first", "--detach").is(exit.Done)
		d.eventually("the Plan waits", func() bool {
			var plans []json.RawMessage
			d.do("plan", id, "--json").is(exit.Done).json(&plans)
			return len(plans) == 1
		})
	}
	// no Idea has its Calls yet
	for format, begins := range map[string]string{"mermaid": "flowchart", "dot": "digraph", "svg": "<svg"} {
		if e := d.do("graph", "refund-17", "--format", format).is(exit.Done); !strings.HasPrefix(e.out, begins) ||
			!strings.Contains(e.err, "waits for a person") {
			t.Errorf("%s\n%s", e.out, e.err)
		}
	}
	call, _, _ := strings.Cut(waiting[0].CallID, "@") // 1.2, unless a Request was lost on a slow machine and made again
	var lines []string
	for _, page := range []string{"people", "signing", "operating", "interfaces"} {
		lines = append(lines, commandsOf(t, "../docs/"+page+".md", "starter ", "temporal workflow ")...)
	}
	for _, line := range lines {
		line = strings.ReplaceAll(line, "1.2@", call+"@")
		c := exec.Command("sh", "-c", line)
		c.Dir, c.Env = d.dir, d.env
		if strings.HasPrefix(line, "temporal ") {
			c.Env = append(c.Env, "TEMPORAL_ADDRESS="+n.Address)
		}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		if strings.Contains(line, " query ") && !strings.Contains(string(out), call+"@⑬") &&
			!strings.Contains(string(out), `"instances"`) {
			t.Errorf("%s answers no plain JSON: %s", line, out)
		}
	}
	d.eventually("every decision is taken, and nothing was refused", func() bool {
		var list []protocol.Approval
		d.do("approvals", "refunds", "--json").is(exit.Done).json(&list)
		return len(list) == 3 // 138, 150 and 167
	})
	d.do("resume", "refunds").is(exit.Usage).complains("the process is not paused")
	if e := d.do("list").is(exit.Done); !strings.Contains(e.out, "refunds") {
		t.Error(e.out)
	}
}
