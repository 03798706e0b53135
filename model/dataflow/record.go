package dataflow

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Record is a Call in its instance, with what became of it.
type Record struct {
	ideafile.Call
	Status ideafile.CallStatus `json:"status"`
	// Fault says why a Call failed or is blocked.
	Fault *diag.Fault `json:"error,omitempty"`
	// By says who wrote the path of a skipped Call: a Call's id, a person, or "start". Where Untaken is set, it is the Call
	// that did not take that branch.
	By string `json:"by,omitempty"`
	// Untaken is what a skipped Call would have read: a branch that was not taken, as a Reference.
	Untaken string `json:"untaken,omitempty"`
	// Taken is the branch that the result of a Call with several took, from 1; Cause the failure that went to the last.
	Branch        int         `json:"taken,omitempty"`
	OriginalFault *diag.Fault `json:"cause,omitempty"`
	// Result of a Call without an output path.
	Result any `json:"result,omitempty"`
	// Adapted is what the LLM was asked to fit to the Tool's schema before the Call could run; nil where all fitted.
	Adapted *turn.Adaptation `json:"adapted,omitempty"`
	// Value is the result of an update that is there and not applied yet: invariant: nil unless the phase is landing.
	Value any `json:"value,omitempty"`

	// ReviewReason says why a person must look at the Call before it runs, whatever its policy says; empty: the policy counts.
	ReviewReason string `json:"doubt,omitempty"`
	// Pending is what a person is asked about; nil where nobody is.
	Pending *turn.PendingApproval `json:"pending,omitempty"`
	// Decisions are those that people took, in order.
	Decisions []turn.Decision `json:"decisions,omitempty"`

	// Written is the Call as the LLM wrote it.
	Written ideafile.WrittenCall `json:"-"`

	// Handed is what a delegate hands back beside its result, by path, until that lands.
	HandedBack map[string]any `json:"handed,omitempty"`

	reads          []refexpr.Expression // those of its parameters that read State
	scoped         []jsonval.Path       // State in its scopes: given as far as it is there
	delegateWrites []jsonval.Path       // for which a delegate may hand values back

	phase  phase
	ready  *ReadyCall // as it was shown to a person, or started
	asked  int    // how often people were asked about it
	author string // the person whose result it has
}

func (r *Record) update() bool {
	return len(r.OutputPath) > 0 && statelog.IsUpdate(r.OutputMethod, r.OutputPath[0][0])
}

// claims lists the paths that the result of a Call changes, as far as that can be told: once it is there, those of the
// branch it takes, and of a result for the whole State the keys it has.
func (r *Record) claims() []jsonval.Path {
	own := r.claimsItself()
	if len(r.delegateWrites) == 0 {
		return own
	}
	return append(own[:len(own):len(own)], r.delegateWrites...)
}

// claimsItself is claims for the result alone.
func (r *Record) claimsItself() []jsonval.Path {
	switch {
	case r.phase == landing && r.Branch > 0:
		return r.OutputPath[r.Branch-1]
	case r.phase != landing || r.OutputMethod != "" || !r.OutputPath.WritesWholeState():
		return r.OutputPath.Paths()
	}
	var keys []jsonval.Path
	m, _ := r.Value.(map[string]any)
	for _, k := range jsonval.SortedKeys(m) {
		keys = append(keys, jsonval.Path{k})
	}
	return keys
}

// writes says whether the result can be seen at a path.
func (r *Record) writes(p jsonval.Path) bool {
	for _, claim := range r.claims() {
		if claim.Overlaps(p) {
			return true
		}
	}
	return false
}

// writesAbove says whether a Call writes a place that holds a path, and more.
func (r *Record) writesAbove(p jsonval.Path) bool {
	for _, q := range r.OutputPath.Paths() {
		if len(q) < len(p) && p.Within(q) {
			return true
		}
	}
	return false
}

// writer names who writes the result: the Call, or the person who answered in its place.
func (r *Record) writer() string {
	if r.author != "" {
		return r.author
	}
	return r.ID
}

func (r *Record) before(o *Record) bool { return r.stands(o.Request, o.Index) }

// stands says whether a Call stands before a place in the Plan.
func (r *Record) stands(request, index int) bool {
	return r.Request < request || r.Request == request && r.Index < index
}
