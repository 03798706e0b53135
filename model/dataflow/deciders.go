package dataflow

import (
	"errors"
	"fmt"
	"slices"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file applies the rules on who may decide (policy.Rules), of a Tool's policy and of `config.approval`, to one
// decision.

// SetStartersAndPriorDecisions sets who started the process, and which decisions on Calls of this instance were taken
// in the processes that this one was forked from.
func (i *Instance) SetStartersAndPriorDecisions(starters []policy.Identity, priorDecisions []policy.PriorDecision) {
	i.starters, i.priorDecisions = starters, nil
	for _, e := range priorDecisions {
		if ideafile.InstanceTokenOfCallID(e.CallID) == i.token {
			i.priorDecisions = append(i.priorDecisions, e)
		}
	}
}

// SetCausers sets the people who added or revised the instance. They count as people who started the process.
func (i *Instance) SetCausers(people []policy.Identity) { i.causers = people }

// CausersOf lists the people who caused a Call, beside those who started the process: they added or revised the
// instance, or changed the Call itself.
func (i *Instance) CausersOf(rec *CallRecord) []policy.Identity {
	list := slices.Clone(i.causers)
	for _, d := range rec.Decisions {
		if d.Kind == policy.Replace || d.Kind == policy.Amend {
			list = append(list, d.Decider().Identities()...)
		}
	}
	return list
}

// authorizeDecision returns the decision, or hand-over, in the capacity in which it counts: the sender's own or,
// failing that, as deputy for somebody who may decide.
func (i *Instance) authorizeDecision(rec *CallRecord, d approval.Decision) (approval.Decision, error) {
	var err error
	for _, candidate := range rec.PendingApproval.AsSelfAndAsDeputy(d, i.CurrentTime) {
		err = i.checkDecider(rec, candidate)
		if err == nil && !approval.IsRemark(d.Kind) {
			err = rec.PendingApproval.CheckHandOverRecipient(candidate)
			if err != nil && rec.PendingApproval.IsHandOverLapsed(candidate) {
				err = nil
			}
		}
		if err == nil {
			return candidate, nil
		}
	}
	return d, err
}

// checkHandOverRecipient returns an error if the recipient of a hand-over could never decide on the Call. It does not
// know who belongs to a group.
func (i *Instance) checkHandOverRecipient(rec *CallRecord, d approval.Decision) (err error) {
	p := rec.PendingApproval
	groups := p.Deciders.Groups()
	if d.RecipientName != "" {
		for _, candidate := range p.AsSelfAndAsDeputy(p.AssumedRecipientApproval(d), i.CurrentTime) {
			if err = i.checkDecider(rec, candidate); err == nil {
				return nil
			}
		}
	} else if len(groups) > 0 && !policy.AnySamePerson(policy.IdentitiesNamed(groups...),
		policy.IdentitiesNamed(d.RecipientGroup)) {
		err = fmt.Errorf("only people of %s may decide on it", diag.SummarizeNames(groups))
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("it cannot be handed over to %s: %w", d.RecipientText(), err)
}

// checkDecider returns why the sender of a decision may not decide on the waiting Call.
func (i *Instance) checkDecider(rec *CallRecord, d approval.Decision) error {
	rules, exclusions := rec.PendingApproval.Deciders,
		approval.ExcludedPeople{PriorDecisions: i.excludingPriorDecisions(rec)}
	if reason := exclusions.DecidedElsewhereReason(d.Identities(), rec.ID); reason != "" {
		return errors.New(reason)
	}
	if err := d.CheckDecider(rules, i.starters, i.CausersOf(rec)); err != nil || len(rules) == 0 {
		return err
	}
	for _, callName := range rules.CallsWithExcludedDeciders() {
		if _, isID := ideafile.ParseCallKey(callName); isID && !i.hasCurrentOrPriorCall(callName) {
			return fmt.Errorf("whoever decided on %s may not decide on it, but there is no such Call", callName)
		}
	}
	if v, exists := findVoteOfSamePerson(rec, d); exists && isVote(d) {
		return fmt.Errorf("%s has decided on it already (%s); it takes %d people", v.DecidedBy, v.Kind,
			rules.RequiredApprovals())
	}
	return nil
}

// excludedDeciders returns the people whom rules exclude from the decision on a waiting Call; nil if nobody is
// excluded.
func (i *Instance) excludedDeciders(rec *CallRecord) *approval.ExcludedPeople {
	e := &approval.ExcludedPeople{PriorDecisions: i.excludingPriorDecisions(rec)}
	if rec.PendingApproval.Deciders.ExcludesStarter() {
		e.StartedBy, e.CausedBy = i.starters, i.CausersOf(rec)
	} else if len(e.PriorDecisions) == 0 {
		return nil
	}
	return e
}

// excludingPriorDecisions lists the people who may not decide on this Call because they decided on another one, by a
// rule of either Call. Each person is listed once, with the first such Call.
func (i *Instance) excludingPriorDecisions(rec *CallRecord) (list []policy.PriorDecision) {
	addDecision := func(id string, people ...policy.Identity) {
		for _, person := range people {
			if !slices.ContainsFunc(list, func(prior policy.PriorDecision) bool {
				return prior.DecidedBy == person.Name && prior.Account == person.Account
			}) {
				list = append(list, policy.PriorDecision{CallID: id, DecidedBy: person.Name, Account: person.Account})
			}
		}
	}
	callNames := rec.PendingApproval.Deciders.CallsWithExcludedDeciders()
	for _, other := range i.callRecords {
		isExcluded := slices.ContainsFunc(callNames, func(name string) bool { return i.callMatchesName(other, name) })
		for _, prior := range other.Decisions {
			if other != rec && (isExcluded || slices.ContainsFunc(prior.Deciders.CallsWithExcludedDeciders(),
				func(name string) bool { return i.callMatchesName(rec, name) })) {
				addDecision(other.ID, prior.Identities()...)
			}
		}
	}
	for _, name := range callNames {
		callIDs := i.callIDsForName(name)
		for _, e := range i.priorDecisions {
			if e.Tool == name || slices.Contains(callIDs, e.CallID) {
				addDecision(e.CallID, policy.Identity{Name: e.DecidedBy, Account: e.Account})
			}
		}
	}
	return list
}

// callMatchesName reports whether a name in CallsWithExcludedDeciders means a Call: it is the Call's id, or the name of
// its Tool, now or at a decision on the Call.
func (i *Instance) callMatchesName(rec *CallRecord, name string) bool {
	return slices.Contains(i.callIDsForName(name), rec.ID) || rec.Tool == name ||
		slices.ContainsFunc(rec.Decisions, func(d approval.Decision) bool { return d.Tool == name }) ||
		rec.PendingApproval != nil && rec.PendingApproval.Tool == name
}

// callIDsForName lists the ids that an id in CallsWithExcludedDeciders may mean. If a correction replaced the direct
// Plan, the Calls of the new Plan are numbered on from the old one's; to the author of the policy the first Call of
// each is 0.1.
func (i *Instance) callIDsForName(name string) []string {
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

func (i *Instance) hasCurrentOrPriorCall(name string) bool {
	return slices.ContainsFunc(i.callIDsForName(name), func(id string) bool {
		return i.FindCall(id) != nil ||
			slices.ContainsFunc(i.priorDecisions, func(e policy.PriorDecision) bool { return e.CallID == id })
	})
}

// isVote reports whether others may have to decide the same before the decision counts. To reject, amend or replace
// takes one person; an amended Call or a replacement is reviewed anew if its policy asks for that.
func isVote(d approval.Decision) bool { return d.Kind == policy.Approve || d.Kind == policy.Answer }

// findVoteOfSamePerson returns an earlier decision on the waiting Call that counts for one of the people for whom d
// counts.
func findVoteOfSamePerson(rec *CallRecord, d approval.Decision) (approval.Vote, bool) {
	index := slices.IndexFunc(rec.PendingApproval.VotesSoFar,
		func(v approval.Vote) bool { return policy.AnySamePerson(v.Identities(), d.Identities()) })
	if index < 0 {
		return approval.Vote{}, false
	}
	return rec.PendingApproval.VotesSoFar[index], true
}

// needsMoreVotes reports whether more people must decide the same before a decision counts.
func (i *Instance) needsMoreVotes(rec *CallRecord, d approval.Decision) bool {
	sameDecisionCount := 1
	for _, prior := range rec.Decisions {
		if prior.ApprovalDigest == d.ApprovalDigest && prior.Kind == d.Kind &&
			jsonval.Equal(prior.AnswerResult, d.AnswerResult) {
			sameDecisionCount++
		}
	}
	return isVote(d) && sameDecisionCount < rec.PendingApproval.Deciders.RequiredApprovals()
}

// addVote keeps a decision that needs more people to decide the same. The Call goes on waiting, under the same digest.
func (i *Instance) addVote(rec *CallRecord, d approval.Decision) error {
	if d.Kind == policy.Answer {
		if _, err := i.readAnswerResult(rec, d); err != nil {
			return err
		}
		rec.TakenBranchNumber = 0
	}
	rec.Decisions = append(rec.Decisions, d)
	p := *rec.PendingApproval
	p.VotesSoFar = append(slices.Clone(p.VotesSoFar), d.Vote(d.Kind))
	rec.PendingApproval = &p
	return nil
}
