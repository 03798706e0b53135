package proof

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"processidea/model/ideafile/spelling"
)

// SignatureInfo is the part of a verified proof that a decision keeps beside the proof itself.
type SignatureInfo struct {
	// KeyThumbprint is the thumbprint (RFC 7638, SHA-256, base64url) of the key that signed. Issuer and ID are those in
	// the proof, and so is Name, if it differs from who decided.
	KeyThumbprint string `json:"key"`
	Issuer        string `json:"iss"`
	ID            string `json:"jti"`
	Name          string `json:"name,omitempty"`
	// AmendedParams are the parameters that an amendment gave. The decision has all parameters that the Call ran with.
	AmendedParams map[string]any `json:"params,omitempty"`
}

// Verification is a worker's verification of a proof, with the keys that it trusts.
type Verification struct {
	Claims Claims `json:"claims,omitzero"`
	// KeyThumbprint is the thumbprint of the key that signed it. KeyWithdrawnAt is when that key was withdrawn; zero:
	// it was not.
	KeyThumbprint  string    `json:"key,omitempty"`
	KeyWithdrawnAt time.Time `json:"withdrawn,omitzero"`
	// RefusalReason is why the proof is invalid, whatever it is for; empty: the signature is right, and the key may
	// speak for that person.
	RefusalReason string `json:"refused,omitempty"`
	// ProcessID is the process of the decision. The process that applies the decision sets it.
	ProcessID string `json:"-"`
}

// ExpectedDecision is the decision that a proof must be for.
type ExpectedDecision struct {
	ProcessID string
	// CallIDs are the spellings of the Call's id.
	CallIDs        []string
	ApprovalDigest string
	Kind           string
	DetailsDigest  string
}

// MaxClockSkew is how far the clocks of signer and verifier may be apart.
const MaxClockSkew = 5 * time.Minute

// CheckTime returns why a proof does not count at the time of the decision.
//
// Invariant: the age that a proof claims never makes up for a withdrawn key, since a thief of the key can claim any
// time.
func (f Verification) CheckTime(askedAt, decidedAt time.Time) error {
	c := f.Claims
	switch {
	case f.RefusalReason != "":
		return errors.New(f.RefusalReason)
	case !f.KeyWithdrawnAt.IsZero() && !decidedAt.Before(f.KeyWithdrawnAt):
		return fmt.Errorf("the key %s was withdrawn at %s", f.KeyThumbprint, formatTime(f.KeyWithdrawnAt))
	case c.ExpiresAt != 0 && decidedAt.After(c.expiresAt().Add(MaxClockSkew)):
		return fmt.Errorf("the proof expired at %s", formatTime(c.expiresAt()))
	case c.issuedAt().After(decidedAt.Add(MaxClockSkew)):
		return fmt.Errorf("the proof was signed at %s, which is in the future", formatTime(c.issuedAt()))
	case c.issuedAt().Add(MaxClockSkew).Before(askedAt):
		return fmt.Errorf("the proof was signed at %s, before anybody was asked about the Call (%s)",
			formatTime(c.issuedAt()),
			formatTime(askedAt))
	}
	return nil
}

// CheckMatches returns why a proof is not for this decision.
func (c Claims) CheckMatches(d ExpectedDecision) error {
	switch {
	case spelling.ProcessIDWithoutParts(c.ProcessID) != spelling.ProcessIDWithoutParts(d.ProcessID):
		return fmt.Errorf("the proof is for process %s, not for %s", c.ProcessID,
			spelling.ProcessIDWithoutParts(d.ProcessID))
	case !slices.Contains(d.CallIDs, c.CallID):
		return fmt.Errorf("the proof is for Call %s, not for %s", c.CallID, d.CallIDs[0])
	case c.DecisionKind != d.Kind:
		return fmt.Errorf("the proof is for the decision %s, not for %s", c.DecisionKind, d.Kind)
	case c.ApprovalDigest != d.ApprovalDigest:
		return errors.New("the proof is for another digest: its signer saw something else")
	case c.DetailsDigest != d.DetailsDigest:
		return errors.New("the proof is for another reason, params, with or output: its \"details\" is not the " +
			"SHA-256 of this decision's")
	}
	return nil
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
