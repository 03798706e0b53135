package mailbox

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/jsonval"
	"processidea/model/turn"
)

// maxRefusals bounds a report: of a flood of nonsense the last ones are as good as all.
const maxRefusals = 100

// RecordRefusal keeps a signal that changed nothing, and why.
func (b *Inbox) RecordRefusal(ctx workflow.Context, signal string, payload map[string]any, reason string) {
	text := func(k string) string {
		s, _ := payload[k].(string)
		return jsonval.Clip(s, 200)
	}
	r := turn.RefusedSignal{
		Signal: signal, ID: text("id"), CallID: text("call"), By: text("by"), Reason: jsonval.Clip(reason, 1000), RefusedAt: workflow.Now(ctx),
	}
	b.Refusals.Add(r)
	b.UnreportedRefusals = append(b.UnreportedRefusals, r)
	if len(b.UnreportedRefusals) > maxRefusals {
		b.UnreportedRefusals = b.UnreportedRefusals[1:]
	}
}

// refuseEach is Refuse for a signal that may bring many decisions: each of them is refused as it would be alone.
func (b *Inbox) refuseEach(ctx workflow.Context, signal string, payload map[string]any, reason string) {
	many, err := turn.ReadDecisions(payload)
	if signal != turn.SteerDecide || err != nil {
		b.RecordRefusal(ctx, signal, payload, reason)
		return
	}
	for _, one := range many.List {
		b.RecordRefusal(ctx, one.Kind, one.Payload, reason)
	}
}

// TakeUnreportedRefusals returns what was refused since it was called last.
func (b *Inbox) TakeUnreportedRefusals() []turn.RefusedSignal {
	r := b.UnreportedRefusals
	b.UnreportedRefusals = nil
	return r
}

// LastRefusals are the refusals as a query answers them: a list, never null.
func (b *Inbox) LastRefusals() []turn.RefusedSignal {
	return append([]turn.RefusedSignal{}, b.Refusals.MostRecent...)
}
