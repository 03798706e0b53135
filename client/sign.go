package client

import (
	"context"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/signing"
)

// Signer signs decisions for a person, as a *signing.PrivateKey does. If the Claims name no person, the key signs for
// its own person.
type Signer interface {
	Sign(proof.Claims) (jws string, err error)
}

// sign adds the proof to a decision that has a key. It signs what was shown or, if the decision has no digest, what
// waits now. The error wraps ErrInvalid if the key may not sign the decision.
func (p *Process) sign(ctx context.Context, instanceID string, d Decision) (Decision, error) {
	if d.Key == nil || d.Proof != "" || !approval.AcceptsProof(d.Kind) {
		return d, nil
	}
	if d.ApprovalDigest == "" {
		if d.ApprovalDigest = p.waitingDigest(ctx, instanceID, d.CallID); d.ApprovalDigest == "" {
			return d, p.refusedError(d, p.notWaitingError(ctx, instanceID, d.CallID))
		}
	}
	jws, err := d.Key.Sign(p.Claims(d))
	if err != nil {
		return d, kind.Errorf(ErrInvalid, "%s %s: %w", d.Kind, d.CallID, err)
	}
	d.Proof = jws
	return d, nil
}

// Claims returns the claims of a new proof of the decision, for callers that have it signed elsewhere, for example by a
// passkey. The signer sets Issuer, Subject and Groups. The decision must have the digest of what was shown, and the id
// of the Call in either spelling.
func (p *Process) Claims(d Decision) proof.Claims {
	return signing.NewClaims(proof.ExpectedDecision{ProcessID: p.id, ApprovalDigest: d.ApprovalDigest, Kind: d.Kind,
		DetailsDigest: proof.DetailsDigest(d.payload())}, d.CallID, d.Groups)
}

// waitingDigest returns the digest of a Call that waits in an instance; empty if it does not wait, or the instance does
// not answer.
func (p *Process) waitingDigest(ctx context.Context, instanceID, callID string) string {
	var v protocol.ApprovalsView
	_ = p.client.query(ctx, instanceID, protocol.QueryApprovals, &v)
	for _, a := range v.Approvals {
		if ideafile.MatchesCallID(callID, a.CallID) {
			return a.Digest
		}
	}
	return ""
}
