package main

import (
	"context"
	"fmt"
	"strings"
)

// work is one line of what is measured.
type work struct {
	name   string
	rounds int // unless the command line says otherwise
	long   bool
	run    func(context.Context, *bed, *record, size) error
}

// size says how much a work does.
type size struct {
	round int
	quick bool
}

// of gives the size, or the small one of a quick run.
func (s size) of(full, quick int) int {
	if s.quick {
		return quick
	}
	return full
}

// works is every work, in the order of the table. Those that are long run only by name.
var works = []work{
	{name: "diamond", rounds: 2, run: diamondWork(false)},
	{name: "diamond-one-request", rounds: 2, run: diamondWork(true)},
	{name: "chain", rounds: 3, run: chainWork(200)},
	{name: "chain-10", rounds: 5, run: chainWork(10)},
	{name: "chain-100", rounds: 3, run: chainWork(100)},
	{name: "chain-1000", rounds: 2, run: chainWork(1000)},
	{name: "chain-small-10", rounds: 5, run: smallChainWork(10)},
	{name: "chain-small-100", rounds: 3, run: smallChainWork(100)},
	{name: "chain-small-1000", rounds: 3, run: smallChainWork(1000)},
	{name: "stream", rounds: 3, run: streamWork},
	{name: "fanout", rounds: 6, run: asActivities.work},
	{name: "fanout-pure", rounds: 10, run: asPure.work},
	{name: "batch", rounds: 4, run: batchWork},
	{name: "instances-10", rounds: 5, run: instancesWork(10)},
	{name: "instances-100", rounds: 5, run: instancesWork(100)},
	{name: "instances", rounds: 3, run: instancesWork(1000)},
	{name: "state-small-members", rounds: 1, run: stateWork(1, 5000)},
	{name: "state-large-values", rounds: 1, run: stateWork(1, 5)},
	{name: "state-batch", rounds: 1, run: stateWork(4, 5000)},
	{name: "instances-10000", rounds: 1, long: true, run: instancesWork(10000)},
}

func names(works []work) []string {
	var all []string
	for _, w := range works {
		all = append(all, w.name)
	}
	return all
}

func usual() (some []work) {
	for _, w := range works {
		if !w.long {
			some = append(some, w)
		}
	}
	return some
}

func workOf(name string) (work, error) {
	for _, w := range works {
		if w.name == name {
			return w, nil
		}
	}
	return work{}, fmt.Errorf("there is no work %q; there are %s", name, strings.Join(names(works), ", "))
}
