package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/bench/internal/works"
	"processidea/internal/longrun"
	"processidea/worker/engine"
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
	figures := filepath.Join(dir, "figures.json")
	o, err := readOptions([]string{"--quick", "chain", "--json", figures, "instances"}, io.Discard)
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
	for _, want := range []string{"chain: overhead a step", "chain: bytes: histories", "chain: bytes: store folder",
		"chain: bytes: database file",
		"instances: time", "instances: longest history", "instances: an instance, against a plain workflow"} {
		work, name, _ := strings.Cut(want, ": ")
		i := slices.IndexFunc(r.Figures, func(f report.Figure) bool { return f.Workload == work && f.Name == name })
		if i < 0 {
			t.Errorf("there is no figure %q", want)
		} else if f := r.Figures[i]; f.MeasuredSpread.Median <= 0 || len(f.MeasuredSpread.Values) < 1 || f.Axis == "" ||
			f.Size < 1 {
			t.Errorf("%s is %+v", want, f)
		}
		if !strings.Contains(table.String(), "| "+work+" | "+name+" |") {
			t.Errorf("the table has no line for %q", want)
		}
	}
	if o, err = readOptions([]string{"--from", figures, "--from", figures}, io.Discard); err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	if err := run(t.Context(), o, &again); err != nil || again.String() != table.String() {
		t.Errorf("from what was saved: %v\n%s\nnot\n%s", err, again.String(), table.String())
	}
}

func TestManyRunsComeToOneEndByAPlanAndToSeveralByAnLLMThatVaries(t *testing.T) {
	longrun.SkipUnlessEnabled(t)
	t.Setenv(asProgram, "1")
	figures := filepath.Join(t.TempDir(), "figures.json")
	o, err := readOptions([]string{"--quick", "repeat", "--json", figures}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, f := range readReport(t, figures).Figures {
		if f.Name == report.FloorFigureName {
			continue
		}
		want := map[string]float64{"different ends, by the Plan": 1, "different ends, by the LLM": 4,
			"Requests of the Plan": 0}[f.Name]
		if f.MeasuredSpread.Median != want || f.Size != 5 {
			t.Errorf("%s: %v of %d", f.Name, f.MeasuredSpread.Median, f.Size)
		}
	}
}

func TestAWorkThatFailsInItsProcessIsNamed(t *testing.T) {
	t.Setenv(asProgram, "1")
	o, err := readOptions([]string{"--quick", "chain", "batch"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, o, io.Discard); err == nil || !strings.Contains(err.Error(), "measure chain") {
		t.Errorf("the error is %v", err)
	}
}

func TestAWorkWhoseProcessPausesEndsWithTheReason(t *testing.T) {
	b, err := bed.New(t.Context(), engine.EmbeddedLimits)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.UseScript(script.ChainReplyLines("instant", 3)); err != nil {
		t.Fatal(err)
	}
	_, err = b.Run(t.Context(), bed.ProcessSpec{ID: "short", ToolJSON: bed.GoToolJSON("instant"),
		MessagesJSON: bed.TextMessage("Go on."), LimitsJSON: `{"requests": 2}`})
	for _, err := range []error{err, b.Watch(t.Context(), "short")} {
		if err == nil || !strings.Contains(err.Error(), "process short is paused: ") ||
			!strings.Contains(err.Error(), "2 Requests were made, the limit") {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestAQuickRunWithoutNamesGoesThroughEveryWork(t *testing.T) {
	t.Parallel()
	o, err := readOptions([]string{"--quick"}, io.Discard)
	if err != nil || len(o.workloads) != len(works.AllWorkloads) {
		t.Errorf("%d of %d works (%v)", len(o.workloads), len(works.AllWorkloads), err)
	}
}

func TestAllRoundsOfAWorkAreDealtOutEvenlyToThePasses(t *testing.T) {
	for rounds := range 40 {
		total, least, most := 0, rounds, 0
		for pass := range passCount {
			n := roundCountInPass(rounds, pass)
			total, least, most = total+n, min(least, n), max(most, n)
		}
		if total != rounds || most-least > 1 {
			t.Errorf("of %d rounds %d are done, from %d to %d a pass", rounds, total, least, most)
		}
	}
}

// savedReport is the JSON that --json writes.
type savedReport struct {
	Go      string
	CPUs    int
	Quick   bool
	Figures []report.Figure
}

func readReport(t *testing.T, name string) (r savedReport) {
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

func TestAnUnknownWorkIsRefusedByName(t *testing.T) {
	_, err := readOptions([]string{"chain", "chan"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `no work "chan"`) {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatAHostedServerBillsKeepsItsLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short")
	}
	o, err := readOptions([]string{"--quick", "actions"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	// On a busy machine what happens to many instances comes in more pieces, each with a signal of its own: that limit
	// is one for a bench.
	if err := run(t.Context(), o, &table); err != nil && !strings.Contains(err.Error(), "actions an instance") {
		t.Errorf("%v\n%s", err, table.String())
	}
	for _, want := range []string{
		"| 7 an instance | ", "diamond: actions", "| 34: 3 a Call + 5 a Request | yes |",
		"example moderation: actions an instance", "example refunds: actions",
		"| 0.05 a second a running Call | yes |", "| 60 an hour a watcher | yes |",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("it says nothing of %q:\n%s", want, table.String())
		}
	}
}

func TestAFirmLimitThatIsPassedIsAnError(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		figures []report.Figure
		fails   bool
	}{
		{[]report.Figure{{Workload: "actions", Name: "batch", MeetsLimit: &no},
			{Workload: "actions", Name: "chain", MeetsLimit: &yes}},
			true},
		// the machine may be slow
		{[]report.Figure{{Workload: "actions", Name: "batch", MeetsLimit: &yes},
			{Workload: "chain", Name: "time", MeetsLimit: &no}}, false},
	} {
		if err := checkFirmLimits(c.figures); (err != nil) != c.fails ||
			(c.fails && !strings.Contains(err.Error(), "actions: batch is 0")) {
			t.Errorf("%+v: %v", c.figures, err)
		}
	}
}

func TestWorksThatHaveBoundsAreMeasuredWhereNoneIsNamed(t *testing.T) {
	t.Parallel()
	o, err := readOptions([]string{"--against", "bounds.json"}, io.Discard)
	if err != nil || len(o.workloads) == 0 || len(o.workloads) == len(works.DefaultWorkloads()) {
		t.Errorf("%d works (%v)", len(o.workloads), err)
	}
	unknown := filepath.Join(t.TempDir(), "bounds.json")
	if err := (report.Bounds{"chan": {}}).Save(unknown); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{"--update needs --against": {"--update"},
		"--quick makes them small": {"--quick", "--against", "bounds.json"}, `bounds of "chan"`: {"--against", unknown},
		"no such file": {"--against", unknown + "2"}} {
		if _, err := readOptions(args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// Saved figures are held against bounds, and set them, as those of a run are.
func TestSavedFiguresAreHeldAgainstBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	figures, bounds := filepath.Join(dir, "figures.json"), filepath.Join(dir, "bounds.json")
	record := report.NewRecorder("batch")
	record.FindOrAddFigure("time", "s").Add(2)
	record.FindOrAddFigure(report.FloorFigureName, "ms").Add(500)
	err := report.Save(figures, false, record.SummarizedFigures())
	if err == nil {
		err = report.Bounds{"batch": {"time": 3}}.Save(bounds)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, err string }{{"", "time is 4 of the floor, at most 3"}, {"--update", ""},
		{"", ""}} {
		args := []string{"--from", figures, "--against", bounds}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		o, err := readOptions(args, io.Discard)
		if err == nil {
			err = run(t.Context(), o, io.Discard)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %v, want %q", args, err, c.err)
		}
	}
}
