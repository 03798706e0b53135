package plangraph

import (
	"fmt"
	"strings"
)

// RenderDOT draws a Plan in the language of Graphviz.
func RenderDOT(calls []any) string {
	g := newGraph(calls)
	var b strings.Builder
	b.WriteString("digraph plan {\n  node [shape=box];\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %s [label=\"%s\"%s];\n", n.id, escapeDOTText(n.labelLines...), dotShapeAttribute(n.kind))
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  %s -> %s%s;\n", e.from, e.to, dotEdgeAttributes(e))
	}
	b.WriteString("}\n")
	return b.String()
}

// dotEdgeAttributes gives the attributes of an edge.
func dotEdgeAttributes(e graphEdge) string {
	switch {
	case e.dashed:
		return fmt.Sprintf(` [label="%s", style=dashed]`, escapeDOTText(e.label))
	case e.label != "":
		return fmt.Sprintf(` [label="%s"]`, escapeDOTText(e.label))
	}
	return ""
}

// dotShapeAttribute gives the attribute for the shape of a node.
func dotShapeAttribute(k nodeKind) string {
	switch k {
	case nodeInput:
		return ", shape=parallelogram"
	case nodeState:
		return ", shape=cylinder"
	}
	return ""
}

// escapeDOTText writes lines as the inside of a quoted string. Graphviz reads escapes and HTML entities there.
func escapeDOTText(lines ...string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(singleLine(line))
	}
	return strings.Join(out, `\n`)
}
