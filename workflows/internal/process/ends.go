package process

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file tells instances that they have settled or failed. That cannot be taken back, and what a workflow task decides may
// be decided again, otherwise, if the task is lost. So an instance is told in a later task than the one that decided.
// Nobody waits for it, so that many are told together.

const (
	endDelayHurried = time.Millisecond // for a task right behind this one, when the process waits for nothing else
	endDelay        = time.Second      // when it does
	endShare        = 10               // one in so many instances is enough to be told without waiting for more
)

// instanceEnd is an instance that is to be told that it has ended.
type instanceEnd struct {
	token         string
	status        ideafile.InstanceStatus
	historyLength int // when it was decided
}

// ends are the instances that are to be told that they have ended, in the order in which it was decided.
type ends struct {
	list  []instanceEnd
	due   bool // they have waited long enough
	timer endTimer
}

// endTimer is which timer is set for those that are not told yet. A short one may be set beside a long one.
type endTimer int

const (
	noTimer endTimer = iota
	longTimer
	shortTimer
)

// endInstances tells the instances that have ended, as far as that is certain. hurry: nothing else is waited for.
func (p *ordinaryProcess) endInstances(ctx workflow.Context, hurry bool) {
	length := workflow.GetInfo(ctx).GetCurrentHistoryLength()
	for _, m := range p.loop.TakeEnded() {
		p.ends.list = append(p.ends.list, instanceEnd{m.Token, m.Status, length})
	}
	certain := p.ends.decidedBefore(length)
	all := certain == len(p.ends.list)
	if certain > 0 && ((hurry && all) || p.ends.due || certain >= len(p.loop.Instances())/endShare) {
		p.sendEnds(ctx, certain)
	}
	if len(p.ends.list) > 0 {
		p.wakeForEnds(ctx, hurry)
	}
}

// decidedBefore counts the ends that were decided by a task before the one in which history has a length.
func (e ends) decidedBefore(length int) int {
	n := 0
	for _, end := range e.list {
		if end.historyLength < length {
			n++
		}
	}
	return n
}

// sendEnds tells the first n of those that have ended.
func (p *ordinaryProcess) sendEnds(ctx workflow.Context, n int) {
	var list []protocol.Delivery
	for _, e := range p.ends.list[:n] {
		to := protocol.InstanceID(p.id, e.token)
		list = append(list, protocol.NewDelivery(to, protocol.SignalEnd, protocol.EndSignal{Status: e.status}))
	}
	p.ends.list, p.ends.due = p.ends.list[n:], false
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	mailbox.DeliverAndWait(ctx, list)
}

// wakeForEnds sets a timer for those that are not told yet.
func (p *ordinaryProcess) wakeForEnds(ctx workflow.Context, hurry bool) {
	want, delay := longTimer, endDelay
	if hurry {
		want, delay = shortTimer, endDelayHurried
	}
	if p.ends.timer >= want {
		return
	}
	p.ends.timer = want
	timer := workflow.NewTimerWithOptions(ctx, delay, workflow.TimerOptions{Summary: "until it is certain who has ended"})
	p.inbox.OnReady(timer, func(f workflow.Future) {
		p.ends.timer = noTimer
		p.ends.due = len(p.ends.list) > 0 && f.Get(ctx, nil) == nil
	})
}
