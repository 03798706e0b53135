package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// options is the command line.
type options struct {
	works     []work
	json, svg string
	from      []string
	profile   string
	hops      string
	rounds    int
	quick     bool
	inTurn    bool
}

// readOptions takes flags before, between and after the names of works. Without names it is every work that takes minutes
// at most.
func readOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "usage: bench [work…] [flags]\nworks: %s\n", strings.Join(names(works), ", "))
		f.PrintDefaults()
	}
	f.StringVar(&o.json, "json", "", "file for the figures as JSON")
	f.StringVar(&o.svg, "svg", "", "file for the plots")
	f.Func("from", "measure nothing, and take the figures from a `file` that --json made; may be given several times: "+
		"of a work that is in several the last one counts",
		func(name string) error { o.from = append(o.from, name); return nil })
	f.StringVar(&o.profile, "cpuprofile", "", "file for a processor profile of all works, for go tool pprof")
	f.StringVar(&o.hops, "hops", "", "file to add every event of every history to, in the order of time")
	f.IntVar(&o.rounds, "rounds", 0, "how often each work is done (default: what suits the work)")
	f.BoolVar(&o.inTurn, "in-turn", false, "a round of each work and again, all in one process: sizes compare better where the machine "+
		"slows down by and by, but all of them take longer, as each meets what the others left in memory")
	f.BoolVar(&o.quick, "quick", false, "small sizes, one round: whether it works, not how fast")
	for {
		if err := f.Parse(args); err != nil {
			return o, err
		}
		if f.NArg() == 0 {
			break
		}
		w, err := workOf(f.Arg(0))
		if err != nil {
			return o, err
		}
		o.works = append(o.works, w)
		args = f.Args()[1:]
	}
	if len(o.works) == 0 {
		o.works = usual()
	}
	return o, nil
}

// together says whether all is done in this process: one work alone, all in turn, or what one profile is to show.
func (o options) together() bool { return len(o.works) == 1 || o.inTurn || o.profile != "" }

// passedOn is what another process must know to do a work as this one would.
func (o options) passedOn() []string {
	return []string{"--rounds", strconv.Itoa(o.rounds), "--hops", o.hops, "--quick=" + strconv.FormatBool(o.quick)}
}

// turn is one round of a work, by its place in the list.
type turn struct{ work, round int }

// turns is every round of the works in the order in which they are done: work by work, or a round of each and again. In
// turn, works of fewer rounds have them at the end.
func (o options) turns() (list []turn) {
	for i, w := range o.works {
		for round := range o.roundsOf(w) {
			list = append(list, turn{i, round})
		}
	}
	if o.inTurn {
		left := func(t turn) int { return o.roundsOf(o.works[t.work]) - t.round }
		slices.SortStableFunc(list, func(a, b turn) int { return left(b) - left(a) })
	}
	return list
}

// roundsOf is how often a work is done.
func (o options) roundsOf(w work) int {
	switch {
	case o.rounds > 0:
		return o.rounds
	case o.quick:
		return 1
	}
	return w.rounds
}
