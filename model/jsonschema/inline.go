package jsonschema

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// InlineRefs gives a part of a schema in which what local references name has taken their place, so that the part can
// stand elsewhere. A reference within what it refers to is left as it is.
func InlineRefs(root, part any) any {
	if size, holdsItself := InlinedNodeCount(root, part); !holdsItself && size > maxNodes {
		return map[string]any{"$ref": TooLarge}
	}
	e := refInliner{rootSchema: root, nodesLeft: maxNodes}
	out := e.inlineNode(withoutDefinitions(part), nil)
	if e.nodesLeft < 0 {
		return map[string]any{"$ref": TooLarge}
	}
	return out
}

// InlinedNodeCount counts the nodes that a part of a schema has with its local references inlined, without inlining
// them, and tells whether one of them leads back to what it stands in.
func InlinedNodeCount(root, part any) (size float64, holdsItself bool) {
	c := inlinedNodeCounter{rootSchema: root, nodeCountByRef: map[string]float64{},
		refsBeingFollowed: map[string]bool{}}
	size = c.countInlined(withoutDefinitions(part))
	return size, c.hasRefCycle
}

type inlinedNodeCounter struct {
	rootSchema        any
	nodeCountByRef    map[string]float64 // of what references refer to
	refsBeingFollowed map[string]bool    // references that are being followed
	hasRefCycle       bool
}

func (c *inlinedNodeCounter) countInlined(v any) float64 {
	n := 1.0
	if ref, ok := jsonval.AsObject(v)["$ref"].(string); ok {
		n += c.countInlinedRef(ref)
	}
	for e := range jsonval.Held(v) {
		n += c.countInlined(e)
	}
	return n
}

func (c *inlinedNodeCounter) countInlinedRef(ref string) float64 {
	if n, ok := c.nodeCountByRef[ref]; ok {
		return n
	}
	target, found := ResolvePointer(c.rootSchema, strings.TrimPrefix(ref, "#"))
	switch {
	case !found:
		return 0
	case c.refsBeingFollowed[ref]:
		c.hasRefCycle = true
		return 0
	}
	c.refsBeingFollowed[ref] = true
	n := c.countInlined(withoutDefinitions(target))
	delete(c.refsBeingFollowed, ref)
	c.nodeCountByRef[ref] = n
	return n
}

// withoutDefinitions gives a schema without the parts that are there only to be referred to.
func withoutDefinitions(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	return jsonval.WithoutKey(m, "$defs", "definitions")
}

// maxNodes bounds what references may grow to: a few lines of them can stand for billions of nodes.
const maxNodes = 20_000

// TooLarge is the reference that InlineRefs gives for a schema that would have more nodes than it allows.
const TooLarge = "#too-large"

type refInliner struct {
	rootSchema any
	nodesLeft  int // nodes that may still be visited; below zero the whole is given up
}

// inlineNode gives a copy of a node with its references inlined. inside lists those that are being followed.
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
	return jsonval.WithHeld(v, func(held any) any { return e.inlineNode(held, inside) })
}

func (e *refInliner) inlineRef(v map[string]any, ref string, target any, inside []string) any {
	if !slices.Contains(inside, ref) {
		beside := e.inlineNode(jsonval.WithoutKey(v, "$ref"), inside)
		return jsonval.DeepMerge(e.inlineNode(withoutDefinitions(target),
			append(inside[:len(inside):len(inside)], ref)), beside)
	}
	return map[string]any{"$ref": ref}
}

// RebaseRefs gives a schema with its local references changed for another root, in which it stands at the reference
// base. Its own $id and $schema go: it is a part there.
func RebaseRefs(v any, base string) any {
	out := jsonval.WithHeld(v, func(held any) any { return RebaseRefs(held, base) })
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
