package works

import (
	"context"
	"fmt"
	"strings"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/worker/engine"
)

// Work is one thing that is measured.
type Work struct {
	Name   string
	Rounds int  // unless the command line says otherwise
	long   bool // runs only by name
	hosted bool // the worker saves actions, as it does beside a server that is not embedded
	Firm   bool // its figures do not depend on the machine's speed, so that a limit that is passed is an error
	Run    func(context.Context, *bed.Bed, *report.Record, Size) error
}

// Limits are those of the worker that the work is done with.
func (w Work) Limits() engine.Limits {
	if w.hosted {
		return bed.Hosted
	}
	return engine.Alone
}

// Size says how much a work does in one round.
type Size struct {
	Round int
	Quick bool // only to see whether it works
}

// of gives the full size, or the small one of a quick run.
func (s Size) of(full, quick int) int {
	if s.Quick {
		return quick
	}
	return full
}

// All lists every work, in the order of the table.
var All = []Work{
	{Name: "diamond", Rounds: 2, Run: diamondWork(false)},
	{Name: "diamond-one-request", Rounds: 2, Run: diamondWork(true)},
	{Name: "chain", Rounds: 3, Run: chainWork(200)},
	{Name: "chain-10", Rounds: 5, Run: chainWork(10)},
	{Name: "chain-100", Rounds: 3, Run: chainWork(100)},
	{Name: "chain-1000", Rounds: 2, Run: chainWork(1000)},
	{Name: "stream", Rounds: 3, Run: streamWork},
	{Name: "fanout", Rounds: 6, Run: asActivities.work},
	{Name: "fanout-pure", Rounds: 10, Run: asPure.work},
	{Name: "batch", Rounds: 4, Run: batchWork},
	{Name: "actions", Rounds: 1, hosted: true, Firm: true, Run: actionsWork},
	{Name: "repeat", Rounds: 1, Run: repeatWork},
	{Name: "instances-10", Rounds: 5, Run: instancesWork(10)},
	{Name: "instances-100", Rounds: 5, Run: instancesWork(100)},
	{Name: "instances", Rounds: 3, Run: instancesWork(1000)},
	{Name: "instances-10000", Rounds: 1, long: true, Run: instancesWork(10000)},
	{Name: "desk", Rounds: 1, long: true, Run: deskWork(1000)},
	{Name: "desk-10000", Rounds: 1, long: true, Run: deskWork(10_000)},
}

// Names lists the names of all works.
func Names() (names []string) {
	for _, w := range All {
		names = append(names, w.Name)
	}
	return names
}

// Usual lists the works that take minutes at most.
func Usual() (some []Work) {
	for _, w := range All {
		if !w.long {
			some = append(some, w)
		}
	}
	return some
}

// Find gives the work of a name.
func Find(name string) (Work, error) {
	for _, w := range All {
		if w.Name == name {
			return w, nil
		}
	}
	return Work{}, fmt.Errorf("there is no work %q; there are %s", name, strings.Join(Names(), ", "))
}
