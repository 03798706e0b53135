package plangraph

import (
	"fmt"
	"strings"
	"unicode"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// RenderMermaid draws a Plan as a Mermaid flowchart, in the form that GitHub renders. With the counts of
// CountCallStatuses, it marks the Calls that were undone.
func RenderMermaid(calls []any, statusCounts ...map[ideafile.CallStatus]int) string {
	g := newGraph(calls, Labels{}).markStatuses(statusCounts, false)
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %s"+mermaidShapeByKind[n.kind]+"\n", n.id, escapeMermaidText(n.labelLines...))
	}
	for _, e := range g.edges {
		arrow := "-->"
		if e.isDashed {
			arrow = "-.->"
		}
		if e.label != "" {
			arrow += `|"` + escapeMermaidText(e.label) + `"|`
		}
		fmt.Fprintf(&b, "  %s %s %s\n", e.fromNodeID, arrow, e.toNodeID)
	}
	return b.String()
}

// mermaidShapeByKind have a place for the label of a node.
var mermaidShapeByKind = map[nodeKind]string{nodeCall: `["%s"]`, nodeInput: `[/"%s"/]`, nodeState: `[("%s")]`}

// escapeMermaidText writes lines as the inside of a quoted label. Everything but letters, digits and a few signs
// becomes a character code: Mermaid reads Markdown, HTML, comments and directives inside labels, and the word "end"
// closes the diagram.
func escapeMermaidText(lines ...string) string {
	return strings.Join(jsonval.Map(lines, escapeMermaidLine), "<br/>")
}

func escapeMermaidLine(line string) string {
	var b strings.Builder
	runes := []rune(singleLine(line))
	for n, r := range runes {
		isInnerRune := n > 0 && n < len(runes)-1 && isWordRune(runes[n-1]) && isWordRune(runes[n+1])
		if isWordRune(r) && !isEndKeyword(runes, n) || strings.ContainsRune(" ,@→", r) ||
			isInnerRune && strings.ContainsRune("._-", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// isEndKeyword reports whether the word "end" begins at the nth rune.
func isEndKeyword(runes []rune, n int) bool {
	if n+3 > len(runes) || !strings.EqualFold(string(runes[n:n+3]), "end") {
		return false
	}
	return (n == 0 || !isWordRune(runes[n-1])) && (n+3 == len(runes) || !isWordRune(runes[n+3]))
}
