package workflows

import (
	"fmt"
	"sort"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

// This file holds delegates: Calls that run another Idea as a process of its own, which tells its instance by signal what
// it came to, so that either may continue as new meanwhile.

// delegate starts a Call's delegate and waits until it has started. It outlives this run of the instance.
func (i *instance) delegate(ctx workflow.Context, r dataflow.ReadyCall) {
	call := r.Record.ID
	start, err := i.delegateStart(ctx, r)
	if err != nil {
		i.failDelegate(ctx, call, err.Error())
		return
	}
	ref := protocol.DelegateRef{Call: call, ProcessRef: protocol.ProcessRef{ID: protocol.DelegateID(i.setup.Process, call)}}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: ref.ID, ParentClosePolicy: parentClosePolicy, StaticSummary: callSummary(i.own.Token, r.Record),
		Memo: protocol.Memo(&ideafile.Idea{Path: r.Tool.Name, Simulated: r.Binding.Simulated}),
	})
	f := workflow.ExecuteChildWorkflow(child, protocol.ProcessType, start)
	var started workflow.Execution
	if err := f.GetChildWorkflowExecution().Get(ctx, &started); err != nil {
		i.failDelegate(ctx, call, "it could not be started: "+err.Error())
		return
	}
	ref.FirstRunID = started.RunID
	i.delegates[call] = ref
	i.inbox.when(f, func(f workflow.Future) {
		// What it came to it has told by then. One that had no time to was ended from outside, or could not begin.
		if err := f.Get(ctx, nil); err != nil && ctx.Err() == nil {
			i.failDelegate(ctx, call, protocol.FaultOf(err).Message)
		}
	})
}

// delegateStart is what a Call's delegate starts from: its Idea, what it is given, and nothing else of this process.
func (i *instance) delegateStart(ctx workflow.Context, r dataflow.ReadyCall) (start protocol.Start, err error) {
	d := i.setup.Delegation
	if d.Depth >= ideafile.MaxDelegateDepth {
		return start, fmt.Errorf("delegates stand more than %d deep within each other", ideafile.MaxDelegateDepth)
	}
	key, file := d.File, map[string]any(nil)
	if r.Tool.Delegate != ideafile.AnonymousDelegate {
		if key, err = ideafile.DelegateKey(d.File, r.Tool.Delegate); err != nil {
			return start, err
		}
		var ok bool
		if file, ok = d.Files[key].(map[string]any); !ok {
			return start, fmt.Errorf("the start brings no file %s", key)
		}
	}
	info := workflow.GetInfo(ctx)
	self := protocol.ProcessRef{ID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID}
	return protocol.Start{
		Idea:    simulated(r, r.Tool.DelegateIdea(file, i.setup.LLM, r.Params, r.Scopes)),
		Replies: i.setup.Replies, Attributes: i.setup.Attributes, ContinueEvery: i.setup.ContinueEvery,
		Delegation: protocol.Delegation{
			Files: d.Files, File: key, Depth: d.Depth + 1, Above: append(i.setup.BelongsTo(), self),
			To: &protocol.DelegateOf{Instance: self.ID, Call: r.Record.ID, Writes: r.Tool.DelegateWrites},
		},
	}, nil
}

// onDelegate takes what a delegate came to.
func (i *instance) onDelegate(ctx workflow.Context, r protocol.DelegateReport) {
	if _, known := i.delegates[r.Call]; !known {
		return
	}
	if r.Status != loop.StatusCompleted {
		why := "it was " + string(r.Status)
		if r.Error != nil {
			why = r.Error.Message
		}
		i.failDelegate(ctx, r.Call, why)
		return
	}
	i.event(ctx)
	delete(i.delegates, r.Call)
	i.run.ApplyDelegateResult(r.Call, i.run.StartedCall(r.Call).Tool, r.Output, r.Handed)
}

// failDelegate ends a Call whose delegate did not come to its end.
func (i *instance) failDelegate(ctx workflow.Context, call, why string) {
	i.event(ctx)
	delete(i.delegates, call)
	i.run.Fail(call, &diag.Fault{Code: ideafile.CodeDelegateFailed, Message: "the delegate " + protocol.DelegateID(i.setup.Process, call) + ": " + why})
}

// delegatesUnderWay lists the delegates in the order of their Calls' ids.
func (i *instance) delegatesUnderWay() []protocol.DelegateRef {
	list := make([]protocol.DelegateRef, 0, len(i.delegates))
	//workflowcheck:ignore -- sorted below
	for _, ref := range i.delegates {
		list = append(list, ref)
	}
	sort.Slice(list, func(a, b int) bool { return list[a].Call < list[b].Call })
	return list
}

// watchDelegates looks after those that an earlier run has started: their end is told by signal, but for one that is
// ended from outside.
func (i *instance) watchDelegates(ctx workflow.Context) {
	for _, ref := range i.delegatesUnderWay() {
		watch(ctx, i.inbox, []protocol.ProcessRef{ref.ProcessRef}, func() {
			if _, waits := i.delegates[ref.Call]; waits {
				i.failDelegate(ctx, ref.Call, "it was ended from outside")
			}
		})
	}
}

// cancelDelegates takes the delegates along.
func (i *instance) cancelDelegates(ctx workflow.Context) {
	for _, ref := range i.delegatesUnderWay() {
		// One that has just ended cannot be cancelled, and need not be.
		_ = workflow.RequestCancelExternalWorkflow(ctx, ref.ID, "").Get(ctx, nil)
	}
}

// tellCaller tells the Call that this process runs for, if it is a delegate, what it has come to.
func (p *process) tellCaller(ctx workflow.Context, r loop.Result) {
	to := p.start.Delegation.To
	if to == nil {
		return
	}
	report := protocol.DelegateReport{Call: to.Call, Status: r.Status, Output: r.Output, Error: r.Error, Handed: ideafile.ValuesAt(r.Instances[""].State, to.Writes)}
	if err := workflow.SignalExternalWorkflow(ctx, to.Instance, "", protocol.SignalDelegate, report).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("the Call of a delegate could not be told", "error", err)
	}
}

// delegation is what the instances of the process are told of delegates.
func (p *process) delegation() protocol.Delegation {
	d := p.start.Delegation
	d.To = nil
	if !p.hasDelegates() {
		d.Files = nil
	}
	return d
}

func (p *process) hasDelegates() bool {
	for _, t := range p.idea.Tools {
		if t.Delegate != "" {
			return true
		}
	}
	return false
}
