package orders

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/deciders"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/proof"
	"processidea/model/standing"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/proofs"
)

// Keeper keeps the orders of one process.
type Keeper struct {
	Orders standing.Orders
	// freed: an approval was taken back, so that something may be approved that could not be before.
	freed bool
	part  *protocol.PartRef
	inbox *mailbox.Inbox
}

// New makes the Keeper of a process. part is the place of one that is a part of another; nil: it is none. What nobody receives of what the Keeper has
// sent comes back through the outbox.
func New(part *protocol.PartRef, inbox *mailbox.Inbox, outbox *mailbox.Outbox) *Keeper {
	k := &Keeper{part: part, inbox: inbox}
	if part == nil {
		outbox.TakeUndelivered = func(payload map[string]any) bool {
			return k.takeBack(turn.RefusedSignal{
				CallID: jsonval.AsText(payload["call"]), OrderID: turn.OrderNamedIn(payload), Digest: jsonval.AsText(payload["digest"]),
			})
		}
	}
	return k
}

// Scope is what an order is given for: the process, the policies of its Tools, and whether all of these are known yet.
type Scope struct {
	ProcessID  string
	Idea       *ideafile.Idea
	Override   ideafile.ApprovalOverride
	ToolsKnown bool
}

// Give takes an order in, and returns what the log of the process says of it.
func (k *Keeper) Give(ctx workflow.Context, o turn.StandingOrder, s Scope) (given turn.Decision, err error) {
	if err := k.checkWhole(turn.SteerAllow); err != nil {
		return given, err
	}
	var finding *proof.Finding
	if o.Proof != "" {
		finding = proofs.Verify(ctx, o.Proof, "the standing order "+o.ID, s.ProcessID)
	}
	now := workflow.Now(ctx)
	giver, err := o.Giver(finding, now)
	if err != nil {
		return given, err
	}
	if err := standing.Check(o, giver, s.Idea, s.Override, deciders.ReadStarters(s.Idea.Source), now, s.ToolsKnown); err != nil {
		return given, err
	}
	if err := k.Orders.Give(o, giver, now); err != nil {
		return given, err
	}
	return turn.Decision{
		Kind: turn.SteerAllow, DecidedBy: giver.Name, Groups: giver.Groups, Reason: o.Reason, Proof: o.Proof, SignalID: o.ID, DecidedAt: now, Order: &o,
	}, nil
}

// End ends an order.
func (k *Keeper) End(ctx workflow.Context, order string, s turn.SteeringPayload) error {
	if err := k.checkWhole(turn.SteerDisallow); err != nil {
		return err
	}
	return k.Orders.End(order, standing.Ending{By: s.By, Reason: s.Reason, EndedAt: workflow.Now(ctx)})
}

// checkWhole refuses in a part what only the whole takes.
func (k *Keeper) checkWhole(signal string) error {
	if k.part == nil {
		return nil
	}
	return fmt.Errorf("%s goes to the whole process, %s: this is its part %d", signal, k.part.Of.ID, k.part.Number)
}

// CheckDecision refuses a decision that says it is taken under an order, where people send it: what an order covers the process finds itself, and counts
// it. A part takes it, since the whole sends it there.
func (k *Keeper) CheckDecision(d turn.Decision) error {
	if d.Order == nil || k.part != nil {
		return nil
	}
	return fmt.Errorf("the process itself approves what a standing order covers: %s gives an order, and %s names none", turn.SteerAllow, d.Kind)
}

// Approve has approvals sent of what waits with an owner, an instance or a part, and is covered by orders.
func (k *Keeper) Approve(
	ctx workflow.Context, idea *ideafile.Idea, owner string, waits []turn.PendingApproval, send func(call string, payload map[string]any),
) {
	if len(k.Orders) == 0 {
		return
	}
	for _, a := range k.Orders.Cover(owner, waits, deciders.ReadStarters(idea.Source), workflow.Now(ctx)) {
		send(a.Pending.CallID, a.Order.Approval(a.Pending))
	}
}

// TakeFreed reports, once, that an approval under an order was taken back: all that waits is to be looked at again.
func (k *Keeper) TakeFreed() bool {
	freed := k.freed
	k.freed = false
	return freed
}

// TakeRefusals keeps the signals that instances or parts refused. Of an approval under an order nobody needs to hear: no person has sent it. A part tells
// the whole, which has counted it.
func (k *Keeper) TakeRefusals(list []turn.RefusedSignal) {
	for _, refusal := range list {
		switch {
		case k.takeBack(refusal):
		case refusal.OrderID != "" && k.part != nil:
			k.inbox.ReportRefusal(refusal)
		default:
			k.inbox.Refusals.Add(refusal)
		}
	}
}

func (k *Keeper) takeBack(r turn.RefusedSignal) bool {
	taken := k.Orders.TakeBack(r)
	k.freed = k.freed || taken
	return taken
}
