package harden

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// stateSchema is the closed schema of the common Plan's State: what the designer declared, else what the final States
// show. The description of each inferred key says which Calls it connects.
func (h *hardener) stateSchema() map[string]any {
	given := jsonval.AsObject(h.instances[0].startView.Schema[ideafile.TypeState])
	out := map[string]any{}
	//workflowcheck:ignore -- builds a map: the order does not matter
	for k, v := range given {
		out[k] = v
	}
	props := map[string]any{}
	for _, k := range h.stateKeys() {
		if p, ok := jsonval.AsObject(given["properties"])[k]; ok {
			props[k] = p
			continue
		}
		props[k] = h.inferSchema(k)
	}
	out["type"], out["properties"], out["additionalProperties"] = "object", props, false
	if required := h.requiredKeys(given); len(required) > 0 {
		out["required"] = required
	}
	return out
}

// stateKeys lists the top-level keys of all final States, and of the output paths of all Calls.
func (h *hardener) stateKeys() []string {
	all := map[string]bool{}
	for _, r := range h.instances {
		for _, k := range jsonval.SortedKeys(jsonval.AsObject(r.finalState)) {
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

// inferSchema is the schema of one key: the types that its values have, and the Calls that it connects.
func (h *hardener) inferSchema(key string) any {
	var types []string
	for _, r := range h.instances {
		v, ok := jsonval.AsObject(r.finalState)[key]
		if t := jsonschema.ExactType(v); ok && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	if slices.Contains(types, "number") {
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
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
	if text := h.describeKey(key); text != "" {
		out["description"] = text
	}
	return out
}

// describeKey names the Tools that write a key and those that read it.
func (h *hardener) describeKey(key string) string {
	keyPath := jsonval.Path{key}
	var writers, readers []string
	for _, c := range h.calls {
		tool, _ := c.raw["_tool"].(string)
		for _, p := range c.paths() {
			if p.Overlaps(keyPath) && len(p) > 0 && !slices.Contains(writers, tool) {
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

// requiredKeys are the keys that the designer requires, and those that a Call writes and every final State has.
func (h *hardener) requiredKeys(given map[string]any) []any {
	names := map[string]bool{}
	list, _ := jsonval.StringList(given["required"])
	for _, k := range list {
		names[k] = true
	}
	for _, c := range h.calls {
		for _, p := range c.paths() {
			if len(p) > 0 && h.inEveryFinalState(p[0]) {
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

func (h *hardener) inEveryFinalState(key string) bool {
	for _, r := range h.instances {
		if _, ok := jsonval.AsObject(r.finalState)[key]; !ok {
			return false
		}
	}
	return true
}
