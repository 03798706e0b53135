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
	Orders approval.Orders
	// freed: an approval no longer counts, so that another Call may be approved.
	freed bool
	part  *protocol.PartRef
	inbox *mailbox.Inbox
}

// New makes the Keeper of a process. part is nil unless the process is a part of another. The outbox hands undelivered
// approvals back to the Keeper.
func New(part *protocol.PartRef, inbox *mailbox.Inbox, outbox *mailbox.Outbox) *Keeper {
	k := &Keeper{part: part, inbox: inbox}
	if part == nil {
		outbox.TakeUndelivered = func(payload jsonval.Object) bool {
			return k.takeBack(approval.Fate{
				CallID: jsonval.AsText(payload["call"]), OrderID: approval.OrderNamedIn(payload),
				Digest: jsonval.AsText(payload["digest"]),
			})
		}
	}
	return k
}

// Scope is the context of an order: the process, the policies of its Tools, and whether all of these are known yet.
type Scope struct {
	ProcessID  string
	Idea       *ideafile.Idea
	Override   policy.Override
	ToolsKnown bool
}

// Give accepts an order, and returns the entry for the log of the process.
func (k *Keeper) Give(ctx workflow.Context, o approval.StandingOrder, s Scope) (given approval.Decision, err error) {
	if err := k.refuseInPart(o.Signal()); err != nil {
		return given, err
	}
	var finding *proof.Finding
	if o.Proof != "" {
		finding = activity.VerifyProof(ctx, o.Proof, "the standing order "+o.ID, s.ProcessID)
	}
	now := workflow.Now(ctx)
	giver, err := o.Giver(finding, now)
	if err != nil {
		return given, err
	}
	if err := approval.CheckStandingOrder(o, giver, s.Idea, s.Override, policy.ReadStarters(s.Idea.Source), now,
		s.ToolsKnown); err != nil {
		return given, err
	}
	if err := k.Orders.Give(o, giver, now); err != nil {
		return given, err
	}
	return approval.Decision{
		Kind: o.Signal(), To: o.To, DecidedBy: giver.Name, Groups: giver.Groups, Reason: o.Reason, Proof: o.Proof,
		SignalID: o.ID, DecidedAt: now, Order: &o,
	}, nil
}

// End ends an order.
func (k *Keeper) End(ctx workflow.Context, order string, s approval.SteeringPayload) error {
	if err := k.refuseInPart(approval.SteerDisallow); err != nil {
		return err
	}
	return k.Orders.End(order, approval.OrderEnding{By: s.By, Reason: s.Reason, EndedAt: workflow.Now(ctx)})
}

// refuseInPart returns an error in a part, for a signal that only the whole process takes.
func (k *Keeper) refuseInPart(signal string) error {
	if k.part == nil {
		return nil
	}
	return fmt.Errorf("%s goes to the whole process, %s: this is its part %d", signal, k.part.Of.ID, k.part.Number)
}

// CheckDecision refuses a person's decision that claims to be under an order: the process itself finds and counts the
// Calls that an order covers. A part accepts such a decision, since the whole sends it.
func (k *Keeper) CheckDecision(d approval.Decision) error {
	if d.Order == nil || k.part != nil {
		return nil
	}
	return fmt.Errorf("%s may not name an order: only the process itself approves under standing orders and names "+
		"deputies; %s gives an order", d.Kind, d.Order.Signal())
}

// Approve sends approvals of the waiting Calls of an owner, an instance or a part, that orders cover. If an order names
// a deputy, it sends the deputy to the Call instead.
func (k *Keeper) Approve(
	ctx workflow.Context, idea *ideafile.Idea, owner string, waits []approval.Pending,
	send func(signal, call string, payload jsonval.Object),
) {
	if len(k.Orders) == 0 {
		return
	}
	knows := func(change string) bool { return mailbox.KnowsChange(ctx, change) }
	for _, a := range k.Orders.Cover(owner, waits, policy.ReadStarters(idea.Source), workflow.Now(ctx), knows) {
		signal := policy.Approve
		if a.Order.To != "" {
			signal = approval.SteerDeputy
		}
		send(signal, a.Pending.CallID, a.Order.Approval(a.Pending))
	}
}

// TakeFreed reports, once, that an approval under an order no longer counts: all waiting Calls must be looked at again.
func (k *Keeper) TakeFreed() bool {
	freed := k.freed
	k.freed = false
	return freed
}

// TakeFates records the outcomes of acts in instances or parts. An approval under an order is not reported, since no
// person sent it. A part reports such a Fate to the whole, which counts approvals.
func (k *Keeper) TakeFates(list []approval.Fate) {
	for _, f := range list {
		switch {
		case k.takeBack(f):
		case f.OrderID != "" && k.part != nil:
			k.inbox.Report(f)
		default:
			k.inbox.Learn(f)
		}
	}
}

func (k *Keeper) takeBack(r approval.Fate) bool {
	withdrawn := k.Orders.UncountRefused(r)
	k.freed = k.freed || withdrawn
	return withdrawn
}
