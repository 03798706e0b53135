package workflows

import (
	"sort"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file holds how a workflow begins again where its history has grown long: when Temporal suggests it, nothing new is
// started, and once nothing is under way the next run goes on from what this one carries. Nobody can tell from outside.

// tooLong says whether a workflow should begin again. every is for tests: after so many passes through its loop.
func tooLong(ctx workflow.Context, passes, every int) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested() || every > 0 && passes > every
}

// CarriedProcess is what a Process carries from one run to the next, beside its Start.
type CarriedProcess struct {
	Mind     loop.Carried                `json:"mind"`
	Parts    *CarriedParts               `json:"parts,omitempty"` // in place of Mind, where the process is split
	Bindings map[string]ideafile.Binding `json:"bindings"`
	Last     protocol.Sealed             `json:"last"`
	Base     protocol.Sealed             `json:"base"`
	// Unsealed is what the States of Base differ in from those of Mind.
	Unsealed  map[string]any      `json:"unsealed,omitempty"`
	Held      bool                `json:"held,omitempty"`
	Accepted  []protocol.Accepted `json:"accepted,omitempty"`
	Revisions []loop.Steering     `json:"revisions,omitempty"`
	Refusals  turn.RefusedSignals `json:"refusals"`
	Reports   int                 `json:"reports,omitempty"`
	Notifies  bool                `json:"notifies,omitempty"`
	Adapts    bool                `json:"adapts,omitempty"`
	Watch     loop.SentNotices    `json:"watch,omitempty"`
}

// leaving says whether the process should begin again; a Request that is under way is waited for first.
func (p *process) leaving(ctx workflow.Context) bool {
	return p.mind.InFlight() == nil && !p.mind.Finished() && tooLong(ctx, p.passes, p.start.ContinueEvery)
}

// idle says that nothing would be lost: no signal is on its way, and none is left to be read.
func (p *process) idle() bool {
	return p.outbox.empty() && !p.notifying && len(p.joining) == 0 && len(p.endings.list) == 0 && !p.inbox.selector.HasPending()
}

// continued is the IdeaStatus of a run that another one went on from. Runs that are over must not be found by what they
// once waited for.
const continued = "continued"

func (p *process) continueAsNew(ctx workflow.Context) error {
	p.attribute(ctx, continued, 0)
	unsealed, _ := jsonval.Delta(p.mind.FullInput().States(), p.states)
	return workflow.NewContinueAsNewError(ctx, protocol.ProcessType, p.start, CarriedProcess{
		Mind: p.mind.Carry(), Bindings: p.setup.Bindings, Last: p.last, Base: p.base, Unsealed: unsealed, Held: p.held,
		Accepted: p.accepted, Revisions: p.revisions, Refusals: p.inbox.refusals, Reports: p.reports,
		Notifies: p.notifies, Watch: p.watch, Adapts: p.adapts,
	})
}

// goOn takes in what an earlier run carried.
func (p *process) goOn(idea *ideafile.Idea, c *CarriedProcess) {
	p.setup.Bindings = c.Bindings
	p.accepted, p.inbox.refusals, p.last = c.Accepted, c.Refusals, c.Last
	if c.Parts != nil {
		p.parts = &c.Parts.Parts
		p.setIdea(idea.WithRawMessages(c.Parts.Context))
		return
	}
	p.mind = loop.Restore(idea, p.id, c.Bindings, c.Mind)
	p.setIdea(p.mind.Idea())
	p.base, p.held, p.revisions, p.reports, p.notifies = c.Base, c.Held, c.Revisions, c.Reports, c.Notifies
	p.adapts = c.Adapts
	if c.Watch != nil {
		p.watch = c.Watch
	}
	p.states = p.mind.FullInput().States()
	if states, err := jsonval.Advance(p.states, c.Unsealed); err == nil {
		p.states, _ = states.(map[string]any)
	}
}

// CarriedInstance is what an Instance carries from one run to the next, beside what it was started with.
type CarriedInstance struct {
	Run       dataflow.Carried       `json:"run"`
	Closed    int                    `json:"closed,omitempty"`
	Broke     []int                  `json:"broke,omitempty"`
	Told      CarriedTold            `json:"told"`
	Deaths    map[string]int         `json:"deaths,omitempty"`
	Queue     []string               `json:"queue,omitempty"` // ids of Calls
	Held      bool                   `json:"held,omitempty"`
	Dirty     bool                   `json:"dirty,omitempty"`
	Waited    bool                   `json:"waited,omitempty"`
	Corrected int                    `json:"corrected,omitempty"`
	Refusals  turn.RefusedSignals    `json:"refusals"`
	Untold    []turn.RefusedSignal   `json:"untold,omitempty"`
	Delegates []protocol.DelegateRef `json:"delegates,omitempty"`
}

// CarriedTold is what the process has been told.
type CarriedTold struct {
	Reports   int           `json:"reports,omitempty"`
	Events    int           `json:"events,omitempty"` // of all runs so far
	Closed    int           `json:"closed,omitempty"`
	Corrected int           `json:"corrected,omitempty"`
	Quiet     bool          `json:"quiet,omitempty"`
	Pending   string        `json:"pending,omitempty"`
	Calls     []CarriedTale `json:"calls,omitempty"`
}

// CarriedTale is what the process has been told of a Call.
type CarriedTale struct {
	ID        string              `json:"id"`
	Status    ideafile.CallStatus `json:"status"`
	Decisions int                 `json:"decisions,omitempty"`
}

// leaving says whether the instance should begin again: until it does, nothing new runs.
func (i *instance) leaving(ctx workflow.Context) bool {
	return i.end == "" && tooLong(ctx, i.passes, i.setup.ContinueEvery)
}

// idle says that nothing would be lost: no Call runs, no signal is on its way, and none is left to be read.
func (i *instance) idle() bool {
	return i.running == 0 && i.outbox.empty() && !i.inbox.selector.HasPending()
}

func (i *instance) continueAsNew(ctx workflow.Context) error {
	i.attribute(ctx, 0)
	c := CarriedInstance{
		Run: i.run.Carry(), Closed: i.closed, Told: i.told.carry(), Deaths: i.deaths, Held: i.held, Dirty: i.dirty, Waited: i.waited,
		Corrected: i.corrected, Refusals: i.inbox.refusals, Untold: i.inbox.untold,
		Delegates: i.delegatesUnderWay(),
	}
	c.Told.Events = i.heard(ctx)
	//workflowcheck:ignore -- sorted below
	for n := range i.broke {
		c.Broke = append(c.Broke, n)
	}
	sort.Ints(c.Broke)
	for _, r := range i.queue {
		c.Queue = append(c.Queue, r.Record.ID)
	}
	return workflow.NewContinueAsNewError(ctx, protocol.InstanceType, i.setup, i.own, c)
}

func (t told) carry() CarriedTold {
	c := CarriedTold{Reports: t.reports, Closed: t.closed, Corrected: t.corrected, Quiet: t.quiet, Pending: t.pending}
	//workflowcheck:ignore -- sorted below
	for id, of := range t.calls {
		c.Calls = append(c.Calls, CarriedTale{id, of.status, of.decisions})
	}
	sort.Slice(c.Calls, func(a, b int) bool { return c.Calls[a].ID < c.Calls[b].ID })
	return c
}

// resume goes on from what an earlier run carried.
func (i *instance) resume(c *CarriedInstance) {
	i.closed, i.held, i.dirty, i.waited, i.corrected = c.Closed, c.Held, c.Dirty, c.Waited, c.Corrected
	i.inbox.refusals, i.inbox.untold = c.Refusals, c.Untold
	for _, n := range c.Broke {
		i.broke[n] = true
	}
	//workflowcheck:ignore -- a map again
	for id, n := range c.Deaths {
		i.deaths[id] = n
	}
	for _, ref := range c.Delegates {
		i.delegates[ref.Call] = ref
	}
	for _, id := range c.Queue {
		i.queue = append(i.queue, i.run.StartedCall(id))
	}
	i.told.reports, i.told.events = c.Told.Reports, c.Told.Events
	i.told.closed, i.told.corrected, i.told.quiet, i.told.pending = c.Told.Closed, c.Told.Corrected, c.Told.Quiet, c.Told.Pending
	for _, of := range c.Told.Calls {
		i.told.calls[of.ID] = callTold{of.Status, of.Decisions}
	}
}
