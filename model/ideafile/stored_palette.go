package ideafile

import (
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// storedPaletteKey is the only key in `schema.tools` of a palette that is kept in the blob store.
const storedPaletteKey = "†palette"

// toolOutlineKeys are the keys of a Tool that workflows need from a stored palette: what runs it, and where its results
// go.
var toolOutlineKeys = strings.Fields("_delegate _outputMethod _outputPath _retry _scopes _writes")

// NewStoredPalette is the value of `schema.tools` for a palette that is kept in the blob store under a handle, so that
// a workflow's work does not grow with the schemas of a thousand Tools. It keeps the outline of each Tool.
func NewStoredPalette(handle jsonval.BlobHandle, tools jsonval.Object) jsonval.Object {
	outlines := jsonval.MapChildValues(tools, func(raw any) any {
		tool := jsonval.AsObject(raw)
		outline := jsonval.Object{}
		for _, k := range toolOutlineKeys {
			if tool[k] != nil {
				outline[k] = tool[k]
			}
		}
		// whether a server must be asked depends on which of its tools are pinned
		if server, ok := jsonval.AsObject(tool["_activity"])["mcp"]; ok {
			outline["_activity"] = jsonval.Object{"mcp": server}
		}
		if _, isDeclared := jsonschema.Properties(tool)["output"]; isDeclared {
			outline["properties"] = jsonval.Object{"output": true} // else it would count as an alias of _outputPath
		}
		return outline
	})
	return jsonval.Object{storedPaletteKey: jsonval.Object{"whole": handle.AsJSONValue(), "outlines": outlines}}
}

// ReadStoredPalette reads a NewStoredPalette; ok is false where `schema.tools` holds the Tools themselves.
func ReadStoredPalette(tools any) (handle jsonval.BlobHandle, outlines jsonval.Object, ok bool) {
	m := jsonval.AsObject(tools)
	storedPalette, ok := m[storedPaletteKey].(jsonval.Object)
	if !ok || len(m) != 1 {
		return handle, nil, false
	}
	handle, ok = jsonval.AsBlobHandle(storedPalette["whole"])
	return handle, jsonval.AsObject(storedPalette["outlines"]), ok
}

// StoredPaletteHandle returns the handle of an Idea's palette; ok is false where its Tools are in the Idea itself.
func StoredPaletteHandle(idea jsonval.Object) (handle jsonval.BlobHandle, ok bool) {
	handle, _, ok = ReadStoredPalette(jsonval.Lookup(idea, "schema", "tools"))
	return handle, ok
}

// WithTools returns an Idea's source with another `schema.tools`: the Tools, or a NewStoredPalette.
func WithTools(idea jsonval.Object, tools jsonval.Object) jsonval.Object {
	schema := jsonval.WithKey(jsonval.AsObject(idea["schema"]), "tools", tools)
	return jsonval.WithKey(idea, "schema", schema)
}

// readTools reads the palette. Tools that were checked before, and outlines, are read without checking their schemas
// again.
func (i *Idea) readTools(schema jsonval.Object, skipToolChecks bool, ps *diag.Problems) {
	tools := diag.ReadObject(schema, "tools", "$.schema", ps)
	if _, outlines, isStored := ReadStoredPalette(tools); isStored {
		tools, skipToolChecks = outlines, true
	}
	problems := ps
	if skipToolChecks {
		problems = nil
	}
	for name, tool := range jsonval.Sorted(tools) {
		if t := ReadTool(name, tool, jsonval.JSONPathWithKey(ToolsJSONPath, name), problems); t != nil {
			i.Tools = append(i.Tools, t)
		}
	}
}
