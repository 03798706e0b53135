package prompt

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// writePalette describes the Tools in words too: not every server shows the LLM the response format's schema.
func (w *promptWriter) writePalette() {
	if len(w.idea.Tools) > 0 {
		w.writeHeading("Tools")
	}
	notes := ToolInstructions(w.idea)
	for _, t := range w.idea.Tools {
		w.writeLine("\n### %s", t.Name)
		for _, s := range []string{t.Description, notes[t.Name]} {
			if s != "" {
				w.writeLine("%s", s)
			}
		}
		w.writeLine("Parameters: %s", jsonval.Encode(visibleParams(t)))
		if t.Output != nil {
			w.writeLine("Result: %s", jsonval.Encode(t.Output.Source))
		}
		if w.bindings[t.Name].Kind == ideafile.KindLatent {
			w.writeLine(`You are this tool: write its result into "_output", or null where it needs what is not there yet.`)
		}
		if t.OutputPath.Declared && t.OutputPath.Schema == nil {
			w.writeLine("Its result always goes to %s.", w.encode(t.OutputPath.Fixed))
		}
	}
	if w.idea.Output != nil {
		w.writeHeading("Form of the output")
		w.writeLine("%s", jsonval.Encode(w.idea.Output.Source))
	}
}

// visibleParams is a Tool's parameter schema as the LLM sees it.
func visibleParams(t *ideafile.Tool) any {
	schema, out := schemaWithoutWired(t), map[string]any{}
	for _, k := range []string{"properties", "required", "additionalProperties", "$defs", "definitions"} {
		if v, ok := schema[k]; ok {
			out[k] = v
		}
	}
	return out
}

// schemaWithoutWired is a Tool's schema without meta properties and without the parameters that its designer wired.
func schemaWithoutWired(t *ideafile.Tool) map[string]any {
	out, _ := jsonschema.WithoutMeta(t.Source).(map[string]any)
	props, _ := out["properties"].(map[string]any)
	required, _ := out["required"].([]any)
	for _, name := range jsonval.SortedKeys(t.WiredParams) {
		props = jsonval.WithoutKey(props, name)
		out["properties"] = props
	}
	var remaining []any
	for _, name := range required {
		if s, ok := name.(string); !ok || t.WiredParams[s] == "" {
			remaining = append(remaining, name)
		}
	}
	if len(remaining) < len(required) {
		out["required"] = remaining
	}
	return out
}

// ToolInstructions returns the instructions attached to Tools, by the Tool's name. Those of a single instance are left
// out: they are rendered with its State.
func ToolInstructions(idea *ideafile.Idea) map[string]string {
	instructions := map[string]string{}
	for _, m := range idea.Context {
		for _, t := range m.Tools {
			if m.Type == ideafile.TypeInstruction && m.Instance == "" {
				instructions[t] = strings.TrimPrefix(instructions[t]+"\n"+m.Text, "\n")
			}
		}
	}
	return instructions
}
