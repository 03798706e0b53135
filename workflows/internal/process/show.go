package process

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/workflows/internal/display"
)

// This file shows an ordinary process in the Temporal UI.

// showDetails shows where the process stands and what it waits for, and keeps the search attributes in step.
func (p *ordinaryProcess) showDetails(ctx workflow.Context, step loop.Step) {
	status := p.statusAt(step)
	r := p.result(status, false)
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s\n\n", display.Text(p.title()), p.statusText(step))
	fmt.Fprintf(&b, "| Instances | Requests | Calls done | failed | rejected | skipped | blocked | Tokens |\n")
	fmt.Fprintf(&b, "| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", p.tally(), r.Requests, r.Calls.Done, r.Calls.Failed,
		r.Calls.Rejected, r.Calls.Skipped, r.Calls.Blocked, r.Usage.PromptTokens+r.Usage.CompletionTokens)
	if step == loop.StepPaused {
		b.WriteString("\nTo go on, send the signal `resume` with `{}`, or with `{\"limits\": {\"requests\": 100}}`.\n")
	}
	pending := p.approvals().Approvals
	display.Pending(&b, pending)
	display.WriteRefusals(&b, p.inbox.Refusals)
	display.SetDetails(ctx, b.String())
	p.setAttributes(ctx, string(status), len(pending))
}

// showOpening shows a process that has no instances yet.
func (p *ordinaryProcess) showOpening(ctx workflow.Context) {
	if p.paused() != nil {
		p.showDetails(ctx, loop.StepPaused)
		return
	}
	p.showDetails(ctx, loop.StepWait)
}

func (p *ordinaryProcess) statusAt(step loop.Step) loop.ProcessStatus {
	switch step {
	case loop.StepFinished:
		return p.loop.FinalStatus()
	case loop.StepPaused:
		return loop.StatusPaused
	}
	return loop.StatusRunning
}

func (p *ordinaryProcess) statusText(step loop.Step) string {
	if step == loop.StepPaused {
		return "paused: " + display.Text(p.paused().Message)
	}
	if b := p.loop.InFlight(); b != nil {
		return display.Text(requestSummary(b))
	}
	return string(p.statusAt(step))
}

// tally counts the instances by status.
func (p *ordinaryProcess) tally() string {
	count := map[ideafile.InstanceStatus]int{}
	for _, m := range p.loop.Instances() {
		count[m.DisplayStatus()]++
	}
	var counts []string
	for _, s := range []ideafile.InstanceStatus{ideafile.InstanceWorking, ideafile.InstanceWaiting, ideafile.InstanceSettled, ideafile.InstanceFailed} {
		if count[s] > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return strings.Join(counts, ", ")
}
