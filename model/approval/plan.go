package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// PlanAwaitingDecision is a Plan that waits as a whole for a person's decision. None of its Calls has begun.
//
// Invariant: what was shown is what runs. A Decision that names another Digest is refused.
type PlanAwaitingDecision struct {
	// RequestNumber is the number of the Request that made the Plan; 0: the Plan consists of the Idea's direct Plans,
	// or of what an earlier process left unfinished.
	RequestNumber int `json:"request"`
	// Digest is the SHA-256, in hex, of the canonical JSON of the process's id, request and, for each Call, its id,
	// instances and what was written.
	Digest string     `json:"digest"`
	Calls  []PlanCall `json:"calls"`
	// Instances are the instances that wait for the decision; none: the only one.
	Instances []string  `json:"instances,omitempty"`
	Since     time.Time `json:"since"`
	// Deciders say who may decide; none: anybody. VotesSoFar are the people who have decided while others still must.
	Deciders   policy.DeciderRules `json:"deciders,omitempty"`
	VotesSoFar []Vote              `json:"decided,omitempty"`
	// NotAmendableReason is why the Plan can only be approved or rejected; empty: it can be amended.
	NotAmendableReason string `json:"notAmendable,omitempty"`
	// Disagreements has both answers for each instance that the LLM answered differently when asked a second time. They
	// may arrive while the Plan waits. They do not affect what runs, so the Digest does not cover them.
	Disagreements []string `json:"disagreements,omitempty"`
	// CallsBeforeAmendment are the Calls as they were planned, once a person has amended them and others must still
	// decide.
	CallsBeforeAmendment []ideafile.WrittenCall `json:"original,omitempty"`
}

// PlanCall is one Call of a Plan that waits.
type PlanCall struct {
	CallID string `json:"call"`
	// Instances are the instances that it is for; none: the only one, or no existing one.
	Instances   []string             `json:"instances,omitempty"`
	WrittenCall ideafile.WrittenCall `json:"as"`
	// Error is why the Call will fail as planned; empty: no reason is known.
	Error string `json:"error,omitempty"`
}

// SetDigest computes the digest; processID is the id of the Plan's process.
func (p *PlanAwaitingDecision) SetDigest(processID string) {
	calls := make([]any, len(p.Calls))
	for n, c := range p.Calls {
		calls[n] = jsonval.Object{"call": c.CallID, "instances": c.Instances, "as": c.WrittenCall}
	}
	p.Digest = proof.Digest(jsonval.Object{"process": processID, "request": p.RequestNumber, "calls": calls})
}

// Name names the Plan in the middle of a sentence.
func (p PlanAwaitingDecision) Name() string {
	if p.RequestNumber == 0 {
		return "the Plan that begins the process"
	}
	return fmt.Sprintf("the Plan of Request %d", p.RequestNumber)
}

// WrittenCalls lists the Calls as they were written. amend-plan takes a changed copy of this list.
func (p PlanAwaitingDecision) WrittenCalls() []ideafile.WrittenCall {
	return jsonval.Map(p.Calls, func(c PlanCall) ideafile.WrittenCall { return c.WrittenCall })
}

// PlanToolCount is how many Calls a Plan has of one Tool, each counted once for each instance.
type PlanToolCount struct {
	Tool      string `json:"tool"`
	CallCount int    `json:"calls"`
}

// CountByTool counts the Calls by Tool, in the order of the Tools' first Calls.
func (p PlanAwaitingDecision) CountByTool() (counts []PlanToolCount) {
	for _, c := range p.Calls {
		index := slices.IndexFunc(counts, func(t PlanToolCount) bool { return t.Tool == c.WrittenCall.Tool })
		if index < 0 {
			index, counts = len(counts), append(counts, PlanToolCount{Tool: c.WrittenCall.Tool})
		}
		counts[index].CallCount += max(1, len(c.Instances))
	}
	return counts
}

// Summary counts the Calls of the Plan: "4 Calls: 3 quote, 1 order".
func (p PlanAwaitingDecision) Summary() string {
	total, parts := 0, []string{}
	for _, t := range p.CountByTool() {
		total += t.CallCount
		parts = append(parts, fmt.Sprintf("%d %s", t.CallCount, t.Tool))
	}
	noun := "Calls"
	if total == 1 {
		noun = "Call"
	}
	return fmt.Sprintf("%d %s: %s", total, noun, strings.Join(parts, ", "))
}

// DecidersInWords names who must decide and who has decided so far; "" if anybody may.
func (p PlanAwaitingDecision) DecidersInWords() string {
	return p.asPendingCall().DecidersInWords()
}

// ProofCallID is what a proof of a decision on the Plan names in place of a Call.
func (p PlanAwaitingDecision) ProofCallID() string { return fmt.Sprintf("plan:%d", p.RequestNumber) }

// asPendingCall is the Plan in the form of a Call that waits, for the rules on proofs that hold for both.
func (p PlanAwaitingDecision) asPendingCall() PendingCall {
	return PendingCall{CallID: p.ProofCallID(), Digest: p.Digest, Since: p.Since, Deciders: p.Deciders,
		VotesSoFar: p.VotesSoFar}
}

// ApprovePayload is the payload that approves the Plan as shown; by is a placeholder.
func (p PlanAwaitingDecision) ApprovePayload() jsonval.Object {
	return jsonval.Object{"request": p.RequestNumber, "digest": p.Digest, "by": PlaceholderName}
}
