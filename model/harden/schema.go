package harden

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file infers the State schema of a common Plan: closed, with every connection between its Calls in it.

// stateSchema is what the designer wrote, where there is one, and what the final States show beside it.
func (h *hardener) stateSchema() map[string]any {
	given := jsonval.AsObject(h.runs[0].start.Schema[ideafile.TypeState])
	out := map[string]any{}
	//workflowcheck:ignore -- a map again
	for k, v := range given {
		out[k] = v
	}
	props := map[string]any{}
	for _, k := range h.keys() {
		if p, ok := jsonval.AsObject(given["properties"])[k]; ok {
			props[k] = p
			continue
		}
		props[k] = h.inferred(k)
	}
	out["type"], out["properties"], out["additionalProperties"] = "object", props, false
	if required := h.required(given); len(required) > 0 {
		out["required"] = required
	}
	return out
}

// keys lists the top-level keys of State: of all final States, and of the Calls that did not run in any.
func (h *hardener) keys() []string {
	all := map[string]bool{}
	for _, r := range h.runs {
		for _, k := range jsonval.SortedKeys(jsonval.AsObject(r.final)) {
			all[k] = true
		}
	}
	for _, c := range h.calls {
		for _, p := range c.paths() {
			if len(p) > 0 {
				all[p[0]] = true
			}
		}
	}
	return jsonval.SortedKeys(all)
}

// inferred is the schema of one key: the types that it had, and which Calls it connects.
func (h *hardener) inferred(key string) any {
	var types []string
	for _, r := range h.runs {
		v, ok := jsonval.AsObject(r.final)[key]
		if t := jsonschema.ExactType(v); ok && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	if slices.Contains(types, "number") {
		types = without1(types, "integer")
	}
	out := map[string]any{}
	switch len(types) {
	case 0:
	case 1:
		out["type"] = types[0]
	default:
		list := make([]any, len(types))
		for n, t := range types {
			list[n] = t
		}
		out["type"] = list
	}
	if text := h.connection(key); text != "" {
		out["description"] = text
	}
	return out
}

func without1(list []string, gone string) []string {
	var out []string
	for _, s := range list {
		if s != gone {
			out = append(out, s)
		}
	}
	return out
}

// connection names who writes a key and who reads it.
func (h *hardener) connection(key string) string {
	at := jsonval.Path{key}
	var writers, readers []string
	for _, c := range h.calls {
		tool, _ := c.raw["_tool"].(string)
		for _, p := range c.paths() {
			if p.Overlaps(at) && len(p) > 0 && !slices.Contains(writers, tool) {
				writers = append(writers, tool)
			}
		}
		refs, _ := refexpr.References(jsonval.WithoutKey(c.raw, "_outputPath"))
		for _, ref := range refs {
			if ref.Kind == ideafile.TypeState && len(ref.Path) > 0 && ref.Path[0] == key && !slices.Contains(readers, tool) {
				readers = append(readers, tool)
			}
		}
	}
	var parts []string
	if len(writers) > 0 {
		parts = append(parts, "written by "+strings.Join(writers, " or "))
	}
	if len(readers) > 0 {
		parts = append(parts, "read by "+strings.Join(readers, ", "))
	}
	return strings.Join(parts, ", ")
}

// required is what the designer requires, and what Calls wrote in every instance.
func (h *hardener) required(given map[string]any) []any {
	names := map[string]bool{}
	list, _ := jsonval.StringList(given["required"])
	for _, k := range list {
		names[k] = true
	}
	for _, c := range h.calls {
		for _, p := range c.paths() {
			if len(p) > 0 && h.everybodyHas(p[0]) {
				names[p[0]] = true
			}
		}
	}
	var out []any
	for _, k := range jsonval.SortedKeys(names) {
		out = append(out, k)
	}
	return out
}

func (h *hardener) everybodyHas(key string) bool {
	for _, r := range h.runs {
		if _, ok := jsonval.AsObject(r.final)[key]; !ok {
			return false
		}
	}
	return true
}
