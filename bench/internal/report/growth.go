package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxUneven bounds the ratio of the greatest to the smallest cost of one more.
const maxUneven = 1.3

// Growth is the cost of one more Request, Call or instance, between each measured size and ten times that size. If cost
// grows linearly, it is the same everywhere. The fixed cost of the smallest process does not count.
type Growth struct {
	Name       string  `json:"name"`
	Axis       string  `json:"axis"`
	Steps      []Step  `json:"steps"`
	Unevenness float64 `json:"uneven"` // the ratio of the greatest to the smallest cost of one more
	Met        bool    `json:"met"`
	// NearlyMet is true if the limit is not met, but would be if the costs were off by their standard errors.
	NearlyMet bool `json:"close,omitempty"`
}

// Step is the cost of one more between two sizes, in ms or KB.
type Step struct {
	From          int     `json:"from"`
	To            int     `json:"to"`
	CostPerUnit   float64 `json:"each"`
	StandardError float64 `json:"off"` // of Each; 0 if there was one round
	Unit          string  `json:"unit"`
}

// figureSeries is one figure of one work at several sizes, the smallest first.
type figureSeries struct {
	name, axis string
	figures    []Figure
}

// sizeSuffix matches the end of a work's name that only states its size.
var sizeSuffix = regexp.MustCompile(`-\d+$`)

// ComputeGrowths returns the growth of time and bytes of every work that was measured over two or more orders of
// magnitude.
func ComputeGrowths(figures []Figure) (all []Growth) {
	for _, l := range groupBySize(figures) {
		sizes := selectTenfoldSizes(l.figures)
		if len(sizes) < 3 {
			continue
		}
		g := Growth{Name: l.name, Axis: l.axis}
		for n, to := range sizes[1:] {
			g.Steps = append(g.Steps, stepBetween(sizes[n], to))
		}
		g.checkSteps()
		all = append(all, g)
	}
	return all
}

// groupBySize groups the figures that differ only in size.
func groupBySize(figures []Figure) (lines []figureSeries) {
	for _, f := range figures {
		prefix := f.Name[:min(len(f.Name), len("time"))]
		if prefix != "time" {
			prefix = "bytes"
		}
		measuredName, measured := strings.CutPrefix(f.Name, prefix)
		if !measured || f.Axis == "" || f.Size <= 0 || f.Ours.Median <= 0 || f.isSubfigure() {
			continue
		}
		name := prefix + ", " + sizeSuffix.ReplaceAllString(f.Work, "") + strings.TrimPrefix(measuredName, ":")
		n := slices.IndexFunc(lines, func(l figureSeries) bool { return l.name == name && l.axis == f.Axis })
		if n < 0 {
			n, lines = len(lines), append(lines, figureSeries{name: name, axis: f.Axis})
		}
		lines[n].figures = append(lines[n].figures, f)
		slices.SortFunc(lines[n].figures, func(a, b Figure) int { return a.Size - b.Size })
	}
	return lines
}

// checkSteps compares the steps with the limit.
func (g *Growth) checkSteps() {
	byCost := func(a, b Step) int { return int((a.CostPerUnit - b.CostPerUnit) * 1e6) }
	least, greatest := slices.MinFunc(g.Steps, byCost), slices.MaxFunc(g.Steps, byCost)
	if least.CostPerUnit > 0 {
		g.Unevenness = greatest.CostPerUnit / least.CostPerUnit
	}
	g.Met = g.Unevenness > 0 && g.Unevenness <= maxUneven
	g.NearlyMet = !g.Met &&
		greatest.CostPerUnit-greatest.StandardError <= maxUneven*(least.CostPerUnit+least.StandardError)
}

// selectTenfoldSizes returns the largest size, a tenth of it, a tenth of that and so on, as far as measured, with the
// smallest first.
func selectTenfoldSizes(all []Figure) (tenfold []Figure) {
	for _, f := range slices.Backward(all) {
		if len(tenfold) == 0 || tenfold[0].Size == 10*f.Size {
			tenfold = slices.Insert(tenfold, 0, f)
		}
	}
	return tenfold
}

// stepBetween returns the cost of one more in ms or KB, from figures in seconds, ms or MB.
func stepBetween(from, to Figure) Step {
	unit, scale := "ms", 1.0
	switch to.Unit {
	case "s":
		scale = 1000
	case "MB":
		unit, scale = "KB", 1024
	}
	scalePerUnit := scale / float64(to.Size-from.Size)
	return Step{From: from.Size, To: to.Size, CostPerUnit: scalePerUnit * (to.Ours.Median - from.Ours.Median),
		StandardError: scalePerUnit * math.Hypot(from.Ours.StandardError, to.Ours.StandardError), Unit: unit}
}

func (g Growth) metText() string {
	switch {
	case g.Met:
		return "yes"
	case g.NearlyMet:
		return "too close to tell"
	}
	return "no"
}

// errorText formats the standard error. It is "" if that is too small to show beside the cost.
func (s Step) errorText() string {
	if s.StandardError < math.Abs(s.CostPerUnit)/100 {
		return ""
	}
	return " ± " + strconv.FormatFloat(s.StandardError, 'g', 2, 64)
}

// PrintGrowths writes the growths as a Markdown table. It writes nothing if there are none.
func PrintGrowths(w io.Writer, all []Growth) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(w, "\n| one more of | what | from … to: each | most against least | limit | met |\n| --- | --- | --- "+
		"| --- | --- | --- |\n")
	for _, g := range all {
		steps := ""
		for n, s := range g.Steps {
			if n > 0 {
				steps += "; "
			}
			steps += fmt.Sprintf("%d … %d: %s%s %s", s.From, s.To, formatNumber(s.CostPerUnit), s.errorText(), s.Unit)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", g.Axis, g.Name, steps, formatNumber(g.Unevenness),
			formatNumber(maxUneven), g.metText())
	}
}
