package jsonschema

import (
	"math"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// TypesAt lists the JSON types that a schema allows at a path; nil means any type.
func TypesAt(schema any, p jsonval.Path) []string {
	return allowedTypes(schema, SubschemaAt(schema, p).Node, maxRefsFollowed)
}

// allowedTypes lists the types that a schema node allows: by its own `type`, by that of each of its choices, or by that
// of a part of it.
func allowedTypes(root, node any, depthLeft int) []string {
	node, _ = ResolveLocalRefs(root, node, "")
	m, ok := node.(jsonval.Object)
	if !ok || depthLeft == 0 {
		return nil
	}
	if types := Types(m); types != nil {
		return types
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := m[k].([]any); ok {
			return allowedTypesOfAny(root, list, depthLeft-1)
		}
	}
	for _, part := range jsonval.AsList(m["allOf"]) {
		if types := allowedTypes(root, part, depthLeft-1); types != nil {
			return types
		}
	}
	return nil
}

// allowedTypesOfAny lists the types that any of the choices allows; nil if one of them allows any type.
func allowedTypesOfAny(root any, choices []any, depthLeft int) []string {
	var union []string
	for _, choice := range choices {
		types := allowedTypes(root, choice, depthLeft)
		if types == nil {
			return nil
		}
		union = jsonval.AppendNew(union, types...)
	}
	return union
}

// TypeCompatibility is how well a value of a given type fits the wanted types.
type TypeCompatibility int

// How well types fit.
const (
	FitsNever   TypeCompatibility = iota
	FitsPerhaps                   // a number if an integer is wanted
	FitsByType                    // as far as types decide
)

// CompareTypes compares given types with wanted types; nil means any type.
func CompareTypes(givenTypes, wantedTypes []string) TypeCompatibility {
	if givenTypes == nil || wantedTypes == nil {
		return FitsByType
	}
	best := FitsNever
	for _, g := range givenTypes {
		switch {
		case slices.Contains(wantedTypes, g), g == "integer" && slices.Contains(wantedTypes, "number"):
			return FitsByType
		case g == "number" && slices.Contains(wantedTypes, "integer"):
			best = FitsPerhaps
		}
	}
	return best
}

// JoinWithOr joins types for a message: "string or null".
func JoinWithOr(types []string) string { return strings.Join(types, " or ") }

// SchemaTypeOf is jsonval.TypeOf, and "integer" for a whole number.
func SchemaTypeOf(v any) string {
	if f, err := jsonval.ToFloat(v); err == nil && f == math.Trunc(f) {
		return "integer"
	}
	return jsonval.TypeOf(v)
}
