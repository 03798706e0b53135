package workflows

import (
	"cmp"
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

// This file holds what a split process shows of itself.

// answerForParts sets up what a split process answers to queries: the same as any process.
func (p *process) answerForParts(ctx workflow.Context) error {
	return answers(ctx, []query{
		{protocol.QueryStatus, func() (protocol.ProcessView, error) { return p.viewOfParts(), nil },
			"Where the process stands: as `run --json` prints it, without States, and what it waits for."},
		{protocol.QueryIdea, func() (protocol.Sealed, error) { return p.last, nil }, "The latest Idea of the chain: {at, digest, place}. Each part has a chain of its own."},
		{protocol.QueryApprovals, func() (protocol.ProcessApprovals, error) { return p.approvalsOfParts(), nil },
			"What waits for a person, in all parts: {approvals}."},
	})
}

// pausedParts says why the process is paused: also before it has any part, where its Tools cannot be found out.
func (p *process) pausedParts() *diag.Fault {
	if p.parts.Paused == nil && p.mind != nil {
		return p.mind.PauseReason()
	}
	return p.parts.Paused
}

func (p *process) partsStatus() loop.ProcessStatus {
	if p.over == "" && p.pausedParts() != nil {
		return loop.StatusPaused
	}
	return cmp.Or(p.over, loop.StatusRunning)
}

func (p *process) viewOfParts() protocol.ProcessView {
	pending := p.approvalsOfParts().Approvals
	v := protocol.ProcessView{
		Result: p.partsResult(p.partsStatus()), Waiting: []string{}, Refusals: p.inbox.refused(), Refused: p.inbox.refusals.Count,
		Accepted: append([]protocol.Accepted{}, p.accepted...), Awaiting: len(pending),
	}
	for _, part := range p.parts.List {
		v.Parts = append(v.Parts, protocol.PartView{
			Process: protocol.PartID(p.id, part.Number), Status: part.Report.Status, Instances: part.Tokens,
		})
	}
	if f := p.pausedParts(); f != nil {
		v.Waiting = append(v.Waiting, "paused: "+f.Message)
	}
	for _, a := range pending {
		v.Waiting = append(v.Waiting, waitingFor(a))
	}
	return v
}

func (p *process) approvalsOfParts() protocol.ProcessApprovals {
	v := protocol.ProcessApprovals{Approvals: []protocol.Approval{}}
	for _, part := range p.parts.List {
		for _, a := range part.Report.Pending {
			v.Approvals = append(v.Approvals, protocol.Approval{Process: protocol.PartID(p.id, part.Number), Instance: ideafile.TokenOfCallID(a.Call), PendingApproval: a})
		}
	}
	return v
}

const shownParts = 50 // each is a workflow of its own

// showParts says in the Temporal UI how far the parts are.
func (p *process) showParts(ctx workflow.Context, status loop.ProcessStatus) {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s, in %d parts\n\n| Part | Instances | Status | Requests | Calls done | failed |\n| --- | --- | --- | --- | --- | --- |\n",
		mdText(p.title()), status, len(p.parts.List))
	shown := 0
	for _, part := range p.parts.List {
		if r := part.Report; part.Started && (!r.Finished() || r.Status != loop.StatusCompleted) && shown < shownParts {
			shown++
			fmt.Fprintf(&b, "| `%s` | %d | %s | %d | %d | %d |\n", protocol.PartID(p.id, part.Number), len(part.Tokens), r.Status, r.Requests, r.Calls.Done, r.Calls.Failed)
		}
	}
	pending := p.approvalsOfParts().Approvals
	showPending(&b, pending)
	showRefusals(&b, p.inbox.refusals)
	workflow.SetCurrentDetails(ctx, clipBytes(b.String(), maxDetails))
	p.attribute(ctx, string(status), len(pending))
}
