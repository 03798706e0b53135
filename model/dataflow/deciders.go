package dataflow

import (
	"fmt"
	"slices"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file holds who may decide: the rules of a Tool's policy and of `config.approval` (package deciders), applied to
// one decision.

// SetPeopleAllowedToDecide sets who started the process, and the decisions on Calls of the instance in the processes
// that this one was forked from.
func (i *Instance) SetPeopleAllowedToDecide(starters []policy.Identity, earlier []policy.PriorDecision) {
	i.starters, i.earlierDecisions = starters, nil
	for _, e := range earlier {
		if ideafile.InstanceTokenOfCallID(e.CallID) == i.token {
			i.earlierDecisions = append(i.earlierDecisions, e)
		}
	}
}

// SetCausers sets who has added or revised the instance. They count as people who started the process.
func (i *Instance) SetCausers(people []policy.Identity) { i.causers = people }

// CausersOf lists who caused a Call beside those who started the process: who added or revised the instance, and who
// changed the Call itself.
func (i *Instance) CausersOf(rec *CallRecord) []policy.Identity {
	list := slices.Clone(i.causers)
	for _, d := range rec.Decisions {
		if d.Kind == policy.Replace || d.Kind == policy.Amend {
			list = append(list, d.Decider().Identities()...)
		}
	}
	return list
}

// asMayDecide returns a decision, or a hand-over, as it counts: for who takes it or, where they may not, in place of
// somebody whose deputy they are.
func (i *Instance) asMayDecide(rec *CallRecord, d approval.Decision) (approval.Decision, error) {
	var err error
	for _, one := range rec.PendingApproval.Capacities(d, i.Now) {
		err = i.checkDecider(rec, one)
		if err == nil && !approval.IsRemark(d.Kind) {
			err = rec.PendingApproval.CheckHandedOver(one)
			if err != nil && rec.PendingApproval.IsOpenAgain(one) && i.KnowsChange(approval.HandOverChange) {
				err = nil
			}
		}
		if err == nil {
			return one, nil
		}
	}
	return d, err
}

// checkRecipient returns why nobody to whom a Call would be handed over may decide on it. Who belongs to a group is not
// known.
func (i *Instance) checkRecipient(rec *CallRecord, d approval.Decision) (err error) {
	p := rec.PendingApproval
	groups := p.Deciders.Groups()
	if d.To != "" {
		for _, one := range p.Capacities(p.DecisionOfRecipient(d), i.Now) {
			if err = i.checkDecider(rec, one); err == nil {
				return nil
			}
		}
	} else if len(groups) > 0 && !policy.AnyOf(policy.Named(groups...), policy.Named(d.ToGroup)) {
		err = fmt.Errorf("only people of %s may decide on it", diag.FirstNamesAndCount(groups))
	}
	if err == nil || !i.KnowsChange(approval.HandOverChange) {
		return nil
	}
	return fmt.Errorf("it cannot be handed over to %s: %w", d.Recipient(), err)
}

// checkDecider returns why this person may not take the decision on what waits.
func (i *Instance) checkDecider(rec *CallRecord, d approval.Decision) error {
	if err := i.checkNotExcludedElsewhere(rec, d); err != nil {
		return err
	}
	rules := rec.PendingApproval.Deciders
	if err := d.CheckDecider(rules, i.starters, i.CausersOf(rec)); err != nil || len(rules) == 0 {
		return err
	}
	for _, other := range rules.ExcludedCallNames() {
		for _, who := range d.Identities() {
			if id, found := i.decidedCall(rec, other, who); found {
				return fmt.Errorf("%s decided on %s, and may not decide on %s too", who.Name, id, rec.ID)
			}
		}
		if _, isID := ideafile.ParseCallKey(other); isID && !i.hasCall(other) {
			return fmt.Errorf("whoever decided on %s may not decide on it, but there is no such Call", other)
		}
	}
	if v, has := findVote(rec, d); has && isVote(d) {
		return fmt.Errorf("%s has decided on it already (%s); it takes %d people", v.DecidedBy, v.Kind,
			rules.RequiredApprovals())
	}
	return nil
}

// checkNotExcludedElsewhere refuses a person who has decided on another Call that excludes its deciders from this one.
func (i *Instance) checkNotExcludedElsewhere(rec *CallRecord, d approval.Decision) error {
	for _, other := range i.callRecords {
		for _, made := range other.Decisions {
			if other == rec || d.DecidedBy == "" || !policy.AnyOf(made.Identities(), d.Identities()) {
				continue
			}
			if slices.ContainsFunc(made.Deciders.ExcludedCallNames(),
				func(name string) bool { return i.callMatchesName(rec, name) }) {
				return fmt.Errorf("%s decided on %s, and may not decide on %s too", d.DecidedBy, other.ID, rec.ID)
			}
		}
	}
	return nil
}

// callMatchesName reports whether a name in NotSameAs, an id or a Tool's name, means a Call.
func (i *Instance) callMatchesName(rec *CallRecord, name string) bool {
	return slices.Contains(i.callIDsNamed(name), rec.ID) || rec.Tool == name ||
		slices.ContainsFunc(rec.Decisions, func(d approval.Decision) bool { return d.Tool == name }) ||
		rec.PendingApproval != nil && rec.PendingApproval.Tool == name
}

// callIDsNamed lists the ids that an id in NotSameAs means. The Calls of a Plan that replaced another by a correction
// are numbered from there, and to the author of the policy the first Call of either is 0.1.
func (i *Instance) callIDsNamed(name string) []string {
	key, isID := ideafile.ParseCallKey(name)
	if !isID {
		return nil
	}
	ids := []string{key.ID(i.token)}
	for _, m := range i.contextMessages {
		if key.Request == 0 && m.IsDirectPlan() && m.CallIndexOffset > 0 {
			ids = append(ids, ideafile.FormatCallID(0, m.CallIndexOffset+key.Index, i.token))
		}
	}
	return ids
}

// decidedCall returns a Call other than rec, named in NotSameAs, on which the person decided.
func (i *Instance) decidedCall(rec *CallRecord, name string, person policy.Identity) (id string, found bool) {
	for _, other := range i.callRecords {
		by := func(d approval.Decision) bool { return slices.ContainsFunc(d.Identities(), person.Is) }
		if other != rec && i.callMatchesName(other, name) && slices.ContainsFunc(other.Decisions, by) {
			return other.ID, true
		}
	}
	ids := i.callIDsNamed(name)
	for _, e := range i.earlierDecisions {
		if (e.Tool == name || slices.Contains(ids, e.CallID)) &&
			person.Is(policy.Identity{Name: e.By, Account: e.Account}) {
			return e.CallID, true
		}
	}
	return "", false
}

func (i *Instance) hasCall(name string) bool {
	return slices.ContainsFunc(i.callIDsNamed(name), func(id string) bool {
		return i.FindCall(id) != nil ||
			slices.ContainsFunc(i.earlierDecisions, func(e policy.PriorDecision) bool { return e.CallID == id })
	})
}

// isVote reports whether others may have to decide the same before the decision counts. A single person rejects, amends
// and replaces; what comes of the latter two is decided on by itself.
func isVote(d approval.Decision) bool { return d.Kind == policy.Approve || d.Kind == policy.Answer }

// findVote returns a decision on the waiting Call that counts for one of the people for whom another does.
func findVote(rec *CallRecord, d approval.Decision) (approval.Vote, bool) {
	at := slices.IndexFunc(rec.PendingApproval.DecidedSoFar,
		func(v approval.Vote) bool { return policy.AnyOf(v.Identities(), d.Identities()) })
	if at < 0 {
		return approval.Vote{}, false
	}
	return rec.PendingApproval.DecidedSoFar[at], true
}

// needsMoreDecisions reports whether a decision still needs others who decide the same.
func (i *Instance) needsMoreDecisions(rec *CallRecord, d approval.Decision) bool {
	same := 1
	for _, made := range rec.Decisions {
		if made.ApprovalDigest == d.ApprovalDigest && made.Kind == d.Kind &&
			jsonval.Equal(made.GivenResult, d.GivenResult) {
			same++
		}
	}
	return isVote(d) && same < rec.PendingApproval.Deciders.RequiredApprovals()
}

// addVote keeps a decision that needs others. The Call goes on waiting, under the same digest.
func (i *Instance) addVote(rec *CallRecord, d approval.Decision) error {
	if d.Kind == policy.Answer {
		if _, err := i.readGivenResult(rec, d); err != nil {
			return err
		}
		rec.BranchTaken = 0
	}
	rec.Decisions = append(rec.Decisions, d)
	p := *rec.PendingApproval
	p.DecidedSoFar = append(slices.Clone(p.DecidedSoFar), d.Vote(d.Kind))
	rec.PendingApproval = &p
	return nil
}
