package jsonschema

import (
	"slices"
	"strconv"

	"processidea/model/jsonval"
)

// WithoutNulls gives a value, at a path of the schema, without the properties that are null and that the schema neither
// requires nor lets be null. Strict mode makes the LLM write every property at any depth, and null for what it leaves out.
func WithoutNulls(schema any, p jsonval.Path, v any) any {
	if !hasNull(v) {
		return v
	}
	at := PlaceOf(schema, p)
	if !at.Known || at.Closed {
		return v
	}
	node, _ := ResolvePointer(schema, at.Pointer)
	return nullRemover{schema}.remove(node, at.Pointer, v)
}

// WithoutNulls is the function of that name for a value of the whole schema.
func (s *Schema) WithoutNulls(v any) any {
	if s == nil {
		return v
	}
	return WithoutNulls(s.Source, nil, v)
}

// hasNull reports whether a value is null or holds one.
func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		//workflowcheck:ignore -- any or none, in any order
		for _, e := range v {
			if hasNull(e) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if hasNull(e) {
				return true
			}
		}
	}
	return false
}

// nullRemover removes nulls by one schema, in which references are resolved.
type nullRemover struct{ root any }

func (n nullRemover) remove(node any, pointer string, v any) any {
	node, pointer = Follow(n.root, node, pointer)
	m, ok := node.(map[string]any)
	if !ok || !hasNull(v) {
		return v
	}
	if choices, ok := m["anyOf"].([]any); ok {
		return n.removeByChoice(choices, pointer, v)
	}
	switch v := v.(type) {
	case map[string]any:
		return n.removeFromObject(m, pointer, v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = n.remove(m["items"], pointer+"/items", e)
		}
		return out
	}
	return v
}

// removeByChoice goes by the first choice that the value fits without its nulls.
func (n nullRemover) removeByChoice(choices []any, pointer string, v any) any {
	for i, choice := range choices {
		at := pointer + "/anyOf/" + strconv.Itoa(i)
		if out := n.remove(choice, at, v); n.accepts(at, out) {
			return out
		}
	}
	return v
}

func (n nullRemover) removeFromObject(m map[string]any, pointer string, v map[string]any) any {
	props, _ := m["properties"].(map[string]any)
	required, _ := jsonval.StringList(m["required"])
	out := make(map[string]any, len(v))
	for _, k := range jsonval.SortedKeys(v) {
		part, declared := props[k]
		if !declared {
			out[k] = v[k]
			continue
		}
		at := pointer + "/properties/" + EscapePointer(k)
		if v[k] != nil {
			out[k] = n.remove(part, at, v[k])
		} else if slices.Contains(required, k) || n.accepts(at, nil) {
			out[k] = nil
		}
	}
	return out
}

// accepts reports whether a value fits the part of the schema at a JSON pointer.
func (n nullRemover) accepts(pointer string, v any) bool {
	s, err := CompileAt(n.root, pointer)
	return err == nil && s.Validate(v) == nil
}
