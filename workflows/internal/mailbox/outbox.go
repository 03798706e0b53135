package mailbox

import (
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// Outbox sends signals to other workflows, to each of them in order. Nobody waits for a delivery.
type Outbox struct {
	inbox *Inbox
	// queued holds, by workflow id, what waits behind a signal that is on its way. A key without values: one is on its way.
	queued map[string][]Outgoing
}

// Outgoing is a signal to be sent.
type Outgoing struct {
	Signal  string
	Payload any
	// Repeatable: the recipient tolerates receiving it twice, so it can be sent the cheaper way (see deliver).
	Repeatable bool
	// OnFailure is called when nobody received it; nil: it is logged.
	OnFailure func()
}

// NewOutbox makes an outbox whose deliveries are heard of through an inbox.
func NewOutbox(b *Inbox) *Outbox { return &Outbox{inbox: b, queued: map[string][]Outgoing{}} }

// Send sends a signal behind everything that was sent to the same workflow before.
func (o *Outbox) Send(ctx workflow.Context, to string, s Outgoing) {
	if waiting, busy := o.queued[to]; busy {
		o.queued[to] = append(waiting, s)
		return
	}
	o.queued[to] = nil
	o.inbox.OnReady(s.send(ctx, to), func(f workflow.Future) {
		err := f.Get(ctx, nil)
		if err != nil && ctx.Err() == nil {
			s.failed(ctx, err)
		}
		waiting := o.queued[to]
		delete(o.queued, to)
		for _, next := range waiting {
			o.Send(ctx, to, next)
		}
	})
}

func (s Outgoing) send(ctx workflow.Context, to string) workflow.Future {
	if s.Repeatable {
		return deliver(ctx, protocol.NewDelivery(to, s.Signal, s.Payload))
	}
	return workflow.SignalExternalWorkflow(ctx, to, "", s.Signal, s.Payload)
}

func (s Outgoing) failed(ctx workflow.Context, err error) {
	if s.OnFailure != nil {
		s.OnFailure()
		return
	}
	workflow.GetLogger(ctx).Warn("a signal was not delivered", "signal", s.Signal, "error", err)
}

// Busy reports whether something is on its way to a workflow.
func (o *Outbox) Busy(to string) bool {
	_, busy := o.queued[to]
	return busy
}

// Empty reports whether nothing is on its way to anybody.
func (o *Outbox) Empty() bool { return len(o.queued) == 0 }
