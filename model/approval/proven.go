package approval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Proven returns a decision as its proof confirms it: by the proven person with the proven groups, whatever the signal
// claimed. A decision without a proof is unchanged. The error says why the proof does not count. made are the decisions
// on the Call so far.
func (d Decision) Proven(p Pending, made []Decision, now time.Time) (Decision, error) {
	if d.Proof == "" {
		return d, nil
	}
	if d.Finding == nil {
		return d, errors.New("the proof was not verified")
	}
	f, c := d.Finding, d.Finding.Claims
	since, about := p.Since, d
	about.CallID, about.ApprovalDigest = p.CallID, p.Digest
	toProve := about.ToProve(f.Process)
	if d.Order != nil {
		// one proof for every Call that the order covers
		since, toProve, made = time.Time{}, d.Order.ToProve(f.Process), nil
	}
	if err := f.CheckTime(since, now); err != nil {
		return d, err
	}
	if err := c.CheckFor(toProve); err != nil {
		return d, err
	}
	for _, name := range []string{c.Subject, cmp.Or(c.Name, c.Subject)} {
		if err := policy.CheckName(name); err != nil {
			return d, fmt.Errorf("the proof's signer: %w", err)
		}
	}
	used := func(other Decision) bool {
		return other.Signed != nil && other.Signed.ID == c.ID && other.Signed.Issuer == c.Issuer
	}
	if slices.ContainsFunc(made, used) {
		return d, errors.New("the proof was used already: it counts only once")
	}
	if d.DecidedBy != "" && !policy.SameName(d.DecidedBy, c.Subject) && !policy.SameName(d.DecidedBy, c.Name) {
		return d, fmt.Errorf("the proof is by %s, but the decision says that it is by %s", c.Subject, d.DecidedBy)
	}
	d.DecidedBy, d.Groups, d.Account = c.Subject, c.Groups, c.SubjectID.Account
	d.Signed = &proof.Signed{Key: f.Key, Issuer: c.Issuer, ID: c.ID, Params: d.AmendedParams}
	if c.Name != c.Subject {
		d.Signed.Name = c.Name
	}
	return d, nil
}

// Identity is who took the decision.
func (d Decision) Identity() policy.Identity {
	return policy.Identity{Name: d.DecidedBy, Account: d.Account}
}

// Identities lists everybody for whom the decision counts: its author, and the person whose deputy the author is. All
// rules treat these as one person.
func (d Decision) Identities() []policy.Identity {
	list := []policy.Identity{d.Identity()}
	if d.OnBehalfOf != nil {
		list = append(list, d.OnBehalfOf.Identities()...)
	}
	return list
}

// Vote returns the decision, with this kind, as one of several that must agree.
func (d Decision) Vote(kind string) Vote {
	return Vote{Kind: kind, DecidedBy: d.DecidedBy, Account: d.Account, Groups: d.Groups, OnBehalfOf: d.OnBehalfOf,
		DecidedAt: d.DecidedAt}
}

// ToProve returns the decision that a proof of a decision on a Call must be for.
func (d Decision) ToProve(process string) proof.Decision {
	return proof.Decision{
		Process: process, CallIDs: []string{d.CallID, ideafile.TypeableCallID(d.CallID)}, Digest: d.ApprovalDigest,
		Kind:    d.Kind,
		Details: d.detailsDigest(),
	}
}

// detailsDigest is proof.DetailsDigest of the decision, as its signal had it.
func (d Decision) detailsDigest() string {
	content := jsonval.Object{"reason": d.Reason}
	switch d.Kind {
	case HandOver:
		content["to"], content["toGroup"] = d.To, d.ToGroup
	case policy.Amend:
		content["params"] = jsonval.UnescapeBlobHandles(d.AmendedParams)
		if d.Signed != nil {
			content["params"] = jsonval.UnescapeBlobHandles(d.Signed.Params)
		}
	case policy.Replace:
		content["with"] = jsonval.UnescapeBlobHandles(d.Replacement)
	case policy.Answer:
		content["output"] = jsonval.UnescapeBlobHandles(d.GivenResult)
	}
	if d.Calls != nil {
		content["calls"] = jsonval.UnescapeBlobHandles(jsonval.ToJSONValue(d.Calls))
	}
	return proof.DetailsDigest(content)
}

// Decider returns the person to whom the rules on deciders apply. For a deputy's decision, that is the person in whose
// place the deputy decides; it counts as signed only if both are proven.
func (d Decision) Decider() policy.Person {
	p := policy.Person{Name: d.DecidedBy, Groups: d.Groups, Account: d.Account}
	if d.Signed != nil {
		p.Signed, p.AlsoNamed = true, d.Signed.Name
	}
	if d.OnBehalfOf != nil {
		deputy := p
		p = *d.OnBehalfOf
		p.Signed, p.Deputy = p.Signed && deputy.Signed, deputy.Identities()
	}
	return p
}

// CheckDecider returns why the person may not take the decision under these rules; no rules: anybody may. starters are
// the people who started the process, causers those who caused what is decided on in another way.
func (d Decision) CheckDecider(rules policy.Rules, starters, causers []policy.Identity) error {
	if len(rules) == 0 {
		return nil
	}
	if strings.TrimSpace(d.DecidedBy) == "" && !rules.Signed() {
		return fmt.Errorf(`"by" is missing: only some people may decide (%s)`, rules)
	}
	if why := rules.DenialReason(d.Decider(), starters, causers...); why != "" {
		return errors.New(why)
	}
	return nil
}

// SignedText names the key that signed a decision; "" for a declared one.
func (d Decision) SignedText() string {
	if d.Signed == nil {
		return ""
	}
	return fmt.Sprintf("signed (key %s)", d.Signed.Key)
}
