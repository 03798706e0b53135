package mailbox

import (
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"processidea/model/turn"
)

// Inbox is where everything that happens to a workflow comes in, one event at a time: signals in the order of history.
type Inbox struct {
	// Refusals are the signals that changed nothing.
	Refusals turn.RefusedSignals
	// Unreported are those of them that no report has named yet.
	Unreported []turn.RefusedSignal

	selector workflow.Selector
	arrivals *arrivals
	handlers map[string]signalHandler // by the signal's name

	wakeAt      time.Time // when the timer fires; zero where there is none
	cancelTimer workflow.CancelFunc
}

// signalHandler is the channel of one kind of signal, and what handles it.
type signalHandler struct {
	channel workflow.ReceiveChannel
	handle  func(workflow.Context, converter.RawValue)
}

// NewInbox makes the inbox of the workflow that runs in a context.
func NewInbox(ctx workflow.Context) *Inbox {
	b := &Inbox{selector: workflow.NewSelector(ctx), arrivals: arrivalsOf(ctx), handlers: map[string]signalHandler{}}
	b.selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	return b
}

// Wait blocks until something happens, then handles everything that has happened, so that a burst of signals leads to one
// report instead of one each.
func (b *Inbox) Wait(ctx workflow.Context) {
	b.selector.Select(ctx)
	b.Drain(ctx)
}

// Drain handles what has happened, without blocking.
func (b *Inbox) Drain(ctx workflow.Context) {
	for ctx.Err() == nil && b.selector.HasPending() {
		b.selector.Select(ctx)
	}
}

// HasPending reports whether something has happened that was not handled yet.
func (b *Inbox) HasPending() bool { return b.selector.HasPending() }

// WakeAt makes Wait return at a time even if nothing happens. It replaces the time set before; zero: there is none.
func (b *Inbox) WakeAt(ctx workflow.Context, t time.Time, summary string) {
	if t.Equal(b.wakeAt) {
		return
	}
	if b.cancelTimer != nil {
		b.cancelTimer()
		b.cancelTimer = nil
	}
	b.wakeAt = t
	if t.IsZero() {
		return
	}
	ctx, b.cancelTimer = workflow.WithCancel(ctx)
	timer := workflow.NewTimerWithOptions(ctx, max(t.Sub(workflow.Now(ctx)), time.Millisecond), workflow.TimerOptions{Summary: summary})
	b.OnReady(timer, func(f workflow.Future) {
		if f.Get(ctx, nil) == nil && t.Equal(b.wakeAt) {
			b.wakeAt, b.cancelTimer = time.Time{}, nil
		}
	})
}

// OnReady calls back, from Wait or Drain, once a future is ready.
func (b *Inbox) OnReady(f workflow.Future, then func(workflow.Future)) { b.selector.AddFuture(f, then) }

// OnReceive calls back, from Wait or Drain, whenever a channel has something to receive.
func (b *Inbox) OnReceive(c workflow.ReceiveChannel, then func(workflow.ReceiveChannel)) {
	b.selector.AddReceive(c, func(c workflow.ReceiveChannel, _ bool) { then(c) })
}
