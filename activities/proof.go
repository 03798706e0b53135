package activities

import (
	"context"

	"processidea/model/approval/proof"
	"processidea/protocol"
)

// VerifyProof checks the proof of a decision with the keys that the worker trusts. What is wrong with it stands in the
// Finding: a decision waits for nobody.
func (a *Activities) VerifyProof(ctx context.Context, in protocol.VerifyProofInput) (proof.Finding, error) {
	return a.Deciders.Verify(ctx, in.JWS), nil
}
