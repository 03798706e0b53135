package works

import (
	"context"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/worker/engine"
)

// Work is one work to measure.
type Work struct {
	Name           string
	Rounds         int  // the default; the command line may set another number
	runsOnlyByName bool // runs only by name
	savesActions   bool // the worker saves actions, as beside a server that is not embedded
	HasFirmLimits  bool // its figures do not depend on the machine's speed, so exceeding a limit is an error
	Run            func(context.Context, Round) error
}

// Limits returns the limits of the work's worker.
func (w Work) Limits() engine.Limits {
	if w.savesActions {
		return bed.HostedLimits
	}
	return engine.EmbeddedLimits
}

// Round is one round of a work: on its own bed, into the record of all rounds.
type Round struct {
	*bed.TestBed
	*report.Record
	Number int
	Quick  bool // only checks whether it works
}

// size returns the full size, or the small size for a quick run.
func (r Round) size(full, quick int) int {
	if r.Quick {
		return quick
	}
	return full
}

// withAxis returns the round with a record for figures at this number of Requests, Calls or instances.
func (r Round) withAxis(axis string, size int) Round {
	r.Record = r.WithAxis(axis, size)
	return r
}

// pace is the LLM's pace.
func (r Round) pace() string {
	if r.Quick {
		return ""
	}
	return script.RealTimePace
}

// AllWorks lists every work, in the order of the table.
var AllWorks = List{
	{Name: "diamond", Rounds: 2, Run: diamondWork(false, 1.02)},
	{Name: "diamond-one-request", Rounds: 2, Run: diamondWork(true, 1.03)},
	{Name: "chain", Rounds: 3, Run: chainWork(200)},
	{Name: "chain-10", Rounds: 5, Run: chainWork(10)},
	{Name: "chain-100", Rounds: 3, Run: chainWork(100)},
	{Name: "chain-1000", Rounds: 2, Run: chainWork(1000)},
	{Name: "stream", Rounds: 3, Run: streamWork},
	{Name: "fanout", Rounds: 6, Run: activityFanouts.work},
	{Name: "fanout-pure", Rounds: 10, Run: pureFanouts.work},
	{Name: "batch", Rounds: 4, Run: batchWork},
	{Name: "actions", Rounds: 1, savesActions: true, HasFirmLimits: true, Run: actionsWork},
	{Name: "repeat", Rounds: 1, Run: repeatWork},
	{Name: "instances-10", Rounds: 5, Run: instancesWork(10)},
	{Name: "instances-100", Rounds: 5, Run: instancesWork(100)},
	{Name: "instances", Rounds: 3, Run: instancesWork(1000)},
	{Name: "instances-10000", Rounds: 1, runsOnlyByName: true, Run: instancesWork(10000)},
	{Name: "instances-100000", Rounds: 1, runsOnlyByName: true, Run: instancesWork(100_000)},
}

// DefaultWorks lists the works that take minutes at most.
func DefaultWorks() (usual []Work) {
	for _, w := range AllWorks {
		if !w.runsOnlyByName {
			usual = append(usual, w)
		}
	}
	return usual
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func inMS(all []time.Duration) (values []float64) {
	for _, d := range all {
		values = append(values, milliseconds(d))
	}
	return values
}

// sumSeconds adds up durations.
func sumSeconds(all []time.Duration) float64 {
	var s time.Duration
	for _, d := range all {
		s += d
	}
	return s.Seconds()
}
