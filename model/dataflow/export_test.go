package dataflow

import (
	"slices"

	"processidea/model/jsonval"
)

// What only the tests of this package see.

func (r *CallRecord) Expects() bool              { return r.expectsResult() }
func (r *CallRecord) Update() bool               { return r.resultUpdatesPath() }
func (r *CallRecord) Writes(p jsonval.Path) bool { return r.mayWrite(p) }
func (i *Instance) ExpireCall(rec *CallRecord)   { i.applyTimeoutAction(rec) }

// In is a Record that stands in a phase.
func (r CallRecord) In(phaseName string) CallRecord {
	p := callPhase(slices.Index(phaseNames[:], phaseName))
	r.phase = p
	if p != phaseEnded {
		r.Status = statusByPhase[p]
	}
	return r
}

// Phase returns the name of the Call's phase.
func (r *CallRecord) Phase() string { return r.phase.String() }
