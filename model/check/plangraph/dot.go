package plangraph

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// RenderDOT draws a Plan in the language of Graphviz, with marks as RenderMermaid.
func RenderDOT(calls []any, statusCounts ...map[ideafile.CallStatus]int) string {
	g := newGraph(calls, Labels{}).markStatuses(statusCounts, false)
	var b strings.Builder
	b.WriteString("digraph plan {\n  node [shape=box];\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %s [label=\"%s\"%s];\n", n.id, escapeDOTText(n.labelLines...), dotShapeByKind[n.kind])
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  %s -> %s%s;\n", e.fromNodeID, e.toNodeID, dotEdgeAttributes(e))
	}
	b.WriteString("}\n")
	return b.String()
}

// dotEdgeAttributes gives the attributes of an edge.
func dotEdgeAttributes(e graphEdge) string {
	switch {
	case e.isDashed:
		return fmt.Sprintf(` [label="%s", style=dashed]`, escapeDOTText(e.label))
	case e.label != "":
		return fmt.Sprintf(` [label="%s"]`, escapeDOTText(e.label))
	}
	return ""
}

// dotShapeByKind are the attributes for the shapes of nodes that are no boxes.
var dotShapeByKind = map[nodeKind]string{nodeInput: ", shape=parallelogram", nodeState: ", shape=cylinder"}

// escapeDOTText writes lines as the inside of a quoted string. Graphviz reads escapes and HTML entities there.
func escapeDOTText(lines ...string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;")
	return strings.Join(jsonval.Map(lines, func(line string) string { return escaped.Replace(singleLine(line)) }), `\n`)
}
