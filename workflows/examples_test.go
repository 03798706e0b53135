package workflows_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"processidea/connect"
	"processidea/examples/diamond/shop"
	"processidea/internal/longrun"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/tools/mcptool/mcptest"
	"processidea/tools/mcptool/npmtest"
)

// example is one folder of examples/, with its rows as messages and its replies as the LLM.
func example(t *testing.T, name string) (idea map[string]any, replies string) {
	t.Helper()
	read := func(file string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "examples", name, file))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return data
	}
	text := bytes.ReplaceAll(read("idea.json"), []byte("127.0.0.1:8765"),
		[]byte(strings.TrimPrefix(toolbox.server.URL, "http://")+"/shop"))
	idea, err := jsonval.DecodeObject(text)
	if err != nil {
		t.Fatal(err)
	}
	context, _ := idea["context"].([]any)
	for n, line := range strings.Split(strings.TrimSpace(string(read("instances.jsonl"))), "\n") {
		if line == "" {
			continue
		}
		row, err := jsonval.DecodeObject([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if row["_instance"] == nil {
			row["_instance"] = fmt.Sprint(n + 1)
		}
		context = append(context, row)
	}
	idea["context"] = context
	return idea, string(read("replies.jsonl"))
}

// outcomes are what the examples come to.
var outcomes = map[string]struct {
	requests int
	calls    turn.CallCounts
}{
	"sentiment":  {2, turn.CallCounts{Done: 2}},
	"moderation": {1, turn.CallCounts{Done: 600}},
	"employees":  {1, turn.CallCounts{Done: 1}},
	"diamond":    {2, turn.CallCounts{Done: 7, Failed: 1}},
	"latent":     {3, turn.CallCounts{Done: 2}},
	"weather":    {1, turn.CallCounts{Done: 9, Skipped: 3}},
	"research":   {0, turn.CallCounts{Done: 2}},
	"refunds":    {2, turn.CallCounts{Done: 400, Rejected: 1}},
	"ripening":   {1, turn.CallCounts{Done: 10}},
}

func TestEveryExampleRunsToItsEnd(t *testing.T) {
	t.Parallel()
	atLength(t)
	for name, want := range longrun.SampleRows(t, 3, outcomes) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "diamond" {
				serveShop(t)
			}
			idea, replies := example(t, name)
			// On a slow machine a Request would otherwise not wait for the last of two hundred instances.
			config, _ := idea["config"].(map[string]any)
			idea["config"] = jsonval.DeepMerge(config, map[string]any{"gather": "10m"})
			read, problems := ideafile.ReadIdea(idea)
			if errs := problems.Errors(); len(errs) > 0 {
				t.Fatal(errs)
			}
			start := connect.StartSpec{ID: "example-" + name, Idea: read,
				Start: protocol.ProcessStart{Idea: idea, ScriptedReplies: replies, IterationsPerRun: *continueEvery,
					Delegation: delegatesOf(t, name)}, ContentDigest: name,
			}
			run, _, err := connect.StartOrAttachProcess(t.Context(), temporalClient, server.Namespace(), start, nil)
			if err != nil {
				t.Fatal(err)
			}
			if name == "refunds" {
				sign(t, run.GetID(), 189, 11)
			}
			var r loop.ProcessResult
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if err := run.Get(ctx, &r); err != nil {
				t.Fatal(err)
			}
			if r.Status != loop.StatusCompleted || r.RequestCount != want.requests || r.Calls != want.calls {
				t.Errorf("%s after %d requests, %+v", r.Status, r.RequestCount, r.Calls)
			}
			replays(t, name, run.GetID())
			if *record {
				recordHistories(t, name, r)
			}
		})
	}
}

// Split into parts, the first instances of an example come to what they come to by themselves.
func TestEveryExampleOfSeveralInstancesComesToTheSameInParts(t *testing.T) {
	t.Parallel()
	atLength(t)
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		instances, batch, waiting int
		when, reply               string // replaces what brings a reply for all, and a reply that only parts ask for
	}{
		"moderation":          {instances: 7, batch: 3},
		"weather":             {instances: 3, batch: 2},
		"hardened-moderation": {instances: 7, batch: 3},
		"sentiment": {instances: 2, batch: 1,
			reply: `{"when":"Write the output","solution":{"calls":[],"output":{"summary":"One text is positive (①), one is negative (②)."}}}`},
		"employees": {instances: 2, batch: 1, when: "employee_B",
			reply: `{"when":"Carry out the request","solution":{"calls":[],"output":null}}`},
		"refunds": {instances: 20, batch: 3, waiting: 3},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			idea, replies := example(t, name)
			idea["context"] = firstInstances(idea["context"], c.instances)
			if c.when != "" {
				replies = strings.ReplaceAll(replies, `"Carry out the request"`, `"`+c.when+`"`) + "\n" + c.reply
			} else {
				replies = c.reply + "\n" + replies
			}
			var results [2]loop.ProcessResult
			for n, batch := range []int{1000, c.batch} {
				config, _ := idea["config"].(map[string]any)
				idea["config"] = jsonval.DeepMerge(config, map[string]any{"gather": "10m", "batch": batch})
				s := newScenario(t, asJSON(idea))
				s.id, s.scripted = fmt.Sprintf("batch-%d-%s", batch, name), strings.TrimSpace(replies)
				run := s.start()
				if c.waiting > 0 {
					sign(t, s.id, c.instances-c.waiting, c.waiting)
				}
				results[n] = s.end(run)
				if split := len(s.processStatus().Parts) > 0; split != (batch < c.instances) {
					t.Errorf("that it is split is %v", split)
				}
			}
			whole, parts := results[0], results[1]
			if parts.Status != whole.Status || parts.Calls != whole.Calls ||
				asJSON(parts.Output) != asJSON(whole.Output) || asJSON(parts.Instances) != asJSON(whole.Instances) {
				t.Errorf(
					"in parts: %s, %d Requests, %+v, %.300s, %.900s\nby itself: %s, %d Requests, %+v, %.300s, %.900s",
					parts.Status, parts.RequestCount, parts.Calls, asJSON(parts.Output), asJSON(parts.Instances),
					whole.Status, whole.RequestCount, whole.Calls, asJSON(whole.Output), asJSON(whole.Instances))
			}
			if name == "hardened-moderation" && parts.RequestCount > 0 {
				t.Errorf("%d Requests were made", parts.RequestCount)
			}
		})
	}
}

// firstInstances leaves out the messages of all but the first instances.
func firstInstances(context any, n int) (list []any) {
	tokens := map[string]bool{}
	for _, m := range context.([]any) {
		token, _ := m.(map[string]any)["_instance"].(string)
		if token != "" && len(tokens) < n {
			tokens[token] = true
		}
		if token == "" || tokens[token] {
			list = append(list, m)
		}
	}
	return list
}

// sign decides on everything that waits in the example of refunds when the others are finished: one is rejected. Those
// that are decided on before would be asked about with the others.
func sign(t *testing.T, id string, others, waiting int) {
	t.Helper()
	s := &scenario{t: t, id: id, client: temporalClient, namespace: server.Namespace()}
	eventually(t, "the others are finished", func() bool {
		finished := 0
		for _, i := range s.processStatus().Instances {
			if i.Status == ideafile.InstanceSettled {
				finished++
			}
		}
		return finished == others
	})
	for n, a := range s.waitsFor(waiting) {
		if n == 0 {
			s.decide(policy.Reject, a.CallID, `{"reason": "it was used"}`)
			continue
		}
		s.decide(policy.Approve, a.CallID, `{"digest": "`+a.Digest+`"}`)
	}
}

// serveShop puts the diamond's tools on the tool server.
func serveShop(t *testing.T) {
	t.Helper()
	s := httptest.NewServer(shop.Handler())
	t.Cleanup(s.Close)
	toolbox.forward("/shop/", s.URL)
}

// delegatesOf gives the files that an example's delegates run.
func delegatesOf(t *testing.T, name string) protocol.DelegationContext {
	t.Helper()
	if name != "research" {
		return protocol.DelegationContext{}
	}
	data, err := os.ReadFile("../examples/research/researcher.json")
	if err != nil {
		t.Fatal(err)
	}
	file, err := jsonval.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.DelegationContext{Files: map[string]any{"researcher.json": file}}
}

const exampleDesk = "/tmp/process-idea-desk"

// The example reads and writes files through a server that others wrote.
func TestTheExampleOfMCPWritesItsFileOnceAPersonHasSeenIt(t *testing.T) {
	t.Parallel()
	program := npmtest.InstalledCommand(t, npmtest.FilesystemServer, "mcp-server-filesystem")
	desk, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.CopyFS(filepath.Join(desk, "desk"), os.DirFS("../examples/mcp/desk"))
	}
	if err != nil {
		t.Fatal(err)
	}
	desk = filepath.Join(desk, "desk")
	idea, replies := example(t, "mcp")
	text := strings.ReplaceAll(asJSON(idea), exampleDesk, desk)
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(replies, exampleDesk, desk)), "\n")
	s := newScenario(t, text, lines...)
	files := jsonval.ToJSONValue(append(program, desk))
	s.idea = jsonval.DeepMerge(s.idea,
		map[string]any{"config": map[string]any{"mcp": map[string]any{"files": map[string]any{"command": files}}}}).(map[string]any)
	run := s.start()
	a := s.waitsFor(1)[0]
	if _, err := os.Stat(filepath.Join(desk, "actions.md")); a.Tool != "files_write_file" || err == nil {
		t.Errorf("before anybody decides: %+v, %v", a, err)
	}
	s.decide(policy.Approve, a.CallID, "")
	if r := s.end(run); r.Calls.Done != 3 || r.RequestCount != 3 {
		t.Errorf("%+v after %d Requests\n%s", r.Calls, r.RequestCount, s.story())
	}
	if p := s.prompt(2); !strings.Contains(p, "Tomás: the present host stays.") {
		t.Errorf("the LLM has not read the notes:\n%s", p)
	}
	if written, err := os.ReadFile(filepath.Join(desk, "actions.md")); err != nil ||
		!strings.Contains(string(written), "- Bo calls the customer") {
		t.Errorf("%q %v", written, err)
	}
}

// A program of the official SDK, run by the worker: the same without npm.
func TestAnMCPServerThatTheWorkerRunsServesAProcess(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"config": {"mcp": {"calc": {"command": `+asJSON([]string{os.Args[0], mcptest.ServerArgument, "Adds two numbers."})+`, "tools": ["add"]}}},
	  "context": [{"type": "text", "text": "Go."}]}`, adds, nothingMore)
	run := s.start()
	s.waitsFor(1)
	s.decide(policy.Approve, "1.1", "")
	if got := asJSON(s.end(run).Instances[""].State); got != `{"sum":{"sum":5}}` {
		t.Errorf("the State is %s", got)
	}
}
