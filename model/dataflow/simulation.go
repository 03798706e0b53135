package dataflow

import (
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// standIn takes the decision on a Call for which a person would be asked: it runs as shown.
func (r *Instance) standIn(rec *Record) {
	r.approve(rec, turn.Decision{
		Kind: ideafile.Approve, Call: rec.ID, Digest: rec.Pending.Digest, By: ideafile.SimulatedPerson, At: r.now, Reason: "nobody is asked in a simulation",
	})
}
