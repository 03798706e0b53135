package jsonschema

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// InlineRefs returns a part of a schema with its local references replaced by their targets, so that the part can be
// used elsewhere. A recursive reference stays.
func InlineRefs(root, part any) any {
	e := refInliner{rootSchema: root, nodesLeft: maxInlinedNodes}
	out := e.inlineNode(withoutDefinitions(part), nil)
	if e.nodesLeft < 0 {
		return jsonval.Object{"$ref": TooLargeRef}
	}
	return out
}

// IsRecursive reports whether a local reference of a part of a schema leads back to a schema around it.
func IsRecursive(root, part any) bool {
	return hasRefCycle(root, withoutDefinitions(part), map[string]bool{})
}

// hasRefCycle follows each reference once. isInProgressByRef maps a reference to true while it is being followed, and
// to false afterwards.
func hasRefCycle(root, v any, isInProgressByRef map[string]bool) bool {
	if ref, ok := jsonval.AsObject(v)["$ref"].(string); ok {
		isInProgress, isKnown := isInProgressByRef[ref]
		target, isFound := ResolvePointer(root, strings.TrimPrefix(ref, "#"))
		switch {
		case isInProgress:
			return true
		case isFound && !isKnown:
			isInProgressByRef[ref] = true
			if hasRefCycle(root, withoutDefinitions(target), isInProgressByRef) {
				return true
			}
			isInProgressByRef[ref] = false
		}
	}
	for child := range jsonval.ChildValues(v) {
		if hasRefCycle(root, child, isInProgressByRef) {
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

// maxInlinedNodes bounds the expansion of references: a few lines of them can expand to billions of nodes.
const maxInlinedNodes = 20_000

// TooLargeRef is the reference that InlineRefs returns in place of a schema that would have more than maxInlinedNodes
// nodes.
const TooLargeRef = "#too-large"

type refInliner struct {
	rootSchema any
	nodesLeft  int // nodes that may still be visited; below zero, inlining is given up
}

// inlineNode returns a copy of a node with its references inlined. refsBeingInlined lists the references that are being
// followed.
func (e *refInliner) inlineNode(v any, refsBeingInlined []string) any {
	e.nodesLeft--
	if e.nodesLeft < 0 {
		return nil
	}
	m := jsonval.AsObject(v)
	ref, ok := m["$ref"].(string)
	if target, isFound := ResolvePointer(e.rootSchema, strings.TrimPrefix(ref, "#")); ok && isFound {
		return e.inlineRef(m, ref, target, refsBeingInlined)
	}
	return jsonval.MapChildValues(v, func(child any) any { return e.inlineNode(child, refsBeingInlined) })
}

func (e *refInliner) inlineRef(v jsonval.Object, ref string, target any, refsBeingInlined []string) any {
	if !slices.Contains(refsBeingInlined, ref) {
		siblings := e.inlineNode(jsonval.WithoutKey(v, "$ref"), refsBeingInlined)
		return jsonval.DeepMerge(e.inlineNode(withoutDefinitions(target),
			append(slices.Clip(refsBeingInlined), ref)), siblings)
	}
	return jsonval.Object{"$ref": ref}
}

// RebaseRefs returns a schema with its local references rewritten for another root, in which it is at the reference
// base. Its own $id and $schema are dropped, since it is a part there.
func RebaseRefs(v any, base string) any {
	out := jsonval.MapChildValues(v, func(child any) any { return RebaseRefs(child, base) })
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
