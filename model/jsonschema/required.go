package jsonschema

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// InPlaceKeywords hold one or several further schemas that the same value is checked against.
var InPlaceKeywords = strings.Fields("allOf anyOf oneOf not if then else")

// PartsOfKeyword lists the schemas under one of InPlaceKeywords.
func PartsOfKeyword(schema jsonval.Object, keyword string) []any {
	if list, ok := schema[keyword].([]any); ok {
		return list
	}
	return []any{schema[keyword]}
}

// PartsInPlace lists a schema and its parts that check the same value, except those under some of InPlaceKeywords.
func PartsInPlace(schema any, skippedKeywords ...string) []jsonval.Object {
	return partsInPlace(schema, schema, map[string]bool{}, skippedKeywords...)
}

// partsInPlace is PartsInPlace for a part of a schema. followedRefs has the references that were followed before, so
// that a cycle ends.
func partsInPlace(root, part any, followedRefs map[string]bool, skippedKeywords ...string) (list []jsonval.Object) {
	node := jsonval.AsObject(part)
	if node == nil {
		return nil
	}
	list = append(list, node)
	if ref := jsonval.AsText(node["$ref"]); strings.HasPrefix(ref, "#") && !followedRefs[ref] {
		followedRefs[ref] = true
		target, _ := ResolvePointer(root, ref[1:])
		list = append(list, partsInPlace(root, target, followedRefs, skippedKeywords...)...)
	}
	for _, k := range InPlaceKeywords {
		for _, below := range PartsOfKeyword(node, k) {
			if !slices.Contains(skippedKeywords, k) {
				list = append(list, partsInPlace(root, below, followedRefs, skippedKeywords...)...)
			}
		}
	}
	return list
}

// RequiredProperties lists the properties that a schema requires, itself or in a part that checks the same value.
func RequiredProperties(schema any) (names []string) {
	for _, part := range PartsInPlace(schema, "not") {
		names = append(names, Required(part)...)
	}
	return names
}
