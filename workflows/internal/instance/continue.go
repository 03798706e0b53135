package instance

import (
	"sort"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
)

// Carried is what an Instance carries from one run to the next, beside what it was started with.
type Carried struct {
	Run       dataflow.Carried       `json:"run"`
	Closed    int                    `json:"closed,omitempty"`
	Broke     []int                  `json:"broke,omitempty"`
	Told      CarriedReports         `json:"told"`
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

// CarriedReports is what the process has been told.
type CarriedReports struct {
	Reports   int           `json:"reports,omitempty"`
	Events    int           `json:"events,omitempty"` // of all runs so far
	Closed    int           `json:"closed,omitempty"`
	Corrected int           `json:"corrected,omitempty"`
	Quiet     bool          `json:"quiet,omitempty"`
	Pending   string        `json:"pending,omitempty"`
	Calls     []CarriedCall `json:"calls,omitempty"`
}

// CarriedCall is what the process has been told of a Call.
type CarriedCall struct {
	ID        string              `json:"id"`
	Status    ideafile.CallStatus `json:"status"`
	Decisions int                 `json:"decisions,omitempty"`
}

// shouldContinueAsNew reports whether the instance should continue as new: until it does, no Call starts.
func (i *instance) shouldContinueAsNew(ctx workflow.Context) bool {
	return i.endStatus == "" && lifecycle.ContinueAsNewDue(ctx, i.passes, i.setup.ContinueEvery)
}

// canContinueAsNew reports whether nothing would be lost: no activity is in flight, no signal is on its way, and everything
// that came was handled.
func (i *instance) canContinueAsNew() bool {
	return i.running == 0 && i.outbox.Empty() && !i.inbox.HasPending()
}

func (i *instance) continueAsNew(ctx workflow.Context) error {
	i.setAwaitingAttribute(ctx, 0)
	c := Carried{
		Run: i.dataflow.Carry(), Closed: i.closed, Told: i.reported.carry(), Deaths: i.workerLosses, Held: i.held, Dirty: i.changed,
		Waited: i.ownersUnchecked, Corrected: i.corrections, Refusals: i.inbox.Refusals, Untold: i.inbox.Unreported,
		Delegates: i.delegatesUnderWay(),
	}
	c.Told.Events = i.totalHistoryLength(ctx)
	//workflowcheck:ignore -- sorted below
	for n := range i.broken {
		c.Broke = append(c.Broke, n)
	}
	sort.Ints(c.Broke)
	for _, r := range i.queue {
		c.Queue = append(c.Queue, r.Record.ID)
	}
	return workflow.NewContinueAsNewError(ctx, protocol.InstanceType, i.setup, i.own, c)
}

func (r reported) carry() CarriedReports {
	c := CarriedReports{Reports: r.reports, Closed: r.closed, Corrected: r.corrections, Quiet: r.idle, Pending: r.pending}
	//workflowcheck:ignore -- sorted below
	for id, of := range r.calls {
		c.Calls = append(c.Calls, CarriedCall{id, of.status, of.decisions})
	}
	sort.Slice(c.Calls, func(a, b int) bool { return c.Calls[a].ID < c.Calls[b].ID })
	return c
}

// restore goes on from what an earlier run carried.
func (i *instance) restore(c *Carried) {
	i.closed, i.held, i.changed, i.ownersUnchecked, i.corrections = c.Closed, c.Held, c.Dirty, c.Waited, c.Corrected
	i.inbox.Refusals, i.inbox.Unreported = c.Refusals, c.Untold
	for _, n := range c.Broke {
		i.broken[n] = true
	}
	//workflowcheck:ignore -- a map again
	for id, n := range c.Deaths {
		i.workerLosses[id] = n
	}
	for _, ref := range c.Delegates {
		i.delegates[ref.Call] = ref
	}
	for _, id := range c.Queue {
		i.queue = append(i.queue, i.dataflow.FindStartedCall(id))
	}
	i.reported.restore(c.Told)
}

func (r *reported) restore(c CarriedReports) {
	r.reports, r.earlierEvents = c.Reports, c.Events
	r.closed, r.corrections, r.idle, r.pending = c.Closed, c.Corrected, c.Quiet, c.Pending
	for _, of := range c.Calls {
		r.calls[of.ID] = reportedCall{of.Status, of.Decisions}
	}
}
