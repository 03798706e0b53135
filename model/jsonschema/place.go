package jsonschema

import (
	"regexp"
	"slices"
	"strconv"

	"processidea/model/jsonval"
)

// Place is what a schema says of one path. A Place that is neither Known nor Closed says nothing: anything may stand there.
type Place struct {
	Pointer string // JSON pointer of the part that describes the path, if it is Known
	Known   bool   // a part of the schema describes the path
	Closed  bool   // no value may stand at the path
}

// PlaceOf follows `properties`, `additionalProperties`, `items` and local references down a path; `patternProperties` and
// `type` may allow it or not. Other keywords say nothing about a path before there is a value.
func PlaceOf(root any, path jsonval.Path) Place {
	at, pointer := Follow(root, root, "")
	for _, step := range path {
		node, ok := at.(map[string]any)
		if !ok {
			return Place{Closed: at == false}
		}
		next, under, closed := childNode(node, step)
		if closed || under == "" {
			return Place{Closed: closed}
		}
		at, pointer = Follow(root, next, pointer+under)
	}
	return Place{Pointer: pointer, Known: true, Closed: at == false}
}

// childNode gives the part of a schema node for one key or index, and the pointer from the node to it.
func childNode(node map[string]any, step string) (part any, under string, closed bool) {
	if props, ok := node["properties"].(map[string]any); ok {
		if p, ok := props[step]; ok {
			return p, "/properties/" + EscapePointer(step), false
		}
	}
	_, err := strconv.Atoi(step)
	isIndex := err == nil
	if isIndex && node["items"] != nil {
		return node["items"], "/items", false
	}
	if !hasType(node, "object") && !(isIndex && hasType(node, "array")) {
		return nil, "", true
	}
	if matchesPattern(node, step) {
		return nil, "", false
	}
	switch more := node["additionalProperties"].(type) {
	case bool:
		return nil, "", !more
	case map[string]any:
		return more, "/additionalProperties", false
	}
	return nil, "", false
}

// hasType reports whether a node allows values of a type.
func hasType(node map[string]any, name string) bool {
	switch t := node["type"].(type) {
	case string:
		return t == name
	case []any:
		list, _ := jsonval.StringList(t)
		return slices.Contains(list, name)
	}
	return true
}

// matchesPattern reports whether a key matches one of `patternProperties`, or one of those patterns cannot be read.
func matchesPattern(node map[string]any, key string) bool {
	patterns, _ := node["patternProperties"].(map[string]any)
	for _, p := range jsonval.SortedKeys(patterns) {
		if re, err := regexp.Compile(p); err != nil || re.MatchString(key) {
			return true
		}
	}
	return false
}
