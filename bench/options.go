package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"

	"processidea/bench/internal/report"
	"processidea/bench/internal/works"
	"processidea/model/jsonval"
)

// options holds the command line.
type options struct {
	workloads          []works.Workload
	outputJSONFile     string
	inputFigureFiles   []string
	boundsFile         string
	shouldUpdateBounds bool // set the bounds in the file of against
	roundCount         int
	isQuick            bool
}

// readOptions reads flags and names of works in any order. Without names it takes all works in a quick run, the bounded
// works with --against, and otherwise every work that lasts minutes at most.
func readOptions(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.outputJSONFile, "json", "", "file for the figures as JSON")
	f.Func("from", "measure nothing, and take the figures from a `file` that --json made; may be given several times: "+
		"of a work that is in several the last one counts",
		func(name string) error { o.inputFigureFiles = append(o.inputFigureFiles, name); return nil })
	f.StringVar(&o.boundsFile, "against", "", "fail where a time passes its bound in a `file`, as a multiple of what "+
		"plain workflows took in the same run")
	f.BoolVar(&o.shouldUpdateBounds, "update", false,
		"set the bounds in the file of --against: what this run took, and a tenth more")
	f.IntVar(&o.roundCount, "rounds", 0, "how often each work is done (default: what suits the work)")
	f.BoolVar(&o.isQuick, "quick", false,
		"small sizes, one round: whether it works, not how fast; without names every work there is")
	if o.workloads, err = works.AllWorkloads.SelectByArgs(f, args, stderr); err != nil {
		return o, err
	}
	switch {
	case o.shouldUpdateBounds && o.boundsFile == "":
		return o, errors.New("--update needs --against: the file whose bounds it sets")
	case o.isQuick && o.boundsFile != "":
		return o, errors.New("--against is for works of full size, and --quick makes them small")
	case len(o.workloads) > 0:
	case o.boundsFile != "":
		o.workloads, err = boundedWorkloads(o.boundsFile)
	case o.isQuick:
		o.workloads = works.AllWorkloads
	default:
		o.workloads = works.DefaultWorkloads()
	}
	return o, err
}

// boundedWorkloads lists the works that have bounds in a file.
func boundedWorkloads(boundsFile string) (selected []works.Workload, err error) {
	bounds, err := report.ReadBounds(boundsFile)
	for work := range jsonval.Sorted(bounds) {
		w, known := works.AllWorkloads.Find(work)
		if !known {
			return nil, fmt.Errorf("%s has bounds of %q, and there is no such work", boundsFile, work)
		}
		selected = append(selected, w)
	}
	return selected, err
}

// childArguments returns the flags with which a child process does some rounds of a work with these options.
func (o options) childArguments(roundCount int) []string {
	return []string{"--rounds", strconv.Itoa(roundCount), "--quick=" + strconv.FormatBool(o.isQuick)}
}

// passCount is the number of passes over all works, each with a share of their rounds. A machine slows down and
// recovers within minutes. This way works that are compared with each other meet the same conditions.
const passCount = 5

// roundCountInPass returns how many of the rounds belong to one pass.
func roundCountInPass(roundCount, pass int) int {
	return roundCount*(pass+1)/passCount - roundCount*pass/passCount
}

// roundCountOf returns the number of rounds of a work.
func (o options) roundCountOf(w works.Workload) int {
	switch {
	case o.roundCount > 0:
		return o.roundCount
	case o.isQuick:
		return 1
	}
	return w.RoundCount
}
