package mailbox

import (
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
)

// Inbox is where everything that happens to a workflow comes in, one event at a time: signals in the order of
// history.
type Inbox struct {
	// Fates are the outcomes of people's acts.
	Fates approval.FateLog
	// UnreportedFates are the Fates that no report contains yet, if Reports says that reports are sent.
	UnreportedFates []approval.Fate
	SendsReports    bool

	selector         workflow.Selector
	sources          []*selectorSource // of the selector, in its order
	spentSourceCount int               // finished sources
	arrivals         *signalArrivals
	handlerBySignal  map[string]signalHandler // by the signal's name

	wakeTime        time.Time // when the timer fires; zero: there is none
	cancelWakeTimer workflow.CancelFunc

	// How many signals had arrived when Wait blocked last, whether people's signals were handled since, and whether the
	// timer of WakeInNextTask is set: see quiet.go.
	arrivedCountBeforeWait int
	hasHandledPersonSignal bool
	isNextTaskTimerSet     bool

	// hasBegunHandling: signals are being handled. answersOutcomesNow: queries for the outcome of acts are answered
	// immediately. outcomeAnsweredChannel becomes readable when a query was answered that the workflow waited for.
	hasBegunHandling, answersOutcomesNow, mustWakeOnOutcomeAnswer bool
	outcomeAnsweredChannel                                        workflow.Channel
}

// signalHandler is the channel of one kind of signal, and what handles it.
type signalHandler struct {
	channel workflow.ReceiveChannel
	handle  func(workflow.Context, converter.RawValue)
}

// NewInbox makes the inbox of the workflow that runs in a context.
func NewInbox(ctx workflow.Context) *Inbox {
	b := &Inbox{selector: workflow.NewSelector(ctx), arrivals: signalArrivalsOf(ctx),
		handlerBySignal: map[string]signalHandler{}}
	// A channel stays ready until its value is received. A workflow that handles signals after its cancellation would
	// otherwise see nothing but the cancellation.
	discard := func(c workflow.ReceiveChannel) { c.ReceiveAsync(nil) }
	b.OnChannelReceive(ctx.Done(), discard)
	b.outcomeAnsweredChannel = workflow.NewBufferedChannel(ctx, 1)
	b.OnChannelReceive(b.outcomeAnsweredChannel, discard)
	b.registerOutcomeHandlers(ctx)
	return b
}

// maxEventsPerWait bounds how many events Wait handles before the workflow acts on them.
const maxEventsPerWait = 500

// Wait blocks until something happens, then handles what has happened, so that a burst of signals leads to one report
// instead of one each. It handles only a part of a flood; the next Wait goes on with the rest.
func (b *Inbox) Wait(ctx workflow.Context) {
	b.hasBegunHandling = true
	b.dropSpentSources(ctx)
	if !b.selector.HasPending() {
		b.arrivedCountBeforeWait, b.hasHandledPersonSignal = b.arrivals.arrivedCount, false
	}
	b.selector.Select(ctx)
	b.handlePendingEvents(ctx)
}

// Drain handles all that has happened, without waiting for more.
func (b *Inbox) Drain(ctx workflow.Context) {
	b.hasBegunHandling = true
	for ctx.Err() == nil && b.selector.HasPending() {
		b.handlePendingEvents(ctx)
	}
}

func (b *Inbox) handlePendingEvents(ctx workflow.Context) {
	for n := 0; ctx.Err() == nil && b.selector.HasPending(); n++ {
		if n == maxEventsPerWait {
			yieldToOtherCoroutines(ctx)
			return
		}
		b.selector.Select(ctx)
	}
}

// yieldToOtherCoroutines shows the SDK's deadlock detector that the workflow's code still runs.
func yieldToOtherCoroutines(ctx workflow.Context) {
	resumeChannel := workflow.NewChannel(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) { resumeChannel.Send(ctx, nil) })
	resumeChannel.Receive(ctx, nil)
}

// WakeAt makes Wait return at a time even if nothing happens. It replaces the time set before; zero: no time.
func (b *Inbox) WakeAt(ctx workflow.Context, t time.Time, summary string) {
	if t.Equal(b.wakeTime) {
		return
	}
	if b.cancelWakeTimer != nil {
		b.cancelWakeTimer()
		b.cancelWakeTimer = nil
	}
	b.wakeTime = t
	if t.IsZero() {
		return
	}
	ctx, b.cancelWakeTimer = workflow.WithCancel(ctx)
	timer := workflow.NewTimerWithOptions(ctx, max(t.Sub(workflow.Now(ctx)), time.Millisecond),
		workflow.TimerOptions{Summary: summary})
	b.OnFutureReady(timer, func(f workflow.Future) {
		if f.Get(ctx, nil) == nil && t.Equal(b.wakeTime) {
			b.wakeTime, b.cancelWakeTimer = time.Time{}, nil
		}
	})
}

// OnFutureReady calls back, from Wait or Drain, once a future is ready.
func (b *Inbox) OnFutureReady(f workflow.Future, callback func(workflow.Future)) {
	s := &selectorSource{}
	s.addToSelector = func(selector workflow.Selector) {
		selector.AddFuture(f, func(f workflow.Future) {
			b.markSpent(s)
			callback(f)
		})
	}
	b.addSource(s)
}
