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
	inbox       *Inbox
	isSendingTo map[string]bool // by workflow id: a signal is on its way
	// signals that wait behind it, for their turn, or for ReleaseSignals
	queuedSignalsByWorkflow map[string][]OutgoingSignal
	waitingWorkflowIDs      []string // the workflows whose turn has not come; all of them have something queued
	isHoldingSignals        bool

	// AlwaysSignalsByCommand sends every signal by command, unless it is Gathered. By command, a signal costs one
	// action of a hosted server; from inside the workflow task it costs two actions, and less time.
	AlwaysSignalsByCommand bool

	// HandleUndelivered, if not nil, gets the payload of each signal that could not be delivered. If it returns true,
	// the failure is neither recorded as a refusal nor logged.
	HandleUndelivered func(payload jsonval.Object) bool
}

// maxSignalsInFlight is the number of signals on their way from which SendInTurn makes the next one wait. The server
// accepts a bounded number at a time from one workflow, and all signals of one workflow task must fit into one request.
const maxSignalsInFlight = 100

// OutgoingSignal is a signal to be sent.
type OutgoingSignal struct {
	SignalName string `json:"signal"`
	Payload    any    `json:"payload"`
	// IsRepeatable: the recipient tolerates receiving it twice, so it can be sent the faster way (see deliverSignals).
	IsRepeatable bool `json:"repeatable,omitempty"`
	// IsSentInBatch: a worker sends several of them as one.
	IsSentInBatch bool `json:"gathered,omitempty"`
	// WaitsForTurn: one of many, which waits for its turn (see SendInTurn).
	WaitsForTurn bool `json:"inTurn,omitempty"`
	// RefusalIfUndelivered is the reason for refusing the act in the signal if nobody receives it; empty: the failure
	// is only logged.
	RefusalIfUndelivered string `json:"refusal,omitempty"`
}

// CarriedOutgoingSignal is a signal that the next run of the workflow sends.
type CarriedOutgoingSignal struct {
	ToWorkflowID string `json:"to"`
	OutgoingSignal
}

// NewOutbox makes an outbox. The ends of its deliveries are events of the inbox.
func NewOutbox(b *Inbox) *Outbox {
	return &Outbox{inbox: b, isSendingTo: map[string]bool{}, queuedSignalsByWorkflow: map[string][]OutgoingSignal{}}
}

// Send sends a signal behind everything that was sent to the same workflow before.
func (o *Outbox) Send(ctx workflow.Context, workflowID string, s OutgoingSignal) {
	if o.isHoldingSignals || o.isSendingTo[workflowID] || slices.Contains(o.waitingWorkflowIDs, workflowID) {
		o.queuedSignalsByWorkflow[workflowID] = append(o.queuedSignalsByWorkflow[workflowID], s)
		return
	}
	o.sendNow(ctx, workflowID, s)
}

// SendInTurn is Send for one of very many signals: the signal waits while maxSignalsInFlight others are on their way.
// Each workflow still receives its signals in order.
func (o *Outbox) SendInTurn(ctx workflow.Context, workflowID string, s OutgoingSignal) {
	s.WaitsForTurn = true
	if o.isHoldingSignals || o.isSendingTo[workflowID] || len(o.queuedSignalsByWorkflow[workflowID]) > 0 ||
		len(o.isSendingTo) < maxSignalsInFlight {
		o.Send(ctx, workflowID, s)
		return
	}
	o.queuedSignalsByWorkflow[workflowID] = append(o.queuedSignalsByWorkflow[workflowID], s)
	o.waitingWorkflowIDs = append(o.waitingWorkflowIDs, workflowID)
}

func (o *Outbox) sendNow(ctx workflow.Context, workflowID string, s OutgoingSignal) {
	o.isSendingTo[workflowID] = true
	o.inbox.OnFutureReady(o.deliver(ctx, workflowID, s), func(f workflow.Future) {
		err := f.Get(ctx, nil)
		if err != nil && ctx.Err() == nil {
			o.onSendFailed(ctx, s, err)
		}
		delete(o.isSendingTo, workflowID)
		o.sendQueued(ctx, workflowID)
		o.sendNextInTurn(ctx)
	})
}

// sendNextInTurn sends the queued signals of the workflows whose turn has come.
func (o *Outbox) sendNextInTurn(ctx workflow.Context) {
	for !o.isHoldingSignals && len(o.waitingWorkflowIDs) > 0 && len(o.isSendingTo) < maxSignalsInFlight {
		workflowID := o.waitingWorkflowIDs[0]
		o.waitingWorkflowIDs = o.waitingWorkflowIDs[1:]
		o.sendQueued(ctx, workflowID)
	}
}

func (o *Outbox) sendQueued(ctx workflow.Context, workflowID string) {
	if o.isHoldingSignals {
		return
	}
	queuedSignals := o.queuedSignalsByWorkflow[workflowID]
	delete(o.queuedSignalsByWorkflow, workflowID)
	for _, next := range queuedSignals {
		o.Send(ctx, workflowID, next)
	}
}

func (o *Outbox) deliver(ctx workflow.Context, workflowID string, s OutgoingSignal) workflow.Future {
	if s.IsRepeatable && (s.IsSentInBatch || !o.AlwaysSignalsByCommand) {
		return deliverSignals(ctx, protocol.NewSignalDelivery(workflowID, s.SignalName, s.Payload))
	}
	return workflow.SignalExternalWorkflow(ctx, workflowID, "", s.SignalName, s.Payload)
}

func (o *Outbox) onSendFailed(ctx workflow.Context, s OutgoingSignal, err error) {
	if o.HandleUndelivered != nil && o.HandleUndelivered(jsonval.AsObject(s.Payload)) {
		return
	}
	if s.RefusalIfUndelivered != "" {
		o.inbox.refuseUndelivered(ctx, s.SignalName, jsonval.AsObject(s.Payload), errors.New(s.RefusalIfUndelivered))
		return
	}
	workflow.GetLogger(ctx).Warn("a signal was not delivered", "signal", s.SignalName, "error", err)
}

// HoldSignals holds all signals until ReleaseSignals: the workflow is about to continue as new, and carries the queue
// along.
func (o *Outbox) HoldSignals() { o.isHoldingSignals = true }

// ReleaseSignals sends the held signals.
func (o *Outbox) ReleaseSignals(ctx workflow.Context) {
	if !o.isHoldingSignals {
		return
	}
	o.isHoldingSignals = false
	for _, workflowID := range jsonval.SortedKeys(o.queuedSignalsByWorkflow) {
		switch {
		case o.isSendingTo[workflowID] || slices.Contains(o.waitingWorkflowIDs, workflowID):
		case o.queuedSignalsByWorkflow[workflowID][0].WaitsForTurn && len(o.isSendingTo) >= maxSignalsInFlight:
			o.waitingWorkflowIDs = append(o.waitingWorkflowIDs, workflowID)
		default:
			o.sendQueued(ctx, workflowID)
		}
	}
	o.sendNextInTurn(ctx)
}

// HasPendingFor reports whether something is on its way to a workflow, or queued for it.
func (o *Outbox) HasPendingFor(workflowID string) bool {
	return o.isSendingTo[workflowID] || len(o.queuedSignalsByWorkflow[workflowID]) > 0
}

// HasNothingInFlight reports whether nothing is on its way to anybody. Something may be queued.
func (o *Outbox) HasNothingInFlight() bool { return len(o.isSendingTo) == 0 }

// QueuedSignals returns the queued signals, for Restore in the next run of the workflow.
func (o *Outbox) QueuedSignals() (list []CarriedOutgoingSignal) {
	for to, queued := range jsonval.Sorted(o.queuedSignalsByWorkflow) {
		for _, s := range queued {
			list = append(list, CarriedOutgoingSignal{to, s})
		}
	}
	return list
}

// Restore sends what an earlier run of the workflow carried.
func (o *Outbox) Restore(ctx workflow.Context, signals []CarriedOutgoingSignal) {
	for _, c := range signals {
		if c.WaitsForTurn {
			o.SendInTurn(ctx, c.ToWorkflowID, c.OutgoingSignal)
			continue
		}
		o.Send(ctx, c.ToWorkflowID, c.OutgoingSignal)
	}
}
