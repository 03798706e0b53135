package report

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// maxUnevenness bounds the ratio of the greatest to the smallest cost of one more.
const maxUnevenness = 1.3

// Growth is the cost of one more Request, Call or instance, between each measured size and ten times that size. If cost
// grows linearly, it is the same everywhere. The fixed cost of the smallest process does not count.
type Growth struct {
	Name       string       `json:"name"`
	Axis       string       `json:"axis"`
	Steps      []GrowthStep `json:"steps"`
	Unevenness float64      `json:"uneven"` // the ratio of the greatest to the smallest cost of one more
	MeetsLimit bool         `json:"met"`
}

// GrowthStep is the cost of one more between two sizes, in ms or KB.
type GrowthStep struct {
	FromSize    int     `json:"from"`
	ToSize      int     `json:"to"`
	CostPerItem float64 `json:"each"`
	CostUnit    string  `json:"unit"`
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
func ComputeGrowths(figures []Figure) (growths []Growth) {
	for _, l := range groupIntoSeries(figures) {
		tenfoldFigures := selectTenfoldFigures(l.figures)
		if len(tenfoldFigures) < 3 {
			continue
		}
		g := Growth{Name: l.name, Axis: l.axis}
		for n, to := range tenfoldFigures[1:] {
			g.Steps = append(g.Steps, stepBetween(tenfoldFigures[n], to))
		}
		g.computeUnevenness()
		growths = append(growths, g)
	}
	return growths
}

// groupIntoSeries groups the figures that differ only in size.
func groupIntoSeries(figures []Figure) (series []figureSeries) {
	for _, f := range figures {
		prefix := f.Name[:min(len(f.Name), len("time"))]
		if prefix != "time" {
			prefix = "bytes"
		}
		nameAfterPrefix, hasPrefix := strings.CutPrefix(f.Name, prefix)
		if !hasPrefix || f.Axis == "" || f.Size <= 0 || f.MeasuredSpread.Median <= 0 || f.isSubfigure() {
			continue
		}
		name := prefix + ", " + sizeSuffix.ReplaceAllString(f.Workload, "") + strings.TrimPrefix(nameAfterPrefix, ":")
		n := slices.IndexFunc(series, func(l figureSeries) bool { return l.name == name && l.axis == f.Axis })
		if n < 0 {
			n, series = len(series), append(series, figureSeries{name: name, axis: f.Axis})
		}
		series[n].figures = append(series[n].figures, f)
		slices.SortFunc(series[n].figures, func(a, b Figure) int { return a.Size - b.Size })
	}
	return series
}

// computeUnevenness compares the steps with the limit.
func (g *Growth) computeUnevenness() {
	costs := jsonval.Map(g.Steps, func(s GrowthStep) float64 { return s.CostPerItem })
	if leastCost := slices.Min(costs); leastCost > 0 {
		g.Unevenness = slices.Max(costs) / leastCost
	}
	g.MeetsLimit = g.Unevenness > 0 && g.Unevenness <= maxUnevenness
}

// selectTenfoldFigures returns the largest size, a tenth of it, a tenth of that and so on, as far as measured, with the
// smallest first.
func selectTenfoldFigures(figures []Figure) (tenfoldFigures []Figure) {
	for _, f := range slices.Backward(figures) {
		if len(tenfoldFigures) == 0 || tenfoldFigures[0].Size == 10*f.Size {
			tenfoldFigures = slices.Insert(tenfoldFigures, 0, f)
		}
	}
	return tenfoldFigures
}

// stepBetween returns the cost of one more in ms or KB, from figures in seconds, ms or MB.
func stepBetween(from, to Figure) GrowthStep {
	unit, scale := "ms", 1.0
	switch to.Unit {
	case "s":
		scale = 1000
	case "MB":
		unit, scale = "KB", 1024
	}
	return GrowthStep{FromSize: from.Size, ToSize: to.Size, CostUnit: unit,
		CostPerItem: scale * (to.MeasuredSpread.Median - from.MeasuredSpread.Median) / float64(to.Size-from.Size)}
}

// PrintGrowths writes the growths as a Markdown table. It writes nothing if there are none.
func PrintGrowths(w io.Writer, growths []Growth) {
	if len(growths) == 0 {
		return
	}
	fmt.Fprint(w, "\n| one more of | what | from … to: each | most against least | limit | met |\n| --- | --- | --- "+
		"| --- | --- | --- |\n")
	for _, g := range growths {
		stepsText := ""
		for n, s := range g.Steps {
			if n > 0 {
				stepsText += "; "
			}
			stepsText += fmt.Sprintf("%d … %d: %s %s", s.FromSize, s.ToSize, formatNumber(s.CostPerItem), s.CostUnit)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", g.Axis, g.Name, stepsText, formatNumber(g.Unevenness),
			formatNumber(maxUnevenness), yesOrNo(g.MeetsLimit))
	}
}
