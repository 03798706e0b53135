package jsonschema

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// place is what a schema says of one path: the JSON pointer of the part that describes it, or that nothing may stand
// there (closed), or, with neither, nothing at all.
type Place struct {
	Pointer string
	Known   bool
	Closed  bool
}

// placeOf walks `properties`, `additionalProperties`, `items` and local references down a path; `patternProperties` and
// `type` may leave room there or not. Other keywords say nothing about a path before the value is there.
func PlaceOf(root any, path jsonval.Path) Place {
	at, pointer := Follow(root, root, "")
	for _, step := range path {
		node, ok := at.(map[string]any)
		if !ok {
			return Place{Closed: at == false}
		}
		next, under, closed := child(node, step)
		if closed || under == "" {
			return Place{Closed: closed}
		}
		at, pointer = Follow(root, next, pointer+under)
	}
	return Place{Pointer: pointer, Known: true, Closed: at == false}
}

// child is the part of a schema node for one key or index, and its pointer from there.
func child(node map[string]any, step string) (part any, under string, closed bool) {
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

// hasType says whether a node leaves room for values of a type.
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

func matchesPattern(node map[string]any, key string) bool {
	patterns, _ := node["patternProperties"].(map[string]any)
	for _, p := range jsonval.SortedKeys(patterns) {
		if re, err := regexp.Compile(p); err != nil || re.MatchString(key) {
			return true
		}
	}
	return false
}

// follow goes through local references (#/…), eight at the most, so that a circle ends.
func Follow(root, node any, pointer string) (any, string) {
	for range 8 {
		m, ok := node.(map[string]any)
		if !ok {
			return node, pointer
		}
		ref, ok := m["$ref"].(string)
		if !ok || !strings.HasPrefix(ref, "#") {
			return node, pointer
		}
		target, ok := ResolvePointer(root, ref[1:])
		if !ok {
			return node, pointer
		}
		node, pointer = target, ref[1:]
	}
	return node, pointer
}

func ResolvePointer(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil, false
	}
	for _, step := range strings.Split(rest, "/") {
		if v, ok = jsonval.StepInto(v, UnescapePointer(step)); !ok {
			return nil, false
		}
	}
	return v, true
}

// escapePointer writes a key as a step of a JSON pointer in a URL's fragment.
func EscapePointer(s string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
}

// unescapePointer undoes escapePointer. A step whose escapes are broken stands for itself.
func UnescapePointer(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
}
