package plangraph

import (
	"encoding/xml"
	"fmt"
	"strings"

	"processidea/model/ideafile"
)

// RenderSVG draws a Plan as a picture, black on white, without styles and scripts. The counts of CountCallStatuses are
// written below each Call and colour it. They are unknown for Calls beyond the end of statusCounts.
func RenderSVG(calls []any, statusCounts []map[ideafile.CallStatus]int, labels Labels) string {
	l := newLayout(newGraph(calls, labels).markStatuses(statusCounts, true))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f"`,
		l.width, l.height, l.width, l.height)
	b.WriteString(
		` font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif" font-size="12"><defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4"` +
			` markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#565c64"/></marker></defs><rect width="100%" height="100%" fill="#fff"/>`)
	var edgeLabels strings.Builder // above all lines, so that none strikes one through
	for _, e := range l.edges {
		l.writeEdge(&b, &edgeLabels, e)
	}
	b.WriteString(edgeLabels.String())
	for _, n := range l.nodes {
		writeNode(&b, n)
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
	fmt.Fprintf(lines, `<path d="%s" fill="none" stroke="#565c64"%s marker-end="url(#tip)"/>`, path, dash)
	if label := e.label; label != "" {
		if e.isDashed {
			label = l.labels.translate(label)
		}
		fmt.Fprintf(
			labels,
			`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#565c64" font-size="11" stroke="#fff" stroke-width="4" paint-order="stroke">%s</text>`,
			(x1+x2)/2, (y1+y2)/2+4, escapeXMLText(label))
	}
}

func writeNode(b *strings.Builder, n *placedNode) {
	fill, cornerRadius := "#f1f4f7", 4
	if n.kind != nodeCall {
		fill, cornerRadius = "#fff", 12
	}
	if n.fillColor != "" {
		fill = n.fillColor
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%d" fill="%s" stroke="#565c64"/>`, n.x, n.y,
		n.width, n.height, cornerRadius, fill)
	for k, line := range n.labelLines {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="#1c1e21">%s</text>`, n.x+boxPadding,
			n.y+boxPadding/2+lineHeight*(float64(k)+0.75), escapeXMLText(line))
	}
}

// statusFillColors are the colours of a Call's statuses. The first status that an instance has counts.
var statusFillColors = []struct {
	status ideafile.CallStatus
	fill   string
}{
	{ideafile.CallFailed, "#f9d7d4"}, {ideafile.CallBlocked, "#f9d7d4"}, {ideafile.CallRejected, "#f9d7d4"},
	{ideafile.CallAwaitingApproval, "#fdebb8"},
	{ideafile.CallRunning, "#d6e6f7"}, {ideafile.CallWaiting, "#f1f4f7"}, {ideafile.CallDone, "#d5edda"},
	{ideafile.CallSkipped, "#e4e6e9"}, {ideafile.CallUndone, "#e4e6e9"},
}

func fillColor(countByStatus map[ideafile.CallStatus]int) string {
	for _, f := range statusFillColors {
		if countByStatus[f.status] > 0 {
			return f.fill
		}
	}
	return ""
}

// escapeXMLText escapes a text for XML. Characters that XML cannot hold become the replacement character.
func escapeXMLText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(singleLine(s)))
	return b.String()
}
