package works

import (
	"context"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/worker/engine"
)

// Workload is one work to measure.
type Workload struct {
	Name             string
	RoundCount       int  // the default; the command line may set another number
	isOptIn          bool // runs only by name
	usesHostedLimits bool // the worker saves actions, as beside a server that is not embedded
	HasFirmLimits    bool // its figures do not depend on the machine's speed, so exceeding a limit is an error
	Run              func(context.Context, Round) error
}

// Limits returns the limits of the work's worker.
func (w Workload) Limits() engine.Limits {
	if w.usesHostedLimits {
		return bed.HostedLimits
	}
	return engine.EmbeddedLimits
}

// Round is one round of a work: on its own bed, into the record of all rounds.
type Round struct {
	*bed.TestBed
	*report.Recorder
	Number  int
	IsQuick bool // only checks whether it works
}

// pickSize returns the full size, or the small size for a quick run.
func (r Round) pickSize(fullSize, quickSize int) int {
	if r.IsQuick {
		return quickSize
	}
	return fullSize
}

// withAxis returns the round with a record for figures at this number of Requests, Calls or instances.
func (r Round) withAxis(axis string, size int) Round {
	r.Recorder = r.WithAxis(axis, size)
	return r
}

// pace is the LLM's pace.
func (r Round) pace() string {
	if r.IsQuick {
		return ""
	}
	return script.RealTimePace
}

// AllWorkloads lists every work, in the order of the table.
var AllWorkloads = List{
	{Name: "diamond", RoundCount: 2, Run: diamondWork(false, 1.02)},
	{Name: "diamond-one-request", RoundCount: 2, Run: diamondWork(true, 1.03)},
	{Name: "chain", RoundCount: 3, Run: requestChainWork(200)},
	{Name: "chain-10", RoundCount: 5, Run: requestChainWork(10)},
	{Name: "chain-100", RoundCount: 3, Run: requestChainWork(100)},
	{Name: "chain-1000", RoundCount: 2, Run: requestChainWork(1000)},
	{Name: "stream", RoundCount: 3, Run: streamWork},
	{Name: "fanout", RoundCount: 6, Run: activityFanouts.run},
	{Name: "fanout-pure", RoundCount: 10, Run: pureFanouts.run},
	{Name: "batch", RoundCount: 4, Run: batchWork},
	{Name: "actions", RoundCount: 1, usesHostedLimits: true, HasFirmLimits: true, Run: actionsWork},
	{Name: "repeat", RoundCount: 1, Run: repeatWork},
	{Name: "instances-10", RoundCount: 5, Run: instancesWork(10)},
	{Name: "instances-100", RoundCount: 5, Run: instancesWork(100)},
	{Name: "instances", RoundCount: 3, Run: instancesWork(1000)},
	{Name: "instances-10000", RoundCount: 1, isOptIn: true, Run: instancesWork(10000)},
	{Name: "instances-100000", RoundCount: 1, isOptIn: true, Run: instancesWork(100_000)},
}

// DefaultWorkloads lists the works that take minutes at most.
func DefaultWorkloads() (defaults []Workload) {
	for _, w := range AllWorkloads {
		if !w.isOptIn {
			defaults = append(defaults, w)
		}
	}
	return defaults
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func toMilliseconds(durations []time.Duration) (values []float64) {
	for _, d := range durations {
		values = append(values, milliseconds(d))
	}
	return values
}

// sumSeconds adds up durations.
func sumSeconds(durations []time.Duration) float64 {
	var s time.Duration
	for _, d := range durations {
		s += d
	}
	return s.Seconds()
}
