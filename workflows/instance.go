package workflows

import (
	"sort"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/protocol"
)

// Instance is the hands of one instance: it owns the State, takes Calls as they close in the stream, runs each as soon as
// what it reads is there, and reports to its process when nothing is running any more. It lives as long as the instance
// does.
func Instance(ctx workflow.Context, setup protocol.InstanceSetup, own protocol.InstanceOwn, carried *CarriedInstance) (*protocol.InstanceResult, error) {
	i := newInstance(ctx, setup, own, carried)
	if err := i.answer(ctx); err != nil {
		return nil, err
	}
	watch(ctx, i.inbox, setup.BelongsTo(), func() { i.gone = true })
	i.watchDelegates(ctx)
	for i.work(ctx); !i.ended(); i.work(ctx) {
		if i.gone {
			return nil, orphan()
		}
		if i.leaving(ctx) && i.idle() {
			return nil, i.continueAsNew(ctx)
		}
		deadline, _ := i.run.NextDeadline()
		i.inbox.wakeAt(ctx, deadline, "until a decision is due")
		i.inbox.wait(ctx)
		if ctx.Err() != nil {
			return nil, i.cancelled(ctx)
		}
		i.expire(ctx)
	}
	return &protocol.InstanceResult{Status: i.end, State: i.run.State()}, nil
}

// work starts what may start, and tells the process and whoever looks what has changed.
func (i *instance) work(ctx workflow.Context) {
	i.passes++
	i.startReady(ctx)
	if i.gone {
		return
	}
	i.attribute(ctx, len(i.run.Pending()))
	i.report(ctx)
	i.show(ctx)
}

// cancelled ends the instance with its process. Nobody is waited for any more.
func (i *instance) cancelled(ctx workflow.Context) error {
	err := ctx.Err()
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	i.cancelDelegates(ctx)
	i.attribute(ctx, 0)
	return err
}

// instance is what an Instance workflow holds while it runs.
type instance struct {
	setup  protocol.InstanceSetup
	own    protocol.InstanceOwn
	tools  []*ideafile.Tool
	run    *dataflow.Instance
	inbox  *inbox
	outbox *outbox
	end    ideafile.InstanceStatus // once the process has said so

	closed int // the highest Request that is closed here
	broke  map[int]bool
	told   told
	deaths map[string]int // workers lost under a Call, by its id

	queue   []dataflow.ReadyCall // Calls that may run and wait for others to end
	running int

	delegates map[string]protocol.DelegateRef // under way, by their Calls

	passes    int  // through the loop of this run
	held      bool // nothing new starts
	dirty     bool // something has happened after which something may start
	waited    bool // a person was waited for since it was looked whether the process is there
	corrected int  // corrections taken in

	gone bool // the process is not there any more
}

// told is what the process has been told.
type told struct {
	reports           int // how often
	events            int // that the runs before this one had heard
	closed, corrected int
	quiet             bool
	calls             map[string]callTold
	pending           string
}

// callTold is what it was told of a Call.
type callTold struct {
	status    ideafile.CallStatus
	decisions int
}

func newInstance(ctx workflow.Context, setup protocol.InstanceSetup, own protocol.InstanceOwn, carried *CarriedInstance) *instance {
	i := &instance{
		setup: setup, own: own, broke: map[int]bool{}, deaths: map[string]int{}, delegates: map[string]protocol.DelegateRef{},
		told: told{quiet: true, calls: map[string]callTold{}},
	}
	for _, name := range sortedNames(setup.Tools) {
		// The process has checked the palette: what is wrong with it was said there.
		if t := ideafile.ReadTool(name, setup.Tools[name], "", new(diag.Problems)); t != nil {
			i.tools = append(i.tools, t)
		}
	}
	palette := ideafile.Palette{Tools: i.tools, Bindings: setup.Bindings, ApprovalOverride: setup.Oversight, Adapt: setup.Adapt}
	i.inbox = newInbox(ctx)
	if context := readContext(setup.Context, own.Context); carried != nil {
		i.run = dataflow.Restore(palette, context, own.Token, carried.Run)
		i.resume(carried)
	} else {
		i.run = dataflow.New(palette, context, own.Token)
	}
	i.outbox = newOutbox(i.inbox)
	on(i.inbox, ctx, protocol.SignalCalls, "From the Request: Calls, as they close in the stream.", i.onCalls)
	on(i.inbox, ctx, protocol.SignalClose, "From the process: a Request broke off.", i.onClose)
	on(i.inbox, ctx, protocol.SignalDelegate, "From a delegate: what it has come to.", i.onDelegate)
	on(i.inbox, ctx, protocol.SignalHold, "From the process: it is paused, or goes on.", i.onHold)
	on(i.inbox, ctx, protocol.SignalCorrect, "From the process: a person's correction.", i.onCorrect)
	on(i.inbox, ctx, protocol.SignalEnd, "From the process: the instance has reached its goal, or failed.", i.onEnd)
	i.hearPeople(ctx)
	if carried == nil {
		i.beginPlan(ctx)
	}
	return i
}

// readContext reads messages that the process has checked.
func readContext(parts ...[]any) []ideafile.Message {
	var out []ideafile.Message
	for _, part := range parts {
		for _, raw := range part {
			if m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems)); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	//workflowcheck:ignore -- sorted below
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// ended says that the process has ended the instance, and nothing of it is running any more.
func (i *instance) ended() bool { return i.end != "" && i.run.Idle() }

func (i *instance) onCalls(ctx workflow.Context, s protocol.CallsSignal) {
	i.event(ctx)
	for _, c := range s.Calls {
		if i.run.AcceptCall(s.Request, c.Index, c.Call) && c.Why != "" {
			i.run.RequireReview(ideafile.CallID(s.Request, c.Index, i.own.Token), c.Why)
		}
	}
	for _, r := range s.Results {
		switch {
		case s.Request <= i.closed:
		case r.Fitted:
			i.run.ApplyAdaptedParams(r.Call, r.Params)
		default:
			i.run.Succeed(r.Call, r.Output)
		}
	}
	if s.Last {
		i.close(s.Request)
	}
}

func (i *instance) onClose(ctx workflow.Context, s protocol.CloseSignal) {
	i.event(ctx)
	i.broke[s.Request] = true
	i.close(s.Request)
}

func (i *instance) close(request int) {
	if i.run.CloseRequest(request); request > i.closed {
		i.closed = request
	}
}

func (i *instance) onEnd(ctx workflow.Context, s protocol.EndSignal) { i.end = s.Status }

// MaxRunning is how many Calls of one instance run at once. Over two thousand pending activities would leave the workflow
// stuck, and over 4 MB of commands in one task would end it: two hundred with payloads below the store's threshold
// stay far below both.
const MaxRunning = 200

// startReady runs every Call that may run now, as many at once as are good for the workflow.
func (i *instance) startReady(ctx workflow.Context) {
	if i.held {
		return
	}
	i.queue = append(i.queue, i.run.Advance()...)
	i.dirty = false
	if len(i.queue) > 0 && i.orphanedSince(ctx) {
		i.gone = true
		return
	}
	if room := MaxRunning - i.running - len(i.delegates); room > 0 && !i.leaving(ctx) {
		next := i.queue[:min(room, len(i.queue))]
		i.queue = i.queue[len(next):]
		i.executeAll(ctx, next)
	}
	if i.dirty { // a delegate could not be started
		i.startReady(ctx)
	}
}
