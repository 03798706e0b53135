package prompt

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// writeGuidingPlans shows the Plans of the file that guide the LLM, with the status of their Calls. Plans that ran directly
// are written by writeCallHistory.
func (w *promptWriter) writeGuidingPlans() {
	var guides []ideafile.Message
	for _, plan := range w.idea.Context {
		if plan.Type == ideafile.TypePlan && !plan.RunsDirectly() && (plan.Instance == "" || w.coversInstance(plan.Instance)) {
			guides = append(guides, plan)
		}
	}
	if len(guides) > 1 {
		w.writeHeading("Plans")
		w.writeLine("These are alternatives: pick the one that fits, as the instructions say.")
	}
	for _, plan := range guides {
		title := strings.TrimSpace("Plan to follow, extend or drop " + plan.Name)
		if plan.Instance != "" {
			title += inInstances(plan.Instance)
		}
		w.writeHeading(title)
		if plan.When != nil {
			w.writeLine("It is meant where this schema holds over what an instance sees: %s", jsonval.Encode(plan.When.Source))
		}
		for index, call := range plan.Calls {
			w.writeLine("- %s%s", w.encode(call.Value()), w.guidingCallStatus(plan, index+1, call))
		}
	}
}

func (w *promptWriter) coversInstance(token string) bool {
	for _, c := range w.request.Instances {
		if c.Token == token {
			return true
		}
	}
	return false
}

// guidingCallStatus words what is known of a guiding Plan's Call: its record, or in how many instances its output path
// already holds a value.
func (w *promptWriter) guidingCallStatus(plan ideafile.Message, index int, call ideafile.WrittenCall) string {
	if id, ok := plan.RecordedCallID(index); ok {
		switch status := plan.Record[id].(type) {
		case string:
			return ": " + status
		case map[string]any:
			return ": " + string(jsonval.Encode(status))
		}
	}
	present := 0
	for _, instance := range w.request.Instances {
		if outputPresent(w.idea, call, instance) {
			present++
		}
	}
	switch {
	case present == 0:
		return ""
	case w.singleUnnamedInstance():
		return ": its value is there"
	}
	return fmt.Sprintf(": its value is there in %d of %d", present, len(w.request.Instances))
}

// outputPresent reports whether an instance's State already holds a value at all paths of one branch of a Call's
// output.
func outputPresent(idea *ideafile.Idea, call ideafile.WrittenCall, instance turn.InstanceInput) bool {
	output, ok := idea.OutputPathOf(call)
	if !ok || call.TargetsOther(instance.Token) {
		return false
	}
	for _, branch := range output {
		allPresent := true
		for _, p := range branch {
			_, ok := refexpr.LookupIn(instance.State, p)
			allPresent = allPresent && ok && len(p) > 0
		}
		if allPresent {
			return true
		}
	}
	return false
}
