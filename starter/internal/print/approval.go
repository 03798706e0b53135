package print

import (
	"fmt"
	"strings"
	"time"

	"processidea/client"
	"processidea/model/jsonval"
)

// Approval shows one approval to a person.
func Approval(p client.Approval) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s  %s", Printable(p.Process), Printable(p.Call), Printable(p.Tool))
	if len(p.OutputPath) > 0 {
		fmt.Fprintf(&b, " → %s", Printable(p.OutputPath.Reference()))
	}
	fmt.Fprintf(&b, "\n  waits for %s, since %s\n", time.Since(p.Since).Round(time.Second), p.Since.Local().Format(time.DateTime))
	if p.Deadline != nil {
		fmt.Fprintf(&b, "  at %s by itself: %s\n", p.Deadline.Local().Format(time.DateTime), p.OnTimeout)
	}
	if p.ReviewReason != "" {
		fmt.Fprintf(&b, "  %s\n", Printable(p.ReviewReason))
	}
	fmt.Fprintf(&b, "  params %s\n", Printable(string(jsonval.Encode(jsonval.Normal(p.Params)))))
	if p.Adapted != nil {
		fmt.Fprintf(&b, "  fitted by the LLM from %s\n", Shown(p.Adapted.From))
	}
	if p.Output != nil {
		fmt.Fprintf(&b, "  output %s\n", Printable(string(jsonval.Encode(p.Output))))
	}
	fmt.Fprintf(&b, "  digest %s, allowed: %s\n", p.Digest, strings.Join(p.Allow, ", "))
	return b.String()
}
