package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/works"
	"processidea/model/jsonval"
)

// run measures the works one after the other, or reads earlier measurements.
func run(ctx context.Context, o options, out io.Writer) error {
	figures, err := measureOrRead(ctx, o)
	if err != nil {
		return err
	}
	var bounds report.Bounds
	if o.boundsFile != "" {
		if bounds, err = report.ReadBounds(o.boundsFile); err != nil {
			return err
		}
	}
	bounds.SetLimits(figures)
	report.PrintTable(out, figures)
	report.PrintGrowths(out, report.ComputeGrowths(figures))
	if o.outputJSONFile != "" {
		if err := report.Save(o.outputJSONFile, o.isQuick, figures); err != nil {
			return err
		}
	}
	if err := checkOrUpdateBounds(o, bounds, figures); err != nil {
		return err
	}
	return checkFirmLimits(figures)
}

// checkOrUpdateBounds sets the bounds with --update. Otherwise it returns an error that names the exceeded bounds.
func checkOrUpdateBounds(o options, bounds report.Bounds, figures []report.Figure) error {
	if o.shouldUpdateBounds {
		bounds.Update(figures)
		return bounds.Save(o.boundsFile)
	}
	if exceeded := bounds.FindProblems(figures); len(exceeded) > 0 {
		return fmt.Errorf("bounds of %s (--update sets them): %s", o.boundsFile, strings.Join(exceeded, "; "))
	}
	return nil
}

// checkFirmLimits returns an error that names the exceeded limits of works whose figures do not depend on the machine's
// speed.
func checkFirmLimits(figures []report.Figure) error {
	var exceeded []string
	for _, f := range figures {
		if w, _ := works.AllWorkloads.Find(f.Workload); w.HasFirmLimits && f.MeetsLimit != nil && !*f.MeetsLimit {
			exceeded = append(exceeded, fmt.Sprintf("%s: %s is %.4g, at most %.4g", f.Workload, f.Name,
				f.MeasuredSpread.Median, f.Limit))
		}
	}
	if len(exceeded) > 0 {
		return fmt.Errorf("limits are passed: %s", strings.Join(exceeded, "; "))
	}
	return nil
}

func measureOrRead(ctx context.Context, o options) ([]report.Figure, error) {
	switch {
	case len(o.inputFigureFiles) > 0:
		return report.Read(o.inputFigureFiles)
	case len(o.workloads) == 1:
		return measureInProcess(ctx, o, o.workloads[0])
	}
	return measureInPasses(ctx, o)
}

// measureInPasses does each work's share of a pass in a child process. A stopped embedded server leaves some of its
// memory behind, and clients; these must not count for the next work.
func measureInPasses(ctx context.Context, o options) (all []report.Figure, err error) {
	records := jsonval.Map(o.workloads, func(w works.Workload) *report.Recorder { return report.NewRecorder(w.Name) })
	for pass := range passCount {
		for i, w := range o.workloads {
			roundCount := roundCountInPass(o.roundCountOf(w), pass)
			if roundCount == 0 {
				continue
			}
			figures, err := measureInChild(ctx, o, w, roundCount)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", w.Name, err)
			}
			records[i].AddFigures(figures)
		}
	}
	for _, r := range records {
		all = append(all, r.SummarizedFigures()...)
	}
	return all, nil
}

// measureInChild runs this program again for some rounds of one work.
func measureInChild(ctx context.Context, o options, w works.Workload, roundCount int) ([]report.Figure, error) {
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
	cmd := exec.CommandContext(ctx, program, append(o.childArguments(roundCount), w.Name, "--json", figuresFile)...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return report.Read([]string{figuresFile})
}

// measureInProcess does a work in this process. Before, it does the work once at a small size and drops the figures,
// since everything takes longer in a program that has just started.
func measureInProcess(ctx context.Context, o options, w works.Workload) ([]report.Figure, error) {
	if !o.isQuick {
		if err := runRound(ctx, w, works.Round{Recorder: report.NewRecorder(w.Name), IsQuick: true}); err != nil {
			return nil, fmt.Errorf("warm up with %s: %w", w.Name, err)
		}
	}
	record := report.NewRecorder(w.Name)
	for round := range o.roundCountOf(w) {
		if err := runRound(ctx, w, works.Round{Recorder: record, Number: round, IsQuick: o.isQuick}); err != nil {
			return nil, fmt.Errorf("measure %s: %w", w.Name, err)
		}
	}
	return record.SummarizedFigures(), nil
}

// floorWorkflowCount is the number of plain workflows that show after each round how fast the machine is.
const floorWorkflowCount = 50

// runRound does one round of a work on a new bed.
func runRound(ctx context.Context, w works.Workload, r works.Round) (err error) {
	if r.TestBed, err = bed.New(ctx, w.Limits()); err != nil {
		return err
	}
	defer r.Close()
	if err := w.Run(ctx, r); err != nil {
		return err
	}
	floor, err := r.MeasurePlainWorkflows(ctx, floorWorkflowCount)
	r.FindOrAddFigure(report.FloorFigureName, "ms").Add(floor.Seconds() * 1000)
	return err
}
