package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// Process is the mind of a process: it asks the LLM once for all instances, hears from each what became of its Calls,
// and asks again, until every instance has settled. It begins again from what it carries where its history has grown
// long.
func Process(ctx workflow.Context, start protocol.Start, carried *CarriedProcess) (*loop.Result, error) {
	p, err := begin(ctx, start, carried)
	if err != nil {
		return nil, err
	}
	if p.parts != nil {
		return p.runParts(ctx)
	}
	for err = p.startNew(ctx); err == nil && ctx.Err() == nil && !p.gone; err = p.startNew(ctx) {
		p.conclude(ctx)
		if p.leaving(ctx) {
			if p.endInstances(ctx, true); p.idle() {
				return nil, p.continueAsNew(ctx)
			}
			p.inbox.wait(ctx)
			continue
		}
		step, brief := p.mind.Advance(workflow.Now(ctx))
		p.followPause(ctx)
		p.sealRevisions(ctx)
		if step == loop.StepRequest {
			p.ask(ctx, brief)
		}
		if p.endInstances(ctx, step == loop.StepFinished); step == loop.StepFinished {
			if len(p.endings.list) > 0 {
				p.inbox.wait(ctx)
			} else if p.windUp(ctx) {
				return p.finish(ctx)
			}
			continue
		}
		p.notify(ctx)
		p.show(ctx, step)
		p.tellWhole(ctx, p.statusAt(step), false)
		p.inbox.wakeAt(ctx, p.mind.WakeTime(), "until the next Request is due")
		p.inbox.wait(ctx)
	}
	if ctx.Err() != nil || p.gone {
		return nil, p.cancelled(ctx)
	}
	return nil, err
}

// process is what a Process workflow holds while it runs.
type process struct {
	id, firstRun string

	start  protocol.Start
	idea   *ideafile.Idea
	setup  protocol.RequestSetup
	mind   *loop.Loop
	inbox  *inbox
	outbox *outbox
	last   protocol.Sealed
	asked  *ideafile.Idea // as it was when the Request under way was made
	// children are the instances that this run of the workflow has started.
	children []workflow.ChildWorkflowFuture
	// states are the States as Idea base of the chain has them, by token: what has changed since is what Requests are told.
	// Where there is no such Idea, base is zero, and they are those of the Idea that the process began with.
	states map[string]any
	base   protocol.Sealed
	passes int                // through the loop of this run
	over   loop.ProcessStatus // how it has ended; empty: it has not
	// parts are what a process of very many instances is split into; nil where it is not.
	parts *loop.Parts
	// told is what the process that this is a part of was told, and reports how often it was; gone says that it is not
	// there any more.
	told    loop.ReportFilter
	reports int
	gone    bool

	messages  map[string][]any // of the Idea, as far as instances see them, by token
	held      bool             // the instances were told that the process is paused
	accepted  []protocol.Accepted
	revisions []loop.Steering // not sealed yet

	notifies  bool             // people are told what waits for them
	watch     loop.SentNotices // what they were told
	notifying bool             // they are being told
	joining   []joining
	endings   endings

	adapts bool // the LLM may be asked to fit values

	opening bool    // there are no instances yet: servers are asked for their tools
	early   []early // what people sent meanwhile, in order
}

// begin reads the Idea, binds its Tools to what this worker knows, and sets up what the process hears and answers. A
// process that goes on knows the bindings, and all that has happened.
func begin(ctx workflow.Context, start protocol.Start, carried *CarriedProcess) (*process, error) {
	info := workflow.GetInfo(ctx)
	p := &process{id: info.WorkflowExecution.ID, firstRun: info.FirstRunID, start: start, inbox: newInbox(ctx), watch: loop.SentNotices{}}
	idea, problems := ideafile.ReadIdea(start.Idea)
	if carried == nil && idea != nil && start.Delegation.Depth == 0 {
		problems = append(problems, ideafile.CheckDelegates(idea, start.Delegation.File, start.Delegation.Files)...)
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, temporal.NewNonRetryableApplicationError(errs.Error(), turn.CodeInvalidIdea, nil, errs)
	}
	p.setup = protocol.RequestSetup{Replies: start.Replies}
	if carried != nil {
		p.goOn(idea, carried)
	} else {
		p.mind = loop.New(idea, p.id, nil, workflow.Now(ctx))
		p.setIdea(p.mind.Idea())
		if p.parts = loop.Split(idea, workflow.Now(ctx)); p.parts != nil {
			p.setIdea(idea) // its parts take in what it tells of the time before
		}
	}
	p.outbox = newOutbox(p.inbox)
	if p.parts != nil {
		p.hearParts(ctx)
		err := p.answerForParts(ctx)
		if err == nil && carried == nil {
			err = p.equip(ctx)
		}
		return p, err
	}
	if above := p.above(); len(above) > 0 {
		watch(ctx, p.inbox, above, func() { p.gone = true })
	}
	on(p.inbox, ctx, protocol.SignalReport, "From an instance: what became of its Calls.", p.onReport)
	p.hearPeople(ctx)
	if err := p.answer(ctx); err != nil || carried != nil {
		return p, err
	}
	return p, p.commence(ctx)
}

// above lists what the process ends with: the one that it is a part of, and those that it is a delegate of.
func (p *process) above() []protocol.ProcessRef {
	above := p.start.Delegation.Above
	if p.start.Part != nil {
		above = append(above[:len(above):len(above)], p.start.Part.Of)
	}
	return above
}

// commence begins a process that is new.
func (p *process) commence(ctx workflow.Context) error {
	if err := p.equip(ctx); err != nil {
		return err
	}
	if p.start.WithSolution {
		p.mind.ResumeSolution()
	}
	p.joining = []joining{{tokens: p.mind.Tokens()}}
	p.states = p.mind.FullInput().States()
	return p.takeEarly(ctx)
}

// equip finds out which Tools there are, and binds them.
func (p *process) equip(ctx workflow.Context) error {
	if err := p.discover(ctx); err != nil {
		return err
	}
	prepared, err := prepare(ctx, p.idea.Source)
	if err != nil {
		return err
	}
	p.setup.Bindings, p.notifies = prepared.Bindings, prepared.Notify
	p.adapts = p.idea.Config.Adapt && (prepared.LLM || p.start.Replies != "")
	p.mind.BindTools(p.idea, prepared.Bindings)
	return nil
}

// setIdea takes an Idea as the one that counts from now on.
func (p *process) setIdea(idea *ideafile.Idea) {
	p.idea, p.setup.Idea = idea, idea.Source
	p.messages = map[string][]any{}
	for _, m := range idea.Context {
		if m.Kind != "" || m.Stage != "" {
			p.messages[m.Instance] = append(p.messages[m.Instance], m.Source)
		}
	}
}

// prepare asks the worker which Tools it knows.
func prepare(ctx workflow.Context, idea map[string]any) (*protocol.PrepareResult, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 10 * time.Second, Summary: "bind the tools",
	})
	var r protocol.PrepareResult
	if err := workflow.ExecuteLocalActivity(ctx, protocol.ActivityPrepare, idea).Get(ctx, &r); err != nil {
		return nil, err
	}
	if errs := r.Problems.Errors(); len(errs) > 0 {
		return nil, temporal.NewNonRetryableApplicationError(errs.Error(), turn.CodeInvalidIdea, nil, errs)
	}
	return &r, nil
}

// childWindow is how many instances are started at a time: over two thousand pending ones would leave the workflow stuck.
const childWindow = 200

// startInstances starts instances and waits until each has started. They outlive this run of the workflow; a child that
// has not started when it ends never would. A Request that is due at once is made meanwhile: its activity waits for the
// instances.
func (p *process) startInstances(ctx workflow.Context, tokens []string) error {
	setup := p.instanceSetup()
	for from := 0; from < len(tokens); from += childWindow {
		var started []workflow.ChildWorkflowFuture
		for _, token := range tokens[from:min(from+childWindow, len(tokens))] {
			started = append(started, p.startInstance(ctx, setup, token))
		}
		p.children = append(p.children, started...)
		p.askAtOnce(ctx)
		for _, f := range started {
			if err := f.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
				return fmt.Errorf("workflows: start instance: %w", err)
			}
		}
	}
	return nil
}

// askAtOnce makes the first Request of a process.
func (p *process) askAtOnce(ctx workflow.Context) {
	if p.last.At > 0 || p.mind.HasResumed() || len(p.early) > 0 {
		return
	}
	if step, brief := p.mind.Advance(workflow.Now(ctx)); step == loop.StepRequest {
		p.ask(ctx, brief)
	}
}

// instanceSetup is the part of the Idea that every instance needs: the palette, the shared input, State and data, and the
// Plans that run directly.
func (p *process) instanceSetup() protocol.InstanceSetup {
	s := protocol.InstanceSetup{
		Process: p.id, FirstRunID: p.firstRun, Bindings: p.setup.Bindings, Tools: map[string]any{}, Context: p.messages[""],
		Oversight: p.idea.Config.Approval, Attributes: p.start.Attributes, ContinueEvery: p.start.ContinueEvery,
		Servers: p.idea.Config.MCP, Held: p.mind.PauseReason() != nil, Adapt: p.adapts,
		Delegation: p.delegation(),
	}
	if p.hasDelegates() {
		config, _ := p.idea.Source["config"].(map[string]any)
		s.LLM, s.Replies = config["llm"], p.start.Replies
	}
	if p.start.Part != nil {
		s.Whole = &p.start.Part.Of
	}
	for _, t := range p.idea.Tools {
		s.Tools[t.Name] = t.Source
	}
	return s
}

func (p *process) startInstance(ctx workflow.Context, setup protocol.InstanceSetup, token string) workflow.ChildWorkflowFuture {
	own := protocol.InstanceOwn{Token: token}
	summary := "the only instance"
	if token != "" {
		own.Context, summary = p.messages[token], "instance "+token
	}
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: protocol.InstanceID(p.id, token), ParentClosePolicy: parentClosePolicy, StaticSummary: summary,
	})
	return workflow.ExecuteChildWorkflow(ctx, protocol.InstanceType, setup, own)
}

func (p *process) onReport(_ workflow.Context, r turn.Report) {
	if !p.mind.ApplyReport(r) {
		return
	}
	for _, refusal := range r.RefusedSignals {
		p.inbox.refusals.Add(refusal)
	}
}

// windUp seals the last Idea and waits for the instances to end. It says whether the process is over then: what people
// signalled in the meantime may keep it at work.
func (p *process) windUp(ctx workflow.Context) bool {
	p.sealEnd(ctx)
	for _, f := range p.children {
		// An instance's own end says nothing new, but one that ends while its process does would fail a workflow task.
		_ = f.Get(ctx, nil)
	}
	p.inbox.drain(ctx)
	return p.mind.Finished() && ctx.Err() == nil
}

// finish ends the process.
func (p *process) finish(ctx workflow.Context) (*loop.Result, error) {
	p.show(ctx, loop.StepFinished)
	status := p.mind.FinalStatus()
	p.over = status
	p.tellWhole(ctx, status, true)
	r := p.result(status, true)
	p.tellCaller(ctx, r)
	return ended(r)
}

// ended is how a process ends. One in which an instance failed ends as failed, with everything in the failure's details.
func ended(r loop.Result) (*loop.Result, error) {
	if r.Status == loop.StatusFailed {
		return nil, temporal.NewNonRetryableApplicationError(r.Error.Message, r.Error.Code, nil, r)
	}
	return &r, nil
}

// cancelled takes the instances along.
func (p *process) cancelled(ctx workflow.Context) error {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	for _, m := range p.mind.Instances() {
		if !p.opening && (m.Status == ideafile.InstanceWorking || m.Status == ideafile.InstanceWaiting) {
			// One that has just ended cannot be cancelled, and need not be.
			_ = workflow.RequestCancelExternalWorkflow(ctx, protocol.InstanceID(p.id, m.Token), "").Get(ctx, nil)
		}
	}
	p.tellEnds(ctx, len(p.endings.list)) // whatever a lost task decides again, the process is cancelled
	p.over = loop.StatusCancelled
	p.attribute(ctx, string(loop.StatusCancelled), 0)
	p.tellWhole(ctx, loop.StatusCancelled, true)
	p.tellCaller(ctx, p.result(loop.StatusCancelled, true))
	return temporal.NewCanceledError(p.result(loop.StatusCancelled, true))
}

func (p *process) result(status loop.ProcessStatus, withStates bool) loop.Result {
	r := p.mind.Result(status, withStates)
	r.Ideas = p.last.At
	return r
}
