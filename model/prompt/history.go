package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// maxListedInstances is how many instances a line of the prompt lists by name. If there are more, it gives their
// number.
const maxListedInstances = 12

// maxListedCalls is how many Calls with the same result a line of the prompt lists by their ids.
const maxListedCalls = 8

// writeCallHistory writes the outcomes of the Calls planned so far. Done Calls whose result is in State are summarized,
// since the State shows the rest.
func (w *promptWriter) writeCallHistory() {
	if len(w.PlanEntries) == 0 {
		return
	}
	w.writeTemplate("calls")
	doneTokensByLabel, callIDsByLabel := map[string][]string{}, map[string][]string{}
	for _, entry := range w.PlanEntries {
		if label, isSummarized := w.doneLabel(entry); isSummarized {
			doneTokensByLabel[label] = append(doneTokensByLabel[label], entry.InstanceTokensByStatus[ideafile.CallDone]...)
			callIDsByLabel[label] = append(callIDsByLabel[label], entry.CallID)
		}
	}
	for _, entry := range w.PlanEntries {
		label, isSummarized := w.doneLabel(entry)
		callIDs := callIDsByLabel[label]
		switch {
		case !isSummarized:
			w.writeCall(entry)
		case entry.CallID == callIDs[0]: // one line for all Calls with the same result, at the place of the first
			if len(callIDs) > maxListedCalls {
				callIDs = append(slices.Clone(callIDs[:maxListedCalls]), "…")
			}
			w.writeLine("- %s %s: done%s", strings.Join(callIDs, ", "), label,
				w.instancesSuffix(w.sortInstanceTokens(doneTokensByLabel[label])))
		}
	}
}

// callsTemplate explains the outcomes of Calls.
const callsTemplate = `{{define "calls"}}
## Calls so far
{{.CallIDExample}}. (…) stands for the parameters of a Call whose result is in State{{if .HasSeveralInstances}} in all its instances{{end}}. Calls that no longer matter{{if .HasSeveralInstances}}, such as those of finished instances,{{end}} are left out.
{{if (index .PlanEntries 0).DirectPlanPosition}}Those whose ids begin with 0 are of a Plan that ran by itself. Mend what went wrong, or find another way; what is done stays done.
{{end}}{{if .AnySkipped}}Skipped means not needed: its place held a value already{{if .HasBranches}}, or it reads the one of two places that the tool did not choose{{end}}.
{{end}}{{end}}`

// AnySkipped reports whether a Call was skipped in some instance.
func (w *promptWriter) AnySkipped() bool {
	return slices.ContainsFunc(w.PlanEntries,
		func(e turn.PlannedCallSummary) bool { return e.CountByStatus[ideafile.CallSkipped] > 0 })
}

// CallIDExample explains the ids of Calls by an example whose two numbers differ.
func (w *promptWriter) CallIDExample() string {
	requestNumber, callNumber := "1", "2"
	for _, entry := range w.PlanEntries {
		if answerNumber, n, _ := strings.Cut(entry.CallID, "."); answerNumber != "0" && answerNumber != n {
			requestNumber, callNumber = answerNumber, n
			break
		}
	}
	text := fmt.Sprintf("%[1]s.%[2]s is Call %[2]s of your answer %[1]s", requestNumber, callNumber)
	if w.HasSeveralInstances() {
		token := oneLine(w.Instances[0].Token)
		text += fmt.Sprintf("; %s.%s@%s, that Call in %s", requestNumber, callNumber, token, token)
	}
	return text
}

// doneLabel names a Call that is done wherever it was planned, and whose result State shows. It returns false for any
// other Call.
func (w *promptWriter) doneLabel(entry turn.PlannedCallSummary) (string, bool) {
	outputPath, hasOutputPath := w.idea.OutputPathOf(entry.Call)
	if slices.ContainsFunc(entry.Decisions, isMoreThanPlainApproval) || len(entry.Remarks) > 0 ||
		len(entry.CountByStatus) != 1 || entry.CountByStatus[ideafile.CallDone] == 0 ||
		len(entry.ResultByInstance) > 0 || !hasOutputPath || len(outputPath) == 0 || outputPath.HasBranches() {
		return "", false
	}
	return oneLine(entry.Call.Tool) + "(…)" + planNameSuffix(entry) + " → " + oneLine(outputPath.String()), true
}

// writeCall writes one Call as it was planned, its outcome, and its result if State does not hold that.
func (w *promptWriter) writeCall(entry turn.PlannedCallSummary) {
	w.writeLine("- %s%s %s: %s", entry.CallID, planNameSuffix(entry), w.callText(entry.Call), w.statusSummary(entry))
	for token, v := range jsonval.Sorted(entry.ResultByInstance) {
		w.writeLabeledValue("  result"+w.instancesSuffix([]string{token})+": ", v)
	}
	w.writePeoplesWords(entry.Remarks, approval.Decision.RemarkText)
	w.writePeoplesWords(jsonval.Filter(entry.Decisions, isMoreThanPlainApproval), approval.Decision.Describe)
}

// callText writes a Call in one line: tool(parameters) → where its result goes.
func (w *promptWriter) callText(call ideafile.WrittenCall) string {
	fields := call.RawObject()
	if fields == nil {
		return w.JSON(call.AsWritten())
	}
	var required []string
	if t := ideafile.FindTool(w.idea.Tools, call.Tool); t != nil {
		required = jsonschema.Required(t.Source)
	}
	var params []string
	for _, name := range jsonschema.OrderedPropertyNames(fields, required) {
		if fields[name] != nil && !strings.HasPrefix(name, "_") {
			params = append(params, quotedFieldName(name)+": "+w.JSON(fields[name]))
		}
	}
	text := oneLine(call.Tool) + "(" + strings.Join(params, ", ") + ")"
	if outputPath, ok := w.idea.OutputPathOf(call); ok && len(outputPath) > 0 {
		text += " → " + oneLine(outputPath.String())
	}
	if awaitedReferences, _ := ideafile.ParseAfterReferences(fields["_after"]); len(awaitedReferences) > 0 {
		text += " after " + oneLine(strings.Join(awaitedReferences, ", "))
	}
	return text
}

// isMoreThanPlainApproval reports whether a person's decision tells more than an approval: it changes the LLM's
// proposal, or has a reason.
func isMoreThanPlainApproval(d turn.InstanceDecision) bool {
	return d.Decision.Kind != policy.Approve || d.Decision.Reason != ""
}

// writePeoplesWords writes what people decided or said, one line for all instances with the same.
func (w *promptWriter) writePeoplesWords(decisions []turn.InstanceDecision,
	describe func(approval.Decision) string) {
	var facts []string
	tokensByFact := map[string][]string{}
	for _, d := range decisions {
		fact := describe(d.Decision)
		if tokensByFact[fact] == nil {
			facts = append(facts, fact)
		}
		tokensByFact[fact] = append(tokensByFact[fact], d.Token)
	}
	for _, fact := range facts {
		w.writeLine("  %s%s", oneLine(fact), w.instancesSuffix(tokensByFact[fact]))
	}
}

// instancesSuffix names instances, in brackets: all, each, or how many.
func (w *promptWriter) instancesSuffix(tokens []string) string {
	switch namedTokens := jsonval.Filter(tokens, func(t string) bool { return t != "" }); {
	case len(namedTokens) == 0:
		return ""
	case len(namedTokens) > 1 && len(namedTokens) == len(w.Instances):
		return fmt.Sprintf(" (all %d)", len(namedTokens))
	case len(namedTokens) > maxListedInstances:
		return fmt.Sprintf(" (%d instances)", len(namedTokens))
	default:
		return " (" + strings.Join(namedTokens, ", ") + ")"
	}
}

// sortInstanceTokens sorts instances in the order in which they are shown.
func (w *promptWriter) sortInstanceTokens(tokens []string) []string {
	position := func(token string) int {
		return slices.IndexFunc(w.Instances, func(i turn.InstanceInput) bool { return i.Token == token })
	}
	return slices.SortedStableFunc(slices.Values(tokens), func(a, b string) int { return position(a) - position(b) })
}

// statusSummary describes the outcomes of a Call, each with its instances.
func (w *promptWriter) statusSummary(entry turn.PlannedCallSummary) string {
	var parts []string
	for _, status := range []ideafile.CallStatus{ideafile.CallDone, ideafile.CallFailed, ideafile.CallRejected, ideafile.CallSkipped,
		ideafile.CallBlocked, ideafile.CallUndone,
		ideafile.CallRunning, ideafile.CallWaiting, ideafile.CallAwaitingApproval} {
		if entry.CountByStatus[status] > 0 {
			parts = append(parts, strings.ReplaceAll(string(status), "-", " ")+
				w.instancesSuffix(entry.InstanceTokensByStatus[status]))
		}
	}
	if parts == nil {
		return "not taken"
	}
	return strings.Join(parts, ", ")
}

// writeContextErrors writes what failed, was blocked or was wrong since the last Request, each with its cause, after
// the errors of the file.
func (w *promptWriter) writeContextErrors() {
	fileErrors := jsonval.Filter(w.idea.Context, func(m ideafile.Message) bool { return m.Type == ideafile.TypeError })
	contextErrors := jsonval.Filter(w.Errors, func(e turn.ContextError) bool {
		return e.Fault.Code != turn.CodeOutputTooEarly || w.DraftOutput == nil // writeDraftOutput reports it
	})
	if len(contextErrors)+len(fileErrors) == 0 {
		return
	}
	w.writeHeading("What went wrong")
	for _, m := range fileErrors {
		w.writeLine("- %s", w.JSON(jsonval.WithoutKey(m.Source, "type")))
	}
	for _, e := range contextErrors {
		subject := "your last answer"
		switch {
		case e.CallID != "":
			subject = w.callName(e.CallID)
		case len(e.InstanceTokens) > 0:
			subject = "an earlier answer of yours"
		}
		w.writeLine("- %s%s: %s: %s", subject, w.instancesSuffix(e.InstanceTokens), e.Fault.Code,
			oneLine(webAddressPattern.ReplaceAllString(e.Fault.Message, "")))
	}
}

// webAddressPattern matches the server's address in a tool's error. The LLM knows the tool by its name only.
var webAddressPattern = regexp.MustCompile(`\b(?:[A-Z]{3,7} )?https?://[^\s"]+: `)

// callName is a Call's id, followed by its tool if the Call is among the Calls so far.
func (w *promptWriter) callName(id string) string {
	for _, entry := range w.PlanEntries {
		if entry.CallID == id && entry.Call.Tool != "" {
			return id + " " + oneLine(entry.Call.Tool)
		}
	}
	return "Call " + id
}

func planNameSuffix(entry turn.PlannedCallSummary) string {
	if entry.PlanName == "" {
		return ""
	}
	return fmt.Sprintf(" of Plan %q", entry.PlanName)
}
