package server_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"processidea/tools/mcptool/npmtest"
)

// node runs a program of npm's in a folder. It fails the test where the program does.
func (h *house) node(dir string, command ...string) string {
	h.Helper()
	c := exec.CommandContext(h.Context(), "node", command...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		h.Fatalf("node %s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// description writes the gateway's description into a folder.
func (h *house) description() (dir string) {
	h.Helper()
	dir = h.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), h.get("/openapi.json").is(200).body, 0o600); err != nil {
		h.Fatal(err)
	}
	return dir
}

func TestALinterOfOthersFindsNothingInTheDescription(t *testing.T) {
	linter := npmtest.InstalledCommand(t, npmtest.Redocly, "redocly")
	h := open(t)
	dir := h.description()
	// There is no license file that could be named, and one schema is that of an event, which no description of HTTP
	// can say.
	out := h.node(dir, append(linter[1:], "lint", "openapi.json", "--skip-rule=info-license",
		"--skip-rule=no-unused-components", "--format=json")...)
	if !strings.Contains(out, `"errors": 0`) || !strings.Contains(out, `"warnings": 0`) {
		t.Errorf("it found %s", out)
	}
}

// A client in TypeScript, generated from the description and checked against its types, starts, follows over a second
// connection, decides, and reads the chain.
func TestAGeneratedClientStartsFollowsAndDecides(t *testing.T) {
	generator := npmtest.InstalledCommand(t, npmtest.OpenAPIClient, "openapi-ts")
	compiler := npmtest.InstalledCommand(t, npmtest.OpenAPIClient, "tsc")
	types := filepath.Join(npmtest.InstallModules(t, npmtest.OpenAPIClient), "@types")
	h := open(t)
	dir := h.description()
	text, err := os.ReadFile(filepath.Join("testdata", "client.ts"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "client.ts"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.node(dir, append(generator[1:], "-i", "openapi.json", "-o", "gen", "--no-log-file")...)
	h.node(dir, append(compiler[1:], "--strict", "--skipLibCheck", "--target", "es2022", "--module", "commonjs",
		"--moduleResolution", "node10",
		"--typeRoots", types, "--types", "node", "--outDir", "js", "client.ts")...)
	start := letter("generated", "a very long text of one", "a very long text of two", "short")
	body, err := json.Marshal(start)
	if err != nil {
		t.Fatal(err)
	}
	want := "started 201 attached true\nit waits true\ndecided taken taken\neach Idea once true\ncompleted 2 done 1 " +
		"rejected\n" +
		"chain true diff true blame true\nproblem 404 not-found\n"
	if got := h.node(dir, "js/client.js", h.url, h.token, string(body)); got != want {
		t.Errorf("it printed\n%s\nwant\n%s", got, want)
	}
}

// The Inspector of the Model Context Protocol is a client that knows nothing of this project.
func TestAnMCPClientOfOthersStartsAProcess(t *testing.T) {
	inspector := npmtest.InstalledCommand(t, npmtest.Inspector, "mcp-inspector")
	h := open(t, agentsOf(t, false))
	ask := func(args ...string) (m map[string]any) {
		t.Helper()
		out := h.node(t.TempDir(),
			slices.Concat(inspector[1:], []string{"--cli", h.url + "/mcp", "--transport", "http", "--header",
				"Authorization: Bearer " + h.token, "--method"}, args)...)
		if err := json.Unmarshal([]byte(out), &m); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return m
	}
	if tools, _ := ask("tools/list")["tools"].([]any); len(tools) != 11 {
		t.Errorf("%v", tools)
	}
	r := ask("tools/call", "--tool-name", "start_quick-note", "--tool-arg", `input={"text": "hello", "n": 1}`,
		"wait=60", "id=inspected")
	if text := string(must(json.Marshal(r))); !strings.Contains(text, `\"status\":\"completed\"`) {
		t.Error(text)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
