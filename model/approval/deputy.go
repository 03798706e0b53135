package approval

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
)

// This file holds deputies. A person names a deputy by an order to the process. The process sends the order to each
// waiting Call as a remark, and for the Call only the remark counts.

// ReadDeputyOrder reads the payload of SteerDeputy: id, to, from, until, by, groups, reason and proof; and act, as
// ReadStandingOrder does.
func ReadDeputyOrder(m map[string]any) (o StandingOrder, err error) {
	fromText, untilText := "", ""
	textTargets := orderTextTargets(&o, &untilText)
	textTargets["to"], textTargets["from"] = &o.DeputyName, &fromText
	if err := readTextFields(m, textTargets, &o.Groups); err != nil {
		return o, err
	}
	if o.Until, err = readTime("until", untilText); err == nil {
		o.From, err = readTime("from", fromText)
	}
	if err == nil {
		err = o.checkID()
	}
	switch {
	case err != nil:
		return o, err
	case o.DeputyName == "":
		return o, errors.New(`it names no deputy: "to" is missing`)
	case o.Until.IsZero():
		return o, errors.New(`it would never end: "until" is missing`)
	case !o.From.Before(o.Until):
		return o, errors.New(`it would never begin: "from" is not before "until"`)
	}
	return o, policy.CheckPersonName(o.DeputyName)
}

// checkDeputy returns why the order cannot name a deputy of its giver.
func (o StandingOrder) checkDeputy(giver policy.Person) error {
	switch {
	case giver.Name == "":
		return errors.New(`it does not say whose deputy: "by" is missing`)
	case slices.ContainsFunc(giver.Identities(), policy.Identity{Name: o.DeputyName}.Is):
		return fmt.Errorf("%s cannot be their own deputy", o.DeputyName)
	}
	return nil
}

// periodText says in words when somebody is a deputy.
func (o StandingOrder) periodText() (text string) {
	if !o.From.IsZero() {
		text = " from " + o.From.Format(time.RFC3339)
	}
	if !o.Until.IsZero() {
		text += " until " + o.Until.Format(time.RFC3339)
	}
	return text
}

// undeliveredDeputyChange returns the order on a deputy that a Call must still get: a new order, or one whose time
// ended early.
func (o *StandingOrderState) undeliveredDeputyChange(instanceOrPart string, p PendingCall,
	now time.Time) (deputyOrder StandingOrder, isDue bool) {
	if o.DeputyName == "" || o.wasHandled(instanceOrPart, p) || !p.Allows(SteerDeputy) {
		return deputyOrder, false
	}
	deputyOrder = o.StandingOrder
	var deliveredOrder *StandingOrder
	for _, r := range p.currentRemarks() {
		if r.Kind == SteerDeputy && r.StandingOrderID == o.ID {
			deliveredOrder = r.Order
		}
	}
	if o.Ending == nil {
		return deputyOrder, deliveredOrder == nil && o.IsInForce(now)
	}
	deputyOrder.Until, deputyOrder.Proof = o.Ending.EndedAt, "" // the end needs no proof: it gives nobody a right
	return deputyOrder, deliveredOrder != nil && deputyOrder.Until.Before(deliveredOrder.Until)
}

// DeputyRemarks are the remarks that name all deputies to a Plan.
func (l StandingOrders) DeputyRemarks() (list []Decision) {
	for _, o := range l {
		if o.DeputyName == "" {
			continue
		}
		order := o.StandingOrder
		if o.Ending != nil && o.Ending.EndedAt.Before(order.Until) {
			order.Until = o.Ending.EndedAt
		}
		r := Decision{Kind: SteerDeputy, StandingOrderID: o.ID, RecipientName: o.DeputyName, DecidedBy: o.Giver.Name,
			Account: o.Giver.Account, Groups: o.Giver.Groups, Order: &order}
		if o.Giver.HasVerifiedProof {
			r.Signature = &proof.SignatureInfo{Name: o.Giver.AlternateName}
		}
		list = append(list, r)
	}
	return list
}

// currentRemarks are the remarks, except a remark on a deputy that a later remark replaces.
func (p PendingCall) currentRemarks() (list []Decision) {
	for n, r := range p.Remarks {
		replaces := func(later Decision) bool {
			return later.Kind == SteerDeputy &&
				later.StandingOrderID == r.StandingOrderID
		}
		if r.Kind != SteerDeputy || !slices.ContainsFunc(p.Remarks[n+1:], replaces) {
			list = append(list, r)
		}
	}
	return list
}

// AsSelfAndAsDeputy lists the ways in which a decision on the Call can count: first for its author, then in place of
// each person whose deputy the author is at the time.
func (p PendingCall) AsSelfAndAsDeputy(d Decision, now time.Time) []Decision {
	list := []Decision{d}
	if d.Order != nil {
		return list // a deputy decides, and gives no orders
	}
	for _, r := range p.currentRemarks() {
		if r.Kind == SteerDeputy && !now.Before(r.Order.From) && now.Before(r.Order.Until) &&
			d.Identity().Is(policy.Identity{Name: r.RecipientName}) {
			principal := r.Decider()
			d.OnBehalfOf = &principal
			list = append(list, d)
		}
	}
	return list
}

// DeputyText names a deputy and the person in whose place the deputy acts.
func DeputyText(name string, principal *policy.Person) string {
	if principal == nil {
		return name
	}
	return name + " in place of " + principal.Name
}
