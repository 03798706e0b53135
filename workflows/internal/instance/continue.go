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
	CarriedFields
	BrokenRequests        []int                  `json:"broke,omitempty"`
	LastReport            ReportState            `json:"told"`
	WorkerLossCountByCall map[string]int         `json:"deaths,omitempty"`
	QueuedCallIDs         []string               `json:"queue,omitempty"` // ids of Calls
	Fates                 approval.FateLog       `json:"refusals"`
	UnreportedFates       []approval.Fate        `json:"untold,omitempty"`
	Delegates             []protocol.DelegateRef `json:"delegates,omitempty"`
	// UndeliveredSignals are signals that were not handled, and UnsentSignals those that were not sent.
	UndeliveredSignals []mailbox.CarriedSignal         `json:"undelivered,omitempty"`
	UnsentSignals      []mailbox.CarriedOutgoingSignal `json:"unsent,omitempty"`
}

// CarriedFields holds the fields of an instance that continue-as-new carries unchanged.
type CarriedFields struct {
	LastClosedRequest           int  `json:"closed,omitempty"`    // the highest Request that is closed here
	CallsRefusedThroughRequest  int  `json:"refused,omitempty"`   // the highest Request whose activity may send no more Calls
	CallsReportedThroughRequest int  `json:"toldCalls,omitempty"` // the highest Request whose Calls are all reported as written
	IsHeldByPause               bool `json:"held,omitempty"`      // the process is paused: nothing new starts
	RevertedStartCount          int  `json:"reverted,omitempty"`  // Calls that a pause keeps from starting
	LastResumeNumber            int  `json:"releases,omitempty"`  // the number of the latest end of a pause that it knows
	// HasUnhandledChange: something happened since startReadyCalls last looked, so that more may be able to start.
	HasUnhandledChange bool `json:"dirty,omitempty"`
	// MustCheckAncestors: the instance has waited for a person since it last checked that its process still exists.
	MustCheckAncestors bool       `json:"waited,omitempty"`
	CorrectionCount    int        `json:"corrected,omitempty"` // corrections that it has applied
	Quota              turn.Quota `json:"quota"`               // what it may begin, with its delegates
	// OwnQuotaUse is what the instance has begun itself, and what its ended delegates used.
	OwnQuotaUse turn.QuotaUse `json:"begun,omitzero"`
}

// ReportState is what has been reported to the process.
type ReportState struct {
	ReportCount                  int                         `json:"reports,omitempty"`
	EarlierRunsHistoryLength     int                         `json:"events,omitempty"` // of the runs before this one
	LastClosedRequest            int                         `json:"closed,omitempty"`
	CallsRefusedThroughRequest   int                         `json:"refused,omitempty"`
	CallsReportedThroughRequest  int                         `json:"toldCalls,omitempty"`
	CorrectionCount              int                         `json:"corrected,omitempty"`
	IsIdle                       bool                        `json:"quiet,omitempty"`   // nothing of the instance runs
	RunningCallCount             int                         `json:"running,omitempty"` // Calls that ran on while the process was paused
	PendingApprovalsFingerprint  string                      `json:"pending,omitempty"` // see pendingApprovalsFingerprint
	QuotaAndDelegatesFingerprint string                      `json:"others,omitempty"`  // what it needs, and the state of its delegates
	Calls                        []dataflow.LastReportedCall `json:"calls,omitempty"`
}

// maxContinueAsNewHold is how long an instance of which nothing runs starts no Call because it should continue as new.
const maxContinueAsNewHold = 2 * time.Second

// isContinueAsNewDue reports whether the instance should continue as new.
func (i *instance) isContinueAsNewDue(ctx workflow.Context) bool {
	return i.endStatus == "" && lifecycle.IsContinueAsNewDue(ctx, i.loopIterationCount, i.setup.IterationsPerRun)
}

// shouldHoldCalls reports whether no Call starts because the instance is about to continue as new.
func (i *instance) shouldHoldCalls(ctx workflow.Context) bool {
	isOverdue := !i.continueAsNewDueSince.IsZero() &&
		!workflow.Now(ctx).Before(i.continueAsNewDueSince.Add(maxContinueAsNewHold))
	return i.isContinueAsNewDue(ctx) && !isOverdue
}

// prepareContinueAsNew reports whether the instance continues as new in this workflow task: it should, and nothing of
// it is under way. If only signals prevent it, the instance tries again in the next task.
func (i *instance) prepareContinueAsNew(ctx workflow.Context) bool {
	if !i.isContinueAsNewDue(ctx) || i.runningActivityCount > 0 {
		i.outbox.ReleaseSignals(ctx)
		i.inbox.CancelContinueAsNew()
		i.continueAsNewDueSince = time.Time{}
		return false
	}
	if i.continueAsNewDueSince.IsZero() {
		i.continueAsNewDueSince = workflow.Now(ctx)
	}
	i.outbox.HoldSignals()
	if !i.inbox.PrepareContinueAsNew(ctx, false) || !i.outbox.HasNothingInFlight() {
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
		Dataflow: i.dataflow.CarryIntoNextRun(), CarriedFields: i.CarriedFields, LastReport: i.lastReport.toCarried(),
		WorkerLossCountByCall: i.workerLossCountByCall, Fates: i.inbox.Fates, UnreportedFates: i.inbox.UnreportedFates,
		Delegates: i.runningDelegateRefs(), UndeliveredSignals: i.inbox.TakeUnhandledSignals(),
		UnsentSignals: i.outbox.QueuedSignals(),
	}
	c.LastReport.EarlierRunsHistoryLength = i.totalHistoryLength(ctx)
	c.BrokenRequests = jsonval.SortedKeys(i.isBrokenRequest)
	for _, r := range i.queuedCalls {
		c.QueuedCallIDs = append(c.QueuedCallIDs, r.Record.ID)
	}
	start := i.start
	start.Reopened = nil // its start is carried
	return workflow.NewContinueAsNewError(ctx, protocol.InstanceType, i.setup, start, c)
}

func (r indexedReportState) toCarried() ReportState {
	c := r.ReportState
	for _, call := range jsonval.Sorted(r.callByID) {
		c.Calls = append(c.Calls, call)
	}
	return c
}

// restore goes on from what an earlier run carried.
func (i *instance) restore(c *ContinueAsNewInput) {
	i.CarriedFields = c.CarriedFields
	i.inbox.Fates, i.inbox.UnreportedFates = c.Fates, c.UnreportedFates
	for _, n := range c.BrokenRequests {
		i.isBrokenRequest[n] = true
	}
	maps.Copy(i.workerLossCountByCall, c.WorkerLossCountByCall)
	for _, ref := range c.Delegates {
		i.delegateByCall[ref.CallID] = ref
	}
	for _, callID := range c.QueuedCallIDs {
		i.queuedCalls = append(i.queuedCalls, i.dataflow.FindStartedCall(callID))
	}
	i.lastReport.restore(c.LastReport)
}

func (r *indexedReportState) restore(c ReportState) {
	for _, call := range c.Calls {
		r.callByID[call.ID] = call
	}
	c.Calls = nil
	r.ReportState = c
}

// inputForReopened is what the ended instance would have carried: it goes on as if it had continued as new.
func inputForReopened(setup protocol.InstanceSetup, start protocol.InstanceStart) *ContinueAsNewInput {
	r := start.Reopened
	c := &ContinueAsNewInput{
		Dataflow: dataflow.RebuildFromReports(start.InstanceToken, r.ClosedThroughRequest, r.Writes, r.Calls),
		CarriedFields: CarriedFields{
			LastClosedRequest: r.ClosedThroughRequest, CallsRefusedThroughRequest: r.ClosedThroughRequest,
			IsHeldByPause:    setup.IsHeld,
			LastResumeNumber: r.ResumeNumber, CorrectionCount: r.CorrectionCount, Quota: turn.Unlimited,
			OwnQuotaUse: r.QuotaUse,
		},
		LastReport: ReportState{
			ReportCount: r.LastReportNumber, EarlierRunsHistoryLength: r.HistoryLength,
			LastClosedRequest:          r.ClosedThroughRequest,
			CallsRefusedThroughRequest: r.ClosedThroughRequest,
			CorrectionCount:            r.CorrectionCount, IsIdle: true,
		},
	}
	if start.Quota != nil {
		c.Quota = *start.Quota
	}
	for _, call := range r.Calls {
		c.LastReport.Calls = append(c.LastReport.Calls,
			dataflow.LastReportedCall{ID: call.CallKey().ID(start.InstanceToken), Status: call.Status,
				DecisionAndRemarkCount: len(call.Decisions)})
	}
	return c
}
