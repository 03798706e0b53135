package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/works"
)

// run measures the works one after the other, or reads earlier measurements.
func run(ctx context.Context, o options, out io.Writer) error {
	figures, err := measureOrRead(ctx, o)
	if err != nil {
		return err
	}
	report.PrintTable(out, figures)
	report.PrintGrowths(out, report.ComputeGrowths(figures))
	if o.jsonFile != "" {
		if err := report.Save(o.jsonFile, o.quick, figures); err != nil {
			return err
		}
	}
	if err := checkOrUpdateBounds(o, figures); err != nil {
		return err
	}
	return checkFirmLimits(figures)
}

// checkOrUpdateBounds sets the bounds with --update. Otherwise it returns an error that names the exceeded bounds.
func checkOrUpdateBounds(o options, figures []report.Figure) error {
	if o.boundsFile == "" {
		return nil
	}
	bounds, err := report.ReadBounds(o.boundsFile)
	if err != nil {
		return err
	}
	if o.updateBounds {
		bounds.Update(figures)
		return bounds.Save(o.boundsFile)
	}
	if exceeded := bounds.FindExceeded(figures); len(exceeded) > 0 {
		return fmt.Errorf("bounds of %s (--update sets them): %s", o.boundsFile, strings.Join(exceeded, "; "))
	}
	return nil
}

// checkFirmLimits returns an error that names the exceeded limits of works whose figures do not depend on the machine's
// speed.
func checkFirmLimits(figures []report.Figure) error {
	var failed []string
	for _, f := range figures {
		if w, _ := works.AllWorks.Find(f.Work); w.HasFirmLimits && f.Met != nil && !*f.Met {
			failed = append(failed, fmt.Sprintf("%s: %s is %.4g, at most %.4g", f.Work, f.Name, f.Ours.Median, f.Limit))
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("limits are passed: %s", strings.Join(failed, "; "))
	}
	return nil
}

func measureOrRead(ctx context.Context, o options) ([]report.Figure, error) {
	switch {
	case len(o.fromFiles) > 0:
		return report.Read(o.fromFiles)
	case o.runsInOneProcess():
		return measureInProcess(ctx, o)
	}
	return measure(ctx, o)
}

// measure does each work's share of a pass in a child process. A stopped embedded server leaves some of its memory
// behind, and clients; these must not count for the next work.
func measure(ctx context.Context, o options) ([]report.Figure, error) {
	records := newRecords(o.works)
	for pass := range passCount {
		for i, w := range o.works {
			rounds := roundsInPass(o.roundsOf(w), pass)
			if rounds == 0 {
				continue
			}
			figures, err := measureInChild(ctx, o, w, rounds)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", w.Name, err)
			}
			records[i].AddFigures(figures)
		}
	}
	return sumFigures(records), nil
}

// measureInChild runs this program again for some rounds of one work.
func measureInChild(ctx context.Context, o options, w works.Work, rounds int) ([]report.Figure, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	figuresFile := filepath.Join(dir, "figures.json")
	cmd := exec.CommandContext(ctx, program, append(o.arguments(rounds), w.Name, "--json", figuresFile)...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return report.Read([]string{figuresFile})
}

// measureInProcess does the works in this process.
func measureInProcess(ctx context.Context, o options) ([]report.Figure, error) {
	stop, err := profile(o.profileFile)
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := warmUp(ctx, o); err != nil {
		return nil, err
	}
	records := newRecords(o.works)
	for i, w := range o.works {
		for round := range o.roundsOf(w) {
			if err := runRound(ctx, w, works.Round{Record: records[i], Number: round, Quick: o.quick}); err != nil {
				return nil, fmt.Errorf("measure %s: %w", w.Name, err)
			}
		}
	}
	return sumFigures(records), nil
}

// warmUp runs the first work once at a small size and drops the figures, since everything takes longer in a program
// that has just started.
func warmUp(ctx context.Context, o options) error {
	if o.quick || len(o.works) == 0 {
		return nil
	}
	w := o.works[0]
	if err := runRound(ctx, w, works.Round{Record: report.NewRecord(w.Name), Quick: true}); err != nil {
		return fmt.Errorf("warm up with %s: %w", w.Name, err)
	}
	return nil
}

// profile writes a processor profile to a file until stop is called. Without a path it does nothing.
func profile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("bench: create profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("bench: profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}, nil
}

func newRecords(list []works.Work) (records []*report.Record) {
	for _, w := range list {
		records = append(records, report.NewRecord(w.Name))
	}
	return records
}

// sumFigures sums up every record.
func sumFigures(records []*report.Record) (all []report.Figure) {
	for _, r := range records {
		all = append(all, r.Figures()...)
	}
	return all
}

// floorSize is the number of plain workflows that show after each round how fast the machine is.
const floorSize = 50

// runRound does one round of a work on a new bed.
func runRound(ctx context.Context, w works.Work, r works.Round) (err error) {
	if r.TestBed, err = bed.New(ctx, w.Limits()); err != nil {
		return err
	}
	defer r.Close()
	if err := w.Run(ctx, r); err != nil {
		return err
	}
	floor, err := r.MeasureFloor(ctx, floorSize)
	r.Figure(report.FloorFigure, "ms").Add(floor.Seconds() * 1000)
	return err
}
