package plangraph

import (
	"encoding/xml"
	"fmt"
	"strings"

	"processidea/model/ideafile"
)

// RenderSVG draws a Plan as a picture, without styles and scripts. The counts of CountCallStatuses are written in the
// box of each Call, above a bar of their shares. They are unknown for Calls beyond the end of statusCounts.
func RenderSVG(calls []any, statusCounts []map[ideafile.CallStatus]int, labels Labels, colors Palette) string {
	l := newLayout(newGraph(calls, labels).markStatuses(statusCounts, true))
	l.colors = colors
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f"`,
		l.width, l.height, l.width, l.height)
	b.WriteString(` font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"` +
		` font-size="12"><defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"` +
		` orient="auto"><path d="M0 0L8 4L0 8z" fill="` + colors.Line + `"/></marker></defs>` +
		`<rect width="100%" height="100%" fill="` + colors.Paper + `"/>`)
	var edgeLabels strings.Builder // above all lines, so that none strikes one through
	for _, e := range l.edges {
		l.writeEdge(&b, &edgeLabels, e)
	}
	b.WriteString(edgeLabels.String())
	for _, n := range l.nodes {
		l.writeNode(&b, n)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (l *layout) writeEdge(lines, labels *strings.Builder, e graphEdge) {
	source, target := l.nodeByID[e.fromNodeID], l.nodeByID[e.toNodeID]
	x1, y1, x2, y2 := source.centerX(), source.y+source.height, target.centerX(), target.y
	if source.layer >= target.layer { // back up, or within a layer: beside the boxes
		x1, y1, x2, y2 = source.x+source.width, source.y+source.height/2, target.x+target.width,
			target.y+target.height/2
	}
	bend := max((y2-y1)/2, verticalGap/2)
	path := fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, y1, x1, y1+bend, x2, y2-bend, x2, y2)
	if source.layer >= target.layer {
		path = fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, y1, x1+verticalGap, y1, x2+verticalGap, y2,
			x2, y2)
	}
	dash := ""
	if e.isDashed {
		dash = ` stroke-dasharray="4 3"`
	}
	fmt.Fprintf(lines, `<path d="%s" fill="none" stroke="%s"%s marker-end="url(#tip)"/>`, path, l.colors.Line,
		dash)
	if label := e.label; label != "" {
		if e.isDashed {
			label = l.labels.translate(label)
		}
		fmt.Fprintf(labels, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="%s" font-size="11" stroke="%s"`+
			` stroke-width="4" paint-order="stroke">%s</text>`, (x1+x2)/2, (y1+y2)/2+4, l.colors.Line, l.colors.Paper,
			escapeXMLText(label))
	}
}

func (l *layout) writeNode(b *strings.Builder, n *placedNode) {
	fill, cornerRadius := l.colors.Box, 4
	if n.kind != nodeCall {
		fill, cornerRadius = l.colors.Paper, 12
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%d" fill="%s" stroke="%s"/>`, n.x, n.y,
		n.width, n.height, cornerRadius, fill, l.colors.Line)
	for k, line := range n.labelLines {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`, n.x+boxPadding,
			n.y+boxPadding/2+lineHeight*(float64(k)+0.75), l.colors.Ink, escapeXMLText(line))
	}
	l.writeBar(b, n)
}

// escapeXMLText escapes a text for XML. Characters that XML cannot hold become the replacement character.
func escapeXMLText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(singleLine(s)))
	return b.String()
}
