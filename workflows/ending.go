package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/protocol"
)

// This file holds how instances are told that they have reached their goal, or failed. That cannot be taken back, and what a
// workflow task decides may be decided again, otherwise, where the task is lost. So it is told in a later task. Nobody
// waits for it, so that many are told together.

const (
	endsSoon = time.Millisecond // for a task behind this one, where the process waits for nothing else
	endsLate = time.Second      // where it does
	endsPart = 10               // of so many instances one is enough to be told without waiting for more
)

// ending is an instance that is to be told of its end.
type ending struct {
	token  string
	status ideafile.InstanceStatus
	length int // of the history when it was decided
}

// endings are the instances that are to be told, in the order in which it was decided.
type endings struct {
	list []ending
	due  bool // they have waited for long enough
	// wakes says that a timer is set, and soon that it is the short one.
	wakes, soon bool
}

// endInstances tells the instances that have ended what it is certain of. hurry says that nothing else is waited for.
func (p *process) endInstances(ctx workflow.Context, hurry bool) {
	length := workflow.GetInfo(ctx).GetCurrentHistoryLength()
	for _, m := range p.mind.TakeEnded() {
		p.endings.list = append(p.endings.list, ending{m.Token, m.Status, length})
	}
	certain := 0
	for _, e := range p.endings.list {
		if e.length < length {
			certain++
		}
	}
	all := certain == len(p.endings.list)
	if certain > 0 && (hurry && all || p.endings.due || certain >= len(p.mind.Instances())/endsPart) {
		p.tellEnds(ctx, certain)
	}
	if len(p.endings.list) > 0 {
		p.wakeForEnds(ctx, hurry)
	}
}

// tellEnds tells the first of those that have ended.
func (p *process) tellEnds(ctx workflow.Context, n int) {
	var list []protocol.Delivery
	for _, e := range p.endings.list[:n] {
		list = append(list, protocol.NewDelivery(protocol.InstanceID(p.id, e.token), protocol.SignalEnd, protocol.EndSignal{Status: e.status}))
	}
	p.endings.list, p.endings.due = p.endings.list[n:], false
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	p.tell(ctx, list)
}

// wakeForEnds sets a timer for those that are not told yet.
func (p *process) wakeForEnds(ctx workflow.Context, hurry bool) {
	if p.endings.soon || p.endings.wakes && !hurry {
		return
	}
	p.endings.wakes, p.endings.soon = true, hurry
	after := endsLate
	if hurry {
		after = endsSoon
	}
	timer := workflow.NewTimerWithOptions(ctx, after, workflow.TimerOptions{Summary: "until it is certain who has ended"})
	p.inbox.when(timer, func(f workflow.Future) {
		p.endings.wakes, p.endings.soon = false, false
		p.endings.due = len(p.endings.list) > 0 && f.Get(ctx, nil) == nil
	})
}
