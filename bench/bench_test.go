package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestMain is the program itself where a test has it do one work.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

const asProgram = "BENCH_AS_PROGRAM"

func TestAQuickRunOfTwoWorksGivesTheirFigures(t *testing.T) {
	t.Setenv(asProgram, "1")
	dir := t.TempDir()
	figures, plot := filepath.Join(dir, "figures.json"), filepath.Join(dir, "plot.svg")
	o, err := readOptions([]string{"--quick", "chain", "--json", figures, "instances", "--svg", plot}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := run(t.Context(), o, &table); err != nil {
		t.Fatal(err)
	}
	r := readReport(t, figures)
	if !r.Quick || r.CPUs < 1 || r.Go == "" {
		t.Errorf("the run is told as %+v", r)
	}
	for _, want := range []string{"chain: overhead a step", "chain: bytes: histories", "chain: bytes: store folder", "chain: bytes: database file",
		"instances: time", "instances: longest history"} {
		work, name, _ := strings.Cut(want, ": ")
		i := slices.IndexFunc(r.Figures, func(f figure) bool { return f.Work == work && f.Name == name })
		if i < 0 {
			t.Errorf("there is no figure %q", want)
		} else if f := r.Figures[i]; f.Ours.Median <= 0 || len(f.Ours.Values) < 1 || f.Axis == "" || f.At < 1 {
			t.Errorf("%s is %+v", want, f)
		}
		if !strings.Contains(table.String(), "| "+work+" | "+name+" |") {
			t.Errorf("the table has no line for %q", want)
		}
	}
	wellFormed(t, plot)
	if o, err = readOptions([]string{"--from", figures, "--from", figures, "--svg", plot + "2"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	if err := run(t.Context(), o, &again); err != nil || again.String() != table.String() {
		t.Errorf("from what was saved: %v\n%s\nnot\n%s", err, again.String(), table.String())
	}
	wellFormed(t, plot+"2")
}

func TestAWorkThatFailsInItsProcessIsNamed(t *testing.T) {
	t.Setenv(asProgram, "1")
	o, err := readOptions([]string{"--quick", "chain", "batch", "--hops", t.TempDir()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), o, io.Discard); err == nil || !strings.Contains(err.Error(), "measure chain") {
		t.Errorf("the error is %v", err)
	}
}

func TestAllRoundsOfAWorkAreDealtOutEvenlyToThePasses(t *testing.T) {
	for rounds := range 40 {
		total, least, most := 0, rounds, 0
		for pass := range passes {
			n := share(rounds, pass)
			total, least, most = total+n, min(least, n), max(most, n)
		}
		if total != rounds || most-least > 1 {
			t.Errorf("of %d rounds %d are done, from %d to %d a pass", rounds, total, least, most)
		}
	}
}

func TestWhatSeveralProcessesHaveMeasuredIsPutTogether(t *testing.T) {
	apart, together := &record{work: "w"}, &record{work: "w"}
	for _, values := range [][]float64{{5, 1}, {3}, {2, 4, 9}} {
		one := &record{work: "w"}
		for _, r := range []*record{one, together} {
			r.of("a", "ms").on("calls", 7).add(values...).beside(values[0]).atMost(4).times(2)
			r.of("b", "s").add(values[0])
		}
		apart.take(one.figures())
	}
	if got, want := apart.figures(), together.figures(); !reflect.DeepEqual(got, want) {
		t.Errorf("put together it is %+v, want %+v", got, want)
	}
}

func readReport(t *testing.T, name string) (r report) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func wellFormed(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, circles := xml.NewDecoder(f), 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			circles++
		}
	}
	if circles == 0 {
		t.Error("nothing is drawn")
	}
}

func TestAFigureIsMeasuredAgainstItsLimit(t *testing.T) {
	r := &record{work: "w"}
	r.of("as a value", "ms").add(5, 1, 3).atMost(3)
	r.of("over a value", "ms").add(4).atMost(3)
	r.of("as a multiple", "s").add(2.2).beside(2).times(1.2)
	r.of("over a multiple", "s").add(2.6).beside(2).times(1.2)
	r.of("without", "s").add(2)
	var met []any
	for _, f := range r.figures() {
		if f.Met == nil {
			met = append(met, nil)
		} else {
			met = append(met, *f.Met)
		}
	}
	if want := []any{true, false, true, false, nil}; !slices.Equal(met, want) {
		t.Errorf("the limits are met: %v, want %v", met, want)
	}
}

func TestASpreadLiesBetweenTheSamples(t *testing.T) {
	if got := spreadOf([]float64{11, 1, 3, 2, 4, 5, 6, 7, 8, 9, 10}); got.P10 != 2 || got.Median != 6 || got.P90 != 10 {
		t.Errorf("%+v, want 2, 6 and 10", got)
	}
	if got, want := spreadOf([]float64{1, 2}), 1.5; got.Median != want {
		t.Errorf("the median is %v, want %v", got.Median, want)
	}
}

func TestAMedianOfManySamplesIsLessFarOffAndNotForTheOutliers(t *testing.T) {
	var even []float64
	for i := range 101 { // evenly from 0 to 100, where the standard error is 100 / (2 √n)
		even = append(even, float64(i))
	}
	if got := spreadOf(even).Off; math.Abs(got-4.98) > 0.01 {
		t.Errorf("the median of 0 … 100 is off by %v, want 4.98", got)
	}
	even[100] = 1e9
	if got := spreadOf(even).Off; math.Abs(got-4.98) > 0.01 {
		t.Errorf("with an outlier it is off by %v, want 4.98", got)
	}
	for _, few := range [][]float64{nil, {7}, {7, 7, 7}} {
		if got := spreadOf(few).Off; got != 0 {
			t.Errorf("the median of %v is off by %v, want 0", few, got)
		}
	}
}

func TestAnUnknownWorkIsRefusedByName(t *testing.T) {
	_, err := readOptions([]string{"chain", "chan"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `no work "chan"`) {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatOneMoreCostsIsTheSameWhereCostGrowsLinearly(t *testing.T) {
	var figures []figure
	even := func(n int) float64 { return 5 + 0.01*float64(n) }
	uneven := func(n int) float64 { return 5 + 0.01*float64(n) + 0.00001*float64(n*n) }
	for name, c := range map[string]struct {
		cost   func(n int) float64
		spread float64
	}{"even": {even, 0}, "uneven": {uneven, 0.1}, "noisy": {uneven, 1}} {
		for _, n := range []int{1000, 10, 300, 100, 5} {
			r := &record{work: fmt.Sprintf("%s-%d", name, n)}
			r.of("time", "s").on("requests", n).add(c.cost(n)-c.spread, c.cost(n), c.cost(n)+c.spread)
			figures = append(figures, r.figures()...)
		}
	}
	var out strings.Builder
	printGrowths(&out, growths(figures))
	for _, want := range []string{
		"| 1 | 1.300 | yes |",
		"time, uneven | 10 … 100: 11.1 ± 0.91 ms; 100 … 1000: 21 ms | 1.892 | 1.300 | no |",
		"time, noisy | 10 … 100: 11.1 ± 9.1 ms; 100 … 1000: 21 ± 0.91 ms | 1.892 | 1.300 | too close to tell |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nhas no line with %s", out.String(), want)
		}
	}
}
