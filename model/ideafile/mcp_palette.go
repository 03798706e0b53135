package ideafile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Offer is a tool as an MCP server describes it. What it says of itself beside these (annotations, hints) is not believed.
type MCPToolSpec struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Input       map[string]any `json:"input"`
	Output      any            `json:"output,omitempty"`
}

// Digest is the SHA-256, in hex, of the canonical JSON of the offer.
func (s MCPToolSpec) Digest() string {
	sum := sha256.Sum256(jsonval.Encode(jsonval.Normal(map[string]any{
		"name": s.Name, "description": s.Description, "input": s.Input, "output": s.Output,
	})))
	return hex.EncodeToString(sum[:])
}

// Furnished is a palette with the tools of MCP servers in it.
type MCPPalette struct {
	// Tools are those that join, or take the place of what the file says of them.
	Tools map[string]any `json:"tools"`
	// NamesByServer are, by server, the tools that joined.
	NamesByServer map[string][]string `json:"picked"`
	// Unusable are tools that cannot be used here, each with the reason.
	Unusable []string `json:"left,omitempty"`
	// Problems are what the file asks for and no server offers.
	Problems diag.Problems `json:"problems,omitempty"`
}

// Furnish puts the tools that servers offer into the palette of an Idea. A tool is called <server>_<tool>, asks a person,
// and runs once at most, unless a Tool of the file, with `_activity: {"mcp": {…}}`, says otherwise.
func (i *Idea) WithMCPTools(offers map[string][]MCPToolSpec) MCPPalette {
	b := mcpPaletteBuilder{idea: i, palette: MCPPalette{Tools: map[string]any{}, NamesByServer: map[string][]string{}}}
	for _, s := range i.ServersToList() {
		b.addServer(s, offers[s.Name])
	}
	return b.palette
}

type mcpPaletteBuilder struct {
	idea *Idea
	palette  MCPPalette
}

func (b *mcpPaletteBuilder) addServer(s MCPServer, offers []MCPToolSpec) {
	b.palette.NamesByServer[s.Name] = []string{}
	byName := map[string]MCPToolSpec{}
	for _, spec := range offers {
		byName[spec.Name] = spec
	}
	fileTools := b.toolsOf(s.Name)
	for _, spec := range offers {
		switch tools := fileTools[spec.Name]; {
		case len(tools) > 0:
			for _, t := range tools {
				b.override(s, spec, t)
			}
			b.recordName(s, spec)
		case s.Tools == nil || slices.Contains(s.Tools, spec.Name):
			b.add(s, spec)
		}
	}
	for n, name := range s.Tools {
		if _, ok := byName[name]; !ok {
			b.reportMissing(fmt.Sprintf("%s[%d]", jsonval.JSONPath("$", "config", "mcp", s.Name, "tools"), n), s.Name, name, byName)
		}
	}
	for _, name := range jsonval.SortedKeys(fileTools) {
		if _, ok := byName[name]; !ok {
			b.reportMissing(jsonval.JSONPath("$", "schema", "tools", fileTools[name][0].Name, "_activity", "mcp"), s.Name, name, byName)
		}
	}
}

// toolsOf is what the file says of a server's tools, by their names there.
func (b *mcpPaletteBuilder) toolsOf(server string) map[string][]*Tool {
	byName := map[string][]*Tool{}
	for _, t := range b.idea.Tools {
		if m, ok := t.MCPTool(); ok && m.Server == server {
			byName[m.Tool] = append(byName[m.Tool], t)
		}
	}
	return byName
}

func (b *mcpPaletteBuilder) reportMissing(path, server, name string, offered map[string]MCPToolSpec) {
	b.palette.Problems.Add(path, "the MCP server %s offers no tool %q; it offers %s", server, jsonval.Clip(name, 80), diag.SomeOf(jsonval.SortedKeys(offered)))
}

func (b *mcpPaletteBuilder) recordName(s MCPServer, spec MCPToolSpec) {
	b.palette.NamesByServer[s.Name] = append(b.palette.NamesByServer[s.Name], spec.Name)
}

// add takes a tool as it is offered. One that cannot be used is left out, unless the file asks for it by name.
func (b *mcpPaletteBuilder) add(s MCPServer, spec MCPToolSpec) {
	name := s.Name + "_" + spec.Name
	path := jsonval.JSONPath("$", "schema", "tools", name)
	tool := spec.toolSource(s.Name)
	var ps diag.Problems
	if _, taken := b.palette.Tools[name]; taken || b.idea.Tool(name) != nil {
		b.palette.Problems.Add(path, `the MCP server %s offers a tool that would be called so too; `+
			`give this one "_activity": {"mcp": {"server": %q, "tool": %q}}, or another name`, s.Name, s.Name, spec.Name)
		return
	}
	spec.refuseReferences(path, &ps)
	ReadTool(name, tool, path, &ps)
	switch errs := ps.Errors(); {
	case len(errs) == 0:
		b.palette.Tools[name] = tool
		b.recordName(s, spec)
	case s.Tools != nil:
		b.palette.Problems = append(b.palette.Problems, errs...)
	default:
		b.palette.Unusable = append(b.palette.Unusable, fmt.Sprintf("%s of %s: %s", jsonval.Clip(spec.Name, 80), s.Name, jsonval.Clip(errs[0].Message, 300)))
	}
}

// override lays what the file says of a tool over what the server does.
func (b *mcpPaletteBuilder) override(s MCPServer, spec MCPToolSpec, t *Tool) {
	path := jsonval.JSONPath("$", "schema", "tools", t.Name)
	if m, _ := t.MCPTool(); m.Digest != "" && m.Digest != spec.Digest() {
		b.palette.Problems.Add(path+"._activity.mcp.digest", "the MCP server %s offers another form of %q than this one, with the digest %s",
			s.Name, jsonval.Clip(spec.Name, 80), spec.Digest())
		return
	}
	merged, _ := jsonval.Merge(spec.toolSource(s.Name), withoutNullValues(t.Source)).(map[string]any)
	merged["_activity"] = spec.activitySource(s.Name)
	var ps diag.Problems
	spec.refuseReferences(path, &ps)
	ReadTool(t.Name, merged, path, &ps)
	b.palette.Problems = append(b.palette.Problems, ps.Errors()...)
	b.palette.Tools[t.Name] = merged
}

// withoutNullValues leaves out what is absent: a meta property that is null takes nothing away.
func withoutNullValues(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	//workflowcheck:ignore -- a map again
	for k, v := range m {
		if v != nil {
			out[k] = v
		}
	}
	return out
}

// refuseReferences refuses a schema that would wire a parameter: what of the State goes to a server is no matter of the server's.
func (s MCPToolSpec) refuseReferences(path string, ps *diag.Problems) {
	props, _ := s.Input["properties"].(map[string]any)
	for _, name := range jsonval.SortedKeys(props) {
		if _, wired := wiredReference(props[name]); wired {
			ps.Add(jsonval.JSONPathKey(path+".properties", name), "the server's schema holds a Reference")
		}
	}
}

// toolSource is the Tool that an offer makes. Of the server's schema nothing becomes a meta property.
func (s MCPToolSpec) toolSource(server string) map[string]any {
	t := map[string]any{}
	for _, k := range jsonval.SortedKeys(s.Input) {
		if !strings.HasPrefix(k, "_") {
			t[k] = s.Input[k]
		}
	}
	delete(t, "description")
	if s.Description != "" {
		t["description"] = s.Description
	}
	if s.Output != nil {
		t["_output"] = s.Output
	}
	t["_activity"], t["_approval"], t["_retry"] = s.activitySource(server), true, map[string]any{"attempts": jsonval.Normal(1)}
	return t
}

func (s MCPToolSpec) activitySource(server string) map[string]any {
	return map[string]any{"mcp": map[string]any{"server": server, "tool": s.Name, "digest": s.Digest()}}
}

// ApplyTo gives an Idea's source with what came of furnishing it. The tools of each server are named in `config.mcp` from
// then on, so that nobody need ask it again.
func (p MCPPalette) ApplyTo(source map[string]any) map[string]any {
	picked := map[string]any{}
	for _, server := range jsonval.SortedKeys(p.NamesByServer) {
		names := []any{}
		for _, name := range p.NamesByServer[server] {
			names = append(names, name)
		}
		picked[server] = map[string]any{"tools": names}
	}
	out := jsonval.Overlay(source, map[string]any{"config": jsonval.Merge(source["config"], map[string]any{"mcp": picked})}).(map[string]any)
	schema, _ := source["schema"].(map[string]any)
	tools, _ := schema["tools"].(map[string]any)
	out["schema"] = jsonval.Overlay(jsonval.Overlay(map[string]any{}, schema), map[string]any{
		"tools": jsonval.Overlay(jsonval.Overlay(map[string]any{}, tools), p.Tools),
	})
	return out
}
