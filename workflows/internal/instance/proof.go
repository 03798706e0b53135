package instance

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/proof"
	"processidea/model/turn"
	"processidea/protocol"
)

// verifyProof has a worker check the proof of a decision, if there is one, with the keys that it trusts. What it found is in the history: on replay
// the decision is judged as it was, whatever the keys are by then.
func (i *instance) verifyProof(ctx workflow.Context, d *turn.Decision) {
	rec := i.dataflow.FindCall(ideafile.CallIDInInstance(d.CallID, i.ownSetup.Token))
	if d.Proof == "" || rec == nil || rec.PendingApproval == nil {
		return // there is nothing to prove
	}
	found := &proof.Finding{}
	err := workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 2}, Summary: "check the proof of a decision on " + d.CallID,
	}), protocol.ActivityVerifyProof, protocol.VerifyProofInput{JWS: d.Proof}).Get(ctx, found)
	if err != nil {
		found.Refused = "the proof could not be checked: " + protocol.FaultOf(err).Message
	}
	found.Process = i.setup.Process
	d.Finding = found
}
