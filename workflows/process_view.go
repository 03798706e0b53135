package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model"
)

// answer sets up what a process answers to queries.
func (p *process) answer(ctx workflow.Context) error {
	err := workflow.SetQueryHandlerWithOptions(ctx, QueryStatus, func() (ProcessView, error) { return p.view(), nil },
		workflow.QueryHandlerOptions{Description: "Where the process stands: as `run --json` prints it, without States."})
	if err != nil {
		return err
	}
	return workflow.SetQueryHandlerWithOptions(ctx, QueryIdea, func() (Sealed, error) { return p.last, nil },
		workflow.QueryHandlerOptions{Description: "The latest Idea of the chain: {at, digest, place}."})
}

func (p *process) view() ProcessView {
	status := model.StatusRunning
	if p.mind.Paused() != nil {
		status = model.StatusPaused
	}
	v := ProcessView{Result: p.result(status, false), Waiting: []string{}, Refusals: p.inbox.refusals.Last}
	if v.Refusals == nil {
		v.Refusals = []model.Refusal{}
	}
	if f := p.mind.Paused(); f != nil {
		v.Waiting = append(v.Waiting, "paused: "+f.Message)
	} else if b := p.mind.Asked(); b != nil {
		v.Waiting = append(v.Waiting, askSummary(b))
	}
	return v
}

// show says in the Temporal UI where the process stands, and keeps the search attribute in step.
func (p *process) show(ctx workflow.Context, step model.Step) {
	status := p.statusAt(step)
	r := p.result(status, false)
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s\n\n", mdText(p.title()), p.standing(step))
	fmt.Fprintf(&b, "| Instances | Requests | Calls done | failed | skipped | blocked | Tokens |\n")
	fmt.Fprintf(&b, "| --- | --- | --- | --- | --- | --- | --- |\n")
	fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", p.tally(), r.Requests, r.Calls.Done, r.Calls.Failed,
		r.Calls.Skipped, r.Calls.Blocked, r.Usage.PromptTokens+r.Usage.CompletionTokens)
	if step == model.StepPaused {
		b.WriteString("\nTo go on, send the signal `resume` with `{}`, or with `{\"limits\": {\"requests\": 100}}`.\n")
	}
	workflow.SetCurrentDetails(ctx, b.String())
	p.attribute(ctx, string(status))
}

func (p *process) statusAt(step model.Step) model.ProcessStatus {
	switch step {
	case model.StepOver:
		return p.mind.Outcome()
	case model.StepPaused:
		return model.StatusPaused
	}
	return model.StatusRunning
}

func (p *process) title() string {
	if p.idea.Path != "" {
		return p.idea.Path
	}
	return p.id
}

func (p *process) standing(step model.Step) string {
	if step == model.StepPaused {
		return "paused: " + mdText(p.mind.Paused().Message)
	}
	if b := p.mind.Asked(); b != nil {
		return mdText(askSummary(b)) + ", and its Calls are running"
	}
	return string(p.statusAt(step))
}

// tally counts the instances by status.
func (p *process) tally() string {
	count := map[model.InstanceStatus]int{}
	for _, m := range p.mind.Members() {
		count[m.Status]++
	}
	var parts []string
	for _, s := range []model.InstanceStatus{model.InstanceWorking, model.InstanceWaiting, model.InstanceSettled, model.InstanceFailed} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

var attributeStatus = temporal.NewSearchAttributeKeyKeyword(AttributeStatus)

// attribute keeps IdeaStatus up to date where it is registered: elsewhere it would fail the workflow task.
func (p *process) attribute(ctx workflow.Context, status string) {
	if !p.start.Attributes {
		return
	}
	now, ok := workflow.GetTypedSearchAttributes(ctx).GetKeyword(attributeStatus)
	if ok && now == status {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, attributeStatus.ValueSet(status)); err != nil {
		workflow.GetLogger(ctx).Warn("the search attribute could not be set", "error", err)
	}
}
