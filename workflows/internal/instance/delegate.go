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
	call := r.Record.ID
	start, err := i.delegateStartInput(ctx, r)
	if err != nil {
		i.failDelegate(ctx, call, err.Error())
		return
	}
	ref := protocol.DelegateRef{Call: call,
		ProcessRef: protocol.ProcessRef{ID: protocol.DelegateID(i.setup.Process, call)}}
	childCtx := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: ref.ID, ParentClosePolicy: lifecycle.ParentClosePolicy,
		StaticSummary: callSummary(i.start.Token, r.Record),
		Memo: protocol.Memo(&ideafile.Idea{ProcessPath: r.Tool.Name,
			Simulation: r.Binding.Simulation}),
		TypedSearchAttributes: display.SearchAttributes{Registered: i.setup.HasAttributes}.ForChildStart(r.Tool.Name),
	})
	f := workflow.ExecuteChildWorkflow(childCtx, protocol.ProcessType, start)
	var execution workflow.Execution
	err = f.GetChildWorkflowExecution().Get(ctx, &execution)
	if err != nil {
		i.failDelegate(ctx, call, "it could not be started: "+err.Error())
		return
	}
	ref.FirstRunID, ref.QuotaClaim.GrantedQuota = execution.RunID, i.initialDelegateQuota()
	i.delegateByCall[call] = ref
	i.inbox.OnFutureReady(f, func(f workflow.Future) {
		// By now the delegate has signalled its result, unless it was ended from outside or could not begin.
		err := f.Get(ctx, nil)
		if err != nil && ctx.Err() == nil {
			i.failDelegate(ctx, call, protocol.FaultOf(err).Message)
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
	idea := delegate.NewIdea(r.Tool, file, i.setup.LLM, r.Params, r.ScopeValues)
	resumedKey := ""
	if d.Depth == 0 || d.Resumed != "" {
		resumedKey = delegate.ResumedIdeaKey(d.Resumed, r.Record.ID)
	}
	if carriedIdea, ok := loadStoredFile(ctx, d.Files[resumedKey]); ok {
		key, idea = resumedKey, carriedIdea
	} else {
		resumedKey = ""
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
		Quota: start.Quota, Idea: idea, Replies: i.setup.Replies, HasAttributes: i.setup.HasAttributes,
		ContinueEvery: i.setup.ContinueEvery,
		StartedBy: append(slices.Clone(i.setup.StartedBy),
			i.dataflow.CausersOf(r.Record)...), SaveActions: i.setup.SaveActions,
		Delegation: protocol.DelegationContext{
			Files: d.Files, File: key, Resumed: resumedKey, Depth: d.Depth + 1,
			Ancestors: append(i.setup.Owners(), self),
			Caller:    &protocol.ParentCall{Instance: self.ID, Call: r.Record.ID, Writes: r.Tool.DelegateWritablePaths},
			Oversight: i.setup.Oversight.DeciderRestrictions(),
		},
	}, nil
}

// delegateFile returns the path and content of the Idea file that a Tool delegates to. For an anonymous delegate, which
// has no file of its own, the content is nil.
func delegateFile(ctx workflow.Context, d protocol.DelegationContext,
	t *ideafile.Tool) (key string, file map[string]any, err error) {
	if t.DelegateFile == ideafile.AnonymousDelegate {
		return d.File, nil, nil
	}
	key, err = delegate.ResolveFile(d.File, t.DelegateFile)
	if err != nil {
		return "", nil, err
	}
	file, ok := loadStoredFile(ctx, d.Files[key])
	if !ok {
		return "", nil, fmt.Errorf("the start brings no file %s", key)
	}
	return key, file, nil
}

// onDelegateReport handles the report of a delegate.
func (i *instance) onDelegateReport(ctx workflow.Context, r protocol.DelegateReport) {
	ref, isRunning := i.delegateByCall[r.Call]
	if !isRunning {
		return
	}
	ref.Status, ref.Waiting, ref.HoldUps, ref.QuotaClaim.QuotaUse = r.Status, r.Waiting, r.HoldUps, r.QuotaUse
	if ref.Code = ""; r.Error != nil {
		ref.Code = r.Error.Code
	}
	i.delegateByCall[r.Call] = ref
	if r.Status == loop.StatusRunning || r.Status == loop.StatusPaused {
		return
	}
	if r.Status != loop.StatusCompleted {
		reason := "it was " + string(r.Status)
		if r.Error != nil {
			reason = r.Error.Message
		}
		i.failDelegate(ctx, r.Call, reason)
		return
	}
	i.markChanged(ctx)
	i.removeDelegate(r.Call)
	i.addCausers(r.CausedBy...)
	i.dataflow.ApplyDelegateResult(r.Call, i.dataflow.FindStartedCall(r.Call).Tool, r.Output, r.HandedBack)
}

// failDelegate ends a Call whose delegate did not complete.
func (i *instance) failDelegate(ctx workflow.Context, call, reason string) {
	i.markChanged(ctx)
	i.removeDelegate(call)
	i.dataflow.FailCall(call,
		&diag.Fault{Code: ideafile.CodeDelegateFailed, Message: "the delegate " + protocol.DelegateID(i.setup.Process,
			call) + ": " + reason})
}

// removeDelegate adds what a delegate used to the instance's own use, once the delegate has ended.
func (i *instance) removeDelegate(call string) {
	i.OwnQuotaUse.Add(i.delegateByCall[call].QuotaClaim.QuotaUse)
	delete(i.delegateByCall, call)
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
		i.delegateByCall[refs[n].Call] = refs[n]
		q := refs[n].QuotaClaim.GrantedQuota
		i.steerChild(ctx, refs[n], protocol.SteerChildSignal{Quota: &q})
	}
}

// steerDelegates pauses the delegates with the instance, or lets them go on.
func (i *instance) steerDelegates(ctx workflow.Context, s protocol.SteerChildSignal) {
	for _, ref := range i.runningDelegateRefs() {
		i.steerChild(ctx, ref, s)
	}
}

func (i *instance) steerChild(ctx workflow.Context, ref protocol.DelegateRef, s protocol.SteerChildSignal) {
	i.outbox.Send(ctx, ref.ID, mailbox.OutgoingSignal{Signal: protocol.SignalSteerChild, Payload: s})
}

// delegateViews are the delegates under way as the process shows them.
func (i *instance) delegateViews() (list []turn.DelegateView) {
	for _, ref := range i.runningDelegateRefs() {
		list = append(list, turn.DelegateView{
			CallID: ref.Call, ProcessID: ref.ID, Status: string(ref.Status), WaitingFor: ref.Waiting,
			HoldUps: ref.HoldUps, Code: ref.Code,
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
	if len(i.delegateByCall) == 0 || i.runningActivities > 0 || len(i.queuedCalls) > 0 || i.dataflow.HasOpenRequest() {
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
	sort.Slice(list, func(a, b int) bool { return list[a].Call < list[b].Call })
	return list
}

// watchDelegates watches the delegates that an earlier run has started. A delegate signals its end, unless it is ended
// from outside.
func (i *instance) watchDelegates(ctx workflow.Context) {
	for _, ref := range i.runningDelegateRefs() {
		lifecycle.WatchProcesses(ctx, i.inbox, []protocol.ProcessRef{ref.ProcessRef}, func() {
			if _, isRunning := i.delegateByCall[ref.Call]; isRunning {
				i.failDelegate(ctx, ref.Call, "it was ended from outside")
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
