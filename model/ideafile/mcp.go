package ideafile

import (
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

// MCPRunnerSpec is what the runner of MCP tools receives of a Tool.
type MCPRunnerSpec struct {
	// Server is the Idea's configuration of the tool's server; nil: none.
	Server *MCPServer `json:"server,omitempty"`
	Tool   MCPToolRef `json:"tool"`
}

// findMCPServer returns the server with a name; nil if there is none.
func findMCPServer(servers []MCPServer, name string) *MCPServer {
	if n := slices.IndexFunc(servers, func(s MCPServer) bool { return s.Name == name }); n >= 0 {
		return &servers[n]
	}
	return nil
}

// MCPOmissionNotes lists which tools of MCP servers, or parts of them, are left out, and why.
func (i *Idea) MCPOmissionNotes() (notes []string) {
	for _, s := range i.Config.MCPServers {
		for _, note := range s.OmissionNotes {
			notes = append(notes, "MCP server "+s.Name+", tool "+note)
		}
	}
	return notes
}

// MCPToolRef returns the tool of a server that the Tool runs; ok is false for a Tool of another kind. Without a name of
// its own, the server's tool is called like the Tool.
func (t *Tool) MCPToolRef() (m MCPToolRef, ok bool) {
	spec, ok := jsonval.AsObject(t.RawActivity)["mcp"].(jsonval.Object)
	if !ok {
		return m, false
	}
	m = MCPToolRef{ServerName: jsonval.AsText(spec["server"]), ToolNameOnServer: t.Name,
		SpecDigest: jsonval.AsText(spec["digest"])}
	if tool, ok := spec["tool"].(string); ok {
		m.ToolNameOnServer = tool
	}
	return m, true
}

func checkMCPToolRef(raw any, path string, ps *diag.Problems) {
	spec := jsonval.AsObject(raw)
	for k, v := range jsonval.Sorted(spec) {
		s, ok := v.(string)
		switch {
		case !slices.Contains([]string{"server", "tool", "digest"}, k):
			ps.AddAtKey(path, k, "unknown key %q; mcp has server, tool and digest", k)
		case !ok || s == "":
			ps.AddAtKey(path, k, "want a text")
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
		if ok && m.ServerName != "" && findMCPServer(i.Config.MCPServers, m.ServerName) == nil {
			ps.Add(t.JSONPath()+"._activity.mcp.server", "config.mcp names no server %q",
				jsonval.ClipForError(m.ServerName))
		}
	}
}

// MCPServersToAskForTools returns the servers that must be asked for their tools before the process starts: those
// without a list `tools`, and those with a tool that no digest in the palette pins.
func (i *Idea) MCPServersToAskForTools() []MCPServer {
	return slices.DeleteFunc(slices.Clone(i.Config.MCPServers), i.hasAllToolsPinned)
}

func (i *Idea) hasAllToolsPinned(s MCPServer) bool {
	if s.ToolNames == nil {
		return false
	}
	isPinned := map[string]bool{}
	for _, t := range i.Tools {
		if m, ok := t.MCPToolRef(); ok && m.ServerName == s.Name {
			if m.SpecDigest == "" {
				return false
			}
			isPinned[m.ToolNameOnServer] = true
		}
	}
	return !slices.ContainsFunc(s.ToolNames, func(tool string) bool { return !isPinned[tool] })
}

// findCandidateMCPServer returns a server that has not been asked for its tools yet and may offer the Tool of this
// name.
func (i *Idea) findCandidateMCPServer(name string) (serverName string, ok bool) {
	for _, s := range i.MCPServersToAskForTools() {
		tool, hasPrefix := strings.CutPrefix(name, s.Name+"_")
		if hasPrefix && (s.ToolNames == nil || slices.Contains(s.ToolNames, tool)) {
			return s.Name, true
		}
	}
	return "", false
}

// UnknownToolProblems reports a name in the file that no Tool of the palette has, as a warning if a server may offer
// such a Tool. A known Tool has no problems.
func (i *Idea) UnknownToolProblems(name, path string) (ps diag.Problems) {
	if i.Tool(name) != nil {
		return nil
	}
	if serverName, ok := i.findCandidateMCPServer(name); ok {
		ps.Warn(path,
			"the palette has no tool %q; it may come from the MCP server %s, which is asked when the process starts",
			jsonval.ClipForError(name), serverName)
		return ps
	}
	ps.Add(path, "unknown tool %q%s", jsonval.ClipForError(name), i.SuggestTool(name))
	return ps
}

// SuggestTool suggests a Tool for a name that the palette does not have.
func (i *Idea) SuggestTool(name string) string {
	return diag.DidYouMeanOrListWithIntro(name, i.toolNames(), "the palette has")
}
