package mailbox

import "go.temporal.io/sdk/workflow"

// IsPatched reports whether a workflow began after a change of the rules: workflows that were under way when their
// code changed go on as they began. The package that made the change names it. This is the only place that asks for
// versions.
func IsPatched(ctx workflow.Context, changeID string) bool {
	return workflow.GetVersion(ctx, changeID, workflow.DefaultVersion, 1) != workflow.DefaultVersion
}
