package prompt

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// writeCallHistory writes the Calls planned so far and their status.
func (w *promptWriter) writeCallHistory() {
	if len(w.request.Plan) == 0 {
		return
	}
	w.writeHeading("Calls so far")
	if w.request.Plan[0].DirectPlan > 0 {
		w.writeLine("Those of request 0 are of a Plan that ran by itself. Mend what went wrong, or find another way; what is done stays done.")
	}
	for _, entry := range w.request.Plan {
		w.writeLine("- %s%s %s: %s", entry.ID, planSuffix(entry), w.encode(entry.Call.Value()), w.statusSummary(entry))
		for _, token := range jsonval.SortedKeys(entry.Results) {
			w.writeLine("  result%s: %s", inInstances(token), w.encode(entry.Results[token]))
		}
		w.writeDecisions(entry.Decisions)
	}
}

// writeDecisions writes what people decided, one line for all instances with the same decision.
func (w *promptWriter) writeDecisions(decisions []turn.InstanceDecision) {
	var facts []string
	tokensByFact := map[string][]string{}
	for _, d := range decisions {
		fact := d.Decision.Describe()
		if tokensByFact[fact] == nil {
			facts = append(facts, fact)
		}
		tokensByFact[fact] = append(tokensByFact[fact], d.Token)
	}
	for _, fact := range facts {
		w.writeLine("  %s%s", fact, inInstances(strings.Join(tokensByFact[fact], ", ")))
	}
}

func inInstances(tokens string) string {
	if tokens == "" {
		return ""
	}
	return " in " + tokens
}

func (w *promptWriter) statusSummary(entry turn.PlanEntry) string {
	var parts []string
	for _, status := range []ideafile.CallStatus{ideafile.Done, ideafile.Failed, ideafile.Rejected, ideafile.Skipped, ideafile.Blocked,
		ideafile.Running, ideafile.Waiting, ideafile.AwaitingApproval} {
		switch count := entry.StatusCounts[status]; {
		case count == 0:
		case w.singleUnnamedInstance():
			parts = append(parts, string(status))
		default:
			parts = append(parts, fmt.Sprintf("%s in %d", status, count))
		}
	}
	if parts == nil {
		return "not taken"
	}
	return strings.Join(parts, ", ")
}

func (w *promptWriter) writeContextErrors() {
	var fileErrors []ideafile.Message
	for _, m := range w.idea.Context {
		if m.Type == ideafile.TypeError {
			fileErrors = append(fileErrors, m)
		}
	}
	if len(w.request.Errors)+len(fileErrors) == 0 {
		return
	}
	w.writeHeading("Errors")
	for _, m := range fileErrors {
		w.writeLine("- %s", w.encode(jsonval.WithoutKey(m.Source, "type")))
	}
	for _, e := range w.request.Errors {
		subject := "the last request"
		switch {
		case e.Call != "":
			subject = "Call " + e.Call
		case len(e.Instances) > 0:
			subject = "an earlier request"
		}
		if len(e.Instances) > 0 {
			subject += " in " + strings.Join(e.Instances, ", ")
		}
		w.writeLine("- %s: %s: %s", subject, e.Fault.Code, e.Fault.Message)
	}
}

func planSuffix(entry turn.PlanEntry) string {
	if entry.PlanName == "" {
		return ""
	}
	return fmt.Sprintf(" of Plan %q", entry.PlanName)
}
