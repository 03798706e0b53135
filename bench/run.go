package main

import (
	"context"
	"fmt"
	"io"
)

// run does the works one after the other, each on a bed of its own, so that what one keeps is not counted for another.
func run(ctx context.Context, o options, out io.Writer) error {
	var figures []figure
	for _, w := range o.works {
		r := &record{work: w.name}
		if err := rounds(ctx, w, o, r); err != nil {
			return fmt.Errorf("measure %s: %w", w.name, err)
		}
		figures = append(figures, r.figures()...)
	}
	printTable(out, figures)
	return save(o, figures)
}

func rounds(ctx context.Context, w work, o options, r *record) error {
	n := w.rounds
	if o.rounds > 0 {
		n = o.rounds
	} else if o.quick {
		n = 1
	}
	for round := range n {
		if err := once(ctx, w, r, size{round: round, quick: o.quick}); err != nil {
			return err
		}
	}
	return nil
}

func once(ctx context.Context, w work, r *record, s size) error {
	b, err := newBed(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	return w.run(ctx, b, r, s)
}
