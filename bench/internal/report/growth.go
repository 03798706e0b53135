package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// maxUneven bounds how much the cost of one more may vary: the greatest against the smallest.
const maxUneven = 1.3

// Growth is what one more Request, Call or instance costs, between each size that was measured and ten times that. If cost grows
// linearly, it is the same everywhere. What even the smallest process costs does not count.
type Growth struct {
	Name   string  `json:"name"`
	Axis   string  `json:"axis"`
	Steps  []Step  `json:"steps"`
	Uneven float64 `json:"uneven"` // the greatest cost of one more against the smallest
	Met    bool    `json:"met"`
	// Close is true if the limit is not met, but would be if the costs were off by their standard errors.
	Close bool `json:"close,omitempty"`
}

// Step is what one more costs between two sizes, in ms or KB.
type Step struct {
	From int     `json:"from"`
	To   int     `json:"to"`
	Each float64 `json:"each"`
	Off  float64 `json:"off"` // standard error of Each; 0 if there was one round
	Unit string  `json:"unit"`
}

// Growths gives the growth of every line of the plots that was measured over two orders of magnitude or more.
func Growths(figures []Figure) (all []Growth) {
	for _, p := range plots(figures) {
		for _, l := range p.lines {
			points := l.tenfold()
			if l.plain || len(points) < 3 {
				continue
			}
			g := Growth{Name: p.prefix + ", " + l.name, Axis: p.axis}
			for n, to := range points[1:] {
				g.Steps = append(g.Steps, p.step(points[n], to))
			}
			g.compare()
			all = append(all, g)
		}
	}
	return all
}

// compare holds the steps against the limit.
func (g *Growth) compare() {
	byCost := func(a, b Step) int { return int((a.Each - b.Each) * 1e6) }
	least, most := slices.MinFunc(g.Steps, byCost), slices.MaxFunc(g.Steps, byCost)
	if least.Each > 0 {
		g.Uneven = most.Each / least.Each
	}
	g.Met = g.Uneven > 0 && g.Uneven <= maxUneven
	g.Close = !g.Met && most.Each-most.Off <= maxUneven*(least.Each+least.Off)
}

// tenfold lists the largest size, a tenth of it, a tenth of that and so on, as far as they were measured, the smallest first.
func (l line) tenfold() (points []point) {
	for n := len(l.points) - 1; n >= 0; n-- {
		if len(points) == 0 || points[0].x == 10*l.points[n].x {
			points = slices.Insert(points, 0, l.points[n])
		}
	}
	return points
}

func (p panel) step(from, to point) Step {
	unit, scale := "ms", 1000.0
	if p.prefix == "bytes" {
		unit, scale = "KB", 1024
	}
	each := scale / (to.x - from.x)
	return Step{From: int(from.x), To: int(to.x), Each: each * (to.y - from.y), Off: each * math.Hypot(from.off, to.off), Unit: unit}
}

func (g Growth) metText() string {
	switch {
	case g.Met:
		return "yes"
	case g.Close:
		return "too close to tell"
	}
	return "no"
}

// offText writes the standard error, unless it is too small to show in how the cost is written.
func (s Step) offText() string {
	if s.Off < math.Abs(s.Each)/100 {
		return ""
	}
	return " ± " + strconv.FormatFloat(s.Off, 'g', 2, 64)
}

// PrintGrowths writes the growths as a Markdown table, and nothing if there are none.
func PrintGrowths(w io.Writer, all []Growth) {
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
