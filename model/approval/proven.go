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

// VerifyProof returns a decision as its proof confirms it: by the proven person with the proven groups, whatever the
// signal claimed. A decision without a proof is unchanged. The error says why the proof does not count. priorDecisions
// are the decisions on the Call so far.
func (d Decision) VerifyProof(p PendingCall, priorDecisions []Decision, now time.Time) (Decision, error) {
	if d.Proof == "" {
		return d, nil
	}
	if d.Verification == nil {
		return d, errors.New("the proof was not verified")
	}
	verification, claims := d.Verification, d.Verification.Claims
	since, decisionToVerify := p.Since, d
	decisionToVerify.CallID, decisionToVerify.ApprovalDigest = p.CallID, p.Digest
	decisionToProve := decisionToVerify.DecisionToProve(verification.ProcessID)
	if d.Order != nil {
		// one proof for every Call that the order covers
		since, decisionToProve, priorDecisions = time.Time{}, d.Order.DecisionToProve(verification.ProcessID), nil
	}
	if err := verification.CheckTime(since, now); err != nil {
		return d, err
	}
	if err := claims.CheckMatches(decisionToProve); err != nil {
		return d, err
	}
	for _, name := range []string{claims.Subject, cmp.Or(claims.Name, claims.Subject)} {
		if err := policy.CheckPersonName(name); err != nil {
			return d, fmt.Errorf("the proof's signer: %w", err)
		}
	}
	isSameProof := func(other Decision) bool {
		return other.Signature != nil && other.Signature.ID == claims.ID && other.Signature.Issuer == claims.Issuer
	}
	if slices.ContainsFunc(priorDecisions, isSameProof) {
		return d, errors.New("the proof was used already: it counts only once")
	}
	if d.DecidedBy != "" && !policy.SameName(d.DecidedBy, claims.Subject) &&
		!policy.SameName(d.DecidedBy, claims.Name) {
		return d, fmt.Errorf("the proof is by %s, but the decision says that it is by %s", claims.Subject, d.DecidedBy)
	}
	d.DecidedBy, d.Groups, d.Account = claims.Subject, claims.Groups, claims.SubjectID.Account
	d.Signature = &proof.SignatureInfo{KeyThumbprint: verification.KeyThumbprint, Issuer: claims.Issuer, ID: claims.ID,
		AmendedParams: d.AmendedParams}
	if claims.Name != claims.Subject {
		d.Signature.Name = claims.Name
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

// DecisionToProve returns the decision that a proof of a decision on a Call must be for.
func (d Decision) DecisionToProve(processID string) proof.ExpectedDecision {
	return proof.ExpectedDecision{
		ProcessID: processID, CallIDs: []string{d.CallID, ideafile.TypeableCallID(d.CallID)},
		ApprovalDigest: d.ApprovalDigest,
		Kind:           d.Kind,
		DetailsDigest:  d.detailsDigest(),
	}
}

// detailsDigest is proof.DetailsDigest of the decision, as its signal had it.
func (d Decision) detailsDigest() string {
	content := jsonval.Object{"reason": d.Reason}
	switch d.Kind {
	case HandOver:
		content["to"], content["toGroup"] = d.RecipientName, d.RecipientGroup
	case policy.Amend:
		content["params"] = jsonval.UnescapeBlobHandles(d.AmendedParams)
		if d.Signature != nil {
			content["params"] = jsonval.UnescapeBlobHandles(d.Signature.AmendedParams)
		}
	case policy.Replace:
		content["with"] = jsonval.UnescapeBlobHandles(d.Replacement)
	case policy.Answer:
		content["output"] = jsonval.UnescapeBlobHandles(d.AnswerResult)
	}
	if d.AmendedCalls != nil {
		content["calls"] = jsonval.UnescapeBlobHandles(jsonval.ToJSONValue(d.AmendedCalls))
	}
	return proof.DetailsDigest(content)
}

// Decider returns the person to whom the rules on deciders apply. For a deputy's decision, that is the person in whose
// place the deputy decides; it counts as signed only if both are proven.
func (d Decision) Decider() policy.Person {
	p := policy.Person{Name: d.DecidedBy, Groups: d.Groups, Account: d.Account}
	if d.Signature != nil {
		p.HasVerifiedProof, p.AlternateName = true, d.Signature.Name
	}
	if d.OnBehalfOf != nil {
		deputy := p
		p = *d.OnBehalfOf
		p.HasVerifiedProof, p.DeputyIdentities = p.HasVerifiedProof && deputy.HasVerifiedProof, deputy.Identities()
	}
	return p
}

// CheckDecider returns why the person may not take the decision under these rules; no rules: anybody may. starters are
// the people who started the process, causers those who caused what is decided on in another way.
func (d Decision) CheckDecider(rules policy.DeciderRules, starters, causers []policy.Identity) error {
	if len(rules) == 0 {
		return nil
	}
	if strings.TrimSpace(d.DecidedBy) == "" && !rules.RequiresSignature() {
		return fmt.Errorf(`"by" is missing: only some people may decide (%s)`, rules)
	}
	if reason := rules.DenialReason(d.Decider(), starters, causers...); reason != "" {
		return errors.New(reason)
	}
	return nil
}

// SignedText names the key that signed a decision; "" for a declared one.
func (d Decision) SignedText() string {
	if d.Signature == nil {
		return ""
	}
	return fmt.Sprintf("signed (key %s)", d.Signature.KeyThumbprint)
}
