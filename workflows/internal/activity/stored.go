package activity

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// RunLocallyFirst runs an activity that uses the store. It first tries a local activity, within the workflow task, for
// the time localActivityTimeout. If the store does not answer, RunLocallyFirst waits for as long as it takes in an
// ordinary activity, which an operator sees; attemptTimeout bounds each of its attempts.
func RunLocallyFirst(ctx workflow.Context, activityName, summary string, localActivityTimeout,
	attemptTimeout time.Duration, in,
	out any) error {
	err := runAsLocalActivity(ctx, activityName, summary, localActivityTimeout, in, out)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: attemptTimeout, Summary: summary,
	}), activityName, in).Get(ctx, out)
}

func runAsLocalActivity(ctx workflow.Context, activityName, summary string, timeout time.Duration, in, out any) error {
	return workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: timeout, ScheduleToCloseTimeout: timeout, // then RunLocallyFirst waits in an activity
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 2}, Summary: summary,
	}), activityName, in).Get(ctx, out)
}

// LoadObject reads members of a stored object, by RunLocallyFirst. Without members, it reads all.
func LoadObject(ctx workflow.Context, handle any, memberNames []string) (object jsonval.Object) {
	err := RunLocallyFirst(ctx, protocol.ActivityLoadObject, "load what the Calls use", time.Minute, 2*time.Minute,
		protocol.LoadObjectInput{Handle: handle, MemberNames: memberNames}, &object)
	if err != nil && ctx.Err() == nil {
		workflow.GetLogger(ctx).Error("what the Calls use could not be loaded", "error", err)
	}
	return object
}

// LoadTools reads those Tools of a stored palette that some Calls use.
func LoadTools(ctx workflow.Context, paletteHandle any, calls []ideafile.WrittenCall) []*ideafile.Tool {
	names := map[string]bool{}
	for _, c := range calls {
		names[c.Tool] = true
	}
	return ReadTools(LoadObject(ctx, paletteHandle, jsonval.SortedKeys(names)))
}

// ReadTools reads Tools. It ignores errors, since the process has had the Tools checked and reported.
func ReadTools(palette jsonval.Object) []*ideafile.Tool {
	var tools []*ideafile.Tool
	for name, source := range jsonval.Sorted(palette) {
		if t := ideafile.ReadTool(name, source, "", nil); t != nil {
			tools = append(tools, t)
		}
	}
	return tools
}

// AllAttemptsTimeout is the ScheduleToCloseTimeout of a local activity that only its number of attempts, or the end of
// its workflow, shall bound. Without such a timeout, the SDK gives all attempts together the time of one: no second
// attempt follows a timeout, and a longer outage fails the activity.
const AllAttemptsTimeout = 365 * 24 * time.Hour
