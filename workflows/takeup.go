package workflows

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/loop"
	"processidea/protocol"
)

// takeUp hands the instances the Calls that the Idea which the process started from had left unfinished. A Request's Calls
// are handed out before those of the next: an instance takes no Call of a Request that a later one has closed.
func (p *process) takeUp(ctx workflow.Context) {
	var list []protocol.Delivery
	request := 0
	for _, t := range p.mind.TakeResumed() {
		if t.Request != request {
			p.tell(ctx, list)
			list, request = nil, t.Request
		}
		list = append(list, protocol.NewDelivery(protocol.InstanceID(p.id, t.Token), protocol.SignalCalls, taken(t)))
	}
	p.tell(ctx, list)
}

func taken(t loop.ResumedCalls) protocol.CallsSignal {
	s := protocol.CallsSignal{Request: t.Request, Last: true}
	for _, c := range t.Calls {
		s.Calls = append(s.Calls, protocol.SentCall{Index: c.Index, Call: c.Call, Why: c.ReviewReason})
	}
	return s
}
