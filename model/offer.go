package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Offer is a tool as an MCP server describes it. What it says of itself beside these (annotations, hints) is not believed.
type Offer struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Input       map[string]any `json:"input"`
	Output      any            `json:"output,omitempty"`
}

// Digest is the SHA-256, in hex, of the canonical JSON of the offer.
func (o Offer) Digest() string {
	sum := sha256.Sum256(Encode(Normal(map[string]any{
		"name": o.Name, "description": o.Description, "input": o.Input, "output": o.Output,
	})))
	return hex.EncodeToString(sum[:])
}

// Furnished is a palette with the tools of MCP servers in it.
type Furnished struct {
	// Tools are those that join, or take the place of what the file says of them.
	Tools map[string]any `json:"tools"`
	// Picked are, by server, the tools that joined.
	Picked map[string][]string `json:"picked"`
	// Left are tools that cannot be used here, each with the reason.
	Left []string `json:"left,omitempty"`
	// Problems are what the file asks for and no server offers.
	Problems Problems `json:"problems,omitempty"`
}

// Furnish puts the tools that servers offer into the palette of an Idea. A tool is called <server>_<tool>, asks a person,
// and runs once at most, unless a Tool of the file, with `_activity: {"mcp": {…}}`, says otherwise.
func (i *Idea) Furnish(offers map[string][]Offer) Furnished {
	f := furnisher{idea: i, out: Furnished{Tools: map[string]any{}, Picked: map[string][]string{}}}
	for _, s := range i.Unlisted() {
		f.server(s, offers[s.Name])
	}
	return f.out
}

type furnisher struct {
	idea *Idea
	out  Furnished
}

func (f *furnisher) server(s MCPServer, offers []Offer) {
	f.out.Picked[s.Name] = []string{}
	byName := map[string]Offer{}
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
			f.missing(fmt.Sprintf("%s[%d]", JSONPath("$", "config", "mcp", s.Name, "tools"), n), s.Name, name, byName)
		}
	}
	for _, name := range sortedKeys(own) {
		if _, ok := byName[name]; !ok {
			f.missing(JSONPath("$", "schema", "tools", own[name][0].Name, "_activity", "mcp"), s.Name, name, byName)
		}
	}
}

// own is what the file says of a server's tools, by their names there.
func (f *furnisher) own(server string) map[string][]*Tool {
	own := map[string][]*Tool{}
	for _, t := range f.idea.Tools {
		if m, ok := t.MCP(); ok && m.Server == server {
			own[m.Tool] = append(own[m.Tool], t)
		}
	}
	return own
}

func (f *furnisher) missing(path, server, name string, offered map[string]Offer) {
	f.out.Problems.add(path, "the MCP server %s offers no tool %q; it offers %s", server, Clip(name, 80), someOf(sortedKeys(offered)))
}

func (f *furnisher) pick(s MCPServer, o Offer) {
	f.out.Picked[s.Name] = append(f.out.Picked[s.Name], o.Name)
}

// add takes a tool as it is offered. One that cannot be used is left out, unless the file asks for it by name.
func (f *furnisher) add(s MCPServer, o Offer) {
	name := s.Name + "_" + o.Name
	path := JSONPath("$", "schema", "tools", name)
	tool := o.tool(s.Name)
	var ps Problems
	if _, taken := f.out.Tools[name]; taken || f.idea.Tool(name) != nil {
		f.out.Problems.add(path, `the MCP server %s offers a tool that would be called so too; `+
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
		f.out.Left = append(f.out.Left, fmt.Sprintf("%s of %s: %s", Clip(o.Name, 80), s.Name, Clip(errs[0].Message, 300)))
	}
}

// override lays what the file says of a tool over what the server does.
func (f *furnisher) override(s MCPServer, o Offer, t *Tool) {
	path := JSONPath("$", "schema", "tools", t.Name)
	if m, _ := t.MCP(); m.Digest != "" && m.Digest != o.Digest() {
		f.out.Problems.add(path+"._activity.mcp.digest", "the MCP server %s offers another form of %q than this one, with the digest %s",
			s.Name, Clip(o.Name, 80), o.Digest())
		return
	}
	merged, _ := Merge(o.tool(s.Name), present(t.Source)).(map[string]any)
	merged["_activity"] = o.activity(s.Name)
	var ps Problems
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
func (o Offer) check(path string, ps *Problems) {
	props, _ := o.Input["properties"].(map[string]any)
	for _, name := range sortedKeys(props) {
		if _, wired := wiredReference(props[name]); wired {
			ps.add(joinJSONPath(path+".properties", name), "the server's schema holds a Reference")
		}
	}
}

// tool is the Tool that an offer makes. Of the server's schema nothing becomes a meta property.
func (o Offer) tool(server string) map[string]any {
	t := map[string]any{}
	for _, k := range sortedKeys(o.Input) {
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
	t["_activity"], t["_approval"], t["_retry"] = o.activity(server), true, map[string]any{"attempts": Normal(1)}
	return t
}

func (o Offer) activity(server string) map[string]any {
	return map[string]any{"mcp": map[string]any{"server": server, "tool": o.Name, "digest": o.Digest()}}
}

// With gives an Idea's source with what came of furnishing it. The tools of each server are named in `config.mcp` from
// then on, so that nobody need ask it again.
func (f Furnished) With(source map[string]any) map[string]any {
	picked := map[string]any{}
	for _, server := range sortedKeys(f.Picked) {
		names := []any{}
		for _, name := range f.Picked[server] {
			names = append(names, name)
		}
		picked[server] = map[string]any{"tools": names}
	}
	out := overlay(source, map[string]any{"config": Merge(source["config"], map[string]any{"mcp": picked})}).(map[string]any)
	schema, _ := source["schema"].(map[string]any)
	tools, _ := schema["tools"].(map[string]any)
	out["schema"] = overlay(overlay(map[string]any{}, schema), map[string]any{
		"tools": overlay(overlay(map[string]any{}, tools), f.Tools),
	})
	return out
}
