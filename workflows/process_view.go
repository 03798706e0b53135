package workflows

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

// answer sets up what a process answers to queries.
func (p *process) answer(ctx workflow.Context) error {
	return answers(ctx, []query{
		{protocol.QueryStatus, func() (protocol.ProcessView, error) { return p.view(), nil },
			"Where the process stands: as `run --json` prints it, without States, and what it waits for."},
		{protocol.QueryIdea, func() (protocol.Sealed, error) { return p.last, nil }, "The latest Idea of the chain: {at, digest, place}."},
		{protocol.QueryApprovals, func() (protocol.ProcessApprovals, error) { return p.approvals(), nil },
			"What waits for a person, in all instances: {approvals}."},
	})
}

// query is a question that a workflow answers, with what it says of itself to people.
type query struct {
	name        string
	handler     any
	description string
}

func answers(ctx workflow.Context, queries []query) error {
	for _, q := range queries {
		if err := workflow.SetQueryHandlerWithOptions(ctx, q.name, q.handler, workflow.QueryHandlerOptions{Description: q.description}); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) view() protocol.ProcessView {
	status := cmp.Or(p.over, loop.StatusRunning)
	if p.over == "" && p.mind.PauseReason() != nil {
		status = loop.StatusPaused
	}
	return protocol.ProcessView{
		Result: p.result(status, false), Waiting: p.waiting(), Refusals: p.inbox.refused(), Refused: p.inbox.refusals.Count,
		Accepted: append([]protocol.Accepted{}, p.accepted...), Awaiting: len(p.approvals().Approvals),
	}
}

// waiting says in a line each what the process waits for.
func (p *process) waiting() []string {
	list := []string{}
	if f := p.mind.PauseReason(); f != nil {
		list = append(list, "paused: "+f.Message)
	} else if b := p.mind.InFlight(); b != nil {
		list = append(list, askSummary(b))
	}
	for _, a := range p.approvals().Approvals {
		list = append(list, waitingFor(a))
	}
	return list
}

func waitingFor(a protocol.Approval) string {
	return fmt.Sprintf("%s%s %s since %s", protocol.WaitingForPerson, a.Call, a.Tool, a.Since.UTC().Format(time.RFC3339))
}

func (p *process) approvals() protocol.ProcessApprovals {
	v := protocol.ProcessApprovals{Approvals: []protocol.Approval{}}
	for _, m := range p.mind.Instances() {
		for _, a := range m.Pending {
			v.Approvals = append(v.Approvals, protocol.Approval{Process: p.id, Instance: m.Token, PendingApproval: a})
		}
	}
	return v
}

// show says in the Temporal UI where the process stands and what it waits for, and keeps the search attributes in step.
func (p *process) show(ctx workflow.Context, step loop.Step) {
	status := p.statusAt(step)
	r := p.result(status, false)
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s\n\n", mdText(p.title()), p.standing(step))
	fmt.Fprintf(&b, "| Instances | Requests | Calls done | failed | rejected | skipped | blocked | Tokens |\n")
	fmt.Fprintf(&b, "| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", p.tally(), r.Requests, r.Calls.Done, r.Calls.Failed,
		r.Calls.Rejected, r.Calls.Skipped, r.Calls.Blocked, r.Usage.PromptTokens+r.Usage.CompletionTokens)
	if step == loop.StepPaused {
		b.WriteString("\nTo go on, send the signal `resume` with `{}`, or with `{\"limits\": {\"requests\": 100}}`.\n")
	}
	pending := p.approvals().Approvals
	showPending(&b, pending)
	showRefusals(&b, p.inbox.refusals)
	workflow.SetCurrentDetails(ctx, clipBytes(b.String(), maxDetails))
	p.attribute(ctx, string(status), len(pending))
}

func (p *process) statusAt(step loop.Step) loop.ProcessStatus {
	switch step {
	case loop.StepFinished:
		return p.mind.FinalStatus()
	case loop.StepPaused:
		return loop.StatusPaused
	}
	return loop.StatusRunning
}

func (p *process) title() string {
	title := p.idea.Path
	if title == "" {
		title = p.id
	}
	if p.idea.Simulated != nil {
		title += " (simulated)"
	}
	return title
}

func (p *process) standing(step loop.Step) string {
	if step == loop.StepPaused {
		return "paused: " + mdText(p.mind.PauseReason().Message)
	}
	if b := p.mind.InFlight(); b != nil {
		return mdText(askSummary(b))
	}
	return string(p.statusAt(step))
}

// tally counts the instances by status.
func (p *process) tally() string {
	count := map[ideafile.InstanceStatus]int{}
	for _, m := range p.mind.Instances() {
		count[m.DisplayStatus()]++
	}
	var parts []string
	for _, s := range []ideafile.InstanceStatus{ideafile.InstanceWorking, ideafile.InstanceWaiting, ideafile.InstanceSettled, ideafile.InstanceFailed} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

var attributeStatus = temporal.NewSearchAttributeKeyKeyword(protocol.AttributeStatus)

// attribute keeps IdeaStatus and IdeaAwaiting up to date where they are registered: elsewhere it would fail the workflow
// task.
func (p *process) attribute(ctx workflow.Context, status string, waiting int) {
	if !p.start.Attributes {
		return
	}
	setAwaiting(ctx, waiting)
	now, ok := workflow.GetTypedSearchAttributes(ctx).GetKeyword(attributeStatus)
	if ok && now == status {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, attributeStatus.ValueSet(status)); err != nil {
		workflow.GetLogger(ctx).Warn("the search attribute could not be set", "error", err)
	}
}
