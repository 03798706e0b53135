package jsonschema

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// This file moves parts of schemas to other places, with all that they refer to.

// rooted puts local references into a part of a schema in place of what they name, so that the part can stand elsewhere.
// A reference to itself is left, and refused by strictForm.
func Rooted(root, part any) any {
	e := expander{root: root, budget: maxExpanded}
	out := e.expand(withoutDefinitions(part), nil)
	if e.budget < 0 {
		return map[string]any{"$ref": TooLarge}
	}
	return out
}

// withoutDefinitions drops what stands in a schema only to be referred to.
func withoutDefinitions(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	return jsonval.WithoutKey(jsonval.WithoutKey(m, "$defs"), "definitions")
}

// maxExpanded bounds the nodes that references may grow to: a few lines of them can stand for billions.
const maxExpanded = 20_000

// tooLarge is what a schema over that bound is said to refer to.
const TooLarge = "#too-large"

type expander struct {
	root   any
	budget int
}

func (e *expander) expand(v any, inside []string) any {
	if e.budget--; e.budget < 0 {
		return nil // the whole is dropped
	}
	switch v := v.(type) {
	case map[string]any:
		ref, ok := v["$ref"].(string)
		if target, found := ResolvePointer(e.root, strings.TrimPrefix(ref, "#")); ok && found {
			return e.follow(v, ref, target, inside)
		}
		out := make(map[string]any, len(v))
		for _, k := range jsonval.SortedKeys(v) {
			out[k] = e.expand(v[k], inside)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = e.expand(x, inside)
		}
		return out
	}
	return v
}

func (e *expander) follow(v map[string]any, ref string, target any, inside []string) any {
	if !slices.Contains(inside, ref) {
		beside := e.expand(jsonval.WithoutKey(v, "$ref"), inside)
		return jsonval.Merge(e.expand(withoutDefinitions(target), append(inside[:len(inside):len(inside)], ref)), beside)
	}
	return map[string]any{"$ref": ref}
}

// rehome changes a schema's local references for the place at which it stands now. It has no address of its own there.
func Rehome(v any, home string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		//workflowcheck:ignore -- a map again
		for k, e := range v {
			text, ok := e.(string)
			switch {
			case ok && (k == "$id" || k == "$schema"):
				continue
			case ok && k == "$ref" && (text == "#" || strings.HasPrefix(text, "#/")):
				e = home + strings.TrimPrefix(text, "#")
			}
			out[k] = Rehome(e, home)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Rehome(e, home)
		}
		return out
	}
	return v
}
