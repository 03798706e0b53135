package process

import (
	"cmp"
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/workflows/internal/display"
)

// This file shows an ordinary process in the Temporal UI.

// showDetails shows the state of the process and what it waits for, and updates the search attributes.
func (p *unsplitProcess) showDetails(ctx workflow.Context, step loop.NextStep) {
	status := p.statusForStep(step)
	r := p.result(status, false)
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s\n\n", display.EscapeMarkdown(p.title()), p.statusText(step))
	fmt.Fprintf(&b, "| Instances | Requests | Calls done | failed | rejected | skipped | blocked | Tokens | Cost |\n")
	fmt.Fprintf(&b, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %s |\n", p.instanceCountsText(), r.RequestCount,
		r.Calls.Done, r.Calls.Failed,
		r.Calls.Rejected, r.Calls.Skipped, r.Calls.Blocked, r.Usage.Total(), r.Usage.CostText())
	writeFailuresText(&b, r.Failures)
	if step == loop.StepPaused {
		b.WriteString("\nTo go on, send the signal `resume` with `{}`, or with `{\"limits\": {\"requests\": 100}}`.\n")
	}
	for _, line := range delegateStatusLines(p.delegateViews()) {
		b.WriteString("\n" + display.EscapeMarkdown(line) + "\n")
	}
	p.finishDetails(ctx, p, &b, status, p.allHoldUps(), cmp.Or(r.Error, p.pauseReason(),
		p.loop.StalledDelegatesFault()))
}

// finishDetails ends the details with what waits for people, and updates the log and the search attributes with the
// status and its reason.
func (c *processCore) finishDetails(ctx workflow.Context, p queryableProcess, b *strings.Builder, status loop.Status,
	holdUps []turn.HoldUp, reason *diag.Fault) {
	pending, plans := p.approvals().Approvals, p.plans()
	p.addApprovalContexts(pending[:min(len(pending), display.MaxShownPending)])
	display.WritePendingAndRefused(b, plans, pending, &c.inbox.Fates)
	display.SetDetails(ctx, b.String())
	c.logStatus(ctx, status, reason)
	c.setSearchAttributes(ctx, statusAttributeValue(status, holdUps), len(pending)+len(plans))
}

// writeFailuresText writes why Calls did not succeed.
func writeFailuresText(b *strings.Builder, list turn.Failures) {
	for _, f := range list[:min(len(list), maxShownFailures)] {
		fmt.Fprintf(b, "\n- %s %s", f.Status, display.EscapeMarkdown(f.String()))
	}
	if len(list) > 0 {
		b.WriteString("\n")
	}
}

const maxShownFailures = 5

func (p *unsplitProcess) showStarting(ctx workflow.Context) {
	if p.pauseReason() != nil {
		p.showDetails(ctx, loop.StepPaused)
		return
	}
	p.showDetails(ctx, loop.StepWait)
}

func (p *unsplitProcess) statusForStep(step loop.NextStep) loop.Status {
	switch {
	case step == loop.StepFinished:
		return p.loop.FinalStatus()
	case step == loop.StepPaused, p.loop.StalledDelegatesFault() != nil:
		return loop.StatusPaused
	}
	return loop.StatusRunning
}

func (p *unsplitProcess) statusText(step loop.NextStep) string {
	if step == loop.StepPaused {
		return "paused: " + display.EscapeMarkdown(p.pauseReason().Message)
	}
	if len(p.pendingMCPServerNames) > 0 {
		return display.EscapeMarkdown(p.askingMCPServersText())
	}
	if f := p.loop.StalledDelegatesFault(); f != nil && step == loop.StepWait {
		return "paused: " + display.EscapeMarkdown(f.Message)
	}
	if plan := p.loop.PendingPlan; plan != nil {
		return plan.Name() + " waits for a person"
	}
	if holdUps := p.ownHoldUps(false); len(holdUps) > 0 {
		return display.EscapeMarkdown(holdUps[0].String())
	}
	if input := p.loop.RequestInFlight(); input != nil {
		return display.EscapeMarkdown(requestSummary(input))
	}
	return string(p.statusForStep(step))
}

// instanceCountsText counts the instances by status.
func (p *unsplitProcess) instanceCountsText() string {
	countByStatus := map[ideafile.InstanceStatus]int{}
	for _, m := range p.loop.Instances {
		countByStatus[m.DisplayStatus()]++
	}
	return ideafile.TallyText(ideafile.InstanceStatuses(), countByStatus)
}
