package jsonschema

import (
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

const maxRefsFollowed = 8 // references from one node to the next

var refKeywords = []string{"$ref", "$dynamicRef", "$recursiveRef"}

// CheckRefs refuses references that leave the schema, before the compiler can try to follow them. It also refuses
// references that find nothing, since the compiler would name a random one of them.
func CheckRefs(root any) error {
	hasIDs := false // a part with an $id resolves its own references: the compiler looks for those
	for k, v := range membersAtAnyDepth(root) {
		_, isText := v.(string)
		hasIDs = hasIDs || (isText && (k == "$id" || k == "id"))
	}
	for k, v := range membersAtAnyDepth(root) {
		ref, ok := v.(string)
		if !ok || !slices.Contains(refKeywords, k) {
			continue
		}
		if !strings.HasPrefix(ref, "#") {
			return fmt.Errorf("%s %q leaves the schema: nothing is ever loaded", k, ref)
		}
		if _, isFound := ResolvePointer(root, ref[1:]); !isFound && strings.HasPrefix(ref, "#/") && !hasIDs {
			return fmt.Errorf("%s %q finds nothing in the schema", k, ref)
		}
	}
	return nil
}

// membersAtAnyDepth gives every key of every object in a value, in order, with its value.
func membersAtAnyDepth(v any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		_, isObject := v.(jsonval.Object)
		for k, child := range jsonval.Members(v) {
			if isObject && !yield(k, child) {
				return
			}
			for k, v := range membersAtAnyDepth(child) {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}

// ResolveLocalRefs gives the node that a node's local references (#…) lead to, and its pointer. It follows
// maxRefsFollowed of them, so that a cycle ends.
func ResolveLocalRefs(root, node any, pointer string) (target any, targetPointer string) {
	for range maxRefsFollowed {
		m, ok := node.(jsonval.Object)
		if !ok {
			return node, pointer
		}
		ref, ok := m["$ref"].(string)
		if !ok || !strings.HasPrefix(ref, "#") {
			return node, pointer
		}
		next, ok := ResolvePointer(root, ref[1:])
		if !ok {
			return node, pointer
		}
		node, pointer = next, ref[1:]
	}
	return node, pointer
}

// ResolvePointer gives the value at a JSON pointer.
func ResolvePointer(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil, false
	}
	for _, step := range strings.Split(rest, "/") {
		if v, ok = jsonval.ChildValue(v, UnescapePointerStep(step)); !ok {
			return nil, false
		}
	}
	return v, true
}

var (
	pointerEscapes   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// EscapePointerStep writes a key as a step of a JSON pointer in a URL's fragment.
func EscapePointerStep(s string) string {
	return url.PathEscape(pointerEscapes.Replace(s))
}

// UnescapePointerStep undoes EscapePointerStep. A step with invalid escapes is returned unchanged.
func UnescapePointerStep(s string) string {
	if !strings.ContainsAny(s, "%~") {
		return s
	}
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	return pointerUnescapes.Replace(s)
}
