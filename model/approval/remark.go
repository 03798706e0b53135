package approval

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/jsonval"
)

// Kinds of remarks: acts on a waiting Call that do not decide on it. Their signals have the same names, and their
// Decision has the text in Reason.
const (
	Comment  = "comment"   // say something that others read before they decide
	Ask      = "ask"       // ask somebody; without a name, the person who started the process
	HandOver = "hand-over" // have a person, or a group, decide alone
)

// RemarkKinds lists the remarks that people make. SteerDeputy is a remark too: a process sends it to a Call to name a
// deputy.
func RemarkKinds() []string { return []string{Comment, Ask, HandOver} }

// IsRemark reports whether the kind is a remark, not a decision.
func IsRemark(kind string) bool { return kind == SteerDeputy || slices.Contains(RemarkKinds(), kind) }

// AcceptsProof reports whether an act on a Call may have a proof.
func AcceptsProof(kind string) bool { return kind == HandOver || !IsRemark(kind) }

// Allows reports whether the policy of a Call allows an act on it. A policy that names no remark allows all. A deputy
// is allowed if a hand-over is.
func (p PendingCall) Allows(kind string) bool {
	if kind == SteerDeputy {
		kind = HandOver
	}
	return slices.Contains(p.AllowedDecisions, kind) ||
		IsRemark(kind) && !slices.ContainsFunc(p.AllowedDecisions, IsRemark)
}

// checkRemark returns what a remark lacks.
func (d Decision) checkRemark() error {
	hasRecipient := strings.TrimSpace(d.RecipientName+d.RecipientGroup) != ""
	switch {
	case d.Kind == SteerDeputy && d.Order == nil:
		return fmt.Errorf(`a process tells a Call of a deputy: "order" is missing`)
	case d.Kind == SteerDeputy:
		return nil
	case strings.TrimSpace(d.DecidedBy) == "" && d.Proof == "":
		return fmt.Errorf(`it does not say whose it is: "by" is missing`)
	case d.Kind != HandOver && strings.TrimSpace(d.Reason) == "":
		return fmt.Errorf(`it says nothing: "reason" is missing`)
	case d.Kind == HandOver && !hasRecipient:
		return fmt.Errorf(`it is handed over to nobody: "to" or "toGroup" is missing`)
	case d.RecipientName != "" && d.RecipientGroup != "":
		return fmt.Errorf(`it is for a person or a group: "to" and "toGroup" exclude each other`)
	case d.RecipientName != "":
		return policy.CheckPersonName(d.RecipientName)
	case d.RecipientGroup != "":
		return policy.CheckGroupName(d.RecipientGroup)
	}
	return nil
}

// LastShownParams returns the parameters that people were shown of a Call by its last remark that has any. A remark
// omits them if they are unchanged.
func LastShownParams(remarks []Decision) (params map[string]any) {
	for _, r := range remarks {
		if r.ShownParams != nil {
			params = r.ShownParams
		}
	}
	return params
}

// RecipientText names the addressee of a remark; empty: none.
func (d Decision) RecipientText() string {
	if d.RecipientGroup != "" {
		return "people of " + d.RecipientGroup
	}
	return d.RecipientName
}

// RemarkText describes a remark in one line.
func (d Decision) RemarkText() string {
	recipient, text := d.RecipientText(), d.DecidedBy
	switch {
	case d.Kind == SteerDeputy:
		text = d.RecipientName + " may decide in place of " + d.DecidedBy + d.Order.periodText()
	case d.Kind == Comment:
		text += " says"
	case d.Kind == HandOver:
		text += " has handed it over to " + recipient
	case recipient == "":
		text += " asks who started it"
	default:
		text += " asks " + recipient
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}

// AnswersForRequest reports whether a comment answers one of the questions of which the LLM is told. Only who was asked
// answers: others may comment, too, and would else speak to the LLM. Without a recipient, whoever started the process
// was asked.
func (d Decision) AnswersForRequest(remarks []Decision, starters []policy.Identity) bool {
	return d.Kind == Comment && slices.ContainsFunc(remarks, func(question Decision) bool {
		isAsked := question.IsAddressedTo(d) ||
			question.RecipientText() == "" && policy.AnySamePerson(d.Identities(), starters)
		return question.Kind == Ask && question.IsForRequest && isAsked
	})
}

// RemarksForRequest returns the questions of which the LLM is told, and the answers.
func RemarksForRequest(remarks []Decision) []Decision {
	return jsonval.Filter(remarks, func(r Decision) bool { return r.IsForRequest })
}

// LastHandOver is the last remark that handed the Call over; nil: it was not handed over.
func (p PendingCall) LastHandOver() *Decision {
	for n := len(p.Remarks) - 1; n >= 0; n-- {
		if p.Remarks[n].Kind == HandOver {
			return &p.Remarks[n]
		}
	}
	return nil
}

// IsAddressedTo reports whether a hand-over or a question is to the author of another decision.
func (d Decision) IsAddressedTo(other Decision) bool {
	return d.RecipientName != "" && policy.AnySamePerson(other.Identities(), policy.IdentitiesNamed(d.RecipientName)) ||
		d.RecipientGroup != "" && policy.AnySamePerson(policy.IdentitiesNamed(other.Decider().Groups...),
			policy.IdentitiesNamed(d.RecipientGroup))
}

// CheckHandOverRecipient refuses everybody except the people to whom the Call was handed over.
func (p PendingCall) CheckHandOverRecipient(d Decision) error {
	h := p.LastHandOver()
	if h == nil || h.IsAddressedTo(d) {
		return nil
	}
	return fmt.Errorf("%s; whoever may decide can hand it over again", h.RemarkText())
}

// IsHandOverLapsed reports whether others may decide too on a Call that was handed over. They may if its recipient has
// decided and others still must. The author of a decision also may if an escalation since then allows it.
func (p PendingCall) IsHandOverLapsed(d Decision) bool {
	h := p.LastHandOver()
	return h != nil && (p.hasRecipientDecided(*h) || p.ReminderSchedule.WasEscalatedTo(d.Decider(), h.DecidedAt))
}

// hasRecipientDecided reports whether a recipient of a hand-over has decided since.
func (p PendingCall) hasRecipientDecided(h Decision) bool {
	return slices.ContainsFunc(p.VotesSoFar, func(v Vote) bool {
		return !v.DecidedAt.Before(h.DecidedAt) && h.IsAddressedTo(v.decision())
	})
}

// AssumedRecipientApproval is an approval by the recipient of a hand-over. Since more is not known of the recipient, it
// assumes every group and a signature.
func (p PendingCall) AssumedRecipientApproval(h Decision) Decision {
	return Decision{Kind: policy.Approve, DecidedBy: h.RecipientName, Groups: p.Deciders.Groups(),
		Signature: &proof.SignatureInfo{}}
}
