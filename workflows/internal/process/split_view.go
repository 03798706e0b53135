package process

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/workflows/internal/display"
)

// This file answers queries of a split process and shows it in the Temporal UI.

func (p *splitProcess) answerQueries(ctx workflow.Context) error {
	return p.answer(ctx, p, " Each part has a chain of its own.", "parts")
}

func (p *splitProcess) view() protocol.ProcessView {
	pending := p.approvals().Approvals
	v := p.viewOf(p.result(p.status(p.paused())), pending)
	for _, part := range p.parts.List {
		v.Parts = append(v.Parts, protocol.PartView{
			Process: protocol.PartID(p.id, part.Number), Status: part.Report.Status, Instances: part.Tokens,
		})
	}
	if f := p.paused(); f != nil {
		v.Waiting = append(v.Waiting, waitingForPause(f))
	}
	for _, a := range pending {
		v.Waiting = append(v.Waiting, waitingForPerson(a))
	}
	return v
}

func (p *splitProcess) approvals() protocol.ProcessApprovals {
	v := protocol.ProcessApprovals{Approvals: []protocol.Approval{}}
	for _, part := range p.parts.List {
		for _, a := range part.Report.Pending {
			v.Approvals = append(v.Approvals, protocol.Approval{
				Process: protocol.PartID(p.id, part.Number), Instance: ideafile.TokenOfCallID(a.Call), PendingApproval: a,
			})
		}
	}
	return v
}

const shownParts = 50 // each is a workflow of its own

// showDetails shows how far the parts are.
func (p *splitProcess) showDetails(ctx workflow.Context, status loop.ProcessStatus) {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s, in %d parts\n\n| Part | Instances | Status | Requests | Calls done | failed |\n| --- | --- | --- | --- | --- | --- |\n",
		display.Text(p.title()), status, len(p.parts.List))
	shown := 0
	for _, part := range p.parts.List {
		r := part.Report
		if part.Started && (!r.Finished() || r.Status != loop.StatusCompleted) && shown < shownParts {
			shown++
			fmt.Fprintf(&b, "| `%s` | %d | %s | %d | %d | %d |\n",
				protocol.PartID(p.id, part.Number), len(part.Tokens), r.Status, r.Requests, r.Calls.Done, r.Calls.Failed)
		}
	}
	pending := p.approvals().Approvals
	display.Pending(&b, pending)
	display.WriteRefusals(&b, p.inbox.Refusals)
	display.SetDetails(ctx, b.String())
	p.setAttributes(ctx, string(status), len(pending))
}

// showOpening shows a process that has no part yet.
func (p *splitProcess) showOpening(ctx workflow.Context) { p.showDetails(ctx, p.status(p.paused())) }
