package instance

import (
	"maps"
	"slices"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/signals"
)

// instance is what an Instance workflow holds while it runs.
type instance struct {
	setup    protocol.InstanceSetup
	own      protocol.InstanceOwn
	tools    []*ideafile.Tool
	dataflow *dataflow.Instance

	inbox  *mailbox.Inbox
	outbox *mailbox.Outbox

	endStatus ideafile.InstanceStatus // how the process ended the instance; empty: it has not
	orphaned  bool                    // the process is gone
	held      bool                    // the process is paused: nothing new starts

	changed bool // something happened since startReady last looked, so that more may be able to start
	// ownersUnchecked: a person was waited for since it was last checked that the process is still there.
	ownersUnchecked bool

	closed      int          // the highest Request that is closed here
	broken      map[int]bool // Requests that the process closed because they broke off
	corrections int          // taken in
	reported    reported     // what the process has been told

	queue        []dataflow.ReadyCall            // Calls that may run and wait for others to end
	running      int                             // activities in flight
	workerLosses map[string]int                  // by the Call under which workers were lost
	delegates    map[string]protocol.DelegateRef // under way, by their Calls

	passes int // of the main loop, in this run of the workflow
}

func newInstance(ctx workflow.Context, setup protocol.InstanceSetup, own protocol.InstanceOwn, carried *Carried) *instance {
	i := &instance{
		setup: setup, own: own, broken: map[int]bool{}, workerLosses: map[string]int{}, delegates: map[string]protocol.DelegateRef{},
		reported: reported{idle: true, calls: map[string]reportedCall{}}, tools: readTools(setup.Tools), inbox: mailbox.NewInbox(ctx),
	}
	i.outbox = mailbox.NewOutbox(i.inbox)
	palette := ideafile.Palette{Tools: i.tools, Bindings: setup.Bindings, ApprovalOverride: setup.Oversight, Adapt: setup.Adapt}
	context := readContext(setup.Context, own.Context)
	if carried != nil {
		i.dataflow = dataflow.Restore(palette, context, own.Token, carried.Run)
		i.restore(carried)
	} else {
		i.dataflow = dataflow.New(palette, context, own.Token)
	}
	i.registerHandlers(ctx)
	if carried == nil {
		i.startFresh(ctx)
	}
	return i
}

// readTools reads the palette. The process has checked it: what is wrong with it was said there.
func readTools(palette map[string]any) []*ideafile.Tool {
	var tools []*ideafile.Tool
	//workflowcheck:ignore -- sorted
	for _, name := range slices.Sorted(maps.Keys(palette)) {
		t := ideafile.ReadTool(name, palette[name], "", new(diag.Problems))
		if t != nil {
			tools = append(tools, t)
		}
	}
	return tools
}

// startFresh begins an instance that is new. If a Plan runs directly, taking it in is the first thing that happens: the Plan
// came with the instance's start, so that no signal can be late or lost.
func (i *instance) startFresh(ctx workflow.Context) {
	i.held = i.setup.Held
	if !i.dataflow.HasDirectPlan() {
		return
	}
	i.reported.idle = false // the process waits for what becomes of the Plan
	i.markChanged(ctx)
	i.dataflow.StartDirectPlan()
}

// registerHandlers registers what the instance hears. The order is that in which the selector offers what is pending: it never changes.
func (i *instance) registerHandlers(ctx workflow.Context) {
	b := i.inbox
	mailbox.On(b, ctx, protocol.SignalCalls, "From the Request: Calls, as they close in the stream.", i.onCalls)
	mailbox.On(b, ctx, protocol.SignalClose, "From the process: a Request broke off.", i.onClose)
	mailbox.On(b, ctx, protocol.SignalDelegate, "From a delegate: what it has come to.", i.onDelegate)
	mailbox.On(b, ctx, protocol.SignalHold, "From the process: it is paused, or goes on.", i.onHold)
	mailbox.On(b, ctx, protocol.SignalCorrect, "From the process: a person's correction.", i.onCorrect)
	mailbox.On(b, ctx, protocol.SignalEnd, "From the process: the instance has reached its goal, or failed.", i.onEnd)
	signals.HearAtInstance(ctx, b, i.setup.Process, i.decide)
}

func (i *instance) onCalls(ctx workflow.Context, s protocol.CallsSignal) {
	i.markChanged(ctx)
	for _, c := range s.Calls {
		accepted := i.dataflow.AcceptCall(s.Request, c.Index, c.Call)
		if accepted && c.Why != "" {
			i.dataflow.RequireReview(ideafile.FormatCallID(s.Request, c.Index, i.own.Token), c.Why)
		}
	}
	for _, r := range s.Results {
		switch {
		case s.Request <= i.closed:
		case r.Fitted:
			i.dataflow.ApplyAdaptedParams(r.Call, r.Params)
		default:
			i.dataflow.Succeed(r.Call, r.Output)
		}
	}
	if s.Last {
		i.closeRequest(s.Request)
	}
}

func (i *instance) onClose(ctx workflow.Context, s protocol.CloseSignal) {
	i.markChanged(ctx)
	i.broken[s.Request] = true
	i.closeRequest(s.Request)
}

func (i *instance) closeRequest(request int) {
	i.dataflow.CloseRequest(request)
	i.closed = max(i.closed, request)
}

func (i *instance) onHold(_ workflow.Context, s protocol.HoldSignal) { i.held = s.Held }

func (i *instance) onCorrect(ctx workflow.Context, s protocol.CorrectSignal) {
	i.markChanged(ctx)
	i.dataflow.Revise(readContext(s.Context), s.By, s.Reason)
	i.corrections++
}

func (i *instance) onEnd(_ workflow.Context, s protocol.EndSignal) { i.endStatus = s.Status }

// decide takes a person's decision on a Call.
func (i *instance) decide(ctx workflow.Context, d turn.Decision) error {
	i.markChanged(ctx)
	err := i.dataflow.Decide(d)
	if err != nil {
		return err
	}
	i.ownersUnchecked = true
	return nil
}

// markChanged notes that something has happened after which more may be able to start.
func (i *instance) markChanged(ctx workflow.Context) {
	i.dataflow.SetTime(workflow.Now(ctx))
	i.changed = true
}

// setAwaitingAttribute keeps the search attribute up to date that counts what waits for a person.
func (i *instance) setAwaitingAttribute(ctx workflow.Context, count int) {
	display.Attributes{Registered: i.setup.Attributes}.SetAwaiting(ctx, count)
}
