package report_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"processidea/bench/internal/report"
)

func TestWhatSeveralProcessesHaveMeasuredIsPutTogether(t *testing.T) {
	apart, together := report.NewRecorder("w"), report.NewRecorder("w")
	for _, values := range [][]float64{{5, 1}, {3}, {2, 4, 9}} {
		one := report.NewRecorder("w")
		for _, r := range []*report.Recorder{one, together} {
			r.WithAxis("calls", 7).FindOrAddFigure("a",
				"ms").Add(values...).AddPlainGo(values[0]).WithLimit(4).WithPlainRatioLimit(2)
			r.FindOrAddFigure("b", "s").Add(values[0])
		}
		apart.AddFigures(one.SummarizedFigures())
	}
	if got, want := apart.SummarizedFigures(), together.SummarizedFigures(); !reflect.DeepEqual(got, want) {
		t.Errorf("put together it is %+v, want %+v", got, want)
	}
}

func TestAFigureIsMeasuredAgainstItsLimit(t *testing.T) {
	r := report.NewRecorder("w")
	r.FindOrAddFigure("as a value", "ms").Add(5, 1, 3).WithLimit(3)
	r.FindOrAddFigure("over a value", "ms").Add(4).WithLimit(3)
	r.FindOrAddFigure("as a multiple", "s").Add(2.2).AddPlainGo(2).WithPlainRatioLimit(1.2)
	r.FindOrAddFigure("over a multiple", "s").Add(2.6).AddPlainGo(2).WithPlainRatioLimit(1.2)
	r.FindOrAddFigure("without", "s").Add(2)
	var met []any
	for _, f := range r.SummarizedFigures() {
		if f.MeetsLimit == nil {
			met = append(met, nil)
		} else {
			met = append(met, *f.MeetsLimit)
		}
	}
	if want := []any{true, false, true, false, nil}; !slices.Equal(met, want) {
		t.Errorf("the limits are met: %v, want %v", met, want)
	}
}

func TestASpreadLiesBetweenTheSamples(t *testing.T) {
	if got := report.SpreadOf([]float64{11, 1, 3, 2, 4, 5, 6, 7, 8, 9, 10}); got.P10 != 2 || got.Median != 6 ||
		got.P90 != 10 {
		t.Errorf("%+v, want 2, 6 and 10", got)
	}
	if got, want := report.SpreadOf([]float64{1, 2}), 1.5; got.Median != want {
		t.Errorf("the median is %v, want %v", got.Median, want)
	}
}

func TestWhatOneMoreCostsIsTheSameWhereCostGrowsLinearly(t *testing.T) {
	var figures []report.Figure
	even := func(n int) float64 { return 5 + 0.01*float64(n) }
	uneven := func(n int) float64 { return 5 + 0.01*float64(n) + 0.00001*float64(n*n) }
	for name, cost := range map[string]func(n int) float64{"even": even, "uneven": uneven} {
		for _, n := range []int{1000, 10, 300, 100, 5} {
			r := report.NewRecorder(fmt.Sprintf("%s-%d", name, n)).WithAxis("requests", n)
			r.FindOrAddFigure("time", "s").Add(cost(n))
			figures = append(figures, r.SummarizedFigures()...)
		}
	}
	var out strings.Builder
	report.PrintGrowths(&out, report.ComputeGrowths(figures))
	for _, want := range []string{
		"| 1.000 | 1.300 | yes |",
		"time, uneven | 10 … 100: 11.1 ms; 100 … 1000: 21 ms | 1.892 | 1.300 | no |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nhas no line with %s", out.String(), want)
		}
	}
}

func TestATimeIsBoundedAsAMultipleOfWhatPlainWorkflowsTook(t *testing.T) {
	measured := func(took, floor float64) []report.Figure {
		r := report.NewRecorder("batch")
		r.FindOrAddFigure("time", "s").Add(took)
		r.FindOrAddFigure(report.FloorFigureName, "ms").Add(floor)
		return r.SummarizedFigures()
	}
	name := filepath.Join(t.TempDir(), "bounds.json")
	bounds := report.Bounds{"batch": {"time": 0}, "chain": {"time": 0}}
	if got := bounds.FindProblems(measured(2, 500)); len(got) != 1 || got[0] != "batch: time has no bound yet" {
		t.Errorf("before anything was measured: %q", got)
	}
	bounds.Update(measured(2, 500))
	err := bounds.Save(name)
	if err == nil {
		bounds, err = report.ReadBounds(name)
	}
	if want := (report.Bounds{"batch": {"time": 4.4}, "chain": {"time": 0}}); err != nil ||
		!reflect.DeepEqual(bounds, want) {
		t.Fatalf("the bounds are %v (%v), want %v", bounds, err, want)
	}
	for _, c := range []struct {
		took, floor float64
		passed      string
	}{{2, 500, ""}, {4, 1000, ""}, {2.1, 500, ""}, {2.3, 500, "batch: time is 4.6 of the floor, at most 4.4"},
		{2, 250, "batch: time is 8 of the floor, at most 4.4"}, {1, 500, ""}} {
		figures := measured(c.took, c.floor)
		if got := strings.Join(bounds.FindProblems(figures), "; "); got != c.passed {
			t.Errorf("%v s, with a floor of %v ms: %q, want %q", c.took, c.floor, got, c.passed)
		}
		bounds.SetLimits(figures)
		var table strings.Builder
		report.PrintTable(&table, figures)
		if want := "| 4.400 × floor | " + map[bool]string{true: "yes", false: "no"}[c.passed == ""] +
			" |"; strings.Count(table.String(), want) != 1 || strings.Count(table.String(), "× floor") != 1 {
			t.Errorf("%v s, with a floor of %v ms: no one line has %q:\n%s", c.took, c.floor, want, table.String())
		}
	}
	bounds["batch"]["tme"] = 3
	if got := bounds.FindProblems(measured(2, 500)); len(got) != 1 || got[0] != `batch: there is no figure "tme"` {
		t.Errorf("of a figure that is not there: %q", got)
	}
}
