package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"processidea/model/jsonval"
)

// FloorFigureName names the figure that says, for each work, what plain workflows took in the same run. Times from
// different machines, or from different hours of one machine, are compared as multiples of it.
const FloorFigureName = "floor: 50 plain workflows"

// Bounds are the maximum times, as multiples of the floor of their run, by work and figure. 0 means not measured yet.
type Bounds map[string]map[string]float64

// boundTolerance is the ratio of a new bound to the measured time.
const boundTolerance = 1.1

// ReadBounds reads a file that Save of Bounds wrote.
func ReadBounds(fileName string) (b Bounds, err error) {
	data, err := os.ReadFile(fileName)
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	if err != nil {
		return nil, fmt.Errorf("read bounds of %s: %w", fileName, err)
	}
	return b, nil
}

// Save writes the bounds to a file.
func (b Bounds) Save(fileName string) error {
	data, err := json.MarshalIndent(b, "", "  ")
	if err == nil {
		err = os.WriteFile(fileName, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write bounds: %w", err)
	}
	return nil
}

// FindProblems lists what breaks the bounds of measured works: figures whose tenth percentile exceeds the bound,
// missing figures, and missing bounds.
func (b Bounds) FindProblems(figures []Figure) (problems []string) {
	for work, bounds := range jsonval.Sorted(b) {
		for name, bound := range jsonval.Sorted(bounds) {
			measuredFigure, floorFigure := findFigure(figures, work, name), findFigure(figures, work, FloorFigureName)
			switch {
			case floorFigure == nil: // the work was not measured
			case measuredFigure == nil:
				problems = append(problems, fmt.Sprintf("%s: there is no figure %q", work, name))
			case bound <= 0:
				problems = append(problems, fmt.Sprintf("%s: %s has no bound yet", work, name))
			case !measuredFigure.keepsBound(bound, floorFigure):
				problems = append(problems, fmt.Sprintf("%s: %s is %.3g of the floor, at most %.3g", work, name,
					measuredFigure.MeasuredSpread.P10/floorFigure.MeasuredSpread.Median, bound))
			}
		}
	}
	return problems
}

// SetLimits makes the bounds the limits of the figures that have one.
func (b Bounds) SetLimits(figures []Figure) {
	for n := range figures {
		f := &figures[n]
		bound := b[f.Workload][f.Name]
		floorFigure, measuredFigure := findFigure(figures, f.Workload, FloorFigureName), findFigure(figures, f.Workload,
			f.Name)
		if bound > 0 && floorFigure != nil {
			isKept := measuredFigure.keepsBound(bound, floorFigure)
			f.LimitDescription, f.MeetsLimit = formatNumber(bound)+" × floor", &isKept
		}
	}
}

// keepsBound reports whether a figure's tenth percentile keeps a bound. Both figures are in milliseconds.
func (f *Figure) keepsBound(bound float64, floorFigure *Figure) bool {
	return f.MeasuredSpread.P10 <= bound*floorFigure.MeasuredSpread.Median
}

// Update sets the bounds of the measured works to the measured times plus a tenth.
func (b Bounds) Update(figures []Figure) {
	for work, bounds := range b {
		for name := range bounds {
			if measuredFigure, floorFigure := findFigure(figures, work, name),
				findFigure(figures, work, FloorFigureName); measuredFigure != nil && floorFigure != nil {
				ratio := measuredFigure.MeasuredSpread.Median / floorFigure.MeasuredSpread.Median
				bounds[name] = math.Round(ratio*boundTolerance*1e4) / 1e4
			}
		}
	}
}

// findFigure returns a figure of a work, with its times in milliseconds, or nil if there is none.
func findFigure(figures []Figure, work, name string) *Figure {
	n := slices.IndexFunc(figures, func(f Figure) bool { return f.Workload == work && f.Name == name })
	if n < 0 {
		return nil
	}
	f := figures[n]
	if f.Unit == "s" {
		f.MeasuredSpread.P10, f.MeasuredSpread.Median = f.MeasuredSpread.P10*1000, f.MeasuredSpread.Median*1000
	}
	return &f
}
