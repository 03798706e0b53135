package display

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
)

const (
	shownPending  = 8 // the query has them all
	shownRefusals = 3
	maxShown      = 1200 // bytes of one Call's parameters
)

// Pending shows what waits for a person, and the exact JSON to send for a decision.
func Pending(b *strings.Builder, list []protocol.Approval) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Waits for a person: %d\n", len(list))
	for n, a := range list {
		if n == shownPending {
			fmt.Fprintf(b, "\nand %d more: the query `approvals` lists all.\n", len(list)-n)
			return
		}
		writeApproval(b, a)
	}
}

func writeApproval(b *strings.Builder, a protocol.Approval) {
	fmt.Fprintf(b, "\n**%s** %s%s, since %s", Text(a.Call), Text(a.Tool), arrowToOutput(a), formatTime(a.Since))
	if a.Deadline != nil {
		fmt.Fprintf(b, "; at %s by itself: %s", formatTime(*a.Deadline), a.OnTimeout)
	}
	if a.ReviewReason != "" {
		fmt.Fprintf(b, " (%s)", Text(a.ReviewReason))
	}
	shown := map[string]any{"params": a.Params}
	if a.Output != nil {
		shown["output"] = a.Output
	}
	if a.Scopes != nil {
		shown["scopes"] = a.Scopes
	}
	workflowID := strings.ReplaceAll(protocol.InstanceID(a.Process, a.Instance), "`", "'")
	fmt.Fprintf(b, "\n\n%s\nTo decide, send the workflow `%s` one of these signals: %s. The payload of `%s`:\n\n%s",
		fenced(shown), workflowID, inCode(a.Allow), a.Allow[0], fenced(examplePayload(a.Allow[0], a.PendingApproval)))
}

func arrowToOutput(a protocol.Approval) string {
	if len(a.OutputPath) == 0 {
		return ""
	}
	return " → " + Text(a.OutputPath.Reference())
}

// examplePayload is the payload of a decision's signal, complete but for what only a person knows.
func examplePayload(kind string, p turn.PendingApproval) map[string]any {
	m := map[string]any{"call": p.Call, "digest": p.Digest, "by": "your name"}
	switch kind {
	case ideafile.Reject:
		m["reason"] = "why"
	case ideafile.Amend:
		m["params"] = p.Params
	case ideafile.Replace:
		m["with"] = map[string]any{"_tool": "name of a tool"}
	case ideafile.Answer:
		m["output"] = "the result"
	}
	return m
}

// WriteRefusals shows the last signals that changed nothing.
func WriteRefusals(b *strings.Builder, r turn.RefusedSignals) {
	if r.Count == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Signals that changed nothing: %d\n\n", r.Count)
	for _, one := range r.Last[max(0, len(r.Last)-shownRefusals):] {
		fmt.Fprintf(b, "- `%s` %s at %s: %s\n", one.Signal, Text(one.Call), formatTime(one.At), Text(LimitBytes(one.Reason, 300)))
	}
}
