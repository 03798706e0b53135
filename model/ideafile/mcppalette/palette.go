// Package mcppalette turns the tools that MCP servers offer into Tools of an Idea's palette, each pinned by a digest.
package mcppalette

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// ToolSpec is a tool as an MCP server describes it. The server's other hints are neither trusted nor kept.
type ToolSpec struct {
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	InputSchema  jsonval.Object `json:"input"`
	OutputSchema any            `json:"output,omitempty"`
	// Title is the tool's name for people. Undo is ideafile.UndoNotNeeded or UndoImpossible by the server's hints;
	// empty: unknown. Neither is part of the digest, so that earlier pins stay valid.
	Title string            `json:"title,omitempty"`
	Undo  ideafile.UndoKind `json:"undo,omitempty"`
	// UnreadableReason is why the description cannot be used; empty: it can.
	UnreadableReason string `json:"-"`
}

// Digest returns the SHA-256, in hex, of the canonical JSON of the spec, in which keys have no order.
func (s ToolSpec) Digest() string {
	return jsonval.Digest(jsonval.Encode(jsonval.ToJSONValue(jsonval.Object{
		"name": s.Name, "description": s.Description, "input": jsonschema.WithoutPropertyOrder(s.InputSchema),
		"output": s.OutputSchema,
	})))
}

// PaletteAddition is the addition of MCP servers to the palette of an Idea.
type PaletteAddition struct {
	// ToolSources maps names to the sources of Tools: new Tools, and Tools of the file merged with the server's.
	ToolSources jsonval.Object `json:"tools"`
	// StoredPalette is the whole palette, with these Tools, as an ideafile.NewStoredPalette. It takes the place of
	// ToolSources if the palette is large.
	StoredPalette jsonval.Object `json:"stored,omitempty"`
	// ToolNamesByServer lists the tools that joined, by server.
	ToolNamesByServer map[string][]string `json:"picked"`
	// OmissionNotesByServer lists what of a server's tools is left out, and why: whole tools, and parts of their
	// descriptions.
	OmissionNotesByServer map[string][]string `json:"notes,omitempty"`
	// Problems are with tools that the file asks for: no server offers them, or not in a usable form.
	Problems diag.Problems `json:"problems,omitempty"`
}

// ResolveTools returns the Tools that offers, the servers' tools by server name, add to the Idea's palette. Such a Tool
// is called <server>_<tool>, needs approval and is never run twice, unless a Tool of the file with `_activity: {"mcp":
// {…}}` says otherwise.
func ResolveTools(i *ideafile.Idea, specsByServer map[string][]ToolSpec) PaletteAddition {
	b := paletteBuilder{idea: i, patternStepsLeft: jsonschema.MaxServerToolCompiledPatternSteps,
		addition: PaletteAddition{
			ToolSources: jsonval.Object{}, ToolNamesByServer: map[string][]string{},
			OmissionNotesByServer: map[string][]string{},
		}}
	for _, s := range i.MCPServersToAskForTools() {
		b.addServerTools(s, specsByServer[s.Name])
	}
	return b.addition
}

type paletteBuilder struct {
	idea             *ideafile.Idea
	addition         PaletteAddition
	patternStepsLeft int // the steps left for the patterns of later tools
}

func (b *paletteBuilder) addServerTools(s ideafile.MCPServer, specs []ToolSpec) {
	b.addition.ToolNamesByServer[s.Name] = []string{}
	specByName := map[string]ToolSpec{}
	fileToolsByName := b.fileToolsOfServer(s.Name)
	for _, spec := range specs {
		if _, isDuplicate := specByName[spec.Name]; isDuplicate {
			b.addOmissionNotes(s, spec, "it is listed twice; the first counts")
			continue
		}
		specByName[spec.Name] = spec
		switch tools := fileToolsByName[spec.Name]; {
		case len(tools) > 0:
			for _, t := range tools {
				b.applyToolOverride(s, spec, t)
			}
			b.addServerToolName(s, spec)
		case s.ToolNames == nil || slices.Contains(s.ToolNames, spec.Name):
			b.addTool(s, spec)
		}
	}
	for n, name := range s.ToolNames {
		if _, ok := specByName[name]; !ok {
			toolPath := fmt.Sprintf("%s.tools[%d]", jsonval.JSONPathWithKey("$.config.mcp", s.Name), n)
			b.reportMissingTool(toolPath, s.Name, name, specByName)
		}
	}
	for name, tools := range jsonval.Sorted(fileToolsByName) {
		if _, ok := specByName[name]; !ok {
			b.reportMissingTool(tools[0].JSONPath()+"._activity.mcp", s.Name, name, specByName)
		}
	}
}

// fileToolsOfServer returns the Tools of the file that run a server's tools, by the server's names for them.
func (b *paletteBuilder) fileToolsOfServer(serverName string) map[string][]*ideafile.Tool {
	toolsByName := map[string][]*ideafile.Tool{}
	for _, t := range b.idea.Tools {
		if m, ok := t.MCPToolRef(); ok && m.ServerName == serverName {
			toolsByName[m.ToolNameOnServer] = append(toolsByName[m.ToolNameOnServer], t)
		}
	}
	return toolsByName
}

func (b *paletteBuilder) reportMissingTool(path, serverName, toolNameOnServer string, specByName map[string]ToolSpec) {
	b.addition.Problems.Add(path, "the MCP server %s offers no tool %q; it offers %s",
		serverName, jsonval.ClipForError(toolNameOnServer), diag.SummarizeNames(jsonval.SortedKeys(specByName)))
}

func (b *paletteBuilder) addServerToolName(s ideafile.MCPServer, spec ToolSpec) {
	b.addition.ToolNamesByServer[s.Name] = append(b.addition.ToolNamesByServer[s.Name], spec.Name)
}

// maxOmissionNotesPerServer bounds the notes on one server, since a hostile one could make the Idea grow by them.
const maxOmissionNotesPerServer = 50

func (b *paletteBuilder) addOmissionNotes(s ideafile.MCPServer, spec ToolSpec, texts ...string) {
	notes := b.addition.OmissionNotesByServer[s.Name]
	for _, text := range texts {
		switch {
		case len(notes) < maxOmissionNotesPerServer:
			notes = append(notes, jsonval.ClipForError(spec.Name)+": "+jsonval.Clip(text, 300))
		case len(notes) == maxOmissionNotesPerServer:
			notes = append(notes, "and more is left out of this server's tools")
		}
	}
	if len(notes) > 0 {
		b.addition.OmissionNotesByServer[s.Name] = notes
	}
}

// addTool adds a tool as it is offered. An invalid tool is left out. It is a problem only if the file asks for it by
// name.
func (b *paletteBuilder) addTool(s ideafile.MCPServer, spec ToolSpec) {
	source, notes := spec.toolSource(s.Name, &b.patternStepsLeft)
	fullName := s.Name + "_" + spec.Name
	name := strings.ToValidUTF8(spelling.ShortenID(fullName, fullName, ideafile.MaxToolNameBytes), "")
	if name != fullName {
		notes = append(notes, fmt.Sprintf("it is called %s here: a tool's name has at most %d bytes", name,
			ideafile.MaxToolNameBytes))
	}
	path := jsonval.JSONPathWithKey(ideafile.ToolsJSONPath, name)
	var ps diag.Problems
	if _, exists := b.addition.ToolSources[name]; exists || b.idea.Tool(name) != nil {
		b.addition.Problems.Add(path, "a tool of the MCP server %s would have the same name; give this one "+
			`"_activity": {"mcp": {"server": %q, "tool": %q}}, or another name`, s.Name,
			s.Name, spec.Name)
		return
	}
	spec.checkSchema(path, &ps)
	ideafile.ReadTool(name, source, path, &ps)
	switch errs := ps.Errors(); {
	case len(errs) == 0:
		b.addition.ToolSources[name] = source
		b.addServerToolName(s, spec)
		b.addOmissionNotes(s, spec, notes...)
	case s.ToolNames != nil:
		b.addition.Problems.Append(errs...)
	default:
		b.addOmissionNotes(s, spec, "it is left out: "+errs[0].Message)
	}
}

// applyToolOverride merges the file's definition of a tool over the server's.
func (b *paletteBuilder) applyToolOverride(s ideafile.MCPServer, spec ToolSpec, t *ideafile.Tool) {
	path := t.JSONPath()
	if m, _ := t.MCPToolRef(); m.SpecDigest != "" && m.SpecDigest != spec.Digest() {
		b.addition.Problems.Add(path+"._activity.mcp.digest",
			"the MCP server %s now offers another version of %q, with the digest %s",
			s.Name, jsonval.ClipForError(spec.Name), spec.Digest())
		return
	}
	serverSource, notes := spec.toolSource(s.Name, &b.patternStepsLeft)
	b.addOmissionNotes(s, spec, notes...)
	merged := jsonval.AsObject(jsonval.DeepMerge(serverSource, withoutNullValues(t.Source)))
	merged["_activity"] = spec.activitySource(s.Name)
	var ps diag.Problems
	spec.checkSchema(path, &ps)
	ideafile.ReadTool(t.Name, merged, path, &ps)
	b.addition.Problems.Append(ps.Errors()...)
	b.addition.ToolSources[t.Name] = merged
}

// withoutNullValues drops the keys that are null: a meta property that is null is absent, and must not remove the
// server's.
func withoutNullValues(m jsonval.Object) jsonval.Object {
	out := maps.Clone(m)
	maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
	return out
}

// checkSchema refuses a schema that cannot be read, that refers to another address, that needs a parameter which no
// Call can give, or that wires a parameter. A server must not decide which values of State it is sent.
func (s ToolSpec) checkSchema(path string, ps *diag.Problems) {
	if s.UnreadableReason != "" {
		ps.Add(path, "the server's description of it cannot be read: %s", s.UnreadableReason)
	}
	if ref := findExternalRef(s.InputSchema); ref != "" {
		ps.Add(path, "the server's schema refers to %s, and no schema is loaded from another address; ask the "+
			"server's operator to put it into the tool's own", jsonval.ClipForError(ref))
	}
	for name, schema := range jsonval.Sorted(jsonschema.Properties(s.InputSchema)) {
		if _, isWired := ideafile.WiredReference(schema); isWired {
			ps.AddAtKey(path+".properties", name, "the server's schema holds a Reference")
		}
		if strings.HasPrefix(name, "_") && s.requiresParam(name) {
			ps.Add(path, "the server's tool %q cannot be used: it requires the parameter %s, but names that "+
				"begin with _ are reserved here; ask the server's operator for a tool without it",
				jsonval.ClipForError(s.Name), jsonval.ClipForError(name))
		}
	}
}

// requiresParam reports whether a parameter is required.
func (s ToolSpec) requiresParam(param string) bool {
	return slices.Contains(jsonval.AsList(s.InputSchema["required"]), any(param))
}

// toolSource returns the source of the Tool, and what it leaves out. Keys of the server's schema that would be meta
// properties are dropped.
func (s ToolSpec) toolSource(serverName string, patternStepsLeft *int) (source jsonval.Object, notes []string) {
	usableSpec, notes := s.withUsableSchemas(patternStepsLeft)
	t := jsonval.WithoutKey(jsonval.AsObject(jsonschema.WithoutMetaKeys(usableSpec.InputSchema)), "description")
	if order := usableSpec.InputSchema[jsonschema.OrderKey]; order != nil {
		t[jsonschema.OrderKey] = order
	}
	if usableSpec.Description != "" {
		t["description"] = usableSpec.Description
	}
	if usableSpec.OutputSchema != nil {
		t["_output"] = usableSpec.OutputSchema
	}
	if usableSpec.Title != "" {
		t["title"] = usableSpec.Title
	}
	if usableSpec.Undo != "" {
		t["_undo"] = string(usableSpec.Undo)
	}
	t["_activity"], t["_approval"], t["_retry"] = s.activitySource(serverName), true,
		jsonval.Object{"attempts": jsonval.ToJSONValue(1)}
	return t, notes
}

func (s ToolSpec) activitySource(serverName string) jsonval.Object {
	return jsonval.Object{"mcp": jsonval.Object{"server": serverName, "tool": s.Name, "digest": s.Digest()}}
}

// AddToIdeaSource returns an Idea's source with the Tools added. Its `config.mcp` then names the tools of each server,
// so that no server has to be asked again, with the notes on what is left out.
func (p PaletteAddition) AddToIdeaSource(source jsonval.Object) jsonval.Object {
	configByServer := jsonval.Object{}
	for server, names := range jsonval.Sorted(p.ToolNamesByServer) {
		serverConfig := jsonval.Object{"tools": jsonval.ToJSONValue(names)}
		if notes := p.OmissionNotesByServer[server]; len(notes) > 0 {
			serverConfig["notes"] = jsonval.ToJSONValue(notes)
		}
		configByServer[server] = serverConfig
	}
	config := jsonval.DeepMerge(source["config"], jsonval.Object{"mcp": configByServer})
	tools := p.StoredPalette
	if tools == nil {
		ownTools := jsonval.Lookup(source, "schema", "tools")
		tools = jsonval.AsObject(jsonval.OverlayObject(ownTools, p.ToolSources))
	}
	return ideafile.WithTools(jsonval.WithKey(source, "config", config), tools)
}
