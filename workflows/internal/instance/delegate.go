package instance

import (
	"fmt"
	"slices"
	"sort"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/loop"
	"processidea/model/loop/quota"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
)

// This file runs delegates: Calls that run another Idea as a process of its own. A delegate signals its result to its
// instance, so that either may continue as new meanwhile.

// startDelegate starts a Call's delegate and waits until it has started. The delegate outlives this run of the
// instance.
func (i *instance) startDelegate(ctx workflow.Context, r dataflow.ReadyCall) {
	callID := r.Record.ID
	start, err := i.delegateStartInput(ctx, r)
	if err != nil {
		i.failDelegateCall(ctx, callID, err.Error())
		return
	}
	ref := protocol.DelegateRef{CallID: callID,
		ProcessRef: protocol.ProcessRef{ID: protocol.DelegateID(i.setup.ProcessID, callID)}}
	childCtx := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: ref.ID, ParentClosePolicy: lifecycle.ParentClosePolicy,
		StaticSummary: callSummary(i.start.InstanceToken, r.Record),
		Memo: protocol.Memo(&ideafile.Idea{ProcessPath: r.Tool.Name,
			Simulation: r.Binding.Simulation}),
		TypedSearchAttributes: display.SearchAttributes{
			AreRegistered: i.setup.CanSetSearchAttributes}.ForChildStart(r.Tool.Name),
	})
	f := workflow.ExecuteChildWorkflow(childCtx, protocol.ProcessType, start)
	var execution workflow.Execution
	err = f.GetChildWorkflowExecution().Get(ctx, &execution)
	if err != nil {
		i.failDelegateCall(ctx, callID, "it could not be started: "+err.Error())
		return
	}
	ref.FirstRunID, ref.QuotaClaim.GrantedQuota = execution.RunID, i.initialDelegateQuota()
	i.delegateByCall[callID] = ref
	i.inbox.OnFutureReady(f, func(f workflow.Future) {
		// By now the delegate has signalled its result, unless it was ended from outside or could not begin.
		err := f.Get(ctx, nil)
		if err != nil && ctx.Err() == nil {
			i.failDelegateCall(ctx, callID, protocol.FaultOf(err).Message)
		}
	})
}

// delegateStartInput is the start of a Call's delegate: its Idea and its input, and nothing else of this process.
func (i *instance) delegateStartInput(ctx workflow.Context,
	r dataflow.ReadyCall) (start protocol.ProcessStart, err error) {
	d := i.setup.Delegation
	if d.Depth >= delegate.MaxDepth {
		return start, fmt.Errorf("delegates stand more than %d deep within each other", delegate.MaxDepth)
	}
	key, file, err := delegateFile(ctx, d, r.Tool)
	if err != nil {
		return start, err
	}
	idea := delegate.NewIdea(r.Tool, file, i.setup.LLMConfig, r.Params, r.ScopeValues)
	resumedIdeaKey := ""
	if d.Depth == 0 || d.ResumedIdeaKey != "" {
		resumedIdeaKey = delegate.ResumedIdeaKey(d.ResumedIdeaKey, r.Record.ID)
	}
	if carriedIdea, ok := loadFile(ctx, d.Files[resumedIdeaKey]); ok {
		key, idea = resumedIdeaKey, carriedIdea
	} else {
		resumedIdeaKey = ""
	}
	if r.Binding.Simulation != nil {
		idea = r.Binding.Simulation.MarkIdea(idea) // nothing below a simulated Call is real
	}
	info := workflow.GetInfo(ctx)
	self := protocol.ProcessRef{ID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID}
	if initialQuota := i.initialDelegateQuota(); initialQuota != turn.Unlimited {
		start.Quota = &initialQuota
	}
	return protocol.ProcessStart{
		Quota: start.Quota, Idea: idea, ScriptedReplies: i.setup.ScriptedReplies,
		CanSetSearchAttributes: i.setup.CanSetSearchAttributes,
		IterationsPerRun:       i.setup.IterationsPerRun,
		StartedBy: append(slices.Clone(i.setup.StartedBy),
			i.dataflow.CausersOf(r.Record)...), MinimizesActions: i.setup.MinimizesActions,
		Delegation: protocol.DelegationContext{
			Files: d.Files, FileKey: key, ResumedIdeaKey: resumedIdeaKey, Depth: d.Depth + 1,
			Ancestors: append(i.setup.Owners(), self),
			Caller: &protocol.ParentCall{InstanceWorkflowID: self.ID, CallID: r.Record.ID,
				WritablePaths: r.Tool.DelegateWritablePaths},
			Oversight: i.setup.Oversight.DeciderRestrictions(),
		},
	}, nil
}

// delegateFile returns the path and content of the Idea file that a Tool delegates to. For an anonymous delegate, which
// has no file of its own, the content is nil.
func delegateFile(ctx workflow.Context, d protocol.DelegationContext,
	t *ideafile.Tool) (fileKey string, file map[string]any, err error) {
	if t.DelegateFile == ideafile.AnonymousDelegate {
		return d.FileKey, nil, nil
	}
	fileKey, err = delegate.ResolveFileKey(d.FileKey, t.DelegateFile)
	if err != nil {
		return "", nil, err
	}
	file, ok := loadFile(ctx, d.Files[fileKey])
	if !ok {
		return "", nil, fmt.Errorf("the start brings no file %s", fileKey)
	}
	return fileKey, file, nil
}

// onDelegateReport handles the report of a delegate.
func (i *instance) onDelegateReport(ctx workflow.Context, r protocol.DelegateReport) {
	ref, isRunning := i.delegateByCall[r.CallID]
	if !isRunning {
		return
	}
	ref.Status, ref.WaitingFor, ref.HoldUps, ref.QuotaClaim.QuotaUse = r.Status, r.WaitingFor, r.HoldUps, r.QuotaUse
	if ref.PauseCode = ""; r.Error != nil {
		ref.PauseCode = r.Error.Code
	}
	i.delegateByCall[r.CallID] = ref
	if r.Status == loop.StatusRunning || r.Status == loop.StatusPaused {
		return
	}
	if r.Status != loop.StatusCompleted {
		reason := "it was " + string(r.Status)
		if r.Error != nil {
			reason = r.Error.Message
		}
		i.failDelegateCall(ctx, r.CallID, reason)
		return
	}
	i.markChanged(ctx)
	i.removeDelegate(r.CallID)
	i.addCausers(r.CausedBy...)
	i.dataflow.ApplyDelegateResult(r.CallID, i.dataflow.FindStartedCall(r.CallID).Tool, r.Output, r.HandedBackValues)
}

// failDelegateCall ends a Call whose delegate did not complete.
func (i *instance) failDelegateCall(ctx workflow.Context, callID, reason string) {
	i.markChanged(ctx)
	i.removeDelegate(callID)
	i.dataflow.FailCall(callID,
		&diag.Fault{Code: ideafile.CodeDelegateFailed, Message: "the delegate " + protocol.DelegateID(i.setup.ProcessID,
			callID) + ": " + reason})
}

// removeDelegate adds what a delegate used to the instance's own use, once the delegate has ended.
func (i *instance) removeDelegate(callID string) {
	i.OwnQuotaUse.Add(i.delegateByCall[callID].QuotaClaim.QuotaUse)
	delete(i.delegateByCall, callID)
}

// quotaLedger is the account of what the instance and its delegates have begun.
func (i *instance) quotaLedger() (quota.Ledger, []protocol.DelegateRef) {
	ledger, refs := quota.Ledger{ParentQuota: i.Quota, OwnUse: i.OwnQuotaUse}, i.runningDelegateRefs()
	for n := range refs {
		ledger.Consumers = append(ledger.Consumers, quota.Consumer{Allocation: &refs[n].QuotaClaim})
	}
	return ledger, refs
}

// remainingCallQuota is how many Calls may begin now.
func (i *instance) remainingCallQuota() int {
	ledger, _ := i.quotaLedger()
	return max(i.Quota.Calls-ledger.ReservedQuota().Calls, 0)
}

// quotaUse is what the instance has begun and used, and what it needs for held-up Calls and for its delegates.
func (i *instance) quotaUse() turn.QuotaUse {
	ledger, _ := i.quotaLedger()
	return ledger.TotalUse(turn.Quota{Calls: len(i.queuedCalls) + i.RevertedStartCount})
}

// initialDelegateQuota is what a delegate may begin before it asks for quota: nothing of what is limited for the
// instance.
func (i *instance) initialDelegateQuota() turn.Quota {
	q := turn.Unlimited
	if i.Quota.Requests < q.Requests {
		q.Requests = 0
	}
	if i.Quota.Calls < q.Calls {
		q.Calls = 0
	}
	return q
}

// allocateDelegateQuotas grants delegates what they need, as far as the instance's own quota allows.
func (i *instance) allocateDelegateQuotas(ctx workflow.Context) {
	ledger, refs := i.quotaLedger()
	indexes, _ := ledger.Allocate()
	for _, n := range indexes {
		i.delegateByCall[refs[n].CallID] = refs[n]
		q := refs[n].QuotaClaim.GrantedQuota
		i.steerDelegate(ctx, refs[n], protocol.SteerChildSignal{Quota: &q})
	}
}

// steerDelegates pauses the delegates with the instance, or lets them go on.
func (i *instance) steerDelegates(ctx workflow.Context, s protocol.SteerChildSignal) {
	for _, ref := range i.runningDelegateRefs() {
		i.steerDelegate(ctx, ref, s)
	}
}

func (i *instance) steerDelegate(ctx workflow.Context, ref protocol.DelegateRef, s protocol.SteerChildSignal) {
	i.outbox.Send(ctx, ref.ID, mailbox.OutgoingSignal{SignalName: protocol.SignalSteerChild, Payload: s})
}

// delegateViews are the delegates under way as the process shows them.
func (i *instance) delegateViews() (list []turn.DelegateView) {
	for _, ref := range i.runningDelegateRefs() {
		list = append(list, turn.DelegateView{
			CallID: ref.CallID, ProcessID: ref.ID, Status: string(ref.Status), WaitingFor: ref.WaitingFor,
			HoldUps: ref.HoldUps, PauseCode: ref.PauseCode,
		})
	}
	return list
}

// countActiveDelegates counts the delegates that are not paused.
func (i *instance) countActiveDelegates() (n int) {
	for _, ref := range i.runningDelegateRefs() {
		if ref.Status != loop.StatusPaused {
			n++
		}
	}
	return n
}

// isStalled reports whether nothing runs but delegates that are paused.
func (i *instance) isStalled() bool {
	if len(i.delegateByCall) == 0 || i.runningActivityCount > 0 || len(i.queuedCalls) > 0 ||
		i.dataflow.HasOpenRequest() {
		return false
	}
	return i.countActiveDelegates() == 0
}

// runningDelegateRefs lists the delegates in the order of their Calls' ids.
func (i *instance) runningDelegateRefs() []protocol.DelegateRef {
	list := make([]protocol.DelegateRef, 0, len(i.delegateByCall))
	//workflowcheck:ignore -- sorted below
	for _, ref := range i.delegateByCall {
		list = append(list, ref)
	}
	sort.Slice(list, func(a, b int) bool { return list[a].CallID < list[b].CallID })
	return list
}

// watchDelegates watches the delegates that an earlier run has started. A delegate signals its end, unless it is ended
// from outside.
func (i *instance) watchDelegates(ctx workflow.Context) {
	for _, ref := range i.runningDelegateRefs() {
		lifecycle.WatchProcesses(ctx, i.inbox, []protocol.ProcessRef{ref.ProcessRef}, func() {
			if _, isRunning := i.delegateByCall[ref.CallID]; isRunning {
				i.failDelegateCall(ctx, ref.CallID, "it was ended from outside")
			}
		})
	}
}

// cancelDelegates ends the delegates with the instance.
func (i *instance) cancelDelegates(ctx workflow.Context) {
	for _, ref := range i.runningDelegateRefs() {
		// A delegate that has just ended cannot be cancelled, and need not be.
		_ = workflow.RequestCancelExternalWorkflow(ctx, ref.ID, "").Get(ctx, nil)
	}
}
