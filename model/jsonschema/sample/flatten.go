package sample

import (
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// flatten merges a node with what it refers to and with its `allOf`. It gives nil if nothing fits the node, or a reference is
// followed too often within itself. done is called when the node's values are made.
func (s *sampler) flatten(m map[string]any) (flat map[string]any, done func()) {
	var followed []string
	done = func() {
		for _, ref := range followed {
			s.refDepth[ref]--
		}
	}
	for range maxFlattened {
		key, ref := referenceOf(m)
		all, isList := m["allOf"].([]any)
		switch {
		case key != "":
			target, found := s.resolveReference(ref)
			if !found || s.refDepth[ref] >= maxReferences {
				return nil, done
			}
			s.refDepth[ref]++
			followed = append(followed, ref)
			m = mergeSchemas(target, jsonval.WithoutKey(m, key))
		case isList:
			m = jsonval.WithoutKey(m, "allOf")
			for _, part := range all {
				m = mergeSchemas(m, part)
			}
		case m["not"] == true, m[never] != nil:
			return nil, done
		default:
			return m, done
		}
	}
	return nil, done
}

const (
	maxFlattened = 100      // references and `allOf` merged into one node
	maxChoices   = 64       // that two lists of choices are combined to
	never        = "~never" // a keyword that marks a schema that nothing fits
)

// referenceOf gives the keyword and the value of a node's reference.
func referenceOf(m map[string]any) (key, ref string) {
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := m[key].(string); ok {
			return key, ref
		}
	}
	return "", ""
}

// resolveReference gives the node that a reference names by a JSON pointer or an anchor.
func (s *sampler) resolveReference(ref string) (part any, found bool) {
	fragment := strings.TrimPrefix(ref, "#")
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		return jsonschema.ResolvePointer(s.rootSchema, fragment)
	}
	return findAnchor(s.rootSchema, fragment)
}

func findAnchor(v any, name string) (part any, found bool) {
	switch v := v.(type) {
	case map[string]any:
		if v["$anchor"] == name || v["$dynamicAnchor"] == name {
			return v, true
		}
		for _, k := range jsonval.SortedKeys(v) {
			if part, found = findAnchor(v[k], name); found {
				return part, true
			}
		}
	case []any:
		for _, e := range v {
			if part, found = findAnchor(e, name); found {
				return part, true
			}
		}
	}
	return nil, false
}

// hasChoices reports whether values must be made for one of several schemas.
func hasChoices(m map[string]any) bool {
	return slices.ContainsFunc([]string{"anyOf", "oneOf", "if"}, func(k string) bool {
		_, ok := m[k]
		return ok
	})
}

// choiceSchemas gives a schema for each choice of `oneOf` or `anyOf`, or for each outcome of `if`.
func choiceSchemas(m map[string]any) []any {
	for _, k := range []string{"oneOf", "anyOf"} {
		if choices, ok := m[k].([]any); ok {
			rest, out := jsonval.WithoutKey(m, k), []any{}
			for _, c := range choices {
				out = append(out, mergeSchemas(rest, c))
			}
			return out
		}
	}
	cond, ok := m["if"]
	if !ok {
		return nil
	}
	return conditionalSchemas(m, cond)
}

// conditionalSchemas gives the schemas of a value for which the condition `if` holds, does not hold, or may or may not hold.
func conditionalSchemas(m map[string]any, cond any) []any {
	rest := jsonval.WithoutKey(jsonval.WithoutKey(jsonval.WithoutKey(m, "if"), "then"), "else")
	otherwise := rest
	if e, ok := m["else"]; ok {
		otherwise = mergeSchemas(rest, e)
	}
	holds := mergeSchemas(rest, cond)
	if t, ok := m["then"]; ok {
		holds = mergeSchemas(holds, t)
	}
	return []any{holds, mergeSchemas(otherwise, map[string]any{"not": cond}), otherwise}
}
