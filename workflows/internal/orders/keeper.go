package orders

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/mailbox"
)

// Keeper keeps the orders of one process.
type Keeper struct {
	Orders approval.StandingOrders
	// hasFreedApproval: an approval no longer counts, so that another Call may be approved.
	hasFreedApproval bool
	ownPart          *protocol.PartRef
	inbox            *mailbox.Inbox
}

// New makes the Keeper of a process. part is nil unless the process is a part of another. The outbox hands undelivered
// approvals back to the Keeper.
func New(part *protocol.PartRef, inbox *mailbox.Inbox, outbox *mailbox.Outbox) *Keeper {
	k := &Keeper{ownPart: part, inbox: inbox}
	if part == nil {
		outbox.HandleUndelivered = func(payload jsonval.Object) bool {
			return k.uncountRefused(approval.Fate{
				CallID: jsonval.AsText(payload["call"]), StandingOrderID: approval.StandingOrderIDInPayload(payload),
				ApprovalDigest: jsonval.AsText(payload["digest"]),
			})
		}
	}
	return k
}

// OrderContext is the context of an order: the process, the policies of its Tools, and whether all of these are known
// yet.
type OrderContext struct {
	ProcessID     string
	Idea          *ideafile.Idea
	Oversight     policy.Oversight
	AreToolsKnown bool
}

// AcceptStandingOrder accepts an order, and returns the entry for the log of the process.
func (k *Keeper) AcceptStandingOrder(ctx workflow.Context, o approval.StandingOrder,
	orderContext OrderContext) (logEntry approval.Decision, err error) {
	if err := k.refuseInPart(o.GivingSignalName()); err != nil {
		return logEntry, err
	}
	var verification *proof.Verification
	if o.Proof != "" {
		verification = activity.VerifyProof(ctx, o.Proof, "the standing order "+o.ID, orderContext.ProcessID)
	}
	now := workflow.Now(ctx)
	giver, err := o.VerifiedGiver(verification, now)
	if err != nil {
		return logEntry, err
	}
	if err := approval.CheckStandingOrder(o, giver, orderContext.Idea, orderContext.Oversight,
		policy.ReadStarters(orderContext.Idea.Source), now, orderContext.AreToolsKnown); err != nil {
		return logEntry, err
	}
	if err := k.Orders.Add(o, giver, now); err != nil {
		return logEntry, err
	}
	return approval.Decision{
		Kind: o.GivingSignalName(), RecipientName: o.DeputyName, DecidedBy: giver.Name, Groups: giver.Groups,
		Reason:   o.Reason,
		Proof:    o.Proof,
		SignalID: o.ID, DecidedAt: now, Order: &o,
	}, nil
}

// EndStandingOrder ends an order.
func (k *Keeper) EndStandingOrder(ctx workflow.Context, standingOrderID string, s approval.SteeringPayload) error {
	if err := k.refuseInPart(approval.SteerEndStandingOrder); err != nil {
		return err
	}
	return k.Orders.End(standingOrderID, approval.OrderEnding{EndedBy: s.SentBy, Reason: s.Reason,
		EndedAt: workflow.Now(ctx)})
}

// refuseInPart returns an error in a part, for a signal that only the whole process takes.
func (k *Keeper) refuseInPart(signalName string) error {
	if k.ownPart == nil {
		return nil
	}
	return fmt.Errorf("%s goes to the whole process, %s: this is its part %d", signalName, k.ownPart.SplitProcess.ID,
		k.ownPart.PartNumber)
}

// RefuseClaimedOrder refuses a person's decision that claims to be under an order: the process itself finds and counts
// the Calls that an order covers. A part accepts such a decision, since the whole sends it.
func (k *Keeper) RefuseClaimedOrder(d approval.Decision) error {
	if d.Order == nil || k.ownPart != nil {
		return nil
	}
	return fmt.Errorf("%s may not name an order: only the process itself approves under standing orders and names "+
		"deputies; %s gives an order", d.Kind, d.Order.GivingSignalName())
}

// ApproveCoveredCalls sends approvals of the waiting Calls of an owner, an instance or a part, that orders cover. If an
// order names a deputy, it sends the deputy to the Call instead.
func (k *Keeper) ApproveCoveredCalls(
	ctx workflow.Context, idea *ideafile.Idea, instanceOrPart string, pending []approval.PendingCall,
	send func(signal, call string, payload jsonval.Object),
) {
	if len(k.Orders) == 0 {
		return
	}
	for _, a := range k.Orders.ApproveCovered(instanceOrPart, pending, policy.ReadStarters(idea.Source),
		workflow.Now(ctx)) {
		signal := policy.Approve
		if a.Order.DeputyName != "" {
			signal = approval.SteerDeputy
		}
		send(signal, a.PendingCall.CallID, a.Order.ApprovalPayload(a.PendingCall))
	}
}

// TakeFreedApprovalFlag reports, once, that an approval under an order no longer counts: all waiting Calls must be
// looked at again.
func (k *Keeper) TakeFreedApprovalFlag() bool {
	hadFreedApproval := k.hasFreedApproval
	k.hasFreedApproval = false
	return hadFreedApproval
}

// HandleFates records the outcomes of acts in instances or parts. An approval under an order is not reported, since no
// person sent it. A part reports such a Fate to the whole, which counts approvals.
func (k *Keeper) HandleFates(fates []approval.Fate) {
	for _, f := range fates {
		switch {
		case k.uncountRefused(f):
		case f.StandingOrderID != "" && k.ownPart != nil:
			k.inbox.QueueFateForReport(f)
		default:
			k.inbox.RecordForeignFate(f)
		}
	}
}

func (k *Keeper) uncountRefused(r approval.Fate) bool {
	isUncounted := k.Orders.UncountRefused(r)
	k.hasFreedApproval = k.hasFreedApproval || isUncounted
	return isUncounted
}
