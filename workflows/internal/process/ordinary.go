package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/signals"
)

// ordinaryProcess is a process with instances of its own: it asks the LLM once for all of them, hears from each what became
// of its Calls, and asks again until every instance has ended.
type ordinaryProcess struct {
	*core
	loop *loop.Loop

	requestIdea *ideafile.Idea // the Idea as it was when the Request in flight was made
	// base is the Idea of the chain that Requests tell changes from, and baseStates are the States in it, by token. If there is
	// no such Idea, base is zero, and baseStates are those of the Idea that the process began with.
	base       protocol.Sealed
	baseStates map[string]any

	children []workflow.ChildWorkflowFuture // the instances that this run of the workflow started
	joining  []joiningInstances
	early    []earlySignal
	ends     ends

	instancesHeld bool            // the instances were told that the process is paused
	revisions     []loop.Steering // not sealed yet

	notified  loop.SentNotices // what people were told of
	notifying bool             // a notification is on its way

	reported    loop.ReportFilter // what the process that this is a part of was told
	reportCount int               // how often
}

func newOrdinaryProcess(ctx workflow.Context, c *core, carried *Carried) *ordinaryProcess {
	p := &ordinaryProcess{core: c, notified: loop.SentNotices{}}
	if carried != nil {
		p.restore(carried)
	} else {
		p.loop = loop.New(c.idea, c.id, nil, workflow.Now(ctx))
		p.setIdea(p.loop.Idea())
	}
	return p
}

// registerHandlers registers what the process hears. The order is that in which the selector offers what is pending: it never changes.
func (p *ordinaryProcess) registerHandlers(ctx workflow.Context) {
	if owners := p.owners(); len(owners) > 0 {
		lifecycle.Watch(ctx, p.inbox, owners, func() { p.orphaned = true })
	}
	mailbox.On(p.inbox, ctx, protocol.SignalReport, "From an instance: what became of its Calls.", p.onReport)
	signals.HearAtProcess(ctx, p.inbox, p)
}

// owners lists the processes with which this one ends: the one that it is a part of, and those that it is a delegate of.
func (p *ordinaryProcess) owners() []protocol.ProcessRef {
	owners := p.start.Delegation.Above
	if p.start.Part != nil {
		owners = append(owners[:len(owners):len(owners)], p.start.Part.Of)
	}
	return owners
}

func (p *ordinaryProcess) onReport(_ workflow.Context, r turn.Report) {
	if !p.loop.ApplyReport(r) {
		return
	}
	for _, refusal := range r.RefusedSignals {
		p.inbox.Refusals.Add(refusal)
	}
}

// startFresh opens a process that is new.
func (p *ordinaryProcess) startFresh(ctx workflow.Context) error {
	err := p.bindTools(ctx, p)
	if err != nil {
		return err
	}
	p.loop.BindTools(p.idea, p.setup.Bindings)
	if p.start.WithSolution {
		p.loop.ResumeSolution()
	}
	p.joining = []joiningInstances{{tokens: p.loop.InstanceTokens()}}
	p.baseStates = p.loop.FullInput().States()
	return p.handleEarlySignals(ctx)
}

// run is the main loop, from the first Request to the result.
func (p *ordinaryProcess) run(ctx workflow.Context) (*loop.Result, error) {
	for {
		err := p.startJoiningInstances(ctx)
		if p.mustStop(ctx) {
			return nil, p.cancel(ctx)
		}
		if err != nil {
			return nil, err
		}
		p.concludeRequest(ctx)
		if p.shouldContinueAsNew(ctx) {
			p.endInstances(ctx, true)
			if p.idle() {
				return nil, p.continueAsNew(ctx)
			}
			p.inbox.Wait(ctx)
			continue
		}
		step := p.takeStep(ctx)
		if step != loop.StepFinished {
			p.publishStatus(ctx, step)
			p.inbox.Wait(ctx)
			continue
		}
		if p.windUp(ctx) {
			return p.finish(ctx)
		}
	}
}

// takeStep takes the step that the agent loop decides on, and passes on what follows from it.
func (p *ordinaryProcess) takeStep(ctx workflow.Context) loop.Step {
	step, input := p.loop.Advance(workflow.Now(ctx))
	p.propagatePause(ctx)
	p.sealRevisions(ctx)
	if step == loop.StepRequest {
		p.startRequest(ctx, input)
	}
	p.endInstances(ctx, step == loop.StepFinished)
	return step
}

// publishStatus tells everybody who looks, before the process waits for what comes next.
func (p *ordinaryProcess) publishStatus(ctx workflow.Context, step loop.Step) {
	p.notify(ctx)
	p.showDetails(ctx, step)
	p.reportToParent(ctx, p.statusAt(step), false)
	p.inbox.WakeAt(ctx, p.loop.WakeTime(), "until the next Request is due")
}
