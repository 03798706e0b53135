package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

const maxOrdersPerProcess = 100 // of one process, including ended ones

// StandingOrders are the standing orders of one process, in the order in which they were given. The zero value has
// none.
type StandingOrders []*StandingOrderState

// StandingOrderState is one standing order, and its use so far.
type StandingOrderState struct {
	StandingOrder
	GivenAt time.Time `json:"at"`
	// Giver is who gave it: the proven person, or else the claimed one.
	Giver policy.Person `json:"giver"`
	// ApprovedCount is how many Calls were approved under it.
	ApprovedCount int `json:"approved"`
	// ApprovedDigestsByInstanceOrPart maps owner and Call to the digest of each Call that was approved under the order
	// and, as far as is known, still waits.
	ApprovedDigestsByInstanceOrPart map[string]map[string]string `json:"handled,omitempty"`
	// RefusedApprovalDigestByCallID maps a Call to its digest if its approval under the order was refused. Such an
	// approval does not count.
	RefusedApprovalDigestByCallID map[string]string `json:"takenBack,omitempty"`
	// Ending is who ended it, and why; nil: nobody has.
	Ending *OrderEnding `json:"ended,omitempty"`
}

// OrderEnding is the end of an order that a person has ended.
type OrderEnding struct {
	EndedBy string    `json:"by,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	EndedAt time.Time `json:"at"`
}

// CheckStandingOrder returns why an order cannot be given: its Tool does not exist or lacks what the condition names,
// or the giver may not decide on the Tool's Calls. starters are the people who started the process. While the Tools of
// MCP servers are still being looked up (areAllToolsKnown false), an unknown Tool is accepted, since it may still
// appear.
func CheckStandingOrder(o StandingOrder, giver policy.Person, idea *ideafile.Idea, oversight policy.Oversight,
	starters []policy.Identity, now time.Time,
	areAllToolsKnown bool,
) error {
	if !o.Until.IsZero() && !now.Before(o.Until) {
		return fmt.Errorf("until %s is past", o.Until.UTC().Format(time.RFC3339))
	}
	if o.DeputyName != "" {
		return o.checkDeputy(giver)
	}
	tool := idea.Tool(o.Tool)
	if tool == nil && !areAllToolsKnown {
		return nil
	}
	if tool == nil {
		var names []string
		for _, t := range idea.Tools {
			names = append(names, t.Name)
		}
		return fmt.Errorf("there is no Tool %q%s", jsonval.ClipForError(o.Tool),
			diag.DidYouMeanOrListNames(o.Tool, names))
	}
	paramSchemas := jsonval.AsObject(tool.Source["properties"])
	for _, name := range o.ConditionParamNames() {
		if _, exists := paramSchemas[name]; !exists {
			return fmt.Errorf("when: %s has no parameter %q%s", o.Tool, jsonval.ClipForError(name),
				diag.DidYouMean(name, jsonval.SortedKeys(paramSchemas)))
		}
	}
	rules, reminders := oversight.DecidersAndReminders(tool.Name, tool.Approval)
	if len(rules) == 0 {
		return nil
	}
	// people who may decide only after an escalation may give an order for escalated Calls
	rules = reminders.EscalatedRules(rules)
	if strings.TrimSpace(giver.Name) == "" {
		return fmt.Errorf(`"by" is missing: only these may give the order: %s`, rules)
	}
	if reason := rules.DenialReason(giver, starters); reason != "" {
		return fmt.Errorf("%s", reason)
	}
	return nil
}

// Add adds an order.
func (l *StandingOrders) Add(o StandingOrder, giver policy.Person, now time.Time) error {
	switch {
	case slices.ContainsFunc(*l, func(existing *StandingOrderState) bool { return policy.SameName(existing.ID, o.ID) }):
		return fmt.Errorf("an order %q exists already: give this one another id", o.ID)
	case len(*l) >= maxOrdersPerProcess:
		return fmt.Errorf("the process has %d orders, and takes no more", maxOrdersPerProcess)
	}
	*l = append(*l, &StandingOrderState{StandingOrder: o, Giver: giver, GivenAt: now})
	return nil
}

// End ends an order.
func (l StandingOrders) End(orderID string, e OrderEnding) error {
	var orderIDs []string
	for _, o := range l {
		switch {
		case o.ID == orderID && o.Ending != nil:
			return fmt.Errorf("the order %q was ended already", orderID)
		case o.ID == orderID:
			o.Ending = &e
			return nil
		}
		orderIDs = append(orderIDs, o.ID)
	}
	return fmt.Errorf("there is no order %q%s", jsonval.ClipForError(orderID),
		diag.DidYouMeanOrListNames(orderID, orderIDs))
}

// IsInForce reports whether an order may approve Calls at a moment.
func (o *StandingOrderState) IsInForce(now time.Time) bool {
	return o.Ending == nil && (o.MaxCalls == 0 || o.ApprovedCount < o.MaxCalls) &&
		(o.Until.IsZero() || now.Before(o.Until))
}

// OrderApproval is a waiting Call, and the order that approves it or names a deputy to it.
type OrderApproval struct {
	Order       StandingOrder
	PendingCall PendingCall
}

// ApproveCovered returns the waiting Calls of an owner, an instance or a part, that are approved now, each under the
// first order that covers it, and counts the approvals. If several people must approve, an order gives only the
// approval of its giver. The result also has the Calls that must get an order on a deputy now: those on which the giver
// of the order may decide.
func (l StandingOrders) ApproveCovered(instanceOrPart string, pending []PendingCall, starters []policy.Identity,
	now time.Time) (list []OrderApproval) {
	for _, o := range l {
		o.pruneHandled(instanceOrPart, pending)
	}
	for _, p := range pending {
		approvers := l.approversPerApproval(instanceOrPart, p)
		for _, o := range l {
			if deputyOrder, isUndelivered := o.undeliveredDeputyChange(instanceOrPart, p, now); isUndelivered &&
				(o.Ending != nil || o.mayGiverDecide(p, starters)) {
				o.recordHandled(instanceOrPart, p)
				list = append(list, OrderApproval{deputyOrder, p})
			}
			if len(approvers) < p.Deciders.RequiredApprovals() && o.IsInForce(now) &&
				!o.wasHandled(instanceOrPart, p) && !o.isGiverIn(approvers) && o.covers(p, starters, now) {
				o.ApprovedCount++
				o.recordHandled(instanceOrPart, p)
				approvers = append(approvers, []policy.Identity{o.giverIdentity()})
				list = append(list, OrderApproval{o.StandingOrder, p})
			}
		}
	}
	return list
}

// approversPerApproval lists, for each approval of a Call that is known or under way, the people for whom it counts.
func (l StandingOrders) approversPerApproval(instanceOrPart string, p PendingCall) (approvers [][]policy.Identity) {
	approvers = jsonval.Map(p.VotesSoFar, Vote.Identities)
	for _, o := range l {
		if o.DeputyName == "" && o.wasApprovedOrSent(instanceOrPart, p) && !o.isGiverIn(approvers) {
			approvers = append(approvers, []policy.Identity{o.giverIdentity()})
		}
	}
	return approvers
}

func (o *StandingOrderState) giverIdentity() policy.Identity {
	return policy.Identity{Name: o.Giver.Name, Account: o.Giver.Account}
}

func (o *StandingOrderState) isGiverIn(approvers [][]policy.Identity) bool {
	return slices.ContainsFunc(approvers, func(identities []policy.Identity) bool {
		return slices.ContainsFunc(identities, o.giverIdentity().Is)
	})
}

// covers reports whether an order approves a Call, as far as the process knows. The instance knows more, and may
// refuse.
func (o *StandingOrderState) covers(p PendingCall, starters []policy.Identity, now time.Time) bool {
	return slices.Contains(p.AllowedDecisions, policy.Approve) && o.NotCoveredReason(p, now) == "" &&
		o.mayGiverDecide(p, starters)
}

func (o *StandingOrderState) mayGiverDecide(p PendingCall, starters []policy.Identity) bool {
	return p.Deciders.DenialReason(o.Giver, starters) == ""
}

// UncountRefused uncounts a Call whose approval was refused, because somebody else had decided on it before, or
// because it no longer waited. It reports whether the approval was under one of the orders. A second report of the
// same refusal, as after the crash of a worker, changes nothing.
func (l StandingOrders) UncountRefused(r Fate) bool {
	index := slices.IndexFunc(l, func(o *StandingOrderState) bool {
		return r.StandingOrderID != "" &&
			o.ID == r.StandingOrderID
	})
	if index < 0 {
		return false
	}
	o := l[index]
	if digest, exists := o.RefusedApprovalDigestByCallID[r.CallID]; exists && digest == r.ApprovalDigest {
		return true
	}
	if o.RefusedApprovalDigestByCallID == nil {
		o.RefusedApprovalDigestByCallID = map[string]string{}
	}
	o.RefusedApprovalDigestByCallID[r.CallID] = r.ApprovalDigest
	//workflowcheck:ignore -- a Call is of one owner
	for _, digestByCall := range o.ApprovedDigestsByInstanceOrPart {
		if digestByCall[r.CallID] == r.ApprovalDigest {
			delete(digestByCall, r.CallID)
		}
	}
	// also if the Call no longer waits, as far as is known: somebody else decided first
	o.ApprovedCount = max(0, o.ApprovedCount-1)
	return true
}

func (o *StandingOrderState) wasHandled(instanceOrPart string, p PendingCall) bool {
	digest, wasRefused := o.RefusedApprovalDigestByCallID[p.CallID]
	return o.wasApprovedOrSent(instanceOrPart, p) || (wasRefused && digest == p.Digest)
}

func (o *StandingOrderState) wasApprovedOrSent(instanceOrPart string, p PendingCall) bool {
	return o.ApprovedDigestsByInstanceOrPart[instanceOrPart][p.CallID] == o.handledDigest(p)
}

// handledDigest is the value of a Call in Handled: its digest, with a mark if the order is on a deputy and was ended.
func (o *StandingOrderState) handledDigest(p PendingCall) string {
	if o.DeputyName != "" && o.Ending != nil {
		return "ended " + p.Digest
	}
	return p.Digest
}

func (o *StandingOrderState) recordHandled(instanceOrPart string, p PendingCall) {
	if o.ApprovedDigestsByInstanceOrPart == nil {
		o.ApprovedDigestsByInstanceOrPart = map[string]map[string]string{}
	}
	if o.ApprovedDigestsByInstanceOrPart[instanceOrPart] == nil {
		o.ApprovedDigestsByInstanceOrPart[instanceOrPart] = map[string]string{}
	}
	o.ApprovedDigestsByInstanceOrPart[instanceOrPart][p.CallID] = o.handledDigest(p)
}

// pruneHandled drops the Calls that no longer wait.
func (o *StandingOrderState) pruneHandled(instanceOrPart string, pending []PendingCall) {
	digestByCallID := o.ApprovedDigestsByInstanceOrPart[instanceOrPart]
	if len(digestByCallID) == 0 {
		return
	}
	remainingDigests := map[string]string{}
	for _, p := range pending {
		if o.wasApprovedOrSent(instanceOrPart, p) {
			remainingDigests[p.CallID] = digestByCallID[p.CallID]
		}
	}
	o.ApprovedDigestsByInstanceOrPart[instanceOrPart] = remainingDigests
	if len(remainingDigests) == 0 {
		delete(o.ApprovedDigestsByInstanceOrPart, instanceOrPart)
	}
}

// WithoutDigests is the orders as people are shown them.
func (l StandingOrders) WithoutDigests() StandingOrders {
	view := make(StandingOrders, len(l))
	for n, o := range l {
		copiedOrder := *o
		copiedOrder.ApprovedDigestsByInstanceOrPart, copiedOrder.RefusedApprovalDigestByCallID = nil, nil
		view[n] = &copiedOrder
	}
	return view
}
