package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// maxUneven is how many times the least that one more may cost the most may be.
const maxUneven = 1.3

// growth is what one more Request, Call or instance costs, from each size that was measured to the tenfold. Where cost grows
// linearly it is the same everywhere; what a process costs however small it is stays out of it.
type growth struct {
	Name   string  `json:"name"`
	Axis   string  `json:"axis"`
	Steps  []more  `json:"steps"`
	Uneven float64 `json:"uneven"` // the most against the least
	Met    bool    `json:"met"`
	// Close says that it is not met, and would be if the most and the least were off by their errors.
	Close bool `json:"close,omitempty"`
}

// more is what one more costs between two sizes, in ms or KB, and how far that may be off.
type more struct {
	From int     `json:"from"`
	To   int     `json:"to"`
	Each float64 `json:"each"`
	Off  float64 `json:"off"` // its standard error, by the spread of the rounds; 0 where neither size had several
	Unit string  `json:"unit"`
}

// growths looks at every line of the plots that was measured over two orders of magnitude or more.
func growths(figures []figure) (all []growth) {
	for _, p := range plots(figures) {
		for _, l := range p.lines {
			points := l.tenfold()
			if l.plain || len(points) < 3 {
				continue
			}
			g := growth{Name: p.prefix + ", " + l.name, Axis: p.axis}
			for n, to := range points[1:] {
				g.Steps = append(g.Steps, p.more(points[n], to))
			}
			byCost := func(a, b more) int { return int((a.Each - b.Each) * 1e6) }
			least, most := slices.MinFunc(g.Steps, byCost), slices.MaxFunc(g.Steps, byCost)
			if least.Each > 0 {
				g.Uneven = most.Each / least.Each
			}
			g.Met = g.Uneven > 0 && g.Uneven <= maxUneven
			g.Close = !g.Met && most.Each-most.Off <= maxUneven*(least.Each+least.Off)
			all = append(all, g)
		}
	}
	return all
}

// tenfold is the largest size, a tenth of it, a tenth of that and so on, as far as they were measured; from the smallest.
func (l line) tenfold() (points []point) {
	for n := len(l.points) - 1; n >= 0; n-- {
		if len(points) == 0 || points[0].x == 10*l.points[n].x {
			points = slices.Insert(points, 0, l.points[n])
		}
	}
	return points
}

func (p panel) more(from, to point) more {
	unit, scale := "ms", 1000.0
	if p.prefix == "bytes" {
		unit, scale = "KB", 1024
	}
	each := scale / (to.x - from.x)
	return more{From: int(from.x), To: int(to.x), Each: each * (to.y - from.y), Off: each * math.Hypot(from.off, to.off), Unit: unit}
}

func (g growth) metText() string {
	switch {
	case g.Met:
		return "yes"
	case g.Close:
		return "too close to tell"
	}
	return "no"
}

// offText says how far a cost may be off, where that can be seen in how it is written.
func (m more) offText() string {
	if m.Off < math.Abs(m.Each)/100 {
		return ""
	}
	return " ± " + strconv.FormatFloat(m.Off, 'g', 2, 64)
}

// printGrowths writes them as Markdown.
func printGrowths(w io.Writer, all []growth) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(w, "\n| one more of | what | from … to: each | most against least | limit | met |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, g := range all {
		steps := ""
		for n, s := range g.Steps {
			if n > 0 {
				steps += "; "
			}
			steps += fmt.Sprintf("%d … %d: %s%s %s", s.From, s.To, number(s.Each), s.offText(), s.Unit)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", g.Axis, g.Name, steps, number(g.Uneven), number(maxUneven), g.metText())
	}
}
