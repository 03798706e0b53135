package proofs

import (
	"fmt"
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/ideafile/spelling"
	"processidea/model/turn"
)

// standingOrder is a standing order from a log, and how many Calls were approved under it.
type standingOrder struct {
	approval.StandingOrder
	giver             policy.Person
	approvedCallCount int
}

// collectOrders collects the standing orders in a log, and reports wrong proofs.
func (a *Audit) collectOrders(processID string, entries []turn.LogEntry) (problems []string) {
	for _, e := range entries {
		d := e.Decision
		if d == nil || d.Order == nil || d.Kind != d.Order.GivingSignalName() {
			continue
		}
		newOrder := &standingOrder{StandingOrder: *d.Order, giver: d.Decider()}
		if a.ordersByID[d.Order.ID] = newOrder; d.Order.DeputyName != "" {
			a.deputyOrders = append(a.deputyOrders, newOrder)
		}
		if reason := a.orderProblem(processID, *d); reason != "" {
			problems = append(problems, fmt.Sprintf("the standing order %s by %s: %s", d.Order.ID, d.DecidedBy, reason))
		}
	}
	return problems
}

// orderProblem compares the proof of an order with the order, and with the keys.
func (a *Audit) orderProblem(processID string, d approval.Decision) string {
	if d.Proof == "" {
		return ""
	}
	verification := a.verifyOrReadProof(d.Proof)
	err := verification.CheckTime(time.Time{}, d.DecidedAt)
	if err == nil {
		err = verification.Claims.CheckMatches(d.Order.DecisionToProve(processID))
	}
	switch {
	case err != nil:
		return err.Error()
	case !policy.SameName(verification.Claims.Subject, d.DecidedBy):
		return fmt.Sprintf("its proof is that of %s", verification.Claims.Subject)
	}
	return ""
}

// deputyDenialReason returns why a decision does not count in place of another person. The end of an order is ignored,
// as for approvals. A part's chain is not checked: the orders that name deputies, and this decision too, are in the
// chain of the whole process.
func (a *Audit) deputyDenialReason(processID string, d approval.Decision) string {
	if d.OnBehalfOf == nil || spelling.IsPartID(processID) ||
		slices.ContainsFunc(a.deputyOrders, func(o *standingOrder) bool {
			return policy.SameName(o.DeputyName, d.DecidedBy) && policy.SameName(o.giver.Name, d.OnBehalfOf.Name) &&
				slices.Equal(o.giver.Groups, d.OnBehalfOf.Groups) &&
				(o.Proof != "" || !d.Deciders.RequiresSignature()) &&
				!d.DecidedAt.Before(o.From) && d.DecidedAt.Before(o.Until)
		}) {
		return ""
	}
	return fmt.Sprintf("%s had not named %s as deputy for that time", d.OnBehalfOf.Name, d.DecidedBy)
}

// decisionToProve returns what the proof of a decision must cover: the decision itself, or the standing order under
// which it was made. reason says why that order does not cover the Call. The end of an order is ignored, since
// approvals may have been on their way. A part's own chain does not hold the orders of the whole process: there the
// proof must be of an order with that id.
func (a *Audit) decisionToProve(processID string, d approval.Decision,
	c proof.Claims) (expectedDecision proof.ExpectedDecision, reason string) {
	if d.StandingOrderID == "" {
		return d.DecisionToProve(processID), ""
	}
	o := a.ordersByID[d.StandingOrderID]
	if o == nil {
		return proof.ExpectedDecision{ProcessID: processID, CallIDs: []string{d.StandingOrderID},
			ApprovalDigest: c.ApprovalDigest,
			Kind:           approval.SteerGiveStandingOrder, DetailsDigest: c.DetailsDigest}, ""
	}
	o.approvedCallCount++
	reason = o.NotCoveredReason(approval.PendingCall{Tool: d.Tool, Params: d.ShownParams}, d.DecidedAt)
	if o.MaxCalls > 0 && o.approvedCallCount > o.MaxCalls {
		reason = fmt.Sprintf("the standing order %s gives leave for %d Calls, and this is one more", o.ID, o.MaxCalls)
	}
	return o.DecisionToProve(processID), reason
}
