package report

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes of a panel and of the plot in it, in pixels, with room for the scales.
const (
	panelWidth, panelHeight = 420, 380
	plotWidth, plotHeight   = 340, 220
	plotLeft, plotTop       = 60, 40
	panelColumns            = 3
)

var colours = []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#e377c2"}

// svg draws the panels in rows of three, on logarithmic scales.
func svg(panels []panel) string {
	var b strings.Builder
	rows := (len(panels) + panelColumns - 1) / panelColumns
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		panelColumns*panelWidth, rows*panelHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for i, p := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", i%panelColumns*panelWidth, i/panelColumns*panelHeight)
		p.draw(&b)
		fmt.Fprintln(&b, "</g>")
	}
	return b.String() + "</svg>\n"
}

func (p panel) draw(b *strings.Builder) {
	x, y := p.scales()
	fmt.Fprintf(b, `<text x="%d" y="20" font-size="14">%s</text>`+"\n", plotLeft, html.EscapeString(p.title))
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>`+"\n", plotLeft, plotTop, plotWidth, plotHeight)
	for e := x.low; e <= x.high; e++ {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x.at(math.Pow10(e)), plotTop+plotHeight+15, number(math.Pow10(e)))
	}
	for e := y.low; e <= y.high; e++ {
		at := y.at(math.Pow10(e))
		fmt.Fprintf(b, `<path d="M%d %.1fh%d" stroke="#ddd"/>`+"\n", plotLeft, at, plotWidth)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", plotLeft-5, at+4, number(math.Pow10(e)))
	}
	for i, l := range p.lines {
		l.draw(b, x, y, colours[i%len(colours)])
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotLeft+i%2*170, plotTop+plotHeight+35+i/2*14,
			colours[i%len(colours)], html.EscapeString(l.name))
	}
}

func (l line) draw(b *strings.Builder, x, y scale, colour string) {
	dash := ""
	if l.plain {
		dash = ` stroke-dasharray="4 3"`
	}
	var path []string
	for _, p := range l.points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(p.x), y.at(p.y)))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(p.x), y.at(p.y), colour)
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s"%s/>`+"\n", strings.Join(path, " "), colour, dash)
}

// scale maps values between two powers of ten logarithmically to pixels.
type scale struct {
	low, high int
	from, to  float64
}

func (s scale) at(v float64) float64 {
	return s.from + (math.Log10(v)-float64(s.low))/float64(s.high-s.low)*(s.to-s.from)
}

// scales gives scales that hold every point of the panel.
func (p panel) scales() (x, y scale) {
	var xs, ys []float64
	for _, l := range p.lines {
		for _, at := range l.points {
			xs, ys = append(xs, at.x), append(ys, at.y)
		}
	}
	x, y = powers(xs), powers(ys)
	x.from, x.to = plotLeft, plotLeft+plotWidth
	y.from, y.to = plotTop+plotHeight, plotTop
	return x, y
}

// powers gives a scale between the powers of ten around some values.
func powers(values []float64) scale {
	s := scale{high: 1}
	for i, v := range values {
		low, high := int(math.Floor(math.Log10(v))), int(math.Ceil(math.Log10(v)))
		if i == 0 {
			s.low, s.high = low, high
		}
		s.low, s.high = min(s.low, low), max(s.high, high)
	}
	s.high = max(s.high, s.low+1)
	return s
}
