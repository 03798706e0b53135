package plangraph

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
)

// Palette has the colours of a picture. Each share of a bar stands out from the box as WCAG AA asks of graphics, 3:1,
// and each text from what is below it, 4.5:1.
type Palette struct {
	Paper, Box, Line, Ink string
	// ByStatus are the colours of a bar's shares. A status without one has not begun, so that its share is hollow.
	ByStatus map[ideafile.CallStatus]string
}

// Light and Dark are the Palettes of pages in these color schemes.
var (
	Light = Palette{Paper: "#fff", Box: "#f1f4f7", Line: "#565c64", Ink: "#1c1e21",
		ByStatus: colorsByStatus("#1d6434", "#2b6cb0", "#8a6100", "#7b3f8c", "#a3231d", "#7d848c")}
	Dark = Palette{Paper: "#1e2125", Box: "#262a2f", Line: "#a8aeb6", Ink: "#e6e8ea",
		ByStatus: colorsByStatus("#96d3a8", "#8fbdf0", "#e8c069", "#cfa0dd", "#f5a19b", "#8d949c")}
)

func colorsByStatus(done, running, forPerson, rejected, failed, skipped string) map[ideafile.CallStatus]string {
	return map[ideafile.CallStatus]string{ideafile.CallDone: done, ideafile.CallRunning: running,
		ideafile.CallAwaitingApproval: forPerson, ideafile.CallRejected: rejected, ideafile.CallFailed: failed,
		ideafile.CallBlocked: failed, ideafile.CallSkipped: skipped, ideafile.CallUndone: skipped}
}

// barStatuses are the statuses of Calls in the order of a bar and of the text above it: first what went wrong.
var barStatuses = []ideafile.CallStatus{ideafile.CallFailed, ideafile.CallBlocked, ideafile.CallRejected,
	ideafile.CallAwaitingApproval, ideafile.CallRunning, ideafile.CallWaiting, ideafile.CallDone, ideafile.CallSkipped,
	ideafile.CallUndone}

// Sizes of a bar, in pixels. One rejection in a thousand is still to be seen.
const (
	barHeight     = 7.0
	barGap        = 2.0
	minShareWidth = 4.0
)

// writeBar draws the shares of the statuses. The text above says the same, so that those who do not see it lack
// nothing.
func (l *layout) writeBar(b *strings.Builder, n *placedNode) {
	total, shareCount := 0, 0
	for _, status := range barStatuses {
		if count := n.countByStatus[status]; count > 0 {
			total, shareCount = total+count, shareCount+1
		}
	}
	x, y := n.x+boxPadding, n.y+n.height-boxPadding/2-barHeight
	divisible := n.width - 2*boxPadding - barGap*float64(shareCount-1) - minShareWidth*float64(shareCount)
	for _, status := range barStatuses {
		count := n.countByStatus[status]
		if count == 0 {
			continue
		}
		width := minShareWidth + divisible*float64(count)/float64(total)
		fill, stroke := l.colors.ByStatus[status], l.colors.ByStatus[status]
		if fill == "" {
			fill, stroke = "none", l.colors.Line
		}
		fmt.Fprintf(b, `<path class="%s" d="M%.1f %.1fh%.1fv%.1fh-%.1fz" fill="%s" stroke="%s"/>`, status, x, y, width,
			barHeight, width, fill, stroke)
		x += width + barGap
	}
}
