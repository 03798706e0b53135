package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"processidea/client/forget"
	"processidea/protocol"
	"processidea/starter/internal/exit"
	"processidea/store/chain"
)

// patients is a desk on which a process about Ada and one about Bob have run. Much of what they work on is the same.
func patients(t *testing.T, variables ...string) *desk {
	t.Helper()
	tools := ward(t)
	// The server's files are looked through.
	d := newDesk(t, nil).ownServer().set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(tools.URL,
		"http://")).set(variables...)
	for name, id := range map[string]string{"Ada": "a", "Bob": "b"} {
		files := map[string]string{}
		for file, text := range patient(tools.URL) {
			files[file] = strings.NewReplacer("Ada", name, "a large value", "a large value about "+name).Replace(text)
		}
		if err := os.Rename(folder(t, files), filepath.Join(d.dir, name)); err != nil {
			t.Fatal(err)
		}
		d.do("run", name, "--id", id, "--json", noUI).is(exit.Done)
	}
	return d
}

func (d *desk) data() string { return filepath.Join(d.dir, ".processidea") }

// aboutAda are texts of the process about Ada alone.
var aboutAda = []string{"about Ada", `"Ada"`}

// forgottenAda checks that what Ada's process worked on is nowhere, that everything says so, and that Bob's is as it
// was.
func (d *desk) forgottenAda() {
	d.Helper()
	for text, files := range found(d.T, d.data(), aboutAda...) {
		d.Errorf("%q still stands in %q", text, files)
	}
	for _, line := range []string{
		"show a", "show a --at 1", "diff a 1 2", "blame a bed-17:patientsName", "export a", "graph a", "decisions a",
		"result a", "watch a", "fork a --at 1", "harden a",
	} {
		d.do(append(strings.Fields(line), "--store", filepath.Join(d.data(), "store"))...).is(
			exit.Usage).quiet().complains("forgotten on", "by ann: she asked for it")
	}
	d.do("verify", "a").is(exit.Done).holds("whole", "forgotten on", "by ann: she asked for it")
	d.do("history", "a").is(exit.Done).holds("forgotten on")
	var r chain.Report
	d.do("verify", "a", "--json").is(exit.Done).json(&r)
	d.do("show", "a", "--at", strconv.Itoa(r.IdeaCount), "--json").is(exit.Done).holds(`"forgotten"`,
		"she asked for it", `"parent"`)
	d.do("verify", "b").is(exit.Done).holds("whole")
	d.do("show", "b").is(exit.Done).holds("about Bob", "a large result")
	d.do("list").is(exit.Done).holds("b ")
}

func TestAForgottenProcessIsNowhereAndOthersAreAsTheyWere(t *testing.T) {
	d := patients(t)
	if len(found(t, d.data(), aboutAda...)) != len(aboutAda) {
		t.Fatal("what is looked for was never there")
	}
	var r forget.Result
	d.do("forget", "a", "--by", "ann", "--reason", "she asked for it", "--json").is(exit.Done).json(&r)
	if r.DeletedRunCount < 2 || r.RemovedValueCount == 0 || r.AffectedIdeaCount < 2 || r.KeyDestroyed {
		t.Errorf("%+v", r)
	}
	d.dev() // result and watch ask a server
	d.forgottenAda()
	d.do("run", "Ada", "--id", "a").is(exit.Usage).complains("the store already has")
	d.do("forget", "a").is(exit.Done) // again, while a server runs
	d.forgottenAda()
	d.do("run", "Ada", "--id", "again").is(exit.Done) // the program relies on nothing that is gone
	d.do("verify", "again").is(exit.Done)
	d.do("forget", "nobody").is(exit.Usage).complains("neither Temporal nor the store knows")
}

// Temporal keeps the input of a start that it refuses. Forgetting reaches it, wherever the way to the server comes
// from.
func TestWhatTemporalKeepsOfARefusedStartIsForgotten(t *testing.T) {
	d := patients(t)
	n, _ := d.dev()
	d.do("run", "Ada", "--id", "a", "--json").is(exit.Done) // again, which starts nothing
	c, err := sdk.Dial(sdk.Options{HostPort: n.Address, Namespace: n.Namespace,
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.ExecuteWorkflow(t.Context(), sdk.StartWorkflowOptions{
		ID: "a", TaskQueue: protocol.TaskQueue, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
	}, protocol.ProcessType, "a start by somebody else, about Ada")
	var there *serviceerror.WorkflowExecutionAlreadyStarted
	if !errors.As(err, &there) {
		t.Fatalf("the start is not refused: %v", err)
	}
	remote := "TEMPORAL_ADDRESS=" + strings.Replace(n.Address, "127.0.0.1", "localhost", 1)
	elsewhere := d.at(t.TempDir()).set(remote, "PROCESSIDEA_STORE="+n.StorePlace)
	elsewhere.do("forget", "b").is(exit.IncompleteForget).complains("the files of Temporal's server were not checked")
	e := d.set(remote, "PROCESSIDEA_STORE="+n.StorePlace).do("forget", "a", "--by", "ann", "--reason",
		"she asked for it").is(exit.Done)
	if strings.Contains(e.err, "not looked at") {
		t.Error(e.err)
	}
	for text, files := range found(t, d.data(), aboutAda...) {
		t.Errorf("%q still stands in %q", text, files)
	}
}

func TestTheDataKeyOfAForgottenProcessIsDestroyed(t *testing.T) {
	d := patients(t, "PROCESSIDEA_KEYS="+freshKey(t, "k1"))
	backup := filepath.Join(d.dir, "backup")
	if err := os.CopyFS(backup, os.DirFS(filepath.Join(d.data(), "store"))); err != nil {
		t.Fatal(err)
	}
	d.dev()
	d.do("forget", "a", "--by", "ann", "--reason", "she asked for it").is(exit.Done).holds("its data key is destroyed")
	d.forgottenAda()
	if left, _ := filepath.Glob(filepath.Join(d.data(), "store", "processes", "a", "*", "*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
	// Of a backup the store's key opens nothing, once the data key is gone from there too.
	d.do("show", "a", "--store", backup).is(exit.Done).holds("about Ada")
	key, err := os.ReadFile(filepath.Join(d.data(), "store", "datakeys", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(backup, "datakeys", "a"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("show", "a", "--store", backup).is(exit.Usage).quiet().complains("data key of a", "was forgotten")
	if err := os.Remove(filepath.Join(backup, "datakeys", "a")); err != nil {
		t.Fatal(err)
	}
	d.do("show", "a", "--store", backup).is(exit.Failed).quiet()
	d.do("show", "b", "--store", backup).is(exit.Done).holds("about Bob")
	d.do("gc", "--older-than", "720h").is(exit.Done)
}

func TestAProcessAtWorkIsForgottenOnceItIsCancelled(t *testing.T) {
	d, g := gated(t)
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	g.key(d)
	d.do("forget", "p").is(exit.Usage).complains("at work")
	d.do("verify", "p").is(exit.Done).holds("whole")
	d.do("forget", "p", "--cancel").is(exit.Done)
	d.do("history", "p").is(exit.Done).holds("forgotten on")
	d.do("result", "p").is(exit.Usage).complains("forgotten on")
}

// What a process had done by its parts and their delegates goes with it, and what a fork of it holds is not left
// behind.
func TestPartsDelegatesAndForksAreForgottenToo(t *testing.T) {
	for name, variables := range map[string][]string{"plain": nil,
		"encrypted": {"PROCESSIDEA_KEYS=" + freshKey(t, "k1")}} {
		t.Run(name, func(t *testing.T) {
			// The server's files are looked through.
			d := newDesk(t, map[string]string{}).ownServer().set(variables...)
			if err := os.CopyFS(d.dir, os.DirFS("../examples/research")); err != nil {
				t.Fatal(err)
			}
			several := `{"config": {"batch": 1, "gather": "200ms"}, "schema": {"tools": {
				"research": {"type": "object", "properties": {"question": {"type": "string"}}, "_delegate": "researcher.json", "_scopes": ["state.audience"],
					"_writes": ["state.sources"], "_output": {"type": "string"}, "_outputPath": "findings"}}}, "context": [
				{"type": "state", "_instance": "①", "audience": "the buyers of Ada's house"}, {"type": "state", "_instance": "②", "audience": "Ada's sellers"},
				{"type": "plan", "stage": "complete", "plan": [{"_tool": "research", "question": "Why did Ada do it?"}]}]}`
			if err := os.WriteFile(filepath.Join(d.dir, "several.json"), []byte(several), 0o600); err != nil {
				t.Fatal(err)
			}
			d.do("run", "several.json", "--id", "p", "--replies", "replies.jsonl", noUI).is(exit.Done)
			d.do("fork", "p", "--at", "1", "--id", "f", "--replies", "replies.jsonl").is(exit.Done)
			d.do("forget", "p").is(exit.Usage).complains("forks of it still hold its data", "f")
			d.do("verify", "p").is(exit.Done)
			var r forget.Result
			d.do("forget", "p", "--with-forks", "--json").is(exit.Done).json(&r)
			// the process, two parts, a delegate in each
			if len(r.AffectedProcessIDs) < 5 || len(r.ForkResults) != 1 || r.ForkResults[0].ProcessID != "f" {
				t.Errorf("%+v", r)
			}
			// Short words stand in what is encrypted by chance.
			for text, files := range found(t, d.data(), "buyers of Ada", "Ada's sellers", "did Ada", "Glass was dear") {
				t.Errorf("%q still stands in %q", text, files)
			}
			for _, process := range append(r.AffectedProcessIDs, r.ForkResults[0].AffectedProcessIDs...) {
				d.do("verify", process).is(exit.Done).holds("forgotten on")
			}
		})
	}
}
