package activity

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval/proof"
	"processidea/protocol"
)

// VerifyProof checks a proof with the keys that the worker trusts. about says in the Temporal UI what the proof is
// of, and process is the one that it must be for. What is wrong with the proof stands in the Finding.
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
