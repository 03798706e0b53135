package workflows

import (
	"fmt"
	"sort"
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model"
)

// This file holds delegates: Calls that run another Idea as a process of its own, which tells its instance by signal what
// it came to, so that either may continue as new meanwhile.

// Delegation is what a process knows of delegates: the Idea files that they run, and, where it is one, whose.
type Delegation struct {
	// Files are Idea files by their path from the folder of the first one. File is the one of this process; empty: the first.
	Files map[string]any `json:"files,omitempty"`
	File  string         `json:"file,omitempty"`
	// Depth counts the delegates that this process stands within.
	Depth int `json:"depth,omitempty"`
	// Above are the processes and instances with which this one ends.
	Above []ProcessRef `json:"above,omitempty"`
	// To is the Call that this process runs for; nil: it is no delegate.
	To *DelegateOf `json:"to,omitempty"`
}

// DelegateOf names the Call that a delegate runs for.
type DelegateOf struct {
	Instance string `json:"instance"` // its workflow id
	Call     string `json:"call"`
	// Writes are the paths of State for which it hands values back.
	Writes []model.Path `json:"writes,omitempty"`
}

// DelegateReport is what a delegate came to.
type DelegateReport struct {
	Call   string              `json:"call"`
	Status model.ProcessStatus `json:"status"`
	Output any                 `json:"output"`
	Error  *model.Fault        `json:"error,omitempty"`
	// Handed are the values that it hands back, by path.
	Handed map[string]any `json:"handed,omitempty"`
}

// DelegateRef is a delegate under way.
type DelegateRef struct {
	Call string `json:"call"`
	ProcessRef
}

// DelegateID gives the workflow id of a Call's delegate.
func DelegateID(process, call string) string {
	return process + "/~call/" + strings.NewReplacer("%", "%25", "/", "%2F", " ", "%20").Replace(call)
}

// delegate starts a Call's delegate and waits until it has started. It outlives this run of the instance.
func (i *instance) delegate(ctx workflow.Context, r model.Ready) {
	call := r.Record.ID
	start, err := i.delegateStart(ctx, r)
	if err != nil {
		i.failDelegate(ctx, call, err.Error())
		return
	}
	ref := DelegateRef{Call: call, ProcessRef: ProcessRef{ID: DelegateID(i.setup.Process, call)}}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: ref.ID, ParentClosePolicy: parentClosePolicy, StaticSummary: callSummary(i.own.Token, r.Record),
		Memo: Memo(&model.Idea{Path: r.Tool.Name, Simulated: r.Binding.Simulated}),
	})
	f := workflow.ExecuteChildWorkflow(child, ProcessType, start)
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
			i.failDelegate(ctx, call, faultOf(err).Message)
		}
	})
}

// delegateStart is what a Call's delegate starts from: its Idea, what it is given, and nothing else of this process.
func (i *instance) delegateStart(ctx workflow.Context, r model.Ready) (start Start, err error) {
	d := i.setup.Delegation
	if d.Depth >= model.MaxDepth {
		return start, fmt.Errorf("delegates stand more than %d deep within each other", model.MaxDepth)
	}
	key, file := d.File, map[string]any(nil)
	if r.Tool.Delegate != model.Anonymous {
		if key, err = model.DelegateKey(d.File, r.Tool.Delegate); err != nil {
			return start, err
		}
		var ok bool
		if file, ok = d.Files[key].(map[string]any); !ok {
			return start, fmt.Errorf("the start brings no file %s", key)
		}
	}
	info := workflow.GetInfo(ctx)
	self := ProcessRef{info.WorkflowExecution.ID, info.FirstRunID}
	return Start{
		Idea:    simulated(r, r.Tool.DelegateIdea(file, i.setup.LLM, r.Params, r.Scopes)),
		Replies: i.setup.Replies, Attributes: i.setup.Attributes, ContinueEvery: i.setup.ContinueEvery,
		Delegation: Delegation{
			Files: d.Files, File: key, Depth: d.Depth + 1, Above: append(i.setup.belongsTo(), self),
			To: &DelegateOf{Instance: self.ID, Call: r.Record.ID, Writes: r.Tool.Writes},
		},
	}, nil
}

// onDelegate takes what a delegate came to.
func (i *instance) onDelegate(ctx workflow.Context, r DelegateReport) {
	if _, known := i.delegates[r.Call]; !known {
		return
	}
	if r.Status != model.StatusCompleted {
		why := "it was " + string(r.Status)
		if r.Error != nil {
			why = r.Error.Message
		}
		i.failDelegate(ctx, r.Call, why)
		return
	}
	i.event(ctx)
	delete(i.delegates, r.Call)
	i.run.Returns(r.Call, i.run.Started(r.Call).Tool, r.Output, r.Handed)
}

// failDelegate ends a Call whose delegate did not come to its end.
func (i *instance) failDelegate(ctx workflow.Context, call, why string) {
	i.event(ctx)
	delete(i.delegates, call)
	i.run.Fail(call, &model.Fault{Code: model.CodeDelegate, Message: "the delegate " + DelegateID(i.setup.Process, call) + ": " + why})
}

// delegatesUnderWay lists the delegates in the order of their Calls' ids.
func (i *instance) delegatesUnderWay() []DelegateRef {
	list := make([]DelegateRef, 0, len(i.delegates))
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
		watch(ctx, i.inbox, []ProcessRef{ref.ProcessRef}, func() {
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
func (p *process) tellCaller(ctx workflow.Context, r model.Result) {
	to := p.start.Delegation.To
	if to == nil {
		return
	}
	report := DelegateReport{Call: to.Call, Status: r.Status, Output: r.Output, Error: r.Error, Handed: model.HandedBack(r.Instances[""].State, to.Writes)}
	if err := workflow.SignalExternalWorkflow(ctx, to.Instance, "", SignalDelegate, report).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("the Call of a delegate could not be told", "error", err)
	}
}

// delegation is what the instances of the process are told of delegates.
func (p *process) delegation() Delegation {
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
