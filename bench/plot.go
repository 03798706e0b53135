package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// The panels of the plot: time and bytes, each against what there may be much of.
var panels = []panel{
	{title: "seconds, by Requests", axis: "requests", prefix: "time"},
	{title: "seconds, by Calls", axis: "calls", prefix: "time"},
	{title: "seconds, by instances", axis: "instances", prefix: "time"},
	{title: "MB kept, by Requests", axis: "requests", prefix: "bytes"},
	{title: "MB kept, by Calls", axis: "calls", prefix: "bytes"},
	{title: "MB kept, by instances", axis: "instances", prefix: "bytes"},
}

type panel struct {
	title, axis, prefix string
	lines               []line
}

// line is one measured thing at several sizes.
type line struct {
	name   string
	plain  bool
	points []point
}

// point is a median at a size, and how far it may be off: its standard error, 0 where there was one round.
type point struct{ x, y, off float64 }

// sized is the end of the name of a work that differs from another by its size alone.
var sized = regexp.MustCompile(`-\d+$`)

// plots sorts the figures into the panels.
func plots(figures []figure) []panel {
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

func (p *panel) add(f figure) {
	name := sized.ReplaceAllString(f.Work, "") + strings.TrimPrefix(strings.TrimPrefix(f.Name, p.prefix), ":")
	unit := 1.0
	if f.Unit == "ms" {
		unit = 1000
	}
	p.point(name, false, point{float64(f.At), f.Ours.Median / unit, f.Ours.Off / unit})
	if f.Plain != nil {
		p.point(name+", plain Go", true, point{float64(f.At), f.Plain.Median / unit, f.Plain.Off / unit})
	}
}

// point adds to a line. Scales are logarithmic: what is not above zero has no place on them.
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

func savePlot(name string, figures []figure) error {
	if err := os.WriteFile(name, []byte(svg(plots(figures))), 0o600); err != nil {
		return fmt.Errorf("write plots: %w", err)
	}
	return nil
}
