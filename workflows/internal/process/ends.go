package process

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file notifies instances that they have settled or failed, or must undo what they did. That cannot be reverted,
// and a lost workflow task may decide differently when it runs again. So an instance is notified in a later task than
// the one that decided. Nobody waits for the notification, so that many instances are notified together.

const (
	urgentEndNotifyDelay = time.Millisecond // for the next task, when the process waits for nothing else
	endNotifyDelay       = time.Second      // when the process waits for something else
	// if one in endNotifyDenominator instances has ended, that is enough to notify them
	endNotifyDenominator = 10
)

// instanceEnd is an instance to be notified that it has ended or, if it still works, that it must undo what it did.
type instanceEnd struct {
	instanceToken           string
	status                  ideafile.InstanceStatus
	historyLengthAtDecision int // when it was decided
}

// instanceEndQueue are the instances to be notified of their end, in the order in which it was decided.
type instanceEndQueue struct {
	instanceEnds    []instanceEnd
	mustSend        bool // they have waited long enough
	activeTimerKind endNotifyTimerKind
}

// endNotifyTimerKind is the kind of timer set for the pending notifications. A short one may be set beside a long one.
type endNotifyTimerKind int

const (
	noEndNotifyTimer endNotifyTimerKind = iota
	longEndNotifyTimer
	shortEndNotifyTimer
)

// sendConfirmedInstanceEnds notifies the ended instances whose end is certain. isUrgent: the process waits for nothing
// else.
func (p *unsplitProcess) sendConfirmedInstanceEnds(ctx workflow.Context, isUrgent bool) {
	historyLength := workflow.GetInfo(ctx).GetCurrentHistoryLength()
	for _, m := range p.loop.TakeEndedInstances() {
		p.endQueue.instanceEnds = append(p.endQueue.instanceEnds, instanceEnd{m.Token, m.Status, historyLength})
	}
	confirmedCount := p.endQueue.countDecidedBefore(historyLength)
	allConfirmed := confirmedCount == len(p.endQueue.instanceEnds)
	if confirmedCount > 0 && ((isUrgent && allConfirmed) || p.endQueue.mustSend ||
		confirmedCount >= len(p.loop.Instances)/endNotifyDenominator) {
		p.sendInstanceEnds(ctx, confirmedCount)
	}
	if len(p.endQueue.instanceEnds) > 0 {
		p.wakeForInstanceEnds(ctx, isUrgent)
	}
}

// countDecidedBefore counts the ends that were decided in earlier tasks than the one in which the history has this
// length.
func (e instanceEndQueue) countDecidedBefore(historyLength int) int {
	n := 0
	for _, end := range e.instanceEnds {
		if end.historyLengthAtDecision < historyLength {
			n++
		}
	}
	return n
}

// sendInstanceEnds notifies the first n ended instances.
func (p *unsplitProcess) sendInstanceEnds(ctx workflow.Context, endCount int) {
	var list []protocol.SignalDelivery
	for _, e := range p.endQueue.instanceEnds[:endCount] {
		workflowID := protocol.InstanceID(p.processID, e.instanceToken)
		list = append(list, protocol.NewSignalDelivery(workflowID, protocol.SignalEndInstance,
			protocol.EndInstanceSignal{Status: e.status,
				MustUndo: e.status == ideafile.InstanceWorking}))
	}
	p.endQueue.instanceEnds, p.endQueue.mustSend = p.endQueue.instanceEnds[endCount:], false
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	mailbox.DeliverSignalsAndWait(ctx, list)
}

// wakeForInstanceEnds sets a timer for the pending notifications.
func (p *unsplitProcess) wakeForInstanceEnds(ctx workflow.Context, isUrgent bool) {
	timerKind, delay := longEndNotifyTimer, endNotifyDelay
	if isUrgent {
		timerKind, delay = shortEndNotifyTimer, urgentEndNotifyDelay
	}
	if p.endQueue.activeTimerKind >= timerKind {
		return
	}
	p.endQueue.activeTimerKind = timerKind
	timer := workflow.NewTimerWithOptions(ctx, delay,
		workflow.TimerOptions{Summary: "until it is certain who has ended"})
	p.inbox.OnFutureReady(timer, func(f workflow.Future) {
		p.endQueue.activeTimerKind = noEndNotifyTimer
		p.endQueue.mustSend = len(p.endQueue.instanceEnds) > 0 && f.Get(ctx, nil) == nil
	})
}
