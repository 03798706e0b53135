package workflows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file holds what an operator reads in the Temporal UI of what waits for a person, and the exact JSON to send.

const (
	maxDetails    = 16_000 // bytes; Temporal takes 20,000
	shownPending  = 8      // the query has them all
	shownRefusals = 3
	maxShown      = 1200 // bytes of one Call's parameters
)

func showPending(b *strings.Builder, list []protocol.Approval) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Waits for a person: %d\n", len(list))
	for n, a := range list {
		if n == shownPending {
			fmt.Fprintf(b, "\nand %d more: the query `approvals` lists all.\n", len(list)-n)
			return
		}
		showApproval(b, a)
	}
}

func showApproval(b *strings.Builder, a protocol.Approval) {
	fmt.Fprintf(b, "\n**%s** %s%s, since %s", mdText(a.Call), mdText(a.Tool), goesTo(a), clock(a.Since))
	if a.Deadline != nil {
		fmt.Fprintf(b, "; at %s by itself: %s", clock(*a.Deadline), a.OnTimeout)
	}
	if a.ReviewReason != "" {
		fmt.Fprintf(b, " (%s)", mdText(a.ReviewReason))
	}
	shown := map[string]any{"params": a.Params}
	if a.Output != nil {
		shown["output"] = a.Output
	}
	if a.Scopes != nil {
		shown["scopes"] = a.Scopes
	}
	fmt.Fprintf(b, "\n\n%s\nTo decide, send the workflow `%s` one of these signals: %s. The payload of `%s`:\n\n%s", fenced(shown),
		strings.ReplaceAll(protocol.InstanceID(a.Process, a.Instance), "`", "'"), ticked(a.Allow), a.Allow[0], fenced(payload(a.Allow[0], a.PendingApproval)))
}

func goesTo(a protocol.Approval) string {
	if len(a.OutputPath) == 0 {
		return ""
	}
	return " → " + mdText(a.OutputPath.Reference())
}

// payload is what a decision's signal takes, ready to be sent but for what only a person knows.
func payload(kind string, p turn.PendingApproval) map[string]any {
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

// fenced shows JSON that nothing in it can end: a backtick in data is written as JSON can write it, too.
func fenced(v any) string {
	var b bytes.Buffer
	if json.Indent(&b, jsonval.Encode(jsonval.Normal(v)), "", "  ") != nil {
		return ""
	}
	text := strings.ReplaceAll(b.String(), "`", `\u0060`)
	return "```json\n" + clipBytes(text, maxShown) + "\n```\n"
}

func ticked(list []string) string { return "`" + strings.Join(list, "`, `") + "`" }

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func showRefusals(b *strings.Builder, r turn.RefusedSignals) {
	if r.Count == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Signals that changed nothing: %d\n\n", r.Count)
	last := r.Last
	if len(last) > shownRefusals {
		last = last[len(last)-shownRefusals:]
	}
	for _, one := range last {
		fmt.Fprintf(b, "- `%s` %s at %s: %s\n", one.Signal, mdText(one.Call), clock(one.At), mdText(clipBytes(one.Reason, 300)))
	}
}
