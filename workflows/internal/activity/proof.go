package activity

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval/proof"
	"processidea/protocol"
)

// VerifyProof checks a proof with the keys that the worker trusts. subject names the subject of the proof in the
// Temporal UI; processID is the process that the proof must be for. The Verification says what is wrong with the proof.
func VerifyProof(ctx workflow.Context, jws, subject, processID string) *proof.Verification {
	verification := &proof.Verification{}
	err := runAsLocalActivity(ctx, protocol.ActivityVerifyProof, "check the proof of "+subject, time.Minute,
		protocol.VerifyProofInput{JWS: jws}, verification)
	if err != nil {
		verification.RefusalReason = "the proof could not be checked: " + protocol.FaultOf(err).Message
	}
	verification.ProcessID = processID
	return verification
}
