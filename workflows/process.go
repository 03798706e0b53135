package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model"
)

// Process is the mind of a process: it asks the LLM once for all instances, hears from each what became of its Calls,
// and asks again, until every instance has settled.
func Process(ctx workflow.Context, start Start) (*model.Result, error) {
	p, err := begin(ctx, start)
	if err != nil {
		return nil, err
	}
	if err := p.startInstances(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	for ctx.Err() == nil {
		step, brief := p.mind.Next(workflow.Now(ctx))
		if step == model.StepOver {
			return p.finish(ctx)
		}
		if step == model.StepAsk {
			p.ask(ctx, brief)
		}
		p.show(ctx, step)
		p.inbox.wait(ctx)
		p.conclude(ctx)
	}
	return nil, p.cancelled(ctx)
}

// process is what a Process workflow holds while it runs.
type process struct {
	id, firstRun string

	start Start
	idea  *model.Idea
	setup RequestSetup
	mind  *model.Mind
	inbox *inbox
	last  Sealed
	// children are the instances that this run of the workflow has started.
	children []workflow.ChildWorkflowFuture
	state    any // what the last sealed Idea says of the States, to see whether anything changed since
}

// begin reads the Idea, binds its Tools to what this worker knows, and sets up what the process hears and answers.
func begin(ctx workflow.Context, start Start) (*process, error) {
	info := workflow.GetInfo(ctx)
	p := &process{id: info.WorkflowExecution.ID, firstRun: info.FirstRunID, start: start, inbox: newInbox(ctx)}
	idea, problems := model.ReadIdea(start.Idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, temporal.NewNonRetryableApplicationError(errs.Error(), model.CodeInvalidIdea, nil, errs)
	}
	prepared, err := prepare(ctx, start.Idea)
	if err != nil {
		return nil, err
	}
	p.idea = idea
	p.setup = RequestSetup{Idea: start.Idea, Bindings: prepared.Bindings, Replies: start.Replies}
	p.mind = model.NewMind(idea, p.id, prepared.Bindings, workflow.Now(ctx))
	on(p.inbox, ctx, SignalReport, p.onReport)
	onPeople(p.inbox, ctx, SignalResume, p.onResume)
	return p, p.answer(ctx)
}

// prepare asks the worker which Tools it knows.
func prepare(ctx workflow.Context, idea map[string]any) (*PrepareResult, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 10 * time.Second, Summary: "bind the tools",
	})
	var r PrepareResult
	if err := workflow.ExecuteLocalActivity(ctx, ActivityPrepare, idea).Get(ctx, &r); err != nil {
		return nil, err
	}
	if errs := r.Problems.Errors(); len(errs) > 0 {
		return nil, temporal.NewNonRetryableApplicationError(errs.Error(), model.CodeInvalidIdea, nil, errs)
	}
	return &r, nil
}

// childWindow is how many instances are started at a time: over two thousand pending ones would leave the workflow stuck.
const childWindow = 200

// startInstances starts every instance and waits until each has started. They outlive this run of the workflow; a child
// that has not started when it ends never would.
func (p *process) startInstances(ctx workflow.Context) error {
	setup := p.instanceSetup()
	members := p.mind.Members()
	for from := 0; from < len(members); from += childWindow {
		var started []workflow.ChildWorkflowFuture
		for _, m := range members[from:min(from+childWindow, len(members))] {
			started = append(started, p.startInstance(ctx, setup, m.Token))
		}
		p.children = append(p.children, started...)
		for _, f := range started {
			if err := f.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
				return fmt.Errorf("workflows: start instance: %w", err)
			}
		}
	}
	return nil
}

// instanceSetup is the part of the Idea that every instance needs: the palette, and the shared input, State and data.
func (p *process) instanceSetup() InstanceSetup {
	s := InstanceSetup{Process: p.id, FirstRunID: p.firstRun, Bindings: p.setup.Bindings, Tools: map[string]any{}}
	for _, t := range p.idea.Tools {
		s.Tools[t.Name] = t.Source
	}
	s.Context = p.contextOf("")
	return s
}

func (p *process) contextOf(token string) []any {
	var own []any
	for _, m := range p.idea.Context {
		if m.Instance == token && m.Kind != "" {
			own = append(own, m.Source)
		}
	}
	return own
}

func (p *process) startInstance(ctx workflow.Context, setup InstanceSetup, token string) workflow.ChildWorkflowFuture {
	own := InstanceOwn{Token: token}
	summary := "the only instance"
	if token != "" {
		own.Context, summary = p.contextOf(token), "instance "+token
	}
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: InstanceID(p.id, token), ParentClosePolicy: parentClosePolicy, StaticSummary: summary,
	})
	return workflow.ExecuteChildWorkflow(ctx, InstanceType, setup, own)
}

func (p *process) onReport(_ workflow.Context, r model.Report) { p.mind.Heard(r) }

func (p *process) onResume(_ workflow.Context, s ResumeSignal) {
	var problems model.Problems
	limits := model.ReadLimits(s.Limits, "$.limits", &problems)
	switch {
	case len(problems) > 0:
		p.inbox.refuse(SignalResume, s.ID, problems.Error())
	case p.mind.Paused() == nil:
		p.inbox.refuse(SignalResume, s.ID, "the process is not paused")
	default:
		p.mind.Resume(limits)
	}
}

// finish ends the process. One in which an instance failed ends as failed, with everything in the failure's details.
func (p *process) finish(ctx workflow.Context) (*model.Result, error) {
	p.sealEnd(ctx)
	for _, f := range p.children {
		// An instance's own end says nothing new, but one that ends while its process does would fail a workflow task.
		_ = f.Get(ctx, nil)
	}
	p.show(ctx, model.StepOver)
	status := p.mind.Outcome()
	r := p.result(status, true)
	if status == model.StatusFailed {
		return nil, temporal.NewNonRetryableApplicationError(r.Error.Message, r.Error.Code, nil, r)
	}
	return &r, nil
}

// cancelled takes the instances along.
func (p *process) cancelled(ctx workflow.Context) error {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	for _, m := range p.mind.Members() {
		if m.Status == model.InstanceWorking || m.Status == model.InstanceWaiting {
			// One that has just ended cannot be cancelled, and need not be.
			_ = workflow.RequestCancelExternalWorkflow(ctx, InstanceID(p.id, m.Token), "").Get(ctx, nil)
		}
	}
	p.attribute(ctx, string(model.StatusCancelled))
	return temporal.NewCanceledError(p.result(model.StatusCancelled, true))
}

func (p *process) result(status model.ProcessStatus, withStates bool) model.Result {
	r := p.mind.Result(status, withStates)
	r.Ideas = p.last.At
	return r
}
