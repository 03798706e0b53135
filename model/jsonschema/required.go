package jsonschema

import (
	"strings"

	"processidea/model/jsonval"
)

// RequiredProperties lists the properties that a schema, or a part of it that is held against the same value, requires.
func RequiredProperties(schema any) []string {
	return requiredProperties(schema, schema, map[string]bool{})
}

func requiredProperties(root, node any, followed map[string]bool) []string {
	m := jsonval.AsObject(node)
	if m == nil {
		return nil
	}
	names := Required(m)
	if ref, ok := m["$ref"].(string); ok && !followed[ref] {
		followed[ref] = true
		if target, found := ResolvePointer(root, strings.TrimPrefix(ref, "#")); found {
			names = append(names, requiredProperties(root, target, followed)...)
		}
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range jsonval.AsList(m[k]) {
			names = append(names, requiredProperties(root, part, followed)...)
		}
	}
	for _, k := range []string{"if", "then", "else"} {
		names = append(names, requiredProperties(root, m[k], followed)...)
	}
	return names
}
