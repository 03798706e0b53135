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

const maxOrders = 100 // of one process, including ended ones

// Orders are the standing orders of one process, in the order in which they were given. The zero value has none.
type Orders []*OrderState

// OrderState is one standing order, and its use so far.
type OrderState struct {
	StandingOrder
	GivenAt time.Time `json:"at"`
	// Giver is who gave it: the proven person, or else the claimed one.
	Giver policy.Person `json:"giver"`
	// Approved is how many Calls were approved under it.
	Approved int `json:"approved"`
	// Handled maps owner and Call to the digest of each Call that was approved under the order and, as far as is known,
	// still waits.
	Handled map[string]map[string]string `json:"handled,omitempty"`
	// RefusedApprovals maps a Call to its digest if its approval under the order was refused. Such an approval does not
	// count.
	RefusedApprovals map[string]string `json:"takenBack,omitempty"`
	// Ended is who ended it, and why; nil: nobody has.
	Ended *OrderEnding `json:"ended,omitempty"`
}

// OrderEnding is the end of an order that a person has ended.
type OrderEnding struct {
	By      string    `json:"by,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	EndedAt time.Time `json:"at"`
}

// CheckStandingOrder returns why an order cannot be given: its Tool does not exist or lacks what the condition names,
// or the giver may not decide on the Tool's Calls. starters are the people who started the process. While the Tools of
// MCP servers are still being looked up (toolsKnown false), an unknown Tool is accepted, since it may still appear.
func CheckStandingOrder(o StandingOrder, giver policy.Person, idea *ideafile.Idea, override policy.Override,
	starters []policy.Identity, now time.Time,
	toolsKnown bool,
) error {
	if !o.Until.IsZero() && !now.Before(o.Until) {
		return fmt.Errorf("until %s is past", o.Until.UTC().Format(time.RFC3339))
	}
	if o.To != "" {
		return o.checkDeputy(giver)
	}
	tool := idea.Tool(o.Tool)
	if tool == nil && !toolsKnown {
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
	params := jsonval.AsObject(tool.Source["properties"])
	for _, name := range o.NamedParams() {
		if _, has := params[name]; !has {
			return fmt.Errorf("when: %s has no parameter %q%s", o.Tool, jsonval.ClipForError(name),
				diag.DidYouMean(name, jsonval.SortedKeys(params)))
		}
	}
	rules, whileWaiting := override.PeopleFor(tool.Name, tool.Approval)
	if len(rules) == 0 {
		return nil
	}
	// people who may decide only after an escalation may give an order for escalated Calls
	rules = whileWaiting.EscalatedRules(rules)
	if strings.TrimSpace(giver.Name) == "" {
		return fmt.Errorf(`"by" is missing: only these may give the order: %s`, rules)
	}
	if why := rules.DenialReason(giver, starters); why != "" {
		return fmt.Errorf("%s", why)
	}
	return nil
}

// Give adds an order.
func (l *Orders) Give(o StandingOrder, giver policy.Person, now time.Time) error {
	switch {
	case slices.ContainsFunc(*l, func(given *OrderState) bool { return policy.SameName(given.ID, o.ID) }):
		return fmt.Errorf("an order %q exists already: give this one another id", o.ID)
	case len(*l) >= maxOrders:
		return fmt.Errorf("the process has %d orders, and takes no more", maxOrders)
	}
	*l = append(*l, &OrderState{StandingOrder: o, Giver: giver, GivenAt: now})
	return nil
}

// End ends an order.
func (l Orders) End(id string, e OrderEnding) error {
	var ids []string
	for _, o := range l {
		switch {
		case o.ID == id && o.Ended != nil:
			return fmt.Errorf("the order %q was ended already", id)
		case o.ID == id:
			o.Ended = &e
			return nil
		}
		ids = append(ids, o.ID)
	}
	return fmt.Errorf("there is no order %q%s", jsonval.ClipForError(id), diag.DidYouMeanOrListNames(id, ids))
}

// IsInForce reports whether an order may approve Calls at a moment.
func (o *OrderState) IsInForce(now time.Time) bool {
	return o.Ended == nil && (o.Count == 0 || o.Approved < o.Count) && (o.Until.IsZero() || now.Before(o.Until))
}

// OrderApproval is a waiting Call, and the order that approves it or names a deputy to it.
type OrderApproval struct {
	Order   StandingOrder
	Pending Pending
}

// Cover returns the waiting Calls of an owner, an instance or a part, that are approved now, each under the first order
// that covers it, and counts the approvals. If several people must approve, an order gives only the approval of its
// giver. The result also has the Calls that must get an order on a deputy now. knows is asked for DeputyChange only if
// the answer matters.
func (l Orders) Cover(owner string, waits []Pending, starters []policy.Identity, now time.Time,
	knows func(change string) bool,
) (list []OrderApproval) {
	for _, o := range l {
		o.dropHandled(owner, waits)
	}
	for _, p := range waits {
		people := l.approversPerApproval(owner, p)
		for _, o := range l {
			if deputy, untold := o.undeliveredDeputyChange(owner, p, now); untold &&
				(o.Ended != nil || o.mayDecide(p, starters) || !knows(DeputyChange)) {
				o.noteHandled(owner, p)
				list = append(list, OrderApproval{deputy, p})
			}
			if len(people) < p.Deciders.RequiredApprovals() && o.IsInForce(now) && !o.hasHandled(owner, p) &&
				!o.isGiverAmong(people) && o.covers(p, starters, now) {
				o.Approved++
				o.noteHandled(owner, p)
				people = append(people, []policy.Identity{o.giver()})
				list = append(list, OrderApproval{o.StandingOrder, p})
			}
		}
	}
	return list
}

// approversPerApproval lists, for each approval of a Call that is known or under way, the people for whom it counts.
func (l Orders) approversPerApproval(owner string, p Pending) (people [][]policy.Identity) {
	people = jsonval.Map(p.DecidedSoFar, Vote.Identities)
	for _, o := range l {
		if o.To == "" && o.hasApproved(owner, p) && !o.isGiverAmong(people) {
			people = append(people, []policy.Identity{o.giver()})
		}
	}
	return people
}

func (o *OrderState) giver() policy.Identity {
	return policy.Identity{Name: o.Giver.Name, Account: o.Giver.Account}
}

func (o *OrderState) isGiverAmong(people [][]policy.Identity) bool {
	return slices.ContainsFunc(people, func(one []policy.Identity) bool {
		return slices.ContainsFunc(one, o.giver().Is)
	})
}

// covers reports whether an order approves a Call, as far as the process knows. The instance knows more, and may
// refuse.
func (o *OrderState) covers(p Pending, starters []policy.Identity, now time.Time) bool {
	return slices.Contains(p.AllowedDecisions, policy.Approve) && o.WhyNotCovered(p, now) == "" &&
		o.mayDecide(p, starters)
}

func (o *OrderState) mayDecide(p Pending, starters []policy.Identity) bool {
	return p.Deciders.DenialReason(o.Giver, starters) == ""
}

// UncountRefused uncounts a Call whose approval was refused, because somebody else had decided on it before, or
// because it no longer waited. It reports whether the approval was under one of the orders. A second report of the
// same refusal, as after the crash of a worker, changes nothing.
func (l Orders) UncountRefused(r Fate) bool {
	at := slices.IndexFunc(l, func(o *OrderState) bool { return r.OrderID != "" && o.ID == r.OrderID })
	if at < 0 {
		return false
	}
	o := l[at]
	if digest, has := o.RefusedApprovals[r.CallID]; has && digest == r.Digest {
		return true
	}
	if o.RefusedApprovals == nil {
		o.RefusedApprovals = map[string]string{}
	}
	o.RefusedApprovals[r.CallID] = r.Digest
	//workflowcheck:ignore -- a Call is of one owner
	for _, calls := range o.Handled {
		if calls[r.CallID] == r.Digest {
			delete(calls, r.CallID)
		}
	}
	// also if the Call no longer waits, as far as is known: somebody else decided first
	o.Approved = max(0, o.Approved-1)
	return true
}

func (o *OrderState) hasHandled(owner string, p Pending) bool {
	digest, refused := o.RefusedApprovals[p.CallID]
	return o.hasApproved(owner, p) || (refused && digest == p.Digest)
}

func (o *OrderState) hasApproved(owner string, p Pending) bool {
	return o.Handled[owner][p.CallID] == o.handledVersion(p)
}

// handledVersion is the value of a Call in Handled: its digest, with a mark if the order is on a deputy and was ended.
func (o *OrderState) handledVersion(p Pending) string {
	if o.To != "" && o.Ended != nil {
		return "ended " + p.Digest
	}
	return p.Digest
}

func (o *OrderState) noteHandled(owner string, p Pending) {
	if o.Handled == nil {
		o.Handled = map[string]map[string]string{}
	}
	if o.Handled[owner] == nil {
		o.Handled[owner] = map[string]string{}
	}
	o.Handled[owner][p.CallID] = o.handledVersion(p)
}

// dropHandled drops the Calls that no longer wait.
func (o *OrderState) dropHandled(owner string, waits []Pending) {
	handled := o.Handled[owner]
	if len(handled) == 0 {
		return
	}
	still := map[string]string{}
	for _, p := range waits {
		if o.hasApproved(owner, p) {
			still[p.CallID] = handled[p.CallID]
		}
	}
	o.Handled[owner] = still
	if len(still) == 0 {
		delete(o.Handled, owner)
	}
}

// View is the orders as people are shown them.
func (l Orders) View() Orders {
	shown := make(Orders, len(l))
	for n, o := range l {
		copied := *o
		copied.Handled, copied.RefusedApprovals = nil, nil
		shown[n] = &copied
	}
	return shown
}
