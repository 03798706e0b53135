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
	kills             int
	seed              uint64
	jsonFile, keepDir string
}

func main() {
	o := options{}
	flag.IntVar(&o.kills, "kills", 50, "how often something is killed")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of the moments and the victims")
	flag.StringVar(&o.jsonFile, "json", "", "file for the figures as JSON (default standard output, after the table)")
	flag.StringVar(&o.keepDir, "keep", "", "folder to work in, kept afterwards (default a temporary one)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	violations, err := run(ctx, o)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(2)
	case violations > 0:
		os.Exit(1)
	}
}

// run returns the number of violations of rules.
func run(ctx context.Context, o options) (violations int, err error) {
	fmt.Printf("seed %d, %d kills\n", o.seed, o.kills)
	b, err := newBed(ctx, o.keepDir)
	if err != nil {
		return 0, err
	}
	defer b.close()
	cases, err := readCases(b)
	if err != nil {
		return 0, err
	}
	t := &trial{testBed: b, cases: cases, figures: newFigures(o), failedKeys: map[string]bool{}}
	if err := t.runWithoutKills(ctx); err != nil {
		return 0, err
	}
	if err := t.runWithKills(ctx, o); err != nil {
		return 0, err
	}
	return len(t.figures.Violations), t.figures.print(o.jsonFile)
}
