package mailbox

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/jsonval"
)

// maxRefusals bounds a report: of a flood of nonsense the last ones are as good as all.
const (
	maxRefusals            = 100
	maxRefusalsUnderOrders = 1000
)

// RecordRefusal keeps a signal that changed nothing, and why.
func (b *Inbox) RecordRefusal(ctx workflow.Context, signal string, payload map[string]any, reason string) {
	text := func(k string) string {
		s, _ := payload[k].(string)
		return jsonval.Clip(s, 200)
	}
	r := approval.RefusedSignal{
		Signal: signal, ID: text("id"), CallID: text("call"), By: text("by"), Reason: jsonval.Clip(reason, 1000), RefusedAt: workflow.Now(ctx),
	}
	if r.OrderID = approval.OrderNamedIn(payload); r.OrderID != "" {
		r.Digest = text("digest")
	}
	b.Refusals.Add(r)
	b.ReportRefusal(r)
}

// ReportRefusal has a refusal named in the next report. Each approval under a standing order that was refused is, since it was counted.
func (b *Inbox) ReportRefusal(r approval.RefusedSignal) {
	b.UnreportedRefusals = append(b.UnreportedRefusals, r)
	if len(b.UnreportedRefusals) <= maxRefusals {
		return
	}
	drop := slices.IndexFunc(b.UnreportedRefusals, func(r approval.RefusedSignal) bool { return r.OrderID == "" })
	if drop < 0 && len(b.UnreportedRefusals) > maxRefusalsUnderOrders {
		drop = 0
	}
	if drop >= 0 {
		b.UnreportedRefusals = slices.Delete(b.UnreportedRefusals, drop, drop+1)
	}
}

// refuseEach is Refuse for a signal that may bring many decisions: each of them is refused as it would be alone.
func (b *Inbox) refuseEach(ctx workflow.Context, signal string, payload map[string]any, reason string) {
	many, err := approval.ReadDecisions(payload)
	if signal != approval.SteerDecide || err != nil {
		b.RecordRefusal(ctx, signal, payload, reason)
		return
	}
	for _, one := range many.List {
		b.RecordRefusal(ctx, one.Kind, one.Payload, reason)
	}
}

// TakeUnreportedRefusals returns what was refused since it was called last.
func (b *Inbox) TakeUnreportedRefusals() []approval.RefusedSignal {
	r := b.UnreportedRefusals
	b.UnreportedRefusals = nil
	return r
}

// LastRefusals are the refusals as a query answers them: a list, never null.
func (b *Inbox) LastRefusals() []approval.RefusedSignal {
	return append([]approval.RefusedSignal{}, b.Refusals.MostRecent...)
}
