package jsonschema

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// InlineRefs gives a part of a schema in which what local references name has taken their place, so that the part can stand
// elsewhere. A reference within what it refers to is left as it is.
func InlineRefs(root, part any) any {
	e := expander{root: root, budget: maxNodes}
	out := e.expand(withoutDefinitions(part), nil)
	if e.budget < 0 {
		return map[string]any{"$ref": TooLarge}
	}
	return out
}

// withoutDefinitions gives a schema without the parts that are there only to be referred to.
func withoutDefinitions(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	return jsonval.WithoutKey(jsonval.WithoutKey(m, "$defs"), "definitions")
}

// maxNodes bounds what references may grow to: a few lines of them can stand for billions of nodes.
const maxNodes = 20_000

// TooLarge is the reference that InlineRefs gives for a schema that would have more nodes than it allows.
const TooLarge = "#too-large"

type expander struct {
	root   any
	budget int // nodes that may still be visited; below zero the whole is given up
}

// expand gives a copy of a node with its references inlined. inside lists those that are being followed.
func (e *expander) expand(v any, inside []string) any {
	e.budget--
	if e.budget < 0 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		ref, ok := v["$ref"].(string)
		if target, found := ResolvePointer(e.root, strings.TrimPrefix(ref, "#")); ok && found {
			return e.inlineRef(v, ref, target, inside)
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

func (e *expander) inlineRef(v map[string]any, ref string, target any, inside []string) any {
	if !slices.Contains(inside, ref) {
		beside := e.expand(jsonval.WithoutKey(v, "$ref"), inside)
		return jsonval.Merge(e.expand(withoutDefinitions(target), append(inside[:len(inside):len(inside)], ref)), beside)
	}
	return map[string]any{"$ref": ref}
}

// RebaseRefs gives a schema with its local references changed for another root, in which it stands at the reference base. Its
// own $id and $schema go: it is a part there.
func RebaseRefs(v any, base string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		//workflowcheck:ignore -- each key by itself, in any order
		for k, e := range v {
			text, ok := e.(string)
			switch {
			case ok && (k == "$id" || k == "$schema"):
				continue
			case ok && k == "$ref" && (text == "#" || strings.HasPrefix(text, "#/")):
				e = base + strings.TrimPrefix(text, "#")
			}
			out[k] = RebaseRefs(e, base)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = RebaseRefs(e, base)
		}
		return out
	}
	return v
}
