package activity

import (
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/protocol"
)

// LoadObject reads members of a stored object, within the workflow task if it can; no members: all. If the store does
// not answer it waits in an activity, which an operator sees, for as long as it takes.
func LoadObject(ctx workflow.Context, handle any, members []string) (object map[string]any) {
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

// LoadTools reads those Tools of a stored palette that some Calls use.
func LoadTools(ctx workflow.Context, palette any, calls []ideafile.WrittenCall) []*ideafile.Tool {
	names := map[string]bool{}
	for _, c := range calls {
		names[c.Tool] = true
	}
	//workflowcheck:ignore -- sorted
	return ReadTools(LoadObject(ctx, palette, slices.Sorted(maps.Keys(names))))
}

// ReadTools reads Tools. The process had them checked: what is wrong with them was said there.
func ReadTools(palette map[string]any) []*ideafile.Tool {
	var tools []*ideafile.Tool
	//workflowcheck:ignore -- sorted
	for _, name := range slices.Sorted(maps.Keys(palette)) {
		t := ideafile.ReadTool(name, palette[name], "", nil)
		if t != nil {
			tools = append(tools, t)
		}
	}
	return tools
}
