package sample

import (
	"encoding/json"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// This file makes one schema of several that must all hold, as far as that helps to make a value up: whether the value
// fits is checked against the schema as it was written.

// flatten takes in what a schema refers to and all of its `allOf`; nil where a reference stands too often within itself.
// leave is called when its values are made.
func (s *sampler) flatten(m map[string]any) (flat map[string]any, leave func()) {
	var followed []string
	leave = func() {
		for _, ref := range followed {
			s.open[ref]--
		}
	}
	for range maxFlattened {
		key, ref := referenceOf(m)
		all, isList := m["allOf"].([]any)
		switch {
		case key != "":
			target, found := s.find(ref)
			if !found || s.open[ref] >= maxReferences {
				return nil, leave
			}
			s.open[ref]++
			followed = append(followed, ref)
			m = mergeSchemas(target, jsonval.WithoutKey(m, key))
		case isList:
			m = jsonval.WithoutKey(m, "allOf")
			for _, part := range all {
				m = mergeSchemas(m, part)
			}
		case m["not"] == true, m[never] != nil:
			return nil, leave
		default:
			return m, leave
		}
	}
	return nil, leave
}

const (
	maxFlattened = 100
	maxCrossed   = 64 // choices that two lists of choices may come to
	// never marks a schema that nothing fits.
	never = "~never"
)

func referenceOf(m map[string]any) (key, ref string) {
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := m[key].(string); ok {
			return key, ref
		}
	}
	return "", ""
}

// find gives the part of the schema that a reference names: by a pointer, or by an anchor.
func (s *sampler) find(ref string) (part any, found bool) {
	fragment := strings.TrimPrefix(ref, "#")
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		return jsonschema.ResolvePointer(s.root, fragment)
	}
	return findAnchor(s.root, fragment)
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

// branched says whether a schema has choices.
func (s *sampler) branched(m map[string]any) bool {
	for _, k := range []string{"anyOf", "oneOf", "if"} {
		if _, ok := m[k]; ok {
			return true
		}
	}
	return false
}

// branches lists the schemas that a choice of a schema leads to.
func (s *sampler) branches(m map[string]any) []any {
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
	rest := jsonval.WithoutKey(jsonval.WithoutKey(jsonval.WithoutKey(m, "if"), "then"), "else")
	otherwise := rest
	if e, ok := m["else"]; ok {
		otherwise = mergeSchemas(rest, e)
	}
	yes := mergeSchemas(rest, cond)
	if t, ok := m["then"]; ok {
		yes = mergeSchemas(yes, t)
	}
	return []any{yes, mergeSchemas(otherwise, map[string]any{"not": cond}), otherwise}
}

// mergeSchemas gives a schema that wants what both want.
func mergeSchemas(a, b any) map[string]any {
	am, aok := a.(map[string]any)
	bm, bok := b.(map[string]any)
	switch {
	case a == false || b == false:
		return map[string]any{never: true}
	case !aok && !bok:
		return map[string]any{}
	case !aok:
		return bm
	case !bok:
		return am
	}
	out := make(map[string]any, len(am)+len(bm))
	//workflowcheck:ignore -- a map again
	for k, v := range am {
		out[k] = v
	}
	for _, k := range jsonval.SortedKeys(bm) {
		if before, ok := out[k]; ok {
			out[k] = mergeKeyword(k, before, bm[k])
		} else {
			out[k] = bm[k]
		}
	}
	return out
}

// mergeKeyword gives one value of a keyword for two.
func mergeKeyword(k string, a, b any) any {
	switch k {
	case "properties", "patternProperties", "dependentSchemas":
		return jsonval.MergeWith(a, b, func(x, y any) any { return map[string]any{"allOf": []any{x, y}} })
	case "dependentRequired":
		return jsonval.MergeWith(a, b, union)
	case "items", "additionalProperties", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		if a == false || b == false {
			return false
		}
		return map[string]any{"allOf": []any{a, b}}
	case "required", "allOf":
		return union(a, b)
	case "type":
		return commonTypes(a, b)
	case "enum":
		return common(a, b)
	case "anyOf", "oneOf":
		return crossed(a, b)
	case "not":
		return map[string]any{"anyOf": []any{a, b}}
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains", "multipleOf":
		return pickNumber(a, b, 1)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
		return pickNumber(a, b, -1)
	}
	return b
}

func union(a, b any) any {
	out, _ := a.([]any)
	out = out[:len(out):len(out)]
	more, _ := b.([]any)
	for _, v := range more {
		if !jsonval.ContainsValue(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func common(a, b any) any {
	out := []any{}
	list, _ := a.([]any)
	other, _ := b.([]any)
	for _, v := range list {
		if jsonval.ContainsValue(other, v) {
			out = append(out, v)
		}
	}
	return out
}

func commonTypes(a, b any) any {
	out := []any{}
	for _, x := range typeList(a) {
		for _, y := range typeList(b) {
			switch {
			case x == y, x == "integer" && y == "number":
				out = append(out, x)
			case x == "number" && y == "integer":
				out = append(out, y)
			}
		}
	}
	return out
}

func crossed(a, b any) any {
	out := []any{}
	list, _ := a.([]any)
	other, _ := b.([]any)
	for _, x := range list {
		for _, y := range other {
			if len(out) < maxCrossed {
				out = append(out, map[string]any{"allOf": []any{x, y}})
			}
		}
	}
	return out
}

// pickNumber gives the larger of two numbers, or with sign -1 the smaller.
func pickNumber(a, b any, sign int) any {
	x, y := ratOf(a), ratOf(b)
	if x != nil && y != nil && x.Cmp(y) == sign {
		return a
	}
	return b
}

// countOf reads a number of things from a schema; otherwise where it is not given.
func countOf(m map[string]any, key string, otherwise int) int {
	n, ok := m[key].(json.Number)
	if !ok {
		return otherwise
	}
	r := ratOf(n)
	if r == nil || !r.IsInt() || !r.Num().IsInt64() || r.Num().Int64() > 1<<40 {
		return 1 << 40
	}
	return int(r.Num().Int64())
}
