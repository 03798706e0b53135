package jsonschema

import (
	"slices"
	"strconv"

	"processidea/model/jsonval"
)

// Strict mode demands every property, at any depth: one that may be left out comes as null. This file takes such nulls
// out again, so that a value fits the schema of which the form was composed.

// withoutNulls gives a value without the properties that are null and neither required nor nullable by the schema at a
// path.
func WithoutNulls(schema any, p jsonval.Path, v any) any {
	if !hasNull(v) {
		return v
	}
	at := PlaceOf(schema, p)
	if !at.Known || at.Closed {
		return v
	}
	node, _ := ResolvePointer(schema, at.Pointer)
	return nulls{schema}.drop(node, at.Pointer, v)
}

// withoutNulls is that for a value of the whole schema.
func (s *Schema) WithoutNulls(v any) any {
	if s == nil {
		return v
	}
	return WithoutNulls(s.Source, nil, v)
}

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

// nulls takes them out by one schema, the home of its references.
type nulls struct{ root any }

func (n nulls) drop(node any, pointer string, v any) any {
	node, pointer = Follow(n.root, node, pointer)
	m, ok := node.(map[string]any)
	if !ok || !hasNull(v) {
		return v
	}
	if choices, ok := m["anyOf"].([]any); ok {
		return n.choose(choices, pointer, v)
	}
	switch v := v.(type) {
	case map[string]any:
		return n.fromObject(m, pointer, v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = n.drop(m["items"], pointer+"/items", e)
		}
		return out
	}
	return v
}

// choose takes the first choice that the value fits without its nulls.
func (n nulls) choose(choices []any, pointer string, v any) any {
	for i, choice := range choices {
		at := pointer + "/anyOf/" + strconv.Itoa(i)
		if out := n.drop(choice, at, v); n.accepts(at, out) {
			return out
		}
	}
	return v
}

func (n nulls) fromObject(m map[string]any, pointer string, v map[string]any) any {
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
			out[k] = n.drop(part, at, v[k])
		} else if slices.Contains(required, k) || n.accepts(at, nil) {
			out[k] = nil
		}
	}
	return out
}

func (n nulls) accepts(pointer string, v any) bool {
	s, err := CompileAt(n.root, pointer)
	return err == nil && s.Validate(v) == nil
}
