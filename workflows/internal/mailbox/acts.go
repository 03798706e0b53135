package mailbox

import (
	"errors"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// This file keeps the outcomes of people's acts, and answers questions for them. An act is under way from the moment it
// is handled until it has a Fate.

// ErrUnderWay is the error of a handler whose act gets its Fate later, by Settle.
var ErrUnderWay = errors.New("what becomes of it is not known yet")

// Bounds of Fates that are not reported yet: of a flood of invalid signals, the last ones are enough.
const (
	maxUnreported           = 100 // above it, the oldest Fate without an id and a standing order is dropped
	maxUnreportedAltogether = 5000
)

// Begin records that a person's act has come. It skips signals that a whole process sends its parts, and acts under an
// order, since no person sent these.
func (b *Inbox) Begin(ctx workflow.Context, signal string, payload jsonval.Object) {
	f := approval.FateOf(signal, payload, workflow.Now(ctx))
	if f.OrderID == "" && f.ID != protocol.ForwardedSignalID {
		b.Fates.Begin(f.ID)
	}
}

// Conclude keeps what the handler of an act returned.
func (b *Inbox) Conclude(ctx workflow.Context, signal string, payload jsonval.Object, err error) {
	b.conclude(ctx, signal, payload, approval.Count{}, err)
}

func (b *Inbox) conclude(ctx workflow.Context, signal string, payload jsonval.Object, count approval.Count, err error) {
	if errors.Is(err, ErrUnderWay) {
		return
	}
	f := approval.FateOf(signal, payload, workflow.Now(ctx))
	f.Count = count
	if err != nil {
		f.Reason = strings.TrimPrefix(err.Error(), "model: ")
		f.NothingToDo = errors.As(err, new(approval.NothingDone))
		if r, is := errors.AsType[approval.Refusal](err); is {
			f.Code = r.Code
		}
	}
	b.Settle(f)
}

// Settle keeps the Fate of an act, for those who ask for outcomes and for the next report.
func (b *Inbox) Settle(f approval.Fate) {
	if b.Fates.Settle(f) {
		b.Report(f)
	}
}

// Learn keeps a Fate that another workflow has reported. The next report contains it too if the act came through this
// workflow, or if a whole process sent the act past this part.
func (b *Inbox) Learn(f approval.Fate) {
	sentOn := b.Fates.UnderWay[f.ID]
	if kept := b.Fates.Settle(f); kept && sentOn || f.PassedOn {
		b.Report(f)
	}
}

// Report adds a Fate to the next report. Refused approvals under standing orders are not dropped early, since the
// orders counted them.
func (b *Inbox) Report(f approval.Fate) {
	if !b.Reports {
		return
	}
	b.Unreported = append(b.Unreported, f)
	if len(b.Unreported) <= maxUnreported {
		return
	}
	drop := slices.IndexFunc(b.Unreported, func(f approval.Fate) bool { return f.OrderID == "" && f.ID == "" })
	if drop < 0 && len(b.Unreported) > maxUnreportedAltogether {
		drop = 0
	}
	if drop >= 0 {
		b.Unreported = slices.Delete(b.Unreported, drop, drop+1)
	}
}

// TakeUnreported returns the Fates that were added since its last call.
func (b *Inbox) TakeUnreported() []approval.Fate {
	list := b.Unreported
	b.Unreported = nil
	return list
}

// refuseEach refuses a signal that nobody received. If the signal brings many decisions, each of them is refused as it
// would be alone.
func (b *Inbox) refuseEach(ctx workflow.Context, signal string, payload jsonval.Object, reason error) {
	many, err := approval.ReadDecisions(payload)
	if signal != approval.SteerDecide || err != nil {
		b.Conclude(ctx, signal, payload, reason)
		return
	}
	for _, one := range many.List {
		b.Conclude(ctx, one.Kind, one.Payload, reason)
	}
}

// answerOutcomes registers the Update and the query for the outcomes of acts. Every workflow registers them in its
// first task.
func (b *Inbox) answerOutcomes(ctx workflow.Context) {
	err := workflow.SetUpdateHandlerWithOptions(ctx, protocol.UpdateOutcome, b.outcome, workflow.UpdateHandlerOptions{
		Validator:   func(_ workflow.Context, q protocol.OutcomeQuestion) error { return approval.CheckActIDs(q.IDs) },
		Description: `What became of acts, once it is known of each: {"ids": [those of their payloads]}.`,
	})
	if err == nil {
		now := func(q protocol.OutcomeQuestion) (protocol.OutcomeAnswer, error) {
			return protocol.OutcomeAnswer{Acts: b.Fates.Outcomes(q.IDs, true)}, nil
		}
		err = workflow.SetQueryHandlerWithOptions(ctx, protocol.UpdateOutcome, now, workflow.QueryHandlerOptions{
			Description: `What the Update "outcome" answers, as it is known: for a workflow that has ended.`,
		})
	}
	if err != nil {
		panic(err) // the handlers' types are wrong
	}
}

// outcome waits until each of the acts has a Fate, or none can come any more.
func (b *Inbox) outcome(ctx workflow.Context, q protocol.OutcomeQuestion) (protocol.OutcomeAnswer, error) {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	err := workflow.Await(ctx, func() bool { return b.closing || b.Fates.Known(q.IDs, b.hasHandledAll()) })
	if b.wakeWhenAnswered {
		b.answered.SendAsync(nil)
	}
	return protocol.OutcomeAnswer{Acts: b.Fates.Outcomes(q.IDs, b.hasHandledAll())}, err
}

// hasHandledAll reports whether every signal that has arrived was handled, or is being handled now.
func (b *Inbox) hasHandledAll() bool {
	return b.isOpen && !slices.ContainsFunc(b.arrivals.unhandledNames, b.isHandled)
}

// CanContinueAsNew reports whether every question for outcomes was answered; Wait returns once every question is. With
// hurry, open questions are answered now, and their callers ask the next run of the workflow.
func (b *Inbox) CanContinueAsNew(ctx workflow.Context, hurry bool) bool {
	b.closing, b.wakeWhenAnswered = hurry, true
	return workflow.AllHandlersFinished(ctx)
}

// StayOpen reverts the closing that CanContinueAsNew began.
func (b *Inbox) StayOpen() { b.closing, b.wakeWhenAnswered = false, false }

// Close answers all open queries for outcomes before the workflow ends.
func (b *Inbox) Close(ctx workflow.Context) {
	b.closing = true
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}
