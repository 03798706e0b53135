package dataflow

import (
	"slices"

	"processidea/model/jsonval"
)

// What only the tests of this package see.

func (r *Record) Expects() bool              { return r.expects() }
func (r *Record) Update() bool               { return r.update() }
func (r *Record) Writes(p jsonval.Path) bool { return r.writes(p) }
func (r *Instance) ExpireCall(rec *Record)   { r.expireCall(rec) }

// In is a Record that stands in a phase.
func (r Record) In(phaseName string) Record {
	p := phase(slices.Index(phaseNames[:], phaseName))
	r.phase = p
	if p != ended {
		r.Status = phaseStatus[p]
	}
	return r
}
