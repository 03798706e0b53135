package plangraph

import (
	"fmt"
	"strings"
	"unicode"
)

// RenderMermaid draws a Plan as a Mermaid flowchart, in the form that GitHub renders.
func RenderMermaid(calls []any) string {
	g := newGraph(calls)
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, n := range g.nodes {
		before, after := mermaidShape(n.kind)
		fmt.Fprintf(&b, "  %s%s\"%s\"%s\n", n.id, before, escapeMermaidText(n.labelLines...), after)
	}
	for _, e := range g.edges {
		arrow := "-->"
		if e.dashed {
			arrow = "-.->"
		}
		if e.label != "" {
			arrow += `|"` + escapeMermaidText(e.label) + `"|`
		}
		fmt.Fprintf(&b, "  %s %s %s\n", e.from, arrow, e.to)
	}
	return b.String()
}

// mermaidShape gives what stands before and after the label of a node.
func mermaidShape(k nodeKind) (before, after string) {
	switch k {
	case nodeInput:
		return "[/", "/]"
	case nodeState:
		return "[(", ")]"
	}
	return "[", "]"
}

// escapeMermaidText writes lines as the inside of a quoted label. Everything but letters, digits and a few signs
// becomes a character code: Mermaid reads Markdown, HTML, comments and directives inside labels, and the word "end"
// closes the diagram.
func escapeMermaidText(lines ...string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		var b strings.Builder
		runes := []rune(singleLine(line))
		for n, r := range runes {
			switch {
			case isWordRune(r) && !isEndKeyword(runes, n), strings.ContainsRune(" ,@→", r):
				b.WriteRune(r)
			case strings.ContainsRune("._-", r) && n > 0 && n < len(runes)-1 && isWordRune(runes[n-1]) &&
				isWordRune(runes[n+1]):
				b.WriteRune(r)
			default:
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
		out[i] = b.String()
	}
	return strings.Join(out, "<br/>")
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// isEndKeyword reports whether the word "end" begins at the nth rune.
func isEndKeyword(runes []rune, n int) bool {
	if n+3 > len(runes) || !strings.EqualFold(string(runes[n:n+3]), "end") {
		return false
	}
	return (n == 0 || !isWordRune(runes[n-1])) && (n+3 == len(runes) || !isWordRune(runes[n+3]))
}
