package workflows

import (
	"strings"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"processidea/model/turn"
	"processidea/protocol"
)

// inbox is where everything that happens to a workflow comes in, one event at a time: signals in the order of history. A
// signal that does not fit changes nothing and is kept among the refusals.
type inbox struct {
	selector workflow.Selector
	arrivals *arrivals
	signals  map[string]hearing // by name
	refusals turn.RefusedSignals
	untold   []turn.RefusedSignal // since the last report

	wakes  time.Time // when the timer fires; zero where there is none
	cancel workflow.CancelFunc
}

// hearing is where signals of one name come in, and who takes them.
type hearing struct {
	channel workflow.ReceiveChannel
	take    func(workflow.Context, converter.RawValue)
}

func newInbox(ctx workflow.Context) *inbox {
	b := &inbox{selector: workflow.NewSelector(ctx), arrivals: arrivalsOf(ctx), signals: map[string]hearing{}}
	b.selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	return b
}

// wait blocks until something happens and then takes all that has happened: one report for a burst, not one each.
func (b *inbox) wait(ctx workflow.Context) {
	b.selector.Select(ctx)
	b.drain(ctx)
}

// drain takes what has happened, and waits for nothing.
func (b *inbox) drain(ctx workflow.Context) {
	for ctx.Err() == nil && b.selector.HasPending() {
		b.selector.Select(ctx)
	}
}

// wakeAt has wait return at a time even if nothing happens; zero: it does not.
func (b *inbox) wakeAt(ctx workflow.Context, t time.Time, summary string) {
	if t.Equal(b.wakes) {
		return
	}
	if b.cancel != nil {
		b.cancel()
		b.cancel = nil
	}
	if b.wakes = t; t.IsZero() {
		return
	}
	ctx, b.cancel = workflow.WithCancel(ctx)
	timer := workflow.NewTimerWithOptions(ctx, max(t.Sub(workflow.Now(ctx)), time.Millisecond), workflow.TimerOptions{Summary: summary})
	b.when(timer, func(f workflow.Future) {
		if f.Get(ctx, nil) == nil && t.Equal(b.wakes) {
			b.wakes, b.cancel = time.Time{}, nil
		}
	})
}

// when calls back once a future is there.
func (b *inbox) when(f workflow.Future, then func(workflow.Future)) { b.selector.AddFuture(f, then) }

// refuse keeps a signal that changed nothing, and why.
func (b *inbox) refuse(ctx workflow.Context, signal string, payload map[string]any, reason string) {
	text := func(k string) string {
		s, _ := payload[k].(string)
		return clipBytes(s, 200)
	}
	r := turn.RefusedSignal{
		Signal: signal, ID: text("id"), Call: text("call"), By: text("by"), Reason: clipBytes(reason, 1000), At: workflow.Now(ctx),
	}
	b.refusals.Add(r)
	if b.untold = append(b.untold, r); len(b.untold) > maxUntold {
		b.untold = b.untold[1:]
	}
}

// maxUntold bounds a report: of a flood of nonsense the last ones are as good as all.
const maxUntold = 100

// takeUntold gives what was refused since it was asked last.
func (b *inbox) takeUntold() []turn.RefusedSignal {
	r := b.untold
	b.untold = nil
	return r
}

// refused is the refusals for a query: a list, never nothing.
func (b *inbox) refused() []turn.RefusedSignal {
	return append([]turn.RefusedSignal{}, b.refusals.Last...)
}

// on receives one kind of signal from other parts of this program.
func on[T any](b *inbox, ctx workflow.Context, name, description string, handle func(workflow.Context, T)) {
	b.receive(ctx, name, description, func(ctx workflow.Context, raw converter.RawValue) {
		v, err := protocol.DecodeSignal[T](raw)
		if err != nil {
			b.refuse(ctx, name, nil, err.Error())
			return
		}
		handle(ctx, v)
	})
}

// onPeople receives one kind of signal from people and their scripts. What handle returns is why it changed nothing.
func onPeople(b *inbox, ctx workflow.Context, name, description string, handle func(workflow.Context, map[string]any) error) {
	b.receive(ctx, name, description, func(ctx workflow.Context, raw converter.RawValue) {
		payload, err := protocol.DecodeObject(raw)
		if err == nil {
			err = handle(ctx, payload)
		}
		if err != nil {
			b.refuse(ctx, name, payload, strings.TrimPrefix(err.Error(), "model: "))
		}
	})
}

// receive takes a signal raw: the SDK would drop a malformed one with a line in the log. Of several the selector offers that
// whose name was registered first; the one that came first is taken, and what was offered stays in its channel.
func (b *inbox) receive(ctx workflow.Context, name, description string, take func(workflow.Context, converter.RawValue)) {
	channel := workflow.GetSignalChannelWithOptions(ctx, name, workflow.SignalChannelOptions{Description: description})
	b.signals[name] = hearing{channel, take}
	b.selector.AddReceive(channel, func(workflow.ReceiveChannel, bool) {
		var raw converter.RawValue
		h := b.signals[b.arrivals.next(ctx, name, b.hears)]
		h.channel.Receive(ctx, &raw)
		h.take(ctx, raw)
	})
}

func (b *inbox) hears(name string) bool {
	_, ok := b.signals[name]
	return ok
}
