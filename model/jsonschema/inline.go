package jsonschema

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// InlineRefs returns a part of a schema with its local references replaced by their targets, so that the part can be
// used elsewhere. A recursive reference stays.
func InlineRefs(root, part any) any {
	e := refInliner{rootSchema: root, nodesLeft: maxNodes}
	out := e.inlineNode(withoutDefinitions(part), nil)
	if e.nodesLeft < 0 {
		return jsonval.Object{"$ref": TooLarge}
	}
	return out
}

// HoldsItself reports whether a local reference of a part of a schema leads back to a schema around it.
func HoldsItself(root, part any) bool {
	return leadsBack(root, withoutDefinitions(part), map[string]bool{})
}

// leadsBack follows each reference once. isFollowed maps a reference to true while it is being followed, and to false
// afterwards.
func leadsBack(root, v any, isFollowed map[string]bool) bool {
	if ref, ok := jsonval.AsObject(v)["$ref"].(string); ok {
		following, known := isFollowed[ref]
		target, found := ResolvePointer(root, strings.TrimPrefix(ref, "#"))
		switch {
		case following:
			return true
		case found && !known:
			isFollowed[ref] = true
			if leadsBack(root, withoutDefinitions(target), isFollowed) {
				return true
			}
			isFollowed[ref] = false
		}
	}
	for held := range jsonval.HeldValues(v) {
		if leadsBack(root, held, isFollowed) {
			return true
		}
	}
	return false
}

// withoutDefinitions gives a schema without the parts that are there only to be referred to.
func withoutDefinitions(schema any) any {
	m, ok := schema.(jsonval.Object)
	if !ok {
		return schema
	}
	return jsonval.WithoutKey(m, "$defs", "definitions")
}

// maxNodes bounds the expansion of references: a few lines of them can expand to billions of nodes.
const maxNodes = 20_000

// TooLarge is the reference that InlineRefs returns in place of a schema that would have more than maxNodes nodes.
const TooLarge = "#too-large"

type refInliner struct {
	rootSchema any
	nodesLeft  int // nodes that may still be visited; below zero, inlining is given up
}

// inlineNode returns a copy of a node with its references inlined. inside lists the references that are being followed.
func (e *refInliner) inlineNode(v any, inside []string) any {
	e.nodesLeft--
	if e.nodesLeft < 0 {
		return nil
	}
	m := jsonval.AsObject(v)
	ref, ok := m["$ref"].(string)
	if target, found := ResolvePointer(e.rootSchema, strings.TrimPrefix(ref, "#")); ok && found {
		return e.inlineRef(m, ref, target, inside)
	}
	return jsonval.WithHeldValues(v, func(held any) any { return e.inlineNode(held, inside) })
}

func (e *refInliner) inlineRef(v jsonval.Object, ref string, target any, inside []string) any {
	if !slices.Contains(inside, ref) {
		beside := e.inlineNode(jsonval.WithoutKey(v, "$ref"), inside)
		return jsonval.DeepMerge(e.inlineNode(withoutDefinitions(target),
			append(slices.Clip(inside), ref)), beside)
	}
	return jsonval.Object{"$ref": ref}
}

// RebaseRefs returns a schema with its local references rewritten for another root, in which it is at the reference
// base. Its own $id and $schema are dropped, since it is a part there.
func RebaseRefs(v any, base string) any {
	out := jsonval.WithHeldValues(v, func(held any) any { return RebaseRefs(held, base) })
	m := jsonval.AsObject(out)
	for _, k := range []string{"$id", "$schema"} {
		if _, isText := m[k].(string); isText {
			delete(m, k)
		}
	}
	if ref, isText := m["$ref"].(string); isText && (ref == "#" || strings.HasPrefix(ref, "#/")) {
		m["$ref"] = base + ref[1:]
	}
	return out
}
