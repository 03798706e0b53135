package print

import (
	"fmt"
	"strings"
	"time"

	"processidea/client"
	"processidea/client/readable"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// ApprovalText shows one approval to a person.
func ApprovalText(p client.Approval) string {
	var b strings.Builder
	if p.Sentence != "" {
		b.WriteString(Printable(p.Sentence))
		if p.InstanceName != "" && p.InstanceName != p.Instance {
			Fprintf(&b, " · %s", p.InstanceName)
		}
		b.WriteString("\n  ")
	}
	Fprintf(&b, "%s %s  %s", p.Process, p.CallID, p.Tool)
	if len(p.OutputPath) > 0 {
		Fprintf(&b, " → %s", p.OutputPath.ReferenceText())
	}
	fmt.Fprintf(&b, "\n  waits for %s, since %s\n", readable.ElapsedText(time.Since(p.Since)),
		p.Since.Local().Format(time.DateTime))
	if p.Deadline != nil {
		fmt.Fprintf(&b, "  if nobody decides by %s: %s\n", p.Deadline.Local().Format(time.DateTime), p.TimeoutAction)
	}
	if deciders := p.DecidersInWords(); deciders != "" {
		Fprintf(&b, "  decided by %s\n", deciders)
	}
	for _, line := range p.ReminderSchedule.DescriptionLines(func(at time.Time) string {
		return at.Local().Format(time.DateTime)
	}) {
		Fprintf(&b, "  %s\n", line)
	}
	for _, line := range p.Explanation() {
		Fprintf(&b, "  %s\n", line)
	}
	if p.Reasoning != "" {
		Fprintf(&b, "  the LLM's reason: %s\n", FitWidth(p.Reasoning, maxApprovalValueChars))
	}
	for _, f := range p.Fields {
		if f.Format.Title != "" || f.Format.Display != shown.Plain {
			Fprintf(&b, "  %s: %s\n", f.Title, FitWidth(f.DisplayText, maxApprovalValueChars))
		}
	}
	Fprintf(&b, "  params %s\n", jsonval.Encode(jsonval.ToJSONValue(p.Params)))
	writeInputAndState(&b, p)
	if p.ParamsAdaptation != nil {
		fmt.Fprintf(&b, "  fitted by the LLM from %s\n", OneLineJSON(p.ParamsAdaptation.OriginalParams))
	}
	if p.Output != nil {
		Fprintf(&b, "  output %s\n", jsonval.Encode(p.Output))
	}
	fmt.Fprintf(&b, "  digest %s\n  allowed: %s\n", p.Digest, strings.Join(p.AllowedDecisions, ", "))
	return b.String()
}

// maxApprovalValueChars is how many characters of a State or an input are shown.
const maxApprovalValueChars = 1000

// writeInputAndState shows what the Call is about: the instance's own input, and its State.
func writeInputAndState(b *strings.Builder, p client.Approval) {
	if p.Input != nil {
		fmt.Fprintf(b, "  input  %s\n", Compact(p.Input, maxApprovalValueChars))
	}
	if p.State != nil {
		fmt.Fprintf(b, "  state  %s\n", Compact(p.State, maxApprovalValueChars))
	}
}
