package mailbox

import (
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
)

// This file lets a workflow close, or continue as new, under a steady stream of signals. The server refuses the end of
// a workflow if a signal has come while its last task ran. The worker then replays the whole history, which takes so
// long that the next signal comes meanwhile, and so on forever. So a workflow closes in a task in which no signal has
// come: such a task is short, and mostly succeeds. If it fails, the next task handles the signal, and the workflow sets
// a timer and tries again in the task after that.

// HasNoSignalSinceWait reports whether no signal has arrived since Wait blocked last, so that this workflow task is a
// good one to continue as new in.
func (b *Inbox) HasNoSignalSinceWait() bool {
	return b.arrivals.arrivedCount == b.arrivedCountBeforeWait
}

// WakeInNextTask makes Wait return in another workflow task, soon.
func (b *Inbox) WakeInNextTask(ctx workflow.Context) {
	if b.isNextTaskTimerSet {
		return
	}
	b.isNextTaskTimerSet = true
	timer := workflow.NewTimerWithOptions(ctx, time.Millisecond,
		workflow.TimerOptions{Summary: "until no signal comes in between"})
	b.OnFutureReady(timer, func(workflow.Future) { b.isNextTaskTimerSet = false })
}

// WakeAfter makes Wait return after a while. Its timer is separate from that of WakeAt: two callers that set one timer
// in turn, to different times, would cancel each other forever, since Wait returns for a cancelled timer too.
func (b *Inbox) WakeAfter(ctx workflow.Context, delay time.Duration, summary string) {
	b.OnFutureReady(workflow.NewTimerWithOptions(ctx, delay, workflow.TimerOptions{Summary: summary}),
		func(workflow.Future) {})
}

// HasHandledPersonSignalSinceWait reports whether people's signals were handled since Wait blocked last: more may come,
// and keep the workflow from closing.
func (b *Inbox) HasHandledPersonSignalSinceWait() bool { return b.hasHandledPersonSignal }

// DrainPersonSignals handles what has happened and returns in a workflow task in which people have signalled nothing,
// so that the workflow can close.
func (b *Inbox) DrainPersonSignals(ctx workflow.Context) {
	for b.Drain(ctx); b.hasHandledPersonSignal && ctx.Err() == nil; b.Drain(ctx) {
		b.WakeInNextTask(ctx)
		b.Wait(ctx)
	}
}

// CarriedSignal is a signal that has arrived and that the next run of the workflow handles.
type CarriedSignal struct {
	Name    string `json:"name"`
	Payload []byte `json:"payload"` // a Payload of Temporal's API, in its binary form
}

// TakeUnhandledSignals takes out the signals that were not handled, in the order of history.
func (b *Inbox) TakeUnhandledSignals() (list []CarriedSignal) {
	for _, name := range b.arrivals.unhandledSignalNames {
		h, hasHandler := b.handlerBySignal[name]
		var raw converter.RawValue
		if !hasHandler || !h.channel.ReceiveAsync(&raw) {
			continue
		}
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(raw.Payload())
		if err == nil { // a payload that was read can be written
			list = append(list, CarriedSignal{name, data})
		}
	}
	return list
}

// RedeliverSignals handles the signals that an earlier run of the workflow did not handle.
func (b *Inbox) RedeliverSignals(ctx workflow.Context, signals []CarriedSignal) {
	for _, s := range signals {
		p := &commonpb.Payload{}
		if h, hasHandler := b.handlerBySignal[s.Name]; hasHandler && proto.Unmarshal(s.Payload, p) == nil {
			h.handle(ctx, converter.NewRawValue(p))
		}
	}
}
