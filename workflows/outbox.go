package workflows

import (
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// outbox sends signals to other workflows, to each in order: Temporal delivers what one workflow task sends in any order.
// Nobody waits for a delivery.
type outbox struct {
	inbox *inbox
	// queued holds what waits behind a signal that is on its way, by workflow id; a key without values: one is on its way.
	queued map[string][]outgoing
}

type outgoing struct {
	signal  string
	payload any
	again   bool        // it may come twice
	failed  func(error) // nil: it is logged
}

func newOutbox(b *inbox) *outbox { return &outbox{inbox: b, queued: map[string][]outgoing{}} }

// send sends a signal behind all that was sent to the same workflow before. No run id: the other may have continued as
// new.
func (o *outbox) send(ctx workflow.Context, to string, s outgoing) {
	if waiting, busy := o.queued[to]; busy {
		o.queued[to] = append(waiting, s)
		return
	}
	o.queued[to] = nil
	f := s.to(ctx, to)
	o.inbox.when(f, func(f workflow.Future) {
		if err := f.Get(ctx, nil); err != nil && ctx.Err() == nil {
			s.undelivered(ctx, err)
		}
		waiting := o.queued[to]
		delete(o.queued, to)
		for _, next := range waiting {
			o.send(ctx, to, next)
		}
	})
}

func (s outgoing) to(ctx workflow.Context, id string) workflow.Future {
	if s.again {
		return deliver(ctx, protocol.NewDelivery(id, s.signal, s.payload))
	}
	return workflow.SignalExternalWorkflow(ctx, id, "", s.signal, s.payload)
}

func (s outgoing) undelivered(ctx workflow.Context, err error) {
	if s.failed != nil {
		s.failed(err)
		return
	}
	workflow.GetLogger(ctx).Warn("a signal found nobody", "signal", s.signal, "error", err)
}

// busy says whether something is on its way to a workflow.
func (o *outbox) busy(to string) bool {
	_, busy := o.queued[to]
	return busy
}

// empty says that nothing is on its way to anybody.
func (o *outbox) empty() bool { return len(o.queued) == 0 }
