package dataflow

import (
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// CallRecord is a Call of an instance with its progress and outcome.
type CallRecord struct {
	ideafile.Call
	turn.CallState
	// SkippedBecauseOf names who wrote the path of a skipped Call: a Call's id, a person, or "start". If
	// UntakenBranchReference is set, it is the Call that did not take that branch, or SkippedByConditionCause.
	SkippedBecauseOf string `json:"by,omitempty"`
	// UntakenBranchReference is the Reference of a skipped Call that leads into a branch not taken.
	UntakenBranchReference string `json:"untaken,omitempty"`
	// IsConditionMet means that the Call's condition held.
	IsConditionMet bool `json:"met,omitempty"`
	// TakenBranchNumber is the branch that the result took, from 1; 0: none yet, or the Call has only one.
	TakenBranchNumber int `json:"taken,omitempty"`
	// FaultWrittenToBranch is the failure that was written to the last branch.
	FaultWrittenToBranch *diag.Fault `json:"cause,omitempty"`
	// PendingResult is the result of an update that is not applied yet. Invariant: nil unless hasPendingResult.
	PendingResult any `json:"value,omitempty"`

	// ReviewReason is why a person must review the Call, even if its Tool's policy requires none; empty: the policy
	// decides.
	ReviewReason string `json:"doubt,omitempty"`
	// PendingApproval is what a person is shown. Invariant: nil unless the phase is reviewing.
	PendingApproval *approval.PendingCall `json:"pending,omitempty"`

	// StartLogicalTime and Ended are the values of Moments when the Call started and when its result was written; 0: it
	// has not happened.
	StartLogicalTime int `json:"began,omitempty"`
	EndLogicalTime   int `json:"ended,omitempty"`

	// Throttle is set once the Tool's server has refused the Call unread because it gets too many requests.
	Throttle *Throttle `json:"throttle,omitempty"`

	// WrittenCall is the Call as the LLM wrote it.
	WrittenCall ideafile.WrittenCall `json:"written,omitzero"`
	// TimesAsked is how often people were asked about the Call, ResultAuthor the person who gave its result.
	TimesAsked   int    `json:"asked,omitempty"`
	ResultAuthor string `json:"author,omitempty"`

	// DelegateValuesByPath holds, by path, what a delegate returned beside its result, until the result is applied.
	DelegateValuesByPath jsonval.Object `json:"handed,omitempty"`

	parsedParams       refexpr.ParsedValue
	readExpressions    []refexpr.Expression // those parameters that read State, and `_after`
	scopePaths         []jsonval.Path       // the scopes in State
	delegateWritePaths []jsonval.Path       // where a delegate may return values

	phase     callPhase
	readyCall *ReadyCall // as it was started, or shown to a person
	// isBlobUpdateTaken is set once TakeBlobUpdates has returned the Call's update. A restored instance returns it
	// again.
	isBlobUpdateTaken bool
	blobUpdatedValues []any // the new values at its paths, while ApplyBlobUpdate applies the result
}

// Throttle is how a Call waits for its Tool's server.
type Throttle struct {
	WaitCount      int       `json:"waits"`          // so far
	ThrottledUntil time.Time `json:"until,omitzero"` // the Call does not start before; zero: it may start
	AttemptsLeft   int       `json:"attemptsLeft"`   // of the attempts that its Tool allows
}

// IsThrottled reports whether the Call does not start yet because its Tool's server gets too many requests.
func (r *CallRecord) IsThrottled() bool {
	return r.Throttle != nil && !r.Throttle.ThrottledUntil.IsZero()
}

// resultUpdatesPath reports whether the result is a declared update, which changes a path rather than writing it once.
func (r *CallRecord) resultUpdatesPath() bool {
	return len(r.OutputPath) > 0 && statelog.IsUpdateWrite(r.OutputMethod, r.OutputPath[0][0])
}

// possibleWritePaths lists the paths that the Call may still write, or that it wrote. The list shrinks once the result
// is there. With branches it has the branch of the result and the last one, which gets the fault if the result does not
// fit. A result for the whole State leaves the keys that it has.
func (r *CallRecord) possibleWritePaths() []jsonval.Path {
	paths := r.possibleResultPaths()
	if len(r.delegateWritePaths) == 0 {
		return paths
	}
	return slices.Concat(paths, r.delegateWritePaths)
}

// possibleResultPaths is possibleWritePaths without what a delegate may hand back.
func (r *CallRecord) possibleResultPaths() []jsonval.Path {
	switch {
	case r.hasPendingResult() && r.TakenBranchNumber > 0:
		branchIndex, lastIndex := r.TakenBranchNumber-1, len(r.OutputPath)-1
		if branchIndex == lastIndex {
			return r.OutputPath[lastIndex]
		}
		return slices.Concat(r.OutputPath[branchIndex], r.OutputPath[lastIndex])
	case !r.hasPendingResult() || r.OutputMethod != "" || !r.OutputPath.WritesWholeState():
		return r.OutputPath.Paths()
	}
	var keys []jsonval.Path
	m := jsonval.AsObject(r.PendingResult)
	for k := range jsonval.Sorted(m) {
		keys = append(keys, jsonval.Path{k})
	}
	return keys
}

// mayWrite reports whether a write of the Call can be seen at a path.
func (r *CallRecord) mayWrite(p jsonval.Path) bool {
	return slices.ContainsFunc(r.possibleWritePaths(), p.Overlaps)
}

func (r *CallRecord) mayWriteAny(paths []jsonval.Path) bool {
	return slices.ContainsFunc(paths, r.mayWrite)
}

// writesAncestorOf reports whether the Call writes a value that contains a path.
func (r *CallRecord) writesAncestorOf(p jsonval.Path) bool {
	return slices.ContainsFunc(r.OutputPath.Paths(),
		func(q jsonval.Path) bool { return len(q) < len(p) && p.IsAtOrBelow(q) })
}

func (r *CallRecord) precedesInPlan(o *CallRecord) bool { return r.Key().Compare(o.Key()) < 0 }
