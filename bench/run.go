package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
)

// run does the works one after the other, each on a bed of its own, so that what one keeps is not counted for another.
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

func measure(ctx context.Context, o options) (figures []figure, err error) {
	stop, err := profile(o.profile)
	if err != nil {
		return nil, err
	}
	defer stop()
	records := make([]*record, len(o.works))
	for i, w := range o.works {
		records[i] = &record{work: w.name}
	}
	for _, t := range o.turns() {
		if err := once(ctx, o.works[t.work], records[t.work], o, t.round); err != nil {
			return nil, fmt.Errorf("measure %s: %w", o.works[t.work].name, err)
		}
	}
	for _, r := range records {
		figures = append(figures, r.figures()...)
	}
	return figures, nil
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

func once(ctx context.Context, w work, r *record, o options, round int) error {
	b, err := newBed(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	if err := w.run(ctx, b, r, size{round: round, quick: o.quick}); err != nil || o.hops == "" {
		return err
	}
	return b.writeHops(ctx, o.hops, fmt.Sprintf("%s, round %d", w.name, round+1))
}
