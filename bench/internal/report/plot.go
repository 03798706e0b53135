package report

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// panels are the plots: time and bytes, each against the number of Requests, Calls and instances.
var panels = []panel{
	{title: "seconds, by Requests", axis: "requests", prefix: "time"},
	{title: "seconds, by Calls", axis: "calls", prefix: "time"},
	{title: "seconds, by instances", axis: "instances", prefix: "time"},
	{title: "MB kept, by Requests", axis: "requests", prefix: "bytes"},
	{title: "MB kept, by Calls", axis: "calls", prefix: "bytes"},
	{title: "MB kept, by instances", axis: "instances", prefix: "bytes"},
}

// panel is one plot: of the figures whose names begin with prefix, by their size on an axis.
type panel struct {
	title, axis, prefix string
	lines               []line
}

// line is one figure of one work at several sizes.
type line struct {
	name   string
	plain  bool
	points []point
}

// point is a median at a size and its standard error, which is 0 if there was one round.
type point struct{ x, y, off float64 }

// sizeSuffix ends the name of a work that differs from another in its size alone.
var sizeSuffix = regexp.MustCompile(`-\d+$`)

// plots distributes the figures over the panels.
func plots(figures []Figure) []panel {
	all := slices.Clone(panels)
	for i := range all {
		for _, f := range figures {
			if f.Axis == all[i].axis && strings.HasPrefix(f.Name, all[i].prefix) && !f.isPart() {
				all[i].add(f)
			}
		}
	}
	return all
}

// add adds a figure, and what plain Go took, in seconds or MB.
func (p *panel) add(f Figure) {
	name := sizeSuffix.ReplaceAllString(f.Work, "") + strings.TrimPrefix(strings.TrimPrefix(f.Name, p.prefix), ":")
	unit := 1.0
	if f.Unit == "ms" {
		unit = 1000
	}
	p.point(name, false, point{float64(f.At), f.Ours.Median / unit, f.Ours.Off / unit})
	if f.Plain != nil {
		p.point(name+", plain Go", true, point{float64(f.At), f.Plain.Median / unit, f.Plain.Off / unit})
	}
}

// point adds a point to a line. Scales are logarithmic: what is not above zero has no place on them.
func (p *panel) point(name string, plain bool, at point) {
	if at.x <= 0 || at.y <= 0 {
		return
	}
	for i := range p.lines {
		if p.lines[i].name == name {
			p.lines[i].points = append(p.lines[i].points, at)
			slices.SortFunc(p.lines[i].points, func(a, b point) int { return int(a.x - b.x) })
			return
		}
	}
	p.lines = append(p.lines, line{name: name, plain: plain, points: []point{at}})
}

// SavePlot writes the plots to an SVG file.
func SavePlot(name string, figures []Figure) error {
	if err := os.WriteFile(name, []byte(svg(plots(figures))), 0o600); err != nil {
		return fmt.Errorf("write plots: %w", err)
	}
	return nil
}
