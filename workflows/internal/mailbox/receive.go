package mailbox

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/protocol"
)

// OnSignal registers the handler for one kind of signal from other parts of this program. The description is shown in
// the Temporal UI.
func OnSignal[T any](b *Inbox, ctx workflow.Context, signalName, description string, handle func(workflow.Context, T)) {
	b.registerRawHandler(ctx, signalName, description, func(ctx workflow.Context, raw converter.RawValue) {
		v, err := protocol.DecodeSignal[T](raw)
		if err != nil {
			b.RecordSignalOutcome(ctx, signalName, nil, err)
			return
		}
		handle(ctx, v)
	})
}

// OnPersonSignal registers the handler for one kind of signal from people and their scripts. The error of handle is why
// the signal changed nothing, or ErrOutcomePending; the count is the number of people who have decided the same.
func OnPersonSignal(
	b *Inbox, ctx workflow.Context, signalName, description string,
	handle func(workflow.Context, map[string]any) (approval.VoteCount, error),
) {
	b.registerRawHandler(ctx, signalName, description, func(ctx workflow.Context, raw converter.RawValue) {
		b.hasHandledPersonSignal = true
		payload, err := protocol.DecodeObject(raw)
		var votes approval.VoteCount
		if err == nil {
			b.RecordSignalStart(ctx, signalName, payload)
			votes, err = handle(ctx, approval.WithoutForwardedMark(payload))
		}
		b.recordOutcomeWithVotes(ctx, signalName, payload, votes, err)
	})
}

// registerRawHandler receives signals of one name undecoded: the SDK would only log a malformed one and drop it.
//
// When signals of several names are pending, the selector offers the name that was registered first. The handled signal
// is the one that arrived first, so that the offered one may stay in its channel.
func (b *Inbox) registerRawHandler(ctx workflow.Context, signalName, description string,
	handle func(workflow.Context, converter.RawValue)) {
	channel := workflow.GetSignalChannelWithOptions(ctx, signalName,
		workflow.SignalChannelOptions{Description: description})
	b.handlerBySignal[signalName] = signalHandler{channel, handle}
	b.OnChannelReceive(channel, func(workflow.ReceiveChannel) {
		var raw converter.RawValue
		h := b.handlerBySignal[b.arrivals.takeNextSignalName(ctx, signalName, b.hasHandlerFor)]
		h.channel.Receive(ctx, &raw)
		h.handle(ctx, raw)
	})
}

// hasHandlerFor reports whether signals of a name have a handler.
func (b *Inbox) hasHandlerFor(signalName string) bool {
	_, ok := b.handlerBySignal[signalName]
	return ok
}
