package ideafile

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// MCPToolRef is the tool of a server that a Tool runs (`_activity: {"mcp": {…}}`).
type MCPToolRef struct {
	ServerName       string `json:"server"`
	ToolNameOnServer string `json:"tool"`
	// SpecDigest pins the tool to an mcppalette.ToolSpec; empty: it is pinned when the process starts.
	SpecDigest string `json:"digest,omitempty"`
}

// MCPRunnerSpec is what the runner of MCP tools is told of a Tool.
type MCPRunnerSpec struct {
	// Server is what the Idea says of the tool's server; nil: nothing.
	Server *MCPServer `json:"server,omitempty"`
	Tool   MCPToolRef `json:"tool"`
}

// MCPServer returns a server of `config.mcp` by its name.
func (i *Idea) MCPServer(name string) (MCPServer, bool) {
	for _, s := range i.Config.MCP {
		if s.Name == name {
			return s, true
		}
	}
	return MCPServer{}, false
}

// MCPNotes lists what is left out of what MCP servers offer, and why.
func (i *Idea) MCPNotes() (notes []string) {
	for _, s := range i.Config.MCP {
		for _, note := range s.Notes {
			notes = append(notes, "MCP server "+s.Name+", tool "+note)
		}
	}
	return notes
}

// MCPToolRef returns the tool of a server that the Tool runs; ok is false for a Tool of another kind. Without a name of
// its own, the server's tool is called like the Tool.
func (t *Tool) MCPToolRef() (m MCPToolRef, ok bool) {
	a := jsonval.AsObject(t.RawActivity)
	spec, ok := a["mcp"].(map[string]any)
	if !ok {
		return m, false
	}
	m = MCPToolRef{ToolNameOnServer: t.Name}
	m.ServerName, _ = spec["server"].(string)
	if tool, ok := spec["tool"].(string); ok {
		m.ToolNameOnServer = tool
	}
	m.SpecDigest, _ = spec["digest"].(string)
	return m, true
}

// mcpRunnerSpec is nil where the Tool is none of a server.
func (t *Tool) mcpRunnerSpec(servers []MCPServer) any {
	tool, ok := t.MCPToolRef()
	if !ok {
		return nil
	}
	for _, s := range servers {
		if s.Name == tool.ServerName {
			return MCPRunnerSpec{Server: &s, Tool: tool}
		}
	}
	return MCPRunnerSpec{Tool: tool}
}

func checkMCPToolRef(written any, path string, ps *diag.Problems) {
	spec := jsonval.AsObject(written)
	for k, v := range jsonval.Sorted(spec) {
		s, ok := v.(string)
		switch {
		case !slices.Contains([]string{"server", "tool", "digest"}, k):
			ps.Add(jsonval.JSONPathWithKey(path, k), "unknown key %q; mcp has server, tool and digest", k)
		case !ok || s == "":
			ps.Add(jsonval.JSONPathWithKey(path, k), "want a text")
		}
	}
	if spec["server"] == nil {
		ps.Add(path, `want {"server": "…", "tool": "…"}`)
	}
}

// checkMCPServerNames refuses Tools of servers that `config.mcp` does not name.
func (i *Idea) checkMCPServerNames(ps *diag.Problems) {
	for _, t := range i.Tools {
		m, ok := t.MCPToolRef()
		if _, known := i.MCPServer(m.ServerName); ok && !known && m.ServerName != "" {
			ps.Add(jsonval.JSONPathWithKeys("$", "schema", "tools", t.Name, "_activity", "mcp", "server"),
				"config.mcp names no server %q",
				jsonval.Clip(m.ServerName, 80))
		}
	}
}

// MCPServersToAskForTools returns the servers that must be asked for their tools before the process starts: those of
// which not all `tools` are in the palette, pinned by a digest.
func (i *Idea) MCPServersToAskForTools() []MCPServer {
	var out []MCPServer
	for _, s := range i.Config.MCP {
		if !i.hasToolsPinnedByDigest(s) {
			out = append(out, s)
		}
	}
	return out
}

func (i *Idea) hasToolsPinnedByDigest(s MCPServer) bool {
	if s.ToolNames == nil {
		return false
	}
	pinned := map[string]bool{}
	for _, t := range i.Tools {
		if m, ok := t.MCPToolRef(); ok && m.ServerName == s.Name {
			if m.SpecDigest == "" {
				return false
			}
			pinned[m.ToolNameOnServer] = true
		}
	}
	for _, tool := range s.ToolNames {
		if !pinned[tool] {
			return false
		}
	}
	return true
}

// FindCandidateMCPServer returns a server that has not been asked for its tools yet and may offer the Tool of this
// name.
func (i *Idea) FindCandidateMCPServer(name string) (server string, ok bool) {
	for _, s := range i.MCPServersToAskForTools() {
		tool, prefixed := strings.CutPrefix(name, s.Name+"_")
		if prefixed && (s.ToolNames == nil || slices.Contains(s.ToolNames, tool)) {
			return s.Name, true
		}
	}
	return "", false
}

// CandidateToolWarning is the warning about an unknown Tool that a server may offer.
func CandidateToolWarning(name, server string) string {
	return fmt.Sprintf(
		"the palette has no tool %q; it may come from the MCP server %s, which is asked when the process starts",
		jsonval.Clip(name, 80), server)
}
