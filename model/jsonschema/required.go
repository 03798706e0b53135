package jsonschema

import (
	"strings"

	"processidea/model/jsonval"
)

// InPlaceKeywords hold one or several further schemas that the same value is checked against.
var InPlaceKeywords = strings.Fields("allOf anyOf oneOf not if then else")

// InPlaceParts lists the schemas under one of InPlaceKeywords.
func InPlaceParts(schema jsonval.Object, keyword string) []any {
	if list, ok := schema[keyword].([]any); ok {
		return list
	}
	return []any{schema[keyword]}
}

// RequiredProperties lists the properties that a schema requires, itself or in a part that checks the same value.
func RequiredProperties(schema any) []string {
	return requiredProperties(schema, schema, map[string]bool{})
}

func requiredProperties(root, node any, followedRefs map[string]bool) []string {
	m := jsonval.AsObject(node)
	if m == nil {
		return nil
	}
	names := Required(m)
	if ref, ok := m["$ref"].(string); ok && !followedRefs[ref] {
		followedRefs[ref] = true
		if target, found := ResolvePointer(root, strings.TrimPrefix(ref, "#")); found {
			names = append(names, requiredProperties(root, target, followedRefs)...)
		}
	}
	for _, k := range InPlaceKeywords {
		for _, part := range InPlaceParts(m, k) {
			if k != "not" {
				names = append(names, requiredProperties(root, part, followedRefs)...)
			}
		}
	}
	return names
}
