package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
)

// run does the works one after the other, or takes what was measured before.
func run(ctx context.Context, o options, out io.Writer) error {
	get := measure
	if len(o.from) > 0 {
		get = readFigures
	}
	figures, err := get(ctx, o)
	if err != nil {
		return err
	}
	printTable(out, figures)
	printGrowths(out, growths(figures))
	return save(o, figures)
}

// measure does each work's share of a pass in a process of its own, and each round on a bed of its own, so that what one keeps
// is neither counted for another nor in its way: an embedded server that has stopped leaves some of its memory behind, and
// clients.
func measure(ctx context.Context, o options) ([]figure, error) {
	if o.together() {
		return measureHere(ctx, o)
	}
	records := recordsOf(o.works)
	for pass := range passes {
		for i, w := range o.works {
			rounds := share(o.roundsOf(w), pass)
			if rounds == 0 {
				continue
			}
			figures, err := measureApart(ctx, o, w, rounds)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", w.name, err)
			}
			records[i].take(figures)
		}
	}
	return figuresOf(records), nil
}

// measureApart has this very program do some rounds of one work.
func measureApart(ctx context.Context, o options, w work, rounds int) ([]figure, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	saved := filepath.Join(dir, "figures.json")
	cmd := exec.CommandContext(ctx, program, append(o.passedOn(rounds), w.name, "--json", saved)...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return readFigures(ctx, options{from: []string{saved}})
}

// measureHere does the works in this process.
func measureHere(ctx context.Context, o options) ([]figure, error) {
	stop, err := profile(o.profile)
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := warmUp(ctx, o); err != nil {
		return nil, err
	}
	records := recordsOf(o.works)
	for i, w := range o.works {
		for round := range o.roundsOf(w) {
			if err := once(ctx, w, records[i], o, size{round: round, quick: o.quick}); err != nil {
				return nil, fmt.Errorf("measure %s: %w", w.name, err)
			}
		}
	}
	return figuresOf(records), nil
}

// warmUp does the first work once in small, and notes nothing: a program that has just started takes longer for whatever it
// does.
func warmUp(ctx context.Context, o options) error {
	if o.quick || len(o.works) == 0 {
		return nil
	}
	w := o.works[0]
	o.hops = ""
	if err := once(ctx, w, &record{work: w.name}, o, size{quick: true}); err != nil {
		return fmt.Errorf("warm up with %s: %w", w.name, err)
	}
	return nil
}

// profile says what the processor works on, until it is stopped, where a file is named for it.
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

func once(ctx context.Context, w work, r *record, o options, s size) error {
	b, err := newBed(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	if err := w.run(ctx, b, r, s); err != nil || o.hops == "" {
		return err
	}
	return b.writeHops(ctx, o.hops, fmt.Sprintf("%s, round %d", w.name, s.round+1))
}
