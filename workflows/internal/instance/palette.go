package instance

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// This file loads Tools where the palette is too large to travel to every instance: those that Calls of this instance use, once each.

// loadMissingTools loads the Tools of these names that the instance does not have.
func (i *instance) loadMissingTools(ctx workflow.Context, names []string) {
	i.dataflow.AddTools(i.loadTools(ctx, names))
}

func (i *instance) loadTools(ctx workflow.Context, names []string) []*ideafile.Tool {
	if i.setup.Palette == nil {
		return nil
	}
	var missing []string
	for _, name := range names {
		if !i.loadedTools[name] && name != "" {
			i.loadedTools[name] = true
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return readTools(loadStoredObject(ctx, i.setup.Palette, missing))
}

// loadStoredObject reads members of a stored object, within the workflow task if it can. If the store does not answer it waits in an activity, which
// an operator sees, for as long as it takes.
func loadStoredObject(ctx workflow.Context, handle any, members []string) (object map[string]any) {
	const summary = "load what the Calls use"
	in := protocol.LoadInput{Handle: handle, Members: members}
	err := workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 2}, Summary: summary,
	}), protocol.ActivityLoad, in).Get(ctx, &object)
	if err == nil || ctx.Err() != nil {
		return object
	}
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 2 * time.Minute, Summary: summary,
	}), protocol.ActivityLoad, in).Get(ctx, &object)
	if err != nil {
		workflow.GetLogger(ctx).Error("what the Calls use could not be loaded", "error", err)
	}
	return object
}

func toolsOfCalls(s protocol.CallsSignal) (names []string) {
	for _, c := range s.Calls {
		names = append(names, c.Call.Tool)
	}
	return names
}

func toolsOfPlans(context []ideafile.Message) (names []string) {
	for _, m := range context {
		for _, c := range m.PlanCalls {
			names = append(names, c.Tool)
		}
	}
	return names
}

// toolNames lists the Tools of the Calls that an earlier run knew, and of the Plans that people gave it.
func (c *ContinueAsNewInput) toolNames() (names []string) {
	if c == nil {
		return nil
	}
	for _, rec := range c.Dataflow.CallRecords {
		names = append(names, rec.Tool)
	}
	return append(names, toolsOfPlans(readContextMessages(c.Dataflow.AddedMessages))...)
}

// loadStoredFile returns an Idea file that a process carries: as it is, or loaded where they are too large to travel.
func loadStoredFile(ctx workflow.Context, file any) (map[string]any, bool) {
	if _, stored := jsonval.AsBlobHandle(file); stored {
		loaded := loadStoredObject(ctx, file, nil)
		return loaded, loaded != nil
	}
	m, ok := file.(map[string]any)
	return m, ok
}
