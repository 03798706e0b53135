package mailbox

import "go.temporal.io/sdk/workflow"

// This is the only file that asks for versions: workflows that were under way when their code changed go on as they
// began.

// historyOrderEnabled reports whether signals of different names are handled in the order in which they arrived. Before
// that change they were handled in the order in which their names are registered.
func historyOrderEnabled(ctx workflow.Context) bool {
	return KnowsChange(ctx, "signals in the order of history")
}

// GatherCancelledPartsEnabled reports whether a cancelled process in parts waits for the results of its parts. Before
// that change it ended immediately, without any State.
func GatherCancelledPartsEnabled(ctx workflow.Context) bool {
	return KnowsChange(ctx, "what cancelled parts came to")
}

// ProofsEnabled reports whether a decision may bring a proof. Before that change, a signal with a proof was refused for
// an unknown key.
func ProofsEnabled(ctx workflow.Context) bool {
	return KnowsChange(ctx, "proofs of decisions")
}

// BlobUpdatesEnabled reports whether updates of values in the blob store are put together by an activity. Before that
// change they failed.
func BlobUpdatesEnabled(ctx workflow.Context) bool {
	return KnowsChange(ctx, "updates of stored values")
}

// KnowsChange reports whether a workflow began after a change of the rules. The package that made the change names it.
func KnowsChange(ctx workflow.Context, changeID string) bool {
	return workflow.GetVersion(ctx, changeID, workflow.DefaultVersion, 1) != workflow.DefaultVersion
}
