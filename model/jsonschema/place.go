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
	at, pointer := ResolveLocalRefs(root, root, "")
	for _, step := range path {
		node, ok := at.(jsonval.Object)
		if !ok {
			return Subschema{IsForbidden: at == false}
		}
		next, under, closed := childNode(node, step)
		if closed || under == "" {
			return Subschema{IsForbidden: closed}
		}
		at, pointer = ResolveLocalRefs(root, next, pointer+under)
	}
	return Subschema{Pointer: pointer, Node: at, IsDescribed: true, IsForbidden: at == false}
}

// childNode gives the part of a schema node for one key or index, and the pointer from the node to it.
func childNode(node jsonval.Object, step string) (part any, under string, closed bool) {
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
	switch more := node["additionalProperties"].(type) {
	case bool:
		return nil, "", !more
	case jsonval.Object:
		return more, "/additionalProperties", false
	}
	return nil, "", false
}

// allowsType reports whether a node allows values of a type.
func allowsType(node jsonval.Object, name string) bool {
	types := Types(node)
	return types == nil || slices.Contains(types, name)
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
