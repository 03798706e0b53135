package approval

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// CheckPlanDecision returns a decision as it counts for the waiting Plan, or why it is refused. starters are the people
// who started the process, causers the people who added or revised instances of the Plan; deputies is
// Orders.DeputyRemarks. Whether the Calls of an amendment can run is checked elsewhere.
func CheckPlanDecision(p *PlanAwaitingDecision, d Decision, starters, causers []policy.Identity, deputies []Decision,
	now time.Time) (Decision, error) {
	switch {
	case p == nil:
		return d, errors.New("no Plan waits for a decision")
	case *d.PlanRequest != p.RequestNumber:
		return d, fmt.Errorf("no Plan of Request %[2]d waits; %[1]s does", p.Name(), *d.PlanRequest)
	case d.ApprovalDigest != "" && d.ApprovalDigest != p.Digest:
		return d, fmt.Errorf("the digest does not match the Plan that waits now, %s", p.Digest)
	case d.Kind == SteerAmendPlan && p.NotAmendableReason != "":
		return d, errors.New(p.NotAmendableReason)
	}
	if err := p.checkUndoCallsUnchanged(d.AmendedCalls); err != nil {
		return d, err
	}
	decisionToVerify := d
	decisionToVerify.CallID, decisionToVerify.ApprovalDigest = p.ProofCallID(), p.Digest
	pending := p.asPendingCall()
	verifiedDecision, err := decisionToVerify.VerifyProof(pending, nil, now)
	if err != nil {
		return d, err
	}
	verifiedDecision.CallID, verifiedDecision.DecidedAt, verifiedDecision.Deciders, pending.Remarks = "", now,
		p.Deciders, deputies
	for _, candidate := range pending.AsSelfAndAsDeputy(verifiedDecision, now) {
		if err = p.checkDecider(candidate, starters, causers); err == nil {
			return candidate, nil
		}
	}
	return d, err
}

// checkUndoCallsUnchanged returns an error if a Call of an amendment undoes another Call and differs from what undo
// wrote.
func (p *PlanAwaitingDecision) checkUndoCallsUnchanged(calls []ideafile.WrittenCall) error {
	for n, w := range calls {
		if ideafile.HasUndoesKey(w.AsWritten()) && !slices.ContainsFunc(p.Calls, func(planCall PlanCall) bool {
			return jsonval.Equal(w.AsWritten(), jsonval.EscapeBlobHandles(planCall.WrittenCall.AsWritten()))
		}) {
			return fmt.Errorf("calls[%d]: %s: %s", n, ideafile.UndoesKey, ideafile.ReservedUndoesKeyText)
		}
	}
	return nil
}

// checkDecider returns why this person may not take the decision.
func (p *PlanAwaitingDecision) checkDecider(d Decision, starters, causers []policy.Identity) error {
	if err := d.CheckDecider(p.Deciders, starters, causers); err != nil || len(p.Deciders) == 0 {
		return err
	}
	isSamePerson := func(v Vote) bool { return policy.AnySamePerson(v.Identities(), d.Identities()) }
	if d.Kind == SteerApprovePlan && slices.ContainsFunc(p.VotesSoFar, isSamePerson) {
		return fmt.Errorf("%s has decided on it already; it takes %d people", d.DecidedBy,
			p.Deciders.RequiredApprovals())
	}
	return nil
}

// AddVote counts an approval, or an amendment, which approves the amended Plan, and reports whether others must still
// approve.
func (p *PlanAwaitingDecision) AddVote(d Decision) (needsMoreVotes bool) {
	p.VotesSoFar = append(slices.Clone(p.VotesSoFar), d.Vote(policy.Approve))
	return len(p.VotesSoFar) < p.Deciders.RequiredApprovals()
}

// WithAmendment returns the Plan with other Calls. The approvals so far are dropped: their givers must see the new
// Plan.
func (p PlanAwaitingDecision) WithAmendment(processID string, calls []PlanCall) *PlanAwaitingDecision {
	if p.CallsBeforeAmendment == nil {
		p.CallsBeforeAmendment = p.WrittenCalls()
	}
	p.Calls, p.VotesSoFar = calls, nil
	p.SetDigest(processID)
	return &p
}

// Describe describes the decision on a Plan for the LLM: what, by whom and why.
func (p PlanAwaitingDecision) Describe(d Decision) string {
	verb := map[string]string{SteerApprovePlan: "approved", SteerAmendPlan: "amended",
		SteerRejectPlan: "rejected"}[d.Kind]
	s := fmt.Sprintf("%s was %s by %s", p.Name(), verb, d.deciderText())
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

// maxPlanExplanationBytes bounds, in bytes, how much the next Request reports of the Calls of a Plan.
const maxPlanExplanationBytes = 2000

// ExplainRejection is the text for the LLM that nothing of the Plan ran. It names the Calls, so that the LLM does not
// propose the same again.
func (p PlanAwaitingDecision) ExplainRejection(d Decision) string {
	return jsonval.Clip(fmt.Sprintf("%s; none of its calls ran. They were: %s", p.Describe(d),
		jsonval.Encode(jsonval.ToJSONValue(p.OriginalCalls()))), maxPlanExplanationBytes)
}

// ExplainAmendment is the text for the LLM that the Plan ran as a person had changed it, with the Calls that did not
// run.
func (p PlanAwaitingDecision) ExplainAmendment(d Decision) string {
	s := p.Describe(d) + "; the calls that are listed are as amended"
	if removedCalls := p.removedCalls(); len(removedCalls) > 0 {
		s += ". These did not run as planned: " + jsonval.EncodeToString(jsonval.ToJSONValue(removedCalls))
	}
	return jsonval.Clip(s, maxPlanExplanationBytes)
}

// OriginalCalls are the Calls as they were planned, before people amended them.
func (p PlanAwaitingDecision) OriginalCalls() []ideafile.WrittenCall {
	if p.CallsBeforeAmendment != nil {
		return p.CallsBeforeAmendment
	}
	return p.WrittenCalls()
}

// removedCalls lists the planned Calls that the amended Plan no longer has.
func (p PlanAwaitingDecision) removedCalls() []ideafile.WrittenCall {
	return jsonval.Filter(p.OriginalCalls(), func(planned ideafile.WrittenCall) bool {
		return !slices.ContainsFunc(p.Calls,
			func(c PlanCall) bool { return jsonval.Equal(c.WrittenCall.AsWritten(), planned.AsWritten()) })
	})
}

// RestoreLargeValues returns the Calls of an amendment, with each Call that a person left as shown replaced by the
// planned one. A handle means a value in the store only in a planned Call; in a Call from outside it is plain data.
func (p PlanAwaitingDecision) RestoreLargeValues(calls []ideafile.WrittenCall) []ideafile.WrittenCall {
	out := slices.Clone(calls)
	for n, w := range calls {
		for _, planned := range p.Calls {
			if jsonval.Equal(w.AsWritten(), jsonval.EscapeBlobHandles(planned.WrittenCall.AsWritten())) {
				out[n] = planned.WrittenCall
			}
		}
	}
	return out
}
