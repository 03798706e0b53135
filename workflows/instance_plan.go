package workflows

import "go.temporal.io/sdk/workflow"

// beginPlan takes in the Plan of an instance that runs directly, as the first thing that happens to it. The Plan came with
// the instance's start, so that no signal can be late or lost; where there is none, nothing happens.
func (i *instance) beginPlan(ctx workflow.Context) {
	i.held = i.setup.Held
	if !i.run.HasDirectPlan() {
		return
	}
	i.told.quiet = false // the process waits for what becomes of the Plan
	i.event(ctx)
	i.run.StartDirectPlan()
}
