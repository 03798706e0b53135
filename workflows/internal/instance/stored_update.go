package instance

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/mailbox"
)

// combineBlobUpdates starts activities that combine values in the store with the results that update them. It does so
// even while the process is paused, since the Tools have run. If the store does not answer, the Calls wait for as long
// as it takes, and an operator sees it.
func (i *instance) combineBlobUpdates(ctx workflow.Context) {
	for _, u := range i.dataflow.TakeBlobUpdates() {
		if !mailbox.KnowsChange(ctx, "updates of stored values") {
			i.markChanged(ctx)
			i.dataflow.FailBlobUpdate(u.CallID,
				diag.Faultf(ideafile.CodeBadOutput, "updates of values over 64 KB are not built yet"))
			continue
		}
		i.runningActivities++
		f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: 2 * time.Minute, HeartbeatTimeout: activity.HeartbeatTimeout(ctx),
			Summary: "update what is stored: " + callSummary(i.start.Token, i.dataflow.FindCall(u.CallID)),
		}), protocol.ActivityCombine, protocol.CombineInput{OutputMethod: u.OutputMethod, Updates: u.Updates,
			Contract: u.Contract})
		i.inbox.OnFutureReady(f, func(f workflow.Future) { i.onStoredUpdatesCombined(ctx, u, f) })
	}
}

func (i *instance) onStoredUpdatesCombined(ctx workflow.Context, u dataflow.BlobUpdate, f workflow.Future) {
	i.runningActivities--
	i.markChanged(ctx)
	var combined []any
	if err := f.Get(ctx, &combined); err != nil {
		i.dataflow.FailBlobUpdate(u.CallID, protocol.FaultOf(err))
		return
	}
	i.dataflow.ApplyBlobUpdate(u, combined)
}
