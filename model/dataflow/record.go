package dataflow

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Record is a Call of an instance with what became of it.
type Record struct {
	ideafile.Call
	Status ideafile.CallStatus `json:"status"`
	// Fault says why a Call failed or is blocked.
	Fault *diag.Fault `json:"error,omitempty"`
	// By names who wrote the path of a skipped Call: a Call's id, a person, or "start". Where Untaken is set, it is the Call
	// that did not take that branch.
	By string `json:"by,omitempty"`
	// Untaken is the Reference of a skipped Call that stands in a branch not taken.
	Untaken string `json:"untaken,omitempty"`
	// Branch is the branch that the result took, from 1; 0: none yet, or the Call has one only.
	Branch int `json:"taken,omitempty"`
	// OriginalFault is the failure that was written to the last branch.
	OriginalFault *diag.Fault `json:"cause,omitempty"`
	// Result of a Call without an output path.
	Result any `json:"result,omitempty"`
	// Adapted is what the LLM had to adapt to the Tool's schema before the Call could run; nil where all fitted.
	Adapted *turn.Adaptation `json:"adapted,omitempty"`
	// Value is the result of an update that is not applied yet. Invariant: nil unless the phase is resultPending.
	Value any `json:"value,omitempty"`

	// ReviewReason is why a person must review the Call whatever its Tool's policy says; empty: the policy decides.
	ReviewReason string `json:"doubt,omitempty"`
	// Pending is what a person is shown. Invariant: nil unless the phase is reviewing.
	Pending *turn.PendingApproval `json:"pending,omitempty"`
	// Decisions are those that people took, in order.
	Decisions []turn.Decision `json:"decisions,omitempty"`

	// Written is the Call as the LLM wrote it.
	Written ideafile.WrittenCall `json:"-"`

	// HandedBack holds, by path, what a delegate returned beside its result, until the result is applied.
	HandedBack map[string]any `json:"handed,omitempty"`

	reads          []refexpr.Expression // the parameters that read State
	scopePaths     []jsonval.Path       // the scopes in State
	delegateWrites []jsonval.Path       // for which a delegate may hand values back

	phase      phase
	ready      *ReadyCall // as it was started, or shown to a person
	timesAsked int        // how often people were asked about it
	answeredBy string     // the person who gave its result
}

// isUpdate reports whether the result is a declared update, which changes a path rather than writing it once.
func (r *Record) isUpdate() bool {
	return len(r.OutputPath) > 0 && statelog.IsUpdate(r.OutputMethod, r.OutputPath[0][0])
}

// claimedPaths lists the paths that the Call may still write, or that it wrote. It shrinks once the result is there: to the
// branch that the result takes, and for a result of the whole State to the keys that it has.
func (r *Record) claimedPaths() []jsonval.Path {
	paths := r.claimedByResult()
	if len(r.delegateWrites) == 0 {
		return paths
	}
	return slices.Concat(paths, r.delegateWrites)
}

// claimedByResult is claimedPaths without what a delegate may hand back.
func (r *Record) claimedByResult() []jsonval.Path {
	switch {
	case r.phase == resultPending && r.Branch > 0:
		return r.OutputPath[r.Branch-1]
	case r.phase != resultPending || r.OutputMethod != "" || !r.OutputPath.WritesWholeState():
		return r.OutputPath.Paths()
	}
	var keys []jsonval.Path
	m, _ := r.Value.(map[string]any)
	for _, k := range jsonval.SortedKeys(m) {
		keys = append(keys, jsonval.Path{k})
	}
	return keys
}

// mayWrite reports whether a write of the Call can be seen at a path.
func (r *Record) mayWrite(p jsonval.Path) bool {
	return slices.ContainsFunc(r.claimedPaths(), p.Overlaps)
}

func (r *Record) mayWriteAny(paths []jsonval.Path) bool {
	return slices.ContainsFunc(paths, r.mayWrite)
}

// writesAncestorOf reports whether the Call writes a value that contains a path.
func (r *Record) writesAncestorOf(p jsonval.Path) bool {
	return slices.ContainsFunc(r.OutputPath.Paths(), func(q jsonval.Path) bool { return len(q) < len(p) && p.Within(q) })
}

// authorName names the author of the result: the Call, or the person who answered in its place.
func (r *Record) authorName() string {
	if r.answeredBy != "" {
		return r.answeredBy
	}
	return r.ID
}

// key returns the Call's place in the Plan.
func (r *Record) key() ideafile.CallKey {
	return ideafile.CallKey{Request: r.Request, Index: r.Index}
}

func (r *Record) before(o *Record) bool { return r.key().Compare(o.key()) < 0 }
