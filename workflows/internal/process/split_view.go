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

// callCounts lists nothing: only the parts know their Calls.
func (p *splitProcess) callCounts() []turn.PlannedCallCounts { return []turn.PlannedCallCounts{} }

func (p *splitProcess) view() protocol.ProcessView {
	var waitReasons []string
	pauseFault, stallFault, holdUps := p.pauseReason(), p.splitState.StallFault(), p.allHoldUps()
	if pauseFault != nil {
		waitReasons = append(waitReasons, pauseWaitingText(pauseFault))
	} else {
		waitReasons = append(waitReasons, holdUpLines(holdUps)...)
	}
	var parts []protocol.PartView
	for _, part := range p.splitState.Parts {
		r := part.Report
		parts = append(parts, protocol.PartView{
			ProcessID: protocol.PartID(p.processID, part.Number), Status: r.Status, InstanceTokens: part.InstanceTokens,
		})
		if r.Status == loop.StatusPaused && r.Error != nil && pauseFault == nil {
			waitReasons = append(waitReasons, fmt.Sprintf("part %d is paused: %s", part.Number, r.Error.Message))
		}
		waitReasons = append(waitReasons, delegateStatusLines(r.Delegates)...)
	}
	v := p.processView(p, p.result(p.status(cmp.Or(pauseFault, stallFault))), stallFault, holdUps, waitReasons)
	v.Parts = parts
	return v
}

func (p *splitProcess) approvals() protocol.ProcessApprovals {
	v := protocol.ProcessApprovals{Approvals: []protocol.Approval{}}
	for _, part := range p.splitState.Parts {
		for _, a := range part.Report.PendingApprovals {
			v.Approvals = append(v.Approvals, protocol.Approval{
				Process: protocol.PartID(p.processID, part.Number), Instance: ideafile.InstanceTokenOfCallID(a.CallID),
				PendingCall: a,
			})
		}
	}
	return v
}

// addApprovalContexts adds nothing: the parts have the cases.
func (p *splitProcess) addApprovalContexts([]protocol.Approval) {}

const maxShownParts = 50 // each is a workflow of its own

// showDetails shows how far the parts are.
func (p *splitProcess) showDetails(ctx workflow.Context, status loop.Status) {
	if status == loop.StatusRunning && p.splitState.StallFault() != nil {
		status = loop.StatusPaused
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s, in %d parts\n\n| Part | Instances | Status | Requests | Calls done | failed |\n| "+
		"--- | --- | --- | --- | --- | --- |\n",
		display.EscapeMarkdown(p.title()), status, len(p.splitState.Parts))
	if len(p.pendingMCPServerNames) > 0 {
		fmt.Fprintf(&b, "\n%s\n", display.EscapeMarkdown(p.askingMCPServersText()))
	}
	holdUps := p.allHoldUps()
	for _, line := range holdUpLines(holdUps) {
		fmt.Fprintf(&b, "\n%s\n", display.EscapeMarkdown(line))
	}
	shownCount := 0
	for _, part := range p.splitState.Parts {
		r := part.Report
		if part.HasStarted && (!r.IsFinished() || r.Status != loop.StatusCompleted) && shownCount < maxShownParts {
			shownCount++
			fmt.Fprintf(&b, "| `%s` | %d | %s | %d | %d | %d |\n",
				protocol.PartID(p.processID, part.Number), len(part.InstanceTokens), r.Status, r.RequestCount,
				r.Calls.Done,
				r.Calls.Failed)
		}
	}
	total := p.splitState.ResultWithoutInstances(p.processID, status)
	fmt.Fprintf(&b, "\n%s\n", total.Usage)
	writeFailuresText(&b, total.Failures)
	p.finishDetails(ctx, p, &b, status, holdUps, cmp.Or(total.Error, p.pauseReason(), p.splitState.StallFault()))
}

func (p *splitProcess) showStarting(ctx workflow.Context) {
	p.showDetails(ctx, p.status(p.pauseReason()))
}
