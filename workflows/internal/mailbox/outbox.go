package mailbox

import (
	"errors"
	"slices"

	"go.temporal.io/sdk/workflow"

	"processidea/model/jsonval"
	"processidea/protocol"
)

// Outbox sends signals to other workflows, to each of them in order. Nobody waits for a delivery.
type Outbox struct {
	inbox    *Inbox
	underWay map[string]bool // by workflow id: a signal is on its way
	// signals that wait behind it, for their turn, or for ReleaseSignals
	queued      map[string][]OutgoingSignal
	awaitTurn   []string // the workflows whose turn has not come; all of them have something queued
	sendingHeld bool

	// AlwaysByCommand sends every signal by command, unless it is Gathered. By command, a signal costs one action of a
	// hosted server; from inside the workflow task it costs two actions, and less time.
	AlwaysByCommand bool

	// TakeUndelivered, if not nil, gets the payload of each signal that could not be delivered. If it returns true, the
	// failure is neither recorded as a refusal nor logged.
	TakeUndelivered func(payload jsonval.Object) bool
}

// maxInTurn is the number of signals on their way from which SendInTurn makes the next one wait. The server accepts a
// bounded number at a time from one workflow, and all signals of one workflow task must fit into one request.
const maxInTurn = 100

// OutgoingSignal is a signal to be sent.
type OutgoingSignal struct {
	Signal  string `json:"signal"`
	Payload any    `json:"payload"`
	// Repeatable: the recipient tolerates receiving it twice, so it can be sent the faster way (see deliverSignals).
	Repeatable bool `json:"repeatable,omitempty"`
	// Gathered: a worker sends several of them as one.
	Gathered bool `json:"gathered,omitempty"`
	// InTurn: one of many, which waits for its turn (see SendInTurn).
	InTurn bool `json:"inTurn,omitempty"`
	// RefusalReason is the reason for refusing the act in the signal if nobody receives it; empty: the failure is only
	// logged.
	RefusalReason string `json:"refusal,omitempty"`
}

// CarriedOutgoingSignal is a signal that the next run of the workflow sends.
type CarriedOutgoingSignal struct {
	ToWorkflowID string `json:"to"`
	OutgoingSignal
}

// NewOutbox makes an outbox. The ends of its deliveries are events of the inbox.
func NewOutbox(b *Inbox) *Outbox {
	return &Outbox{inbox: b, underWay: map[string]bool{}, queued: map[string][]OutgoingSignal{}}
}

// Send sends a signal behind everything that was sent to the same workflow before.
func (o *Outbox) Send(ctx workflow.Context, to string, s OutgoingSignal) {
	if o.sendingHeld || o.underWay[to] || slices.Contains(o.awaitTurn, to) {
		o.queued[to] = append(o.queued[to], s)
		return
	}
	o.sendNow(ctx, to, s)
}

// SendInTurn is Send for one of very many signals: the signal waits while maxInTurn others are on their way. Each
// workflow still receives its signals in order.
func (o *Outbox) SendInTurn(ctx workflow.Context, to string, s OutgoingSignal) {
	s.InTurn = true
	if o.sendingHeld || o.underWay[to] || len(o.queued[to]) > 0 || len(o.underWay) < maxInTurn {
		o.Send(ctx, to, s)
		return
	}
	o.queued[to] = append(o.queued[to], s)
	o.awaitTurn = append(o.awaitTurn, to)
}

func (o *Outbox) sendNow(ctx workflow.Context, to string, s OutgoingSignal) {
	o.underWay[to] = true
	o.inbox.OnFutureReady(o.deliver(ctx, to, s), func(f workflow.Future) {
		err := f.Get(ctx, nil)
		if err != nil && ctx.Err() == nil {
			o.onSendFailed(ctx, s, err)
		}
		delete(o.underWay, to)
		o.sendQueued(ctx, to)
		o.giveTurns(ctx)
	})
}

// giveTurns sends the queued signals of the workflows whose turn has come.
func (o *Outbox) giveTurns(ctx workflow.Context) {
	for !o.sendingHeld && len(o.awaitTurn) > 0 && len(o.underWay) < maxInTurn {
		to := o.awaitTurn[0]
		o.awaitTurn = o.awaitTurn[1:]
		o.sendQueued(ctx, to)
	}
}

func (o *Outbox) sendQueued(ctx workflow.Context, to string) {
	if o.sendingHeld {
		return
	}
	waiting := o.queued[to]
	delete(o.queued, to)
	for _, next := range waiting {
		o.Send(ctx, to, next)
	}
}

func (o *Outbox) deliver(ctx workflow.Context, to string, s OutgoingSignal) workflow.Future {
	if s.Repeatable && (s.Gathered || !o.AlwaysByCommand) {
		return deliverSignals(ctx, protocol.NewSignalDelivery(to, s.Signal, s.Payload))
	}
	return workflow.SignalExternalWorkflow(ctx, to, "", s.Signal, s.Payload)
}

func (o *Outbox) onSendFailed(ctx workflow.Context, s OutgoingSignal, err error) {
	if o.TakeUndelivered != nil && o.TakeUndelivered(jsonval.AsObject(s.Payload)) {
		return
	}
	if s.RefusalReason != "" {
		o.inbox.refuseEach(ctx, s.Signal, jsonval.AsObject(s.Payload), errors.New(s.RefusalReason))
		return
	}
	workflow.GetLogger(ctx).Warn("a signal was not delivered", "signal", s.Signal, "error", err)
}

// HoldSignals holds all signals until ReleaseSignals: the workflow is about to continue as new, and carries the queue
// along.
func (o *Outbox) HoldSignals() { o.sendingHeld = true }

// ReleaseSignals sends the held signals.
func (o *Outbox) ReleaseSignals(ctx workflow.Context) {
	if !o.sendingHeld {
		return
	}
	o.sendingHeld = false
	for _, to := range jsonval.SortedKeys(o.queued) {
		switch {
		case o.underWay[to] || slices.Contains(o.awaitTurn, to):
		case o.queued[to][0].InTurn && len(o.underWay) >= maxInTurn:
			o.awaitTurn = append(o.awaitTurn, to)
		default:
			o.sendQueued(ctx, to)
		}
	}
	o.giveTurns(ctx)
}

// HasQueuedFor reports whether something is on its way to a workflow, or queued for it.
func (o *Outbox) HasQueuedFor(to string) bool { return o.underWay[to] || len(o.queued[to]) > 0 }

// NothingInFlight reports whether nothing is on its way to anybody. Something may be queued.
func (o *Outbox) NothingInFlight() bool { return len(o.underWay) == 0 }

// QueuedSignals returns the queued signals, for Restore in the next run of the workflow.
func (o *Outbox) QueuedSignals() (list []CarriedOutgoingSignal) {
	for to, queued := range jsonval.Sorted(o.queued) {
		for _, s := range queued {
			list = append(list, CarriedOutgoingSignal{to, s})
		}
	}
	return list
}

// Restore sends what an earlier run of the workflow carried.
func (o *Outbox) Restore(ctx workflow.Context, list []CarriedOutgoingSignal) {
	for _, c := range list {
		if c.InTurn {
			o.SendInTurn(ctx, c.ToWorkflowID, c.OutgoingSignal)
			continue
		}
		o.Send(ctx, c.ToWorkflowID, c.OutgoingSignal)
	}
}
