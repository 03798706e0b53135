package activity

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval/proof"
	"processidea/protocol"
)

// VerifyProof checks a proof with the keys that the worker trusts. about names the subject of the proof in the Temporal
// UI; process is the process that the proof must be for. The Finding says what is wrong with the proof.
func VerifyProof(ctx workflow.Context, jws, about, process string) *proof.Finding {
	found := &proof.Finding{}
	err := runLocally(ctx, protocol.ActivityVerifyProof, "check the proof of "+about, time.Minute,
		protocol.VerifyProofInput{JWS: jws}, found)
	if err != nil {
		found.Refused = "the proof could not be checked: " + protocol.FaultOf(err).Message
	}
	found.Process = process
	return found
}
