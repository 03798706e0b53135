package plangraph

import (
	"fmt"
	"strings"
)

// DOT draws a Plan in the language of Graphviz.
func DOT(calls []any) string {
	g := newGraph(calls)
	var b strings.Builder
	b.WriteString("digraph plan {\n  node [shape=box];\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %s [label=\"%s\"%s];\n", n.id, dotText(n.lines...), dotShape(n.kind))
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  %s -> %s%s;\n", e.from, e.to, dotEdge(e))
	}
	b.WriteString("}\n")
	return b.String()
}

// dotEdge gives the attributes of an edge.
func dotEdge(e graphEdge) string {
	switch {
	case e.dashed:
		return fmt.Sprintf(` [label="%s", style=dashed]`, dotText(e.label))
	case e.label != "":
		return fmt.Sprintf(` [label="%s"]`, dotText(e.label))
	}
	return ""
}

// dotShape gives the attribute for the shape of a node.
func dotShape(k nodeKind) string {
	switch k {
	case nodeInput:
		return ", shape=parallelogram"
	case nodeState:
		return ", shape=cylinder"
	}
	return ""
}

// dotText writes lines as the inside of a quoted string. Graphviz reads escapes and HTML entities there.
func dotText(lines ...string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(singleLine(line))
	}
	return strings.Join(out, `\n`)
}
