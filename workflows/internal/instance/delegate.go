package instance

import (
	"fmt"
	"sort"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
)

// This file runs delegates: Calls that run another Idea as a process of its own. A delegate signals its instance what it came
// to, so that either may continue as new meanwhile.

// startDelegate starts a Call's delegate and waits until it has started. It outlives this run of the instance.
func (i *instance) startDelegate(ctx workflow.Context, r dataflow.ReadyCall) {
	call := r.Record.ID
	start, err := i.delegateStart(ctx, r)
	if err != nil {
		i.failDelegate(ctx, call, err.Error())
		return
	}
	ref := protocol.DelegateRef{Call: call, ProcessRef: protocol.ProcessRef{ID: protocol.DelegateID(i.setup.Process, call)}}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: ref.ID, ParentClosePolicy: lifecycle.ParentClosePolicy, StaticSummary: callSummary(i.own.Token, r.Record),
		Memo: protocol.Memo(&ideafile.Idea{Path: r.Tool.Name, Simulated: r.Binding.Simulated}),
	})
	f := workflow.ExecuteChildWorkflow(child, protocol.ProcessType, start)
	var started workflow.Execution
	err = f.GetChildWorkflowExecution().Get(ctx, &started)
	if err != nil {
		i.failDelegate(ctx, call, "it could not be started: "+err.Error())
		return
	}
	ref.FirstRunID = started.RunID
	i.delegates[call] = ref
	i.inbox.OnReady(f, func(f workflow.Future) {
		// By now it has signalled what it came to. One that had no time to was ended from outside, or could not begin.
		err := f.Get(ctx, nil)
		if err != nil && ctx.Err() == nil {
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
	key, file, err := delegateFile(d, r.Tool)
	if err != nil {
		return start, err
	}
	idea := r.Tool.DelegateIdea(file, i.setup.LLM, r.Params, r.Scopes)
	if r.Binding.Simulated != nil {
		idea = r.Binding.Simulated.MarkIdea(idea) // nothing below a Call that is played is real
	}
	info := workflow.GetInfo(ctx)
	self := protocol.ProcessRef{ID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID}
	return protocol.Start{
		Idea: idea, Replies: i.setup.Replies, Attributes: i.setup.Attributes, ContinueEvery: i.setup.ContinueEvery,
		Delegation: protocol.Delegation{
			Files: d.Files, File: key, Depth: d.Depth + 1, Above: append(i.setup.BelongsTo(), self),
			To: &protocol.DelegateOf{Instance: self.ID, Call: r.Record.ID, Writes: r.Tool.DelegateWrites},
		},
	}, nil
}

// delegateFile returns the path and content of the Idea file that a Tool delegates to. An anonymous delegate has no file of
// its own: nil.
func delegateFile(d protocol.Delegation, t *ideafile.Tool) (key string, file map[string]any, err error) {
	if t.Delegate == ideafile.AnonymousDelegate {
		return d.File, nil, nil
	}
	key, err = ideafile.DelegateKey(d.File, t.Delegate)
	if err != nil {
		return "", nil, err
	}
	file, ok := d.Files[key].(map[string]any)
	if !ok {
		return "", nil, fmt.Errorf("the start brings no file %s", key)
	}
	return key, file, nil
}

// onDelegate takes what a delegate came to.
func (i *instance) onDelegate(ctx workflow.Context, r protocol.DelegateReport) {
	if _, underWay := i.delegates[r.Call]; !underWay {
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
	i.markChanged(ctx)
	delete(i.delegates, r.Call)
	i.dataflow.ApplyDelegateResult(r.Call, i.dataflow.FindStartedCall(r.Call).Tool, r.Output, r.Handed)
}

// failDelegate ends a Call whose delegate did not complete.
func (i *instance) failDelegate(ctx workflow.Context, call, why string) {
	i.markChanged(ctx)
	delete(i.delegates, call)
	i.dataflow.Fail(call, &diag.Fault{Code: ideafile.CodeDelegateFailed, Message: "the delegate " + protocol.DelegateID(i.setup.Process, call) + ": " + why})
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

// watchDelegates watches those that an earlier run has started: they signal their end, unless they are ended from outside.
func (i *instance) watchDelegates(ctx workflow.Context) {
	for _, ref := range i.delegatesUnderWay() {
		lifecycle.Watch(ctx, i.inbox, []protocol.ProcessRef{ref.ProcessRef}, func() {
			if _, underWay := i.delegates[ref.Call]; underWay {
				i.failDelegate(ctx, ref.Call, "it was ended from outside")
			}
		})
	}
}

// cancelDelegates ends the delegates with the instance.
func (i *instance) cancelDelegates(ctx workflow.Context) {
	for _, ref := range i.delegatesUnderWay() {
		// One that has just ended cannot be cancelled, and need not be.
		_ = workflow.RequestCancelExternalWorkflow(ctx, ref.ID, "").Get(ctx, nil)
	}
}
