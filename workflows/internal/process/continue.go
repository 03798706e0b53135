package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
)

// This file continues a process as new when its history has grown long: nothing new is started then, and once nothing is
// under way the next run goes on from what this one carries. Nobody can tell from outside.

// Carried is what a Process carries from one run to the next, beside its Start.
type Carried struct {
	Mind     loop.Carried                `json:"mind"`
	Parts    *CarriedParts               `json:"parts,omitempty"` // in place of Mind, if the process is split
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

// CarriedParts is what a process that is split carries.
type CarriedParts struct {
	loop.Parts
	Context []any `json:"context,omitempty"` // the messages that people corrected it by, and added
}

// statusContinued is the IdeaStatus of a run that another one went on from. Runs that are over must not be found by what they
// once waited for.
const statusContinued = "continued"

// carry is what both kinds of processes carry.
func (c *core) carry() Carried {
	return Carried{Bindings: c.setup.Bindings, Last: c.last, Accepted: c.accepted, Refusals: c.inbox.Refusals}
}

// restore takes in what an earlier run carried.
func (c *core) restore(from *Carried) {
	c.setup.Bindings, c.accepted, c.inbox.Refusals, c.last = from.Bindings, from.Accepted, from.Refusals, from.Last
	c.phase = running
}

// shouldContinueAsNew reports whether the process should continue as new; a Request in flight is waited for first.
func (p *ordinaryProcess) shouldContinueAsNew(ctx workflow.Context) bool {
	return p.loop.InFlight() == nil && !p.loop.Finished() && lifecycle.ContinueAsNewDue(ctx, p.passes, p.start.ContinueEvery)
}

// idle reports whether nothing would be lost: nothing is on its way, and everything that came was handled.
func (p *ordinaryProcess) idle() bool {
	return p.outbox.Empty() && !p.notifying && len(p.joining) == 0 && len(p.ends.list) == 0 && !p.inbox.HasPending()
}

func (p *ordinaryProcess) continueAsNew(ctx workflow.Context) error {
	p.setAttributes(ctx, statusContinued, 0)
	c := p.carry()
	c.Mind, c.Base, c.Held, c.Revisions, c.Reports = p.loop.Carry(), p.base, p.instancesHeld, p.revisions, p.reportCount
	c.Notifies, c.Adapts, c.Watch = p.notifiesPeople, p.adapts, p.notified
	c.Unsealed, _ = jsonval.Delta(p.loop.FullInput().States(), p.baseStates)
	return workflow.NewContinueAsNewError(ctx, protocol.ProcessType, p.start, c)
}

// restore goes on from what an earlier run carried.
func (p *ordinaryProcess) restore(from *Carried) {
	p.core.restore(from)
	p.loop = loop.Restore(p.idea, p.id, from.Bindings, from.Mind)
	p.setIdea(p.loop.Idea())
	p.base, p.instancesHeld, p.revisions, p.reportCount = from.Base, from.Held, from.Revisions, from.Reports
	p.notifiesPeople, p.adapts = from.Notifies, from.Adapts
	if from.Watch != nil {
		p.notified = from.Watch
	}
	p.baseStates = p.loop.FullInput().States()
	states, err := jsonval.ApplyDelta(p.baseStates, from.Unsealed)
	if err == nil {
		p.baseStates, _ = states.(map[string]any)
	}
}
