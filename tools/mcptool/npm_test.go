package mcptool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/tools/mcptool/npmtest"
)

// These tests call servers that others wrote, in another language, by another SDK.

func TestTheReferenceServerEverythingIsUnderstood(t *testing.T) {
	t.Parallel()
	s := ideafile.MCPServer{Name: "every",
		Command: append(npmtest.InstalledCommand(t, npmtest.EverythingServer, "mcp-server-everything"), "stdio")}
	h := hub(t, strings.Join(s.Command, " "), "", nil)
	idea, problems := ideafile.ParseIdea([]byte(`{"config": {"mcp": {"every": {"command": ["x"]}}}}`))
	offers, err := h.ListTools(t.Context(), s)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	f := mcppalette.ResolveTools(idea, map[string][]mcppalette.ToolSpec{"every": offers})
	if len(f.OmissionNotesByServer) > 0 || len(f.Problems) > 0 || len(f.ToolSources) < 8 {
		t.Errorf("%d tools; left out: %v; %v", len(f.ToolSources), f.OmissionNotesByServer, f.Problems)
	}
	if value, err := callOf(t, h, s, "echo", `{"message": "hello"}`); err != nil || value != "Echo: hello" {
		t.Errorf("%v %v", value, err)
	}
	if value, err := callOf(t, h, s, "get-sum", `{"a": 2, "b": 3}`); err != nil ||
		!strings.Contains(value.(string), "5") {
		t.Errorf("%v %v", value, err)
	}
	value, callErr := callOf(t, h, s, "get-structured-content", `{"location": "New York"}`)
	if weather, ok := value.(map[string]any); callErr != nil || !ok || weather["temperature"] == nil {
		t.Errorf("%v %v", value, callErr)
	}
	if _, err := callOf(t, h, s, "get-sum", `{"a": "no number", "b": 3}`); err == nil || err.IsRetryable {
		t.Errorf("%v", err)
	}
	// It is of an older protocol: its question comes while the call runs.
	if _, err := callOf(t, h, s, "trigger-elicitation-request", `{}`); err == nil ||
		err.Code != ideafile.CodeMCPInputRequired {
		t.Errorf("%+v", err)
	}
}

func TestTheReferenceServerForFilesReadsAndWrites(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("what stands in a"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := ideafile.MCPServer{Name: "files",
		Command: append(npmtest.InstalledCommand(t, npmtest.FilesystemServer, "mcp-server-filesystem"), dir)}
	h := hub(t, strings.Join(s.Command, " "), "", nil)
	value, failed := callOf(t, h, s, "read_text_file",
		string(jsonval.Encode(map[string]any{"path": filepath.Join(dir, "a.txt")})))
	if failed != nil || !strings.Contains(string(jsonval.Encode(value)), "what stands in a") {
		t.Errorf("%v %v", value, failed)
	}
	in := string(jsonval.Encode(map[string]any{"path": filepath.Join(dir, "b.txt"), "content": "b"}))
	if _, failed := callOf(t, h, s, "write_file", in); failed != nil {
		t.Error(failed)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(text) != "b" {
		t.Errorf("%q %v", text, err)
	}
	if _, failed := callOf(t, h, s, "read_text_file", `{"path": "/etc/passwd"}`); failed == nil ||
		!strings.Contains(failed.Error(), "denied") {
		t.Errorf("%v", failed)
	}
}
