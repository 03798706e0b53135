package lifecycle

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"
)

// ParentClosePolicy lets children outlive a run of their parent, which ends them itself.
const ParentClosePolicy = enumspb.PARENT_CLOSE_POLICY_ABANDON

// IsContinueAsNewDue reports whether a workflow should continue as new as soon as nothing is under way: Temporal
// suggests it, or its main loop has had more than every passes (for tests; 0: any number).
func IsContinueAsNewDue(ctx workflow.Context, iterations, maxIterations int) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested() || (maxIterations > 0 && iterations > maxIterations)
}
