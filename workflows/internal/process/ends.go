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
	endDelayHurried = time.Millisecond // for the next task, when the process waits for nothing else
	endDelay        = time.Second      // when the process waits for something else
	endShare        = 10               // if one in endShare instances has ended, that is enough to notify them
)

// instanceEnd is an instance to be notified that it has ended or, if it still works, that it must undo what it did.
type instanceEnd struct {
	instanceToken string
	status        ideafile.InstanceStatus
	historyLength int // when it was decided
}

// endedInstances are the instances to be notified of their end, in the order in which it was decided.
type endedInstances struct {
	instanceEnds []instanceEnd
	mustSend     bool // they have waited long enough
	activeTimer  endTimerKind
}

// endTimerKind is the kind of timer set for the pending notifications. A short one may be set beside a long one.
type endTimerKind int

const (
	noTimer endTimerKind = iota
	longTimer
	shortTimer
)

// sendConfirmedInstanceEnds notifies the ended instances whose end is certain. hurry: the process waits for nothing
// else.
func (p *unsplitProcess) sendConfirmedInstanceEnds(ctx workflow.Context, hurry bool) {
	length := workflow.GetInfo(ctx).GetCurrentHistoryLength()
	for _, m := range p.loop.TakeEndedInstances() {
		p.endedInstances.instanceEnds = append(p.endedInstances.instanceEnds, instanceEnd{m.Token, m.Status, length})
	}
	certain := p.endedInstances.countDecidedBefore(length)
	all := certain == len(p.endedInstances.instanceEnds)
	if certain > 0 && ((hurry && all) || p.endedInstances.mustSend || certain >= len(p.loop.Instances)/endShare) {
		p.sendInstanceEnds(ctx, certain)
	}
	if len(p.endedInstances.instanceEnds) > 0 {
		p.wakeForInstanceEnds(ctx, hurry)
	}
}

// countDecidedBefore counts the ends that were decided in earlier tasks than the one in which the history has this
// length.
func (e endedInstances) countDecidedBefore(length int) int {
	n := 0
	for _, end := range e.instanceEnds {
		if end.historyLength < length {
			n++
		}
	}
	return n
}

// sendInstanceEnds notifies the first n ended instances.
func (p *unsplitProcess) sendInstanceEnds(ctx workflow.Context, n int) {
	var list []protocol.SignalDelivery
	for _, e := range p.endedInstances.instanceEnds[:n] {
		to := protocol.InstanceID(p.processID, e.instanceToken)
		list = append(list, protocol.NewSignalDelivery(to, protocol.SignalEnd, protocol.EndSignal{Status: e.status,
			Undo: e.status == ideafile.InstanceWorking}))
	}
	p.endedInstances.instanceEnds, p.endedInstances.mustSend = p.endedInstances.instanceEnds[n:], false
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	mailbox.DeliverSignalsAndWait(ctx, list)
}

// wakeForInstanceEnds sets a timer for the pending notifications.
func (p *unsplitProcess) wakeForInstanceEnds(ctx workflow.Context, hurry bool) {
	want, delay := longTimer, endDelay
	if hurry {
		want, delay = shortTimer, endDelayHurried
	}
	if p.endedInstances.activeTimer >= want {
		return
	}
	p.endedInstances.activeTimer = want
	timer := workflow.NewTimerWithOptions(ctx, delay,
		workflow.TimerOptions{Summary: "until it is certain who has ended"})
	p.inbox.OnFutureReady(timer, func(f workflow.Future) {
		p.endedInstances.activeTimer = noTimer
		p.endedInstances.mustSend = len(p.endedInstances.instanceEnds) > 0 && f.Get(ctx, nil) == nil
	})
}
