package print

import (
	"fmt"
	"strings"
	"time"

	"processidea/client"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// Approval shows one approval to a person.
func Approval(p client.Approval) string {
	var b strings.Builder
	if p.Sentence != "" {
		b.WriteString(Printable(p.Sentence))
		if p.InstanceName != "" && p.InstanceName != p.Instance {
			fmt.Fprintf(&b, " · %s", Printable(p.InstanceName))
		}
		b.WriteString("\n  ")
	}
	fmt.Fprintf(&b, "%s %s  %s", Printable(p.Process), Printable(p.CallID), Printable(p.Tool))
	if len(p.OutputPath) > 0 {
		fmt.Fprintf(&b, " → %s", Printable(p.OutputPath.ReferenceText()))
	}
	fmt.Fprintf(&b, "\n  waits for %s, since %s\n", time.Since(p.Since).Round(time.Second),
		p.Since.Local().Format(time.DateTime))
	if p.Deadline != nil {
		fmt.Fprintf(&b, "  at %s by itself: %s\n", p.Deadline.Local().Format(time.DateTime), p.OnTimeout)
	}
	if who := p.DecidersInWords(); who != "" {
		fmt.Fprintf(&b, "  decided by %s\n", Printable(who))
	}
	for _, line := range p.WhileWaiting.Lines(func(at time.Time) string { return at.Local().Format(time.DateTime) }) {
		fmt.Fprintf(&b, "  %s\n", Printable(line))
	}
	for _, line := range p.Told() {
		fmt.Fprintf(&b, "  %s\n", Printable(line))
	}
	if p.Reasoning != "" {
		fmt.Fprintf(&b, "  the LLM's reason: %s\n", FitWidth(Printable(p.Reasoning), longestCase))
	}
	for _, f := range p.Fields {
		if f.Format.Title != "" || f.Format.Display != shown.Plain {
			fmt.Fprintf(&b, "  %s: %s\n", Printable(f.Title), FitWidth(Printable(f.Shown), longestCase))
		}
	}
	fmt.Fprintf(&b, "  params %s\n", Printable(string(jsonval.Encode(jsonval.ToJSONValue(p.Params)))))
	writeCase(&b, p)
	if p.ParamsAdaptation != nil {
		fmt.Fprintf(&b, "  fitted by the LLM from %s\n", Shown(p.ParamsAdaptation.OriginalParams))
	}
	if p.Output != nil {
		fmt.Fprintf(&b, "  output %s\n", Printable(string(jsonval.Encode(p.Output))))
	}
	fmt.Fprintf(&b, "  digest %s\n  allowed: %s\n", p.Digest, strings.Join(p.AllowedDecisions, ", "))
	return b.String()
}

// longestCase is how many characters of a State or an input are shown.
const longestCase = 1000

// writeCase shows what the Call is about: the instance's own input, and its State.
func writeCase(b *strings.Builder, p client.Approval) {
	if p.Input != nil {
		fmt.Fprintf(b, "  input  %s\n", Compact(p.Input, longestCase))
	}
	if p.State != nil {
		fmt.Fprintf(b, "  state  %s\n", Compact(p.State, longestCase))
	}
}
