package approval

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/approval/policy"
)

// What people do about a Call that waits without deciding on it. Their signals have the same names, and their Decision
// says in Reason what was said.
const (
	Comment  = "comment"   // say something that others read before they decide
	Ask      = "ask"       // ask somebody; who started the process, where nobody is named
	HandOver = "hand-over" // have a person, or a group, decide alone
)

// Remarks lists them.
func Remarks() []string { return []string{Comment, Ask, HandOver} }

// IsRemark reports whether the kind is none of a decision.
func IsRemark(kind string) bool { return slices.Contains(Remarks(), kind) }

// checkRemark says what a remark lacks.
func (d Decision) checkRemark() error {
	toSomebody := strings.TrimSpace(d.To+d.ToGroup) != ""
	switch {
	case strings.TrimSpace(d.DecidedBy) == "":
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

// Recipient says to whom a remark is; empty: to nobody by name.
func (d Decision) Recipient() string {
	if d.ToGroup != "" {
		return "people of " + d.ToGroup
	}
	return d.To
}

// remarkText says a remark in a line.
func (d Decision) remarkText() string {
	to, text := d.Recipient(), d.DecidedBy
	switch {
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

// HandedOver is the last remark by which the Call was handed over; nil: whoever may decide does.
func (p Pending) HandedOver() *Decision {
	for n := len(p.Remarks) - 1; n >= 0; n-- {
		if p.Remarks[n].Kind == HandOver {
			return &p.Remarks[n]
		}
	}
	return nil
}

// CheckHandedOver refuses everybody but those to whom the Call was handed over.
func (p Pending) CheckHandedOver(d Decision) error {
	h := p.HandedOver()
	switch {
	case h == nil, h.To != "" && d.Identity().Is(policy.Identity{Name: h.To}):
		return nil
	case h.ToGroup != "" && slices.Contains(d.Decider().Groups, h.ToGroup):
		return nil
	}
	return fmt.Errorf("%s; who may decide can hand it over again", h.remarkText())
}
