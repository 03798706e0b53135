package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"processidea/model"
)

// inbox is where everything that happens to a workflow comes in, one event at a time, in the order of history. A signal
// that does not fit changes nothing and is kept among the refusals.
type inbox struct {
	selector workflow.Selector
	refusals model.Refusals
}

func newInbox(ctx workflow.Context) *inbox {
	b := &inbox{selector: workflow.NewSelector(ctx)}
	b.selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	return b
}

// wait blocks until something happens and then takes all that has happened: one report for a burst, not one each.
func (b *inbox) wait(ctx workflow.Context) {
	b.selector.Select(ctx)
	for ctx.Err() == nil && b.selector.HasPending() {
		b.selector.Select(ctx)
	}
}

// when calls back once a future is there.
func (b *inbox) when(f workflow.Future, then func(workflow.Future)) { b.selector.AddFuture(f, then) }

// refuse keeps a signal that changed nothing, and why.
func (b *inbox) refuse(signal, id, reason string) {
	b.refusals.Add(model.Refusal{Signal: signal, ID: id, Reason: reason})
}

// on receives one kind of signal from other parts of this program.
func on[T any](b *inbox, ctx workflow.Context, name string, handle func(workflow.Context, T)) {
	receive(b, ctx, name, false, handle)
}

// onPeople receives one kind of signal from people and their scripts.
func onPeople[T any](b *inbox, ctx workflow.Context, name string, handle func(workflow.Context, T)) {
	receive(b, ctx, name, true, handle)
}

// receive takes a signal raw and decodes it: the SDK would drop a malformed one with a line in the log.
func receive[T any](b *inbox, ctx workflow.Context, name string, strict bool, handle func(workflow.Context, T)) {
	b.selector.AddReceive(workflow.GetSignalChannel(ctx, name), func(c workflow.ReceiveChannel, _ bool) {
		var raw converter.RawValue
		c.Receive(ctx, &raw)
		v, err := decodeSignal[T](raw, strict)
		if err != nil {
			b.refuse(name, "", err.Error())
			return
		}
		handle(ctx, v)
	})
}
