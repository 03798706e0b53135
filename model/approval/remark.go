package approval

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
)

// Kinds of remarks: acts on a waiting Call that do not decide on it. Their signals have the same names, and their
// Decision has the text in Reason.
const (
	Comment  = "comment"   // say something that others read before they decide
	Ask      = "ask"       // ask somebody; without a name, the person who started the process
	HandOver = "hand-over" // have a person, or a group, decide alone
)

// Remarks lists the remarks that people make. SteerDeputy is a remark too: a process sends it to a Call to name a
// deputy.
func Remarks() []string { return []string{Comment, Ask, HandOver} }

// IsRemark reports whether the kind is a remark, not a decision.
func IsRemark(kind string) bool { return kind == SteerDeputy || slices.Contains(Remarks(), kind) }

// AcceptsProof reports whether an act on a Call may have a proof.
func AcceptsProof(kind string) bool { return kind == HandOver || !IsRemark(kind) }

// Allows reports whether the policy of a Call allows an act on it. A policy that names no remark allows all. A deputy
// is allowed if a hand-over is.
func (p Pending) Allows(kind string) bool {
	if kind == SteerDeputy {
		kind = HandOver
	}
	return slices.Contains(p.AllowedDecisions, kind) ||
		IsRemark(kind) && !slices.ContainsFunc(p.AllowedDecisions, IsRemark)
}

// checkRemark returns what a remark lacks.
func (d Decision) checkRemark() error {
	toSomebody := strings.TrimSpace(d.To+d.ToGroup) != ""
	switch {
	case d.Kind == SteerDeputy && d.Order == nil:
		return fmt.Errorf(`a process tells a Call of a deputy: "order" is missing`)
	case d.Kind == SteerDeputy:
		return nil
	case strings.TrimSpace(d.DecidedBy) == "" && d.Proof == "":
		return fmt.Errorf(`it does not say whose it is: "by" is missing`)
	case d.Kind != HandOver && strings.TrimSpace(d.Reason) == "":
		return fmt.Errorf(`it says nothing: "reason" is missing`)
	case d.Kind == HandOver && !toSomebody:
		return fmt.Errorf(`it is handed over to nobody: "to" or "toGroup" is missing`)
	case d.To != "" && d.ToGroup != "":
		return fmt.Errorf(`it is for a person or a group: "to" and "toGroup" exclude each other`)
	case d.To != "":
		return policy.CheckName(d.To)
	case d.ToGroup != "":
		return policy.CheckGroup(d.ToGroup)
	}
	return nil
}

// ShownTo returns the parameters that people were shown of a Call by its last remark that has any. A remark omits them
// if they are unchanged.
func ShownTo(remarks []Decision) (params map[string]any) {
	for _, r := range remarks {
		if r.ShownParams != nil {
			params = r.ShownParams
		}
	}
	return params
}

// Recipient names the addressee of a remark; empty: none.
func (d Decision) Recipient() string {
	if d.ToGroup != "" {
		return "people of " + d.ToGroup
	}
	return d.To
}

// RemarkText describes a remark in one line.
func (d Decision) RemarkText() string {
	to, text := d.Recipient(), d.DecidedBy
	switch {
	case d.Kind == SteerDeputy:
		text = d.To + " may decide in place of " + d.DecidedBy + d.Order.timesText()
	case d.Kind == Comment:
		text += " says"
	case d.Kind == HandOver:
		text += " has handed it over to " + to
	case to == "":
		text += " asks who started it"
	default:
		text += " asks " + to
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}

// HandedOver is the last remark that handed the Call over; nil: it was not handed over.
func (p Pending) HandedOver() *Decision {
	for n := len(p.Remarks) - 1; n >= 0; n-- {
		if p.Remarks[n].Kind == HandOver {
			return &p.Remarks[n]
		}
	}
	return nil
}

// HandOverChange names the rules by which a Call is handed over only to people who may decide on it, and only until
// IsOpenAgain.
const HandOverChange = "a Call is handed to who may decide"

// isFor reports whether a hand-over is to the author of another decision.
func (d Decision) isFor(other Decision) bool {
	return d.To != "" && policy.AnyOf(other.Identities(), policy.Named(d.To)) ||
		d.ToGroup != "" && policy.AnyOf(policy.Named(other.Decider().Groups...), policy.Named(d.ToGroup))
}

// CheckHandedOver refuses everybody except the people to whom the Call was handed over.
func (p Pending) CheckHandedOver(d Decision) error {
	h := p.HandedOver()
	if h == nil || h.isFor(d) {
		return nil
	}
	return fmt.Errorf("%s; whoever may decide can hand it over again", h.RemarkText())
}

// IsOpenAgain reports whether others may decide too on a Call that was handed over. They may if its recipient has
// decided and others still must. The author of a decision also may if an escalation since then allows it.
func (p Pending) IsOpenAgain(d Decision) bool {
	h := p.HandedOver()
	return h != nil && (p.hasDecided(*h) || p.WhileWaiting.EscalatedTo(d.Decider(), h.DecidedAt))
}

// hasDecided reports whether a recipient of a hand-over has decided since.
func (p Pending) hasDecided(h Decision) bool {
	return slices.ContainsFunc(p.DecidedSoFar, func(v Vote) bool {
		return !v.DecidedAt.Before(h.DecidedAt) && h.isFor(v.decision())
	})
}

// DecisionOfRecipient is an approval by the recipient of a hand-over. Since more is not known of the recipient, it
// assumes every group and a signature.
func (p Pending) DecisionOfRecipient(h Decision) Decision {
	return Decision{Kind: policy.Approve, DecidedBy: h.To, Groups: p.Deciders.Groups(), Signed: &proof.Signed{}}
}
