package prompt

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// writeGuidingPlans shows the Plans of the file that guide the LLM, with the status of their Calls. Plans that ran
// directly are written by writeCallHistory.
func (w *promptWriter) writeGuidingPlans() {
	guidingPlans := jsonval.Filter(w.idea.Context, func(plan ideafile.Message) bool {
		return plan.Type == ideafile.TypePlan && !plan.IsDirectPlan() &&
			(plan.InstanceToken == "" || slices.Contains(w.InstanceTokens(), plan.InstanceToken))
	})
	if len(guidingPlans) > 1 {
		w.writeHeading("Plans")
		w.writeLine("These are alternatives: pick the one that fits, as the instructions say.")
	}
	for _, plan := range guidingPlans {
		title := strings.TrimSpace("Plan that you may follow, extend or drop: " + oneLine(plan.PlanName))
		title = strings.TrimSuffix(title, ":")
		if plan.InstanceToken != "" {
			title += " (" + plan.InstanceToken + ")"
		}
		w.writeHeading(title)
		if plan.PlanViewCondition != nil {
			w.writeLine("It is meant for instances of which this JSON Schema holds: %s",
				jsonval.Encode(plan.PlanViewCondition.Source))
		}
		recordedCallIDs := plan.RecordedCallIDs()
		for n, call := range plan.PlanCalls {
			var recordedStatus any
			if recordedCallIDs != nil {
				recordedStatus = plan.PlanRecordByCallID[recordedCallIDs[n]]
			}
			targetSuffix := ""
			if len(call.TargetTokens) > 0 {
				targetSuffix = " for " + strings.Join(call.TargetTokens, ", ")
			}
			w.writeLine("- %s%s%s", w.callText(call), targetSuffix, w.guidingCallStatus(recordedStatus, call))
		}
	}
}

// guidingCallStatus describes a guiding Plan's Call: its record, or the number of instances whose output path already
// has a value.
func (w *promptWriter) guidingCallStatus(recordedStatus any, call ideafile.WrittenCall) string {
	switch status := recordedStatus.(type) {
	case string:
		return ": " + status
	case jsonval.Object:
		return ": " + jsonval.EncodeToString(status)
	}
	presentOutputCount := 0
	for _, instance := range w.Instances {
		if isOutputPresent(w.idea, call, instance) {
			presentOutputCount++
		}
	}
	switch {
	case presentOutputCount == 0:
		return ""
	case !w.HasSeveralInstances():
		return ": its value is there"
	}
	return fmt.Sprintf(": its value is there in %d of %d", presentOutputCount, len(w.Instances))
}

// isOutputPresent reports whether an instance's State already holds a value at all paths of one branch of a Call's
// output.
func isOutputPresent(idea *ideafile.Idea, call ideafile.WrittenCall, instance turn.InstanceInput) bool {
	outputPath, ok := idea.OutputPathOf(call)
	return ok && !call.TargetsOtherInstance(instance.Token) && !outputPath.WritesWholeState() &&
		outputPath.HasValueIn(instance.State)
}
