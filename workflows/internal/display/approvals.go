package display

import (
	"fmt"
	"strings"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/protocol"
)

const (
	// MaxShownPending is how many of the Calls that wait are shown; the query has them all.
	MaxShownPending         = 8
	maxShownRefusals        = 3
	maxFencedJSONBytes      = 1200 // bytes of one Call's parameters
	maxApprovalContextBytes = 500  // bytes of the Call's input and State
)

// WritePendingAndRefused shows the Plans and Calls that wait for a person, and the last signals that changed nothing.
func WritePendingAndRefused(b *strings.Builder, plans []protocol.PlanView, calls []protocol.Approval,
	fates *approval.FateLog) {
	writePendingPlans(b, plans)
	writePendingApprovals(b, calls)
	writeRefusals(b, fates)
}

// writePendingApprovals shows what waits for a person, and the exact JSON to send for a decision.
func writePendingApprovals(b *strings.Builder, list []protocol.Approval) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Waits for a person: %d\n", len(list))
	for n, a := range list {
		if n == MaxShownPending {
			fmt.Fprintf(b, "\nand %d more: the query `approvals` lists all.\n", len(list)-n)
			return
		}
		writeApproval(b, a)
	}
}

func writeApproval(b *strings.Builder, a protocol.Approval) {
	fmt.Fprintf(b, "\n**%s** %s%s, since %s", EscapeMarkdown(a.CallID), EscapeMarkdown(a.Tool), outputPathSuffix(a),
		formatTime(a.Since))
	if a.Deadline != nil {
		fmt.Fprintf(b, "; if nobody decides by %s: %s", formatTime(*a.Deadline), a.TimeoutAction)
	}
	if deciders := a.DecidersInWords(); deciders != "" {
		fmt.Fprintf(b, "; decided by %s", EscapeMarkdown(deciders))
	}
	for _, line := range a.ReminderSchedule.DescriptionLines(formatTime) {
		fmt.Fprintf(b, "; %s", EscapeMarkdown(line))
	}
	for _, line := range a.Explanation() {
		fmt.Fprintf(b, " (%s)", EscapeMarkdown(line))
	}
	details := jsonval.Object{"params": a.Params}
	if a.Output != nil {
		details["output"] = a.Output
	}
	if a.ScopeValues != nil {
		details["scopes"] = a.ScopeValues
	}
	workflowID := strings.ReplaceAll(protocol.InstanceID(a.Process, a.Instance), "`", "'")
	fmt.Fprintf(b, "\n\n%s\n%sTo decide, send the workflow `%s` one of these signals: %s. The payload of `%s`:\n\n%s",
		fencedJSON(details), approvalContextMarkdown(a), workflowID, inlineCodeList(a.AllowedDecisions),
		a.AllowedDecisions[0],
		fencedJSON(exampleDecisionPayload(a.AllowedDecisions[0], a.PendingCall)))
}

// maxShownPlanCalls is how many Calls of a Plan are listed; the query has them all.
const maxShownPlanCalls = 30

// writePendingPlans shows the Plans that wait as a whole, and the exact JSON to send for a decision.
func writePendingPlans(b *strings.Builder, list []protocol.PlanView) {
	for n, v := range list {
		if n == MaxShownPending {
			fmt.Fprintf(b, "\nand %d more Plans: the query `approvals` lists all.\n", len(list)-n)
			return
		}
		writePlan(b, v)
	}
}

func writePlan(b *strings.Builder, v protocol.PlanView) {
	fmt.Fprintf(b, "\n### %s waits for a person\n\nSince %s: %s.", sentenceCase(v.Name()), formatTime(v.Since),
		EscapeMarkdown(v.Summary()))
	if deciders := v.DecidersInWords(); deciders != "" {
		fmt.Fprintf(b, " Decided by %s.", EscapeMarkdown(deciders))
	}
	b.WriteString("\n\n| Call | Instances | As planned |\n| --- | --- | --- |\n")
	for n, c := range v.Calls {
		if n == maxShownPlanCalls {
			fmt.Fprintf(b, "\nand %d more Calls: the query `approvals` lists all.\n", len(v.Calls)-n)
			break
		}
		writtenCallText := TruncateBytes(jsonval.EncodeToString(truncateValue(c.WrittenCall.AsWritten())), 300)
		fmt.Fprintf(b, "| %s | %s | %s |\n", c.CallID,
			EscapeMarkdown(TruncateBytes(strings.Join(c.Instances, " "), 100)), EscapeMarkdown(writtenCallText))
	}
	for n, line := range v.Disagreements {
		if n == MaxShownPending {
			fmt.Fprintf(b, "\nand %d more: the query `approvals` lists all.\n", len(v.Disagreements)-n)
			break
		}
		fmt.Fprintf(b, "\n%s\n", EscapeMarkdown(TruncateBytes(line, 600)))
	}
	fmt.Fprintf(b, "\nNothing of it has begun. To decide, send the workflow `%s` the signal `approve-plan`, "+
		"`reject-plan` (with a `reason`), or "+
		"`amend-plan` (with `calls`, all of them). The payload of `approve-plan`:\n\n%s",
		strings.ReplaceAll(v.Process, "`", "'"), fencedJSON(v.ApprovePayload()))
}

func sentenceCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// approvalContextMarkdown shows the beginning of the instance's input and State.
func approvalContextMarkdown(a protocol.Approval) string {
	details := jsonval.Object{}
	if a.Input != nil {
		details["input"] = truncateValue(a.Input)
	}
	if state := jsonval.AsObject(a.State); len(state) > 0 {
		details["state"] = truncateValue(state)
	}
	if len(details) == 0 {
		return ""
	}
	return "The case:\n\n" + fencedJSONUpTo(details, maxApprovalContextBytes) + "\n"
}

func outputPathSuffix(a protocol.Approval) string {
	if len(a.OutputPath) == 0 {
		return ""
	}
	return " → " + EscapeMarkdown(a.OutputPath.ReferenceText())
}

// exampleDecisionPayload returns the payload of a decision's signal, with placeholders for what only a person knows.
func exampleDecisionPayload(decisionKind string, p approval.PendingCall) jsonval.Object {
	m := jsonval.Object{"call": p.CallID, "digest": p.Digest, "by": approval.PlaceholderName}
	if p.Deciders.RequiresGroups() {
		m["groups"] = []string{approval.PlaceholderGroup}
	}
	switch decisionKind {
	case policy.Reject:
		m["reason"] = approval.PlaceholderReason
	case policy.Amend:
		m["params"] = p.Params
	case policy.Replace:
		m["with"] = jsonval.Object{"_tool": approval.PlaceholderTool}
	case policy.Answer:
		m["output"] = approval.PlaceholderOutput
	}
	return m
}

// writeRefusals shows the last signals that changed nothing.
func writeRefusals(b *strings.Builder, fates *approval.FateLog) {
	if fates.RefusedCount == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Signals that changed nothing: %d\n\n", fates.RefusedCount)
	refusals := fates.Refusals()
	for _, refusal := range refusals[max(0, len(refusals)-maxShownRefusals):] {
		fmt.Fprintf(b, "- `%s` %s at %s: %s\n", refusal.Signal, EscapeMarkdown(refusal.CallID), formatTime(refusal.ReceivedAt),
			EscapeMarkdown(TruncateBytes(refusal.RefusalReason, 300)))
	}
}
