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

// ErrOutcomePending is the error of a handler whose act gets its Fate later, by Settle.
var ErrOutcomePending = errors.New("what becomes of it is not known yet")

// Bounds of Fates that are not reported yet: of a flood of invalid signals, the last ones are enough.
const (
	maxUnreportedFates     = 100 // above it, the oldest Fate without an id and a standing order is dropped
	hardMaxUnreportedFates = 5000
)

// RecordSignalStart records that a person's act has come. It skips signals that a whole process sends its parts, and
// acts under an order, since no person sent these.
func (b *Inbox) RecordSignalStart(ctx workflow.Context, signalName string, payload jsonval.Object) {
	f := approval.NewFate(signalName, payload, workflow.Now(ctx))
	if f.StandingOrderID == "" && f.ID != protocol.ForwardedSteeringSignalID {
		b.Fates.MarkUnderWay(f.ID)
	}
}

// RecordSignalOutcome keeps what the handler of an act returned.
func (b *Inbox) RecordSignalOutcome(ctx workflow.Context, signalName string, payload jsonval.Object, err error) {
	b.recordOutcomeWithVotes(ctx, signalName, payload, approval.VoteCount{}, err)
}

func (b *Inbox) recordOutcomeWithVotes(ctx workflow.Context, signalName string, payload jsonval.Object,
	votes approval.VoteCount, err error) {
	if errors.Is(err, ErrOutcomePending) {
		return
	}
	f := approval.NewFate(signalName, payload, workflow.Now(ctx))
	f.Votes = votes
	if err != nil {
		f.RefusalReason = strings.TrimPrefix(err.Error(), "model: ")
		f.HasNothingToDo = errors.As(err, new(approval.NothingToDoError))
		if r, isRefusal := errors.AsType[approval.Refusal](err); isRefusal {
			f.RefusalCode = r.Code
		}
	}
	b.RecordOwnFate(f)
}

// RecordOwnFate keeps the Fate of an act, for those who ask for outcomes and for the next report.
func (b *Inbox) RecordOwnFate(f approval.Fate) {
	if b.Fates.RecordFate(f) {
		b.QueueFateForReport(f)
	}
}

// RecordForeignFate keeps a Fate that another workflow has reported. The next report contains it too if the act came
// through this workflow, or if a whole process sent the act past this part.
func (b *Inbox) RecordForeignFate(f approval.Fate) {
	wasUnderWay := b.Fates.UnderWayIDs[f.ID]
	if isNew := b.Fates.RecordFate(f); isNew && wasUnderWay || f.IsForwarded {
		b.QueueFateForReport(f)
	}
}

// QueueFateForReport adds a Fate to the next report. Refused approvals under standing orders are not dropped early,
// since the orders counted them.
func (b *Inbox) QueueFateForReport(f approval.Fate) {
	if !b.SendsReports {
		return
	}
	b.UnreportedFates = append(b.UnreportedFates, f)
	if len(b.UnreportedFates) <= maxUnreportedFates {
		return
	}
	dropIndex := slices.IndexFunc(b.UnreportedFates,
		func(f approval.Fate) bool { return f.StandingOrderID == "" && f.ID == "" })
	if dropIndex < 0 && len(b.UnreportedFates) > hardMaxUnreportedFates {
		dropIndex = 0
	}
	if dropIndex >= 0 {
		b.UnreportedFates = slices.Delete(b.UnreportedFates, dropIndex, dropIndex+1)
	}
}

// TakeUnreportedFates returns the Fates that were added since its last call.
func (b *Inbox) TakeUnreportedFates() []approval.Fate {
	list := b.UnreportedFates
	b.UnreportedFates = nil
	return list
}

// refuseUndelivered refuses a signal that nobody received. If the signal brings many decisions, each of them is refused
// as it would be alone.
func (b *Inbox) refuseUndelivered(ctx workflow.Context, signalName string, payload jsonval.Object, reason error) {
	decisions, err := approval.ReadDecisionBatch(payload)
	if signalName != approval.SteerDecideMany || err != nil {
		b.RecordSignalOutcome(ctx, signalName, payload, reason)
		return
	}
	for _, decision := range decisions.Decisions {
		b.RecordSignalOutcome(ctx, decision.Kind, decision.Payload, reason)
	}
}

// registerOutcomeHandlers registers the Update and the query for the outcomes of acts. Every workflow registers them in
// its first task.
func (b *Inbox) registerOutcomeHandlers(ctx workflow.Context) {
	err := workflow.SetUpdateHandlerWithOptions(ctx, protocol.UpdateActOutcomes, b.awaitOutcomes,
		workflow.UpdateHandlerOptions{
			Validator: func(_ workflow.Context, q protocol.ActOutcomesQuestion) error {
				return approval.CheckActIDs(q.ActIDs)
			},
			Description: `What became of acts, once it is known of each: {"ids": [those of their payloads]}.`,
		})
	if err == nil {
		answerQuestion := func(q protocol.ActOutcomesQuestion) (protocol.ActOutcomesAnswer, error) {
			return protocol.ActOutcomesAnswer{Outcomes: b.Fates.Outcomes(q.ActIDs, true)}, nil
		}
		err = workflow.SetQueryHandlerWithOptions(ctx, protocol.UpdateActOutcomes, answerQuestion,
			workflow.QueryHandlerOptions{
				Description: `What the Update "outcome" answers, as it is known: for a workflow that has ended.`,
			})
	}
	if err != nil {
		panic(err) // the handlers' types are wrong
	}
}

// awaitOutcomes waits until each of the acts has a Fate, or none can come any more.
func (b *Inbox) awaitOutcomes(ctx workflow.Context,
	q protocol.ActOutcomesQuestion) (protocol.ActOutcomesAnswer, error) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	err := workflow.Await(ctx, func() bool {
		return b.answersOutcomesNow || b.Fates.AreOutcomesKnown(q.ActIDs, b.hasHandledAllSignals())
	})
	if b.mustWakeOnOutcomeAnswer {
		b.outcomeAnsweredChannel.SendAsync(nil)
	}
	return protocol.ActOutcomesAnswer{Outcomes: b.Fates.Outcomes(q.ActIDs, b.hasHandledAllSignals())}, err
}

// hasHandledAllSignals reports whether every signal that has arrived was handled, or is being handled now.
func (b *Inbox) hasHandledAllSignals() bool {
	return b.hasBegunHandling && !slices.ContainsFunc(b.arrivals.unhandledSignalNames, b.hasHandlerFor)
}

// PrepareContinueAsNew reports whether every question for outcomes was answered; Wait returns once every question is.
// With hurry, open questions are answered now, and their callers ask the next run of the workflow.
func (b *Inbox) PrepareContinueAsNew(ctx workflow.Context, answerOutcomesNow bool) bool {
	b.answersOutcomesNow, b.mustWakeOnOutcomeAnswer = answerOutcomesNow, true
	return workflow.AllHandlersFinished(ctx)
}

// CancelContinueAsNew reverts the closing that PrepareContinueAsNew began.
func (b *Inbox) CancelContinueAsNew() { b.answersOutcomesNow, b.mustWakeOnOutcomeAnswer = false, false }

// Close answers all open queries for outcomes before the workflow ends.
func (b *Inbox) Close(ctx workflow.Context) {
	b.answersOutcomesNow = true
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}
