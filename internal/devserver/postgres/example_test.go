package postgres

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"processidea/examples/diamond/shop"
	"processidea/internal/devserver/devtest"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/tools/mcptool/npmtest"
)

var examplesDir = filepath.Join(root, "examples")

// exampleNames lists the folders that hold an Idea, those of which a worker of their own is a part apart from the
// others.
func exampleNames(t *testing.T) (plain, withWorker []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(examplesDir, "*", "idea.json"))
	if err != nil || len(files) < 11 {
		t.Fatalf("found %q, %v", files, err)
	}
	for _, f := range files {
		folder := filepath.Dir(f)
		if slices.Contains(playedElsewhere, filepath.Base(folder)) {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			withWorker = append(withWorker, filepath.Base(folder))
			continue
		}
		plain = append(plain, filepath.Base(folder))
	}
	return plain, withWorker
}

// playedElsewhere are examples that others play: payout wants signed decisions, of which no two are alike; invoices
// wants a server of its own; journey fails on purpose.
var playedElsewhere = []string{"payout", "invoices", "journey"}

// Addresses and folders that stand in examples, and are others here.
const (
	shopAddress = "127.0.0.1:8765"
	deskFolder  = "/tmp/process-idea-desk"
)

// around is what examples need beside a worker.
type around struct{ shop, desk string }

func newAround(t *testing.T) around {
	t.Helper()
	server := httptest.NewServer(shop.Handler())
	t.Cleanup(server.Close)
	desk, err := filepath.EvalSymlinks(t.TempDir()) // a server of files compares paths without links
	if err == nil {
		err = os.CopyFS(filepath.Join(desk, "desk"), os.DirFS(filepath.Join(examplesDir, "mcp", "desk")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return around{strings.TrimPrefix(server.URL, "http://"), filepath.Join(desk, "desk")}
}

// settings are the worker's for it.
func (a around) settings() map[string]string {
	return map[string]string{"PROCESSIDEA_HTTP_ALLOW": a.shop, "PROCESSIDEA_MCP_COMMANDS": "node *"}
}

// read gives one file of an example, empty where there is none.
func (a around) read(t *testing.T, name, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(examplesDir, name, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.NewReplacer(shopAddress, a.shop, deskFolder, a.desk).Replace(string(data))
}

// example gives what a process of an example starts from, as the starter would read it. It skips the test where the
// example's MCP server cannot be had.
func (a around) example(t *testing.T, name string) (*ideafile.Idea, protocol.ProcessStart) {
	t.Helper()
	source := decoded(t, a.read(t, name, "idea.json"))
	messages, _ := source["context"].([]any)
	for n, line := range strings.Split(strings.TrimSpace(a.read(t, name, "instances.jsonl")), "\n") {
		if line == "" {
			continue
		}
		row := decoded(t, line)
		row["_instance"] = fmt.Sprint(n + 1)
		messages = append(messages, row)
	}
	source["context"] = messages
	config, _ := source["config"].(map[string]any)
	// On a slow machine a Request would otherwise not wait for the last of two hundred instances.
	source["config"] = jsonval.DeepMerge(config, map[string]any{"gather": "10m"})
	idea, problems := ideafile.ReadIdea(source)
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	if len(idea.Config.MCPServers) > 0 {
		command := append(npmtest.InstalledCommand(t, npmtest.FilesystemServer, "mcp-server-filesystem"), a.desk)
		files := map[string]any{"files": map[string]any{"command": jsonval.ToJSONValue(command)}}
		source["config"] = jsonval.DeepMerge(source["config"], map[string]any{"mcp": files})
		if idea, problems = ideafile.ReadIdea(source); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	delegates := map[string]any{}
	for _, tool := range idea.Tools {
		if tool.DelegateFile != "" && tool.DelegateFile != ideafile.AnonymousDelegate {
			delegates[tool.DelegateFile] = decoded(t, a.read(t, name, tool.DelegateFile))
		}
	}
	return idea, protocol.ProcessStart{Idea: source, ScriptedReplies: a.read(t, name, "replies.jsonl"),
		Delegation: protocol.DelegationContext{Files: delegates}}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// build builds the worker that is a part of an example, as its user would: in its own module.
func build(t *testing.T, name string) (program string) {
	t.Helper()
	return devtest.BuildProgram(t, filepath.Join(examplesDir, name), ".")
}
