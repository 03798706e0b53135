package activities

import (
	"context"

	"processidea/model/approval/proof"
	"processidea/protocol"
)

// VerifyProof checks the proof of a decision with the keys that the worker trusts. Errors of the proof are in the
// Finding, so that a decision never waits for a retry.
func (a *Activities) VerifyProof(ctx context.Context, in protocol.VerifyProofInput) (proof.Verification, error) {
	return a.DeciderKeys.Verify(ctx, in.JWS), nil
}
