package instance

import (
	"maps"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
)

// ContinueAsNewInput is what an Instance carries from one run to the next, beside what it was started with.
type ContinueAsNewInput struct {
	Dataflow dataflow.CarriedInstance `json:"run"`
	Carried
	BrokenRequests  []int                  `json:"broke,omitempty"`
	Reported        ReportState            `json:"told"`
	WorkerLosses    map[string]int         `json:"deaths,omitempty"`
	QueuedCalls     []string               `json:"queue,omitempty"` // ids of Calls
	Fates           approval.Fates         `json:"refusals"`
	UnreportedFates []approval.Fate        `json:"untold,omitempty"`
	Delegates       []protocol.DelegateRef `json:"delegates,omitempty"`
	// UndeliveredSignals are signals that were not handled, and UnsentSignals those that were not sent.
	UndeliveredSignals []mailbox.CarriedSignal         `json:"undelivered,omitempty"`
	UnsentSignals      []mailbox.CarriedOutgoingSignal `json:"unsent,omitempty"`
}

// Carried holds the fields of an instance that continue-as-new carries unchanged.
type Carried struct {
	ClosedThrough   int  `json:"closed,omitempty"`    // the highest Request that is closed here
	RefusedThrough  int  `json:"refused,omitempty"`   // the highest Request whose activity may send no more Calls
	ReportedThrough int  `json:"toldCalls,omitempty"` // the highest Request whose Calls are all reported as written
	Held            bool `json:"held,omitempty"`      // the process is paused: nothing new starts
	RevertedStarts  int  `json:"reverted,omitempty"`  // Calls that a pause keeps from starting
	ReleaseNumber   int  `json:"releases,omitempty"`  // the number of the latest end of a pause that it knows
	// ChangedSinceStarting: something happened since startReadyCalls last looked, so that more may be able to start.
	ChangedSinceStarting bool `json:"dirty,omitempty"`
	// MustCheckOwners: the instance has waited for a person since it last checked that its process still exists.
	MustCheckOwners bool       `json:"waited,omitempty"`
	CorrectionCount int        `json:"corrected,omitempty"` // corrections that it has applied
	Quota           turn.Quota `json:"quota"`               // what it may begin, with its delegates
	// Begun is what the instance has begun itself, and what its ended delegates used.
	Begun turn.QuotaUse `json:"begun,omitzero"`
}

// ReportState is what has been reported to the process.
type ReportState struct {
	ReportCount                  int                     `json:"reports,omitempty"`
	HistoryLength                int                     `json:"events,omitempty"` // of the runs before this one
	ClosedThrough                int                     `json:"closed,omitempty"`
	RefusedThrough               int                     `json:"refused,omitempty"`
	ReportedThrough              int                     `json:"toldCalls,omitempty"`
	CorrectionCount              int                     `json:"corrected,omitempty"`
	Idle                         bool                    `json:"quiet,omitempty"`   // nothing of the instance runs
	Running                      int                     `json:"running,omitempty"` // Calls that ran on while the process was paused
	PendingApprovalsFingerprint  string                  `json:"pending,omitempty"` // see pendingApprovalsFingerprint
	QuotaAndDelegatesFingerprint string                  `json:"others,omitempty"`  // what it needs, and the state of its delegates
	Calls                        []dataflow.ReportedCall `json:"calls,omitempty"`
}

// continueTimeout is how long an instance of which nothing runs starts no Call because it should continue as new.
const continueTimeout = 2 * time.Second

// isContinueAsNewDue reports whether the instance should continue as new.
func (i *instance) isContinueAsNewDue(ctx workflow.Context) bool {
	return i.endStatus == "" && lifecycle.IsContinueAsNewDue(ctx, i.loopIterations, i.setup.ContinueEvery)
}

// shouldHoldCalls reports whether no Call starts because the instance is about to continue as new.
func (i *instance) shouldHoldCalls(ctx workflow.Context) bool {
	tooLong := !i.continueAsNewDueSince.IsZero() &&
		!workflow.Now(ctx).Before(i.continueAsNewDueSince.Add(continueTimeout))
	return i.isContinueAsNewDue(ctx) && !tooLong
}

// canContinueAsNew reports whether the instance continues as new in this workflow task: it should, and nothing of it is
// under way. If only signals prevent it, the instance tries again in the next task.
func (i *instance) canContinueAsNew(ctx workflow.Context) bool {
	if !i.isContinueAsNewDue(ctx) || i.running > 0 {
		i.outbox.ReleaseSignals(ctx)
		i.inbox.StayOpen()
		i.continueAsNewDueSince = time.Time{}
		return false
	}
	if i.continueAsNewDueSince.IsZero() {
		i.continueAsNewDueSince = workflow.Now(ctx)
	}
	i.outbox.HoldSignals()
	if !i.inbox.CanContinueAsNew(ctx, false) || !i.outbox.NothingInFlight() {
		return false
	}
	if !i.inbox.HasNoSignalSinceWait() {
		i.inbox.WakeInNextTask(ctx)
		return false
	}
	return true
}

func (i *instance) continueAsNew(ctx workflow.Context) error {
	i.setAwaitingAttribute(ctx, 0)
	c := ContinueAsNewInput{
		Dataflow: i.dataflow.CarryIntoNextRun(), Carried: i.Carried, Reported: i.reported.toCarried(),
		WorkerLosses: i.workerLosses, Fates: i.inbox.Fates, UnreportedFates: i.inbox.Unreported,
		Delegates: i.runningDelegateRefs(), UndeliveredSignals: i.inbox.TakeUnhandled(),
		UnsentSignals: i.outbox.QueuedSignals(),
	}
	c.Reported.HistoryLength = i.totalHistoryLength(ctx)
	c.BrokenRequests = jsonval.SortedKeys(i.brokenRequests)
	for _, r := range i.queuedCalls {
		c.QueuedCalls = append(c.QueuedCalls, r.Record.ID)
	}
	own := i.ownSetup
	own.Reopened = nil // its start is carried
	return workflow.NewContinueAsNewError(ctx, protocol.InstanceType, i.setup, own, c)
}

func (r reportState) toCarried() ReportState {
	c := r.ReportState
	for _, call := range jsonval.Sorted(r.calls) {
		c.Calls = append(c.Calls, call)
	}
	return c
}

// restore goes on from what an earlier run carried.
func (i *instance) restore(c *ContinueAsNewInput) {
	i.Carried = c.Carried
	i.inbox.Fates, i.inbox.Unreported = c.Fates, c.UnreportedFates
	for _, n := range c.BrokenRequests {
		i.brokenRequests[n] = true
	}
	maps.Copy(i.workerLosses, c.WorkerLosses)
	for _, ref := range c.Delegates {
		i.delegates[ref.Call] = ref
	}
	for _, id := range c.QueuedCalls {
		i.queuedCalls = append(i.queuedCalls, i.dataflow.FindStartedCall(id))
	}
	i.reported.restore(c.Reported)
}

func (r *reportState) restore(c ReportState) {
	for _, of := range c.Calls {
		r.calls[of.ID] = of
	}
	c.Calls = nil
	r.ReportState = c
}

// inputForReopened is what the ended instance would have carried: it goes on as if it had continued as new.
func inputForReopened(setup protocol.InstanceSetup, own protocol.InstanceStart) *ContinueAsNewInput {
	r := own.Reopened
	c := &ContinueAsNewInput{
		Dataflow: dataflow.RebuildFromReports(own.Token, r.ClosedThrough, r.Writes, r.Calls),
		Carried: Carried{
			ClosedThrough: r.ClosedThrough, RefusedThrough: r.ClosedThrough, Held: setup.Held,
			ReleaseNumber: r.ReleaseNumber, CorrectionCount: r.CorrectionCount, Quota: turn.Unlimited, Begun: r.Begun,
		},
		Reported: ReportState{
			ReportCount: r.ReportNumber, HistoryLength: r.HistoryLength, ClosedThrough: r.ClosedThrough,
			RefusedThrough:  r.ClosedThrough,
			CorrectionCount: r.CorrectionCount, Idle: true,
		},
	}
	if own.Quota != nil {
		c.Quota = *own.Quota
	}
	for _, call := range r.Calls {
		c.Reported.Calls = append(c.Reported.Calls,
			dataflow.ReportedCall{ID: call.CallKey().ID(own.Token), Status: call.Status,
				ActCount: len(call.Decisions)})
	}
	return c
}
