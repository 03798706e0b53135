package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options holds the flags.
type options struct {
	kills      int
	seed       uint64
	json, keep string
}

func main() {
	o := options{}
	flag.IntVar(&o.kills, "kills", 50, "how often something is killed")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of the moments and the victims")
	flag.StringVar(&o.json, "json", "", "file for the figures as JSON (default standard output, after the table)")
	flag.StringVar(&o.keep, "keep", "", "folder to work in, kept afterwards (default a temporary one)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	wrong, err := run(ctx, o)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(2)
	case wrong > 0:
		os.Exit(1)
	}
}

// run returns the number of violations of rules.
func run(ctx context.Context, o options) (wrong int, err error) {
	fmt.Printf("seed %d, %d kills\n", o.seed, o.kills)
	b, err := newBed(ctx, o.keep)
	if err != nil {
		return 0, err
	}
	defer b.close()
	cases, err := readCases(b)
	if err != nil {
		return 0, err
	}
	t := &trial{bed: b, cases: cases, figures: newFigures(o), failed: map[string]bool{}}
	if err := t.runUndisturbed(ctx); err != nil {
		return 0, err
	}
	if err := t.runDisturbed(ctx, o); err != nil {
		return 0, err
	}
	return len(t.figures.Broken), t.figures.print(o.json)
}
