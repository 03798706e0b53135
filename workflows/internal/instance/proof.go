package instance

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/workflows/internal/activity"
)

// verifyProof has a worker check the proof of a decision, if there is one.
func (i *instance) verifyProof(ctx workflow.Context, d *approval.Decision) {
	rec := i.dataflow.FindCall(ideafile.CallIDWithExactToken(d.CallID, i.start.Token))
	if d.Proof == "" || rec == nil || rec.PendingApproval == nil {
		return // there is nothing to prove
	}
	d.Verification = activity.VerifyProof(ctx, d.Proof, "a decision on "+d.CallID, i.setup.Process)
}
