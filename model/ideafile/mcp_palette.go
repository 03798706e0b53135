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
func (o MCPToolSpec) Digest() string {
	sum := sha256.Sum256(jsonval.Encode(jsonval.Normal(map[string]any{
		"name": o.Name, "description": o.Description, "input": o.Input, "output": o.Output,
	})))
	return hex.EncodeToString(sum[:])
}

// Furnished is a palette with the tools of MCP servers in it.
type MCPPalette struct {
	// Tools are those that join, or take the place of what the file says of them.
	Tools map[string]any `json:"tools"`
	// Picked are, by server, the tools that joined.
	Picked map[string][]string `json:"picked"`
	// Left are tools that cannot be used here, each with the reason.
	Left []string `json:"left,omitempty"`
	// Problems are what the file asks for and no server offers.
	Problems diag.Problems `json:"problems,omitempty"`
}

// Furnish puts the tools that servers offer into the palette of an Idea. A tool is called <server>_<tool>, asks a person,
// and runs once at most, unless a Tool of the file, with `_activity: {"mcp": {…}}`, says otherwise.
func (i *Idea) WithMCPTools(offers map[string][]MCPToolSpec) MCPPalette {
	f := mcpPaletteBuilder{idea: i, out: MCPPalette{Tools: map[string]any{}, Picked: map[string][]string{}}}
	for _, s := range i.Unlisted() {
		f.server(s, offers[s.Name])
	}
	return f.out
}

type mcpPaletteBuilder struct {
	idea *Idea
	out  MCPPalette
}

func (f *mcpPaletteBuilder) server(s MCPServer, offers []MCPToolSpec) {
	f.out.Picked[s.Name] = []string{}
	byName := map[string]MCPToolSpec{}
	for _, o := range offers {
		byName[o.Name] = o
	}
	own := f.own(s.Name)
	for _, o := range offers {
		switch tools := own[o.Name]; {
		case len(tools) > 0:
			for _, t := range tools {
				f.override(s, o, t)
			}
			f.pick(s, o)
		case s.Tools == nil || slices.Contains(s.Tools, o.Name):
			f.add(s, o)
		}
	}
	for n, name := range s.Tools {
		if _, ok := byName[name]; !ok {
			f.missing(fmt.Sprintf("%s[%d]", jsonval.JSONPath("$", "config", "mcp", s.Name, "tools"), n), s.Name, name, byName)
		}
	}
	for _, name := range jsonval.SortedKeys(own) {
		if _, ok := byName[name]; !ok {
			f.missing(jsonval.JSONPath("$", "schema", "tools", own[name][0].Name, "_activity", "mcp"), s.Name, name, byName)
		}
	}
}

// own is what the file says of a server's tools, by their names there.
func (f *mcpPaletteBuilder) own(server string) map[string][]*Tool {
	own := map[string][]*Tool{}
	for _, t := range f.idea.Tools {
		if m, ok := t.MCP(); ok && m.Server == server {
			own[m.Tool] = append(own[m.Tool], t)
		}
	}
	return own
}

func (f *mcpPaletteBuilder) missing(path, server, name string, offered map[string]MCPToolSpec) {
	f.out.Problems.Add(path, "the MCP server %s offers no tool %q; it offers %s", server, jsonval.Clip(name, 80), diag.SomeOf(jsonval.SortedKeys(offered)))
}

func (f *mcpPaletteBuilder) pick(s MCPServer, o MCPToolSpec) {
	f.out.Picked[s.Name] = append(f.out.Picked[s.Name], o.Name)
}

// add takes a tool as it is offered. One that cannot be used is left out, unless the file asks for it by name.
func (f *mcpPaletteBuilder) add(s MCPServer, o MCPToolSpec) {
	name := s.Name + "_" + o.Name
	path := jsonval.JSONPath("$", "schema", "tools", name)
	tool := o.tool(s.Name)
	var ps diag.Problems
	if _, taken := f.out.Tools[name]; taken || f.idea.Tool(name) != nil {
		f.out.Problems.Add(path, `the MCP server %s offers a tool that would be called so too; `+
			`give this one "_activity": {"mcp": {"server": %q, "tool": %q}}, or another name`, s.Name, s.Name, o.Name)
		return
	}
	o.check(path, &ps)
	ReadTool(name, tool, path, &ps)
	switch errs := ps.Errors(); {
	case len(errs) == 0:
		f.out.Tools[name] = tool
		f.pick(s, o)
	case s.Tools != nil:
		f.out.Problems = append(f.out.Problems, errs...)
	default:
		f.out.Left = append(f.out.Left, fmt.Sprintf("%s of %s: %s", jsonval.Clip(o.Name, 80), s.Name, jsonval.Clip(errs[0].Message, 300)))
	}
}

// override lays what the file says of a tool over what the server does.
func (f *mcpPaletteBuilder) override(s MCPServer, o MCPToolSpec, t *Tool) {
	path := jsonval.JSONPath("$", "schema", "tools", t.Name)
	if m, _ := t.MCP(); m.Digest != "" && m.Digest != o.Digest() {
		f.out.Problems.Add(path+"._activity.mcp.digest", "the MCP server %s offers another form of %q than this one, with the digest %s",
			s.Name, jsonval.Clip(o.Name, 80), o.Digest())
		return
	}
	merged, _ := jsonval.Merge(o.tool(s.Name), present(t.Source)).(map[string]any)
	merged["_activity"] = o.activity(s.Name)
	var ps diag.Problems
	o.check(path, &ps)
	ReadTool(t.Name, merged, path, &ps)
	f.out.Problems = append(f.out.Problems, ps.Errors()...)
	f.out.Tools[t.Name] = merged
}

// present leaves out what is absent: a meta property that is null takes nothing away.
func present(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	//workflowcheck:ignore -- a map again
	for k, v := range m {
		if v != nil {
			out[k] = v
		}
	}
	return out
}

// check refuses a schema that would wire a parameter: what of the State goes to a server is no matter of the server's.
func (o MCPToolSpec) check(path string, ps *diag.Problems) {
	props, _ := o.Input["properties"].(map[string]any)
	for _, name := range jsonval.SortedKeys(props) {
		if _, wired := wiredReference(props[name]); wired {
			ps.Add(jsonval.JSONPathKey(path+".properties", name), "the server's schema holds a Reference")
		}
	}
}

// tool is the Tool that an offer makes. Of the server's schema nothing becomes a meta property.
func (o MCPToolSpec) tool(server string) map[string]any {
	t := map[string]any{}
	for _, k := range jsonval.SortedKeys(o.Input) {
		if !strings.HasPrefix(k, "_") {
			t[k] = o.Input[k]
		}
	}
	delete(t, "description")
	if o.Description != "" {
		t["description"] = o.Description
	}
	if o.Output != nil {
		t["_output"] = o.Output
	}
	t["_activity"], t["_approval"], t["_retry"] = o.activity(server), true, map[string]any{"attempts": jsonval.Normal(1)}
	return t
}

func (o MCPToolSpec) activity(server string) map[string]any {
	return map[string]any{"mcp": map[string]any{"server": server, "tool": o.Name, "digest": o.Digest()}}
}

// With gives an Idea's source with what came of furnishing it. The tools of each server are named in `config.mcp` from
// then on, so that nobody need ask it again.
func (f MCPPalette) With(source map[string]any) map[string]any {
	picked := map[string]any{}
	for _, server := range jsonval.SortedKeys(f.Picked) {
		names := []any{}
		for _, name := range f.Picked[server] {
			names = append(names, name)
		}
		picked[server] = map[string]any{"tools": names}
	}
	out := jsonval.Overlay(source, map[string]any{"config": jsonval.Merge(source["config"], map[string]any{"mcp": picked})}).(map[string]any)
	schema, _ := source["schema"].(map[string]any)
	tools, _ := schema["tools"].(map[string]any)
	out["schema"] = jsonval.Overlay(jsonval.Overlay(map[string]any{}, schema), map[string]any{
		"tools": jsonval.Overlay(jsonval.Overlay(map[string]any{}, tools), f.Tools),
	})
	return out
}
