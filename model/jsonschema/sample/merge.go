package sample

import (
	"encoding/json"
	"maps"

	"processidea/model/jsonval"
)

// mergeSchemas gives a schema that a value fits if it fits both.
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
	maps.Copy(out, am)
	for _, k := range jsonval.SortedKeys(bm) {
		if before, ok := out[k]; ok {
			out[k] = mergeKeyword(k, before, bm[k])
		} else {
			out[k] = bm[k]
		}
	}
	return out
}

// mergeKeyword gives one value of a keyword that demands what two do, or the second value if that cannot be said.
func mergeKeyword(k string, a, b any) any {
	switch k {
	case "properties", "patternProperties", "dependentSchemas":
		return jsonval.MergeWith(a, b, func(x, y any) any { return map[string]any{"allOf": []any{x, y}} })
	case "dependentRequired":
		return jsonval.MergeWith(a, b, unionOfLists)
	case "items", "additionalProperties", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		if a == false || b == false {
			return false
		}
		return map[string]any{"allOf": []any{a, b}}
	case "required", "allOf":
		return unionOfLists(a, b)
	case "type":
		return commonTypes(a, b)
	case "enum":
		return intersectionOfLists(a, b)
	case "anyOf", "oneOf":
		return combineChoices(a, b)
	case "not":
		return map[string]any{"anyOf": []any{a, b}}
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains", "multipleOf":
		return stricterBound(a, b, 1)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
		return stricterBound(a, b, -1)
	}
	return b
}

// unionOfLists lists the elements of a, and those of b that a does not have.
func unionOfLists(a, b any) any {
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

// intersectionOfLists lists the elements of a that b has too.
func intersectionOfLists(a, b any) any {
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

// commonTypes lists the types that both allow.
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

// combineChoices gives each pair of a choice of a and one of b.
func combineChoices(a, b any) any {
	out := []any{}
	list, _ := a.([]any)
	other, _ := b.([]any)
	for _, x := range list {
		for _, y := range other {
			if len(out) < maxChoices {
				out = append(out, map[string]any{"allOf": []any{x, y}})
			}
		}
	}
	return out
}

// stricterBound gives the larger of two numbers, or, with sign -1, the smaller.
func stricterBound(a, b any, sign int) any {
	x, y := exactNumber(a), exactNumber(b)
	if x != nil && y != nil && x.Cmp(y) == sign {
		return a
	}
	return b
}

// nonNegativeIntKeyword reads a keyword that counts something. It gives otherwise if the schema does not have it.
func nonNegativeIntKeyword(m map[string]any, key string, otherwise int) int {
	n, ok := m[key].(json.Number)
	if !ok {
		return otherwise
	}
	r := exactNumber(n)
	if r == nil || !r.IsInt() || !r.Num().IsInt64() || r.Num().Int64() > 1<<40 {
		return 1 << 40
	}
	return int(r.Num().Int64())
}
