package dataflow

import (
	"slices"

	"processidea/model/jsonval"
)

// What only the tests of this package see.

func (r *Record) Expects() bool              { return r.expectsResult() }
func (r *Record) Update() bool               { return r.isUpdate() }
func (r *Record) Writes(p jsonval.Path) bool { return r.mayWrite(p) }
func (i *Instance) ExpireCall(rec *Record)   { i.expireCall(rec) }

// In is a Record that stands in a phase.
func (r Record) In(phaseName string) Record {
	p := phase(slices.Index(phaseNames[:], phaseName))
	r.phase = p
	if p != ended {
		r.Status = phaseStatus[p]
	}
	return r
}
