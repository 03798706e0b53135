package process

import (
	"cmp"
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
)

// This file answers queries of a split process and shows it in the Temporal UI.

// callCounts lists nothing: the parts know.
func (p *splitProcess) callCounts() []turn.CallCount { return []turn.CallCount{} }

func (p *splitProcess) view() protocol.ProcessView {
	pending := p.approvals().Approvals
	stalled := p.parts.StallFault()
	plans := p.plans()
	v := p.processViewOf(p.result(p.status(cmp.Or(p.pauseReason(), stalled))), pending, plans)
	if v.Error == nil && v.Status == loop.StatusPaused {
		v.Error = stalled
	}
	for _, part := range p.parts.All {
		v.Parts = append(v.Parts, protocol.PartView{
			Process: protocol.PartID(p.processID, part.Number), Status: part.Report.Status, Instances: part.Tokens,
		})
	}
	if f := p.pauseReason(); f != nil {
		v.Waiting = append(v.Waiting, pauseWaitingText(f))
	}
	if v.HeldUp = p.heldUps(); p.pauseReason() == nil {
		v.Waiting = append(v.Waiting, heldUpLines(v.HeldUp)...)
	}
	for _, part := range p.parts.All {
		if r := part.Report; r.Status == loop.StatusPaused && r.Error != nil && p.pauseReason() == nil {
			v.Waiting = append(v.Waiting, fmt.Sprintf("part %d is paused: %s", part.Number, r.Error.Message))
		}
		v.Waiting = append(v.Waiting, delegateStatusLines(part.Report.Delegates)...)
	}
	for _, plan := range plans {
		v.Waiting = append(v.Waiting, planWaitingText(plan))
	}
	for _, a := range pending {
		v.Waiting = append(v.Waiting, approvalWaitingText(a))
	}
	return v
}

func (p *splitProcess) approvals() protocol.ProcessApprovals {
	v := protocol.ProcessApprovals{Approvals: []protocol.Approval{}}
	for _, part := range p.parts.All {
		for _, a := range part.Report.PendingApprovals {
			v.Approvals = append(v.Approvals, protocol.Approval{
				Process: protocol.PartID(p.processID, part.Number), Instance: ideafile.InstanceTokenOfCallID(a.CallID),
				Pending: a,
			})
		}
	}
	return v
}

// addApprovalContexts adds nothing: the parts have the cases.
func (p *splitProcess) addApprovalContexts([]protocol.Approval) {}

const shownParts = 50 // each is a workflow of its own

// showDetails shows how far the parts are.
func (p *splitProcess) showDetails(ctx workflow.Context, status loop.Status) {
	if status == loop.StatusRunning && p.parts.StallFault() != nil {
		status = loop.StatusPaused
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s, in %d parts\n\n| Part | Instances | Status | Requests | Calls done | failed |\n| "+
		"--- | --- | --- | --- | --- | --- |\n",
		display.EscapeMarkdown(p.title()), status, len(p.parts.All))
	if len(p.askedMCPServers) > 0 {
		fmt.Fprintf(&b, "\n%s\n", display.EscapeMarkdown(p.askingMCPServersText()))
	}
	heldUp := p.heldUps()
	for _, line := range heldUpLines(heldUp) {
		fmt.Fprintf(&b, "\n%s\n", display.EscapeMarkdown(line))
	}
	shown := 0
	for _, part := range p.parts.All {
		r := part.Report
		if part.Started && (!r.IsFinished() || r.Status != loop.StatusCompleted) && shown < shownParts {
			shown++
			fmt.Fprintf(&b, "| `%s` | %d | %s | %d | %d | %d |\n",
				protocol.PartID(p.processID, part.Number), len(part.Tokens), r.Status, r.Requests, r.Calls.Done,
				r.Calls.Failed)
		}
	}
	all := p.parts.Result(p.processID, status)
	fmt.Fprintf(&b, "\n%s\n", all.Usage)
	writeFailuresText(&b, all.Failures)
	pending := p.approvals().Approvals
	plans := p.plans()
	display.WritePendingPlans(&b, plans)
	display.WritePendingApprovals(&b, pending)
	display.WriteRefusals(&b, &p.inbox.Fates)
	display.SetDetails(ctx, b.String())
	p.journal(ctx, status, cmp.Or(all.Error, p.pauseReason(), p.parts.StallFault()))
	p.setAttributes(ctx, heldUpAttribute(status, heldUp), len(pending)+len(plans))
}

func (p *splitProcess) showStarting(ctx workflow.Context) {
	p.showDetails(ctx, p.status(p.pauseReason()))
}
