package jsonschema

import (
	"regexp"
	"slices"
	"strconv"

	"processidea/model/jsonval"
)

// Subschema is the part of a schema for one path. If it is neither IsDescribed nor IsForbidden, any value is allowed.
type Subschema struct {
	Pointer     string // JSON pointer of the part that describes the path, if IsDescribed
	Node        any    // that part
	IsDescribed bool   // a part of the schema describes the path
	IsForbidden bool   // no value is allowed at the path
}

// SubschemaAt follows `properties`, `additionalProperties`, `items` and local references down a path. `type` may forbid
// the path, and `patternProperties` may allow it without describing it. Other keywords are ignored, since they need a
// value.
func SubschemaAt(root any, path jsonval.Path) Subschema {
	current, pointer := ResolveLocalRefs(root, root, "")
	for _, step := range path {
		node, ok := current.(jsonval.Object)
		if !ok {
			return Subschema{IsForbidden: current == false}
		}
		next, relativePointer, isForbidden := childNode(node, step)
		if isForbidden || relativePointer == "" {
			return Subschema{IsForbidden: isForbidden}
		}
		current, pointer = ResolveLocalRefs(root, next, pointer+relativePointer)
	}
	return Subschema{Pointer: pointer, Node: current, IsDescribed: true, IsForbidden: current == false}
}

// childNode gives the part of a schema node for one key or index, and the pointer from the node to it.
func childNode(node jsonval.Object, step string) (part any, relativePointer string, isForbidden bool) {
	if p, ok := Properties(node)[step]; ok {
		return p, "/properties/" + EscapePointerStep(step), false
	}
	_, err := strconv.Atoi(step)
	isIndex := err == nil
	if isIndex && node["items"] != nil {
		return node["items"], "/items", false
	}
	if !allowsType(node, "object") && !(isIndex && allowsType(node, "array")) {
		return nil, "", true
	}
	if matchesPattern(node, step) {
		return nil, "", false
	}
	switch additional := node["additionalProperties"].(type) {
	case bool:
		return nil, "", !additional
	case jsonval.Object:
		return additional, "/additionalProperties", false
	}
	return nil, "", false
}

// SubschemasAt lists all parts of a schema that may check a value at a path: also those in alternatives and conditions,
// for keys by pattern and for numbered items. Conditions themselves (`if`, `not`) only choose among values.
func SubschemasAt(root any, path jsonval.Path) []jsonval.Object {
	list := PartsInPlace(root, "not", "if")
	for _, step := range path {
		var childSchemas []jsonval.Object
		followedRefs := map[string]bool{}
		for _, node := range list {
			for _, part := range childNodes(node, step) {
				childSchemas = append(childSchemas, partsInPlace(root, part, followedRefs, "not", "if")...)
			}
		}
		list = childSchemas
	}
	return list
}

// childNodes lists the parts of a schema node for one key or index.
func childNodes(node jsonval.Object, step string) (parts []any) {
	if p, ok := Properties(node)[step]; ok {
		parts = append(parts, p)
	}
	for pattern, p := range jsonval.Sorted(jsonval.AsObject(node["patternProperties"])) {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(step) {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, node["additionalProperties"])
	}
	if _, err := strconv.Atoi(step); err != nil {
		return parts
	}
	for _, k := range []string{"prefixItems", "items"} { // before draft 2020-12, items may be a list
		if item, isNumbered := jsonval.ChildValue(jsonval.AsList(node[k]), step); isNumbered {
			return append(parts, item)
		}
		parts = append(parts, node[k])
	}
	return parts
}

// allowsType reports whether a node allows values of a type.
func allowsType(node jsonval.Object, typeName string) bool {
	types := Types(node)
	return types == nil || slices.Contains(types, typeName)
}

// matchesPattern reports whether a key matches one of `patternProperties`, or one of those patterns cannot be read.
func matchesPattern(node jsonval.Object, key string) bool {
	patterns := jsonval.AsObject(node["patternProperties"])
	for p := range jsonval.Sorted(patterns) {
		if re, err := regexp.Compile(p); err != nil || re.MatchString(key) {
			return true
		}
	}
	return false
}
