package process

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/workflows/internal/display"
)

// This file answers queries. A process that is split answers the same ones as any other.

// viewer is a process of either kind, as queries ask about it.
type viewer interface {
	view() protocol.ProcessView
	approvals() protocol.ProcessApprovals
}

// answer registers the queries; aboutChain and aboutApprovals end their descriptions.
func (c *core) answer(ctx workflow.Context, v viewer, aboutChain, aboutApprovals string) error {
	return display.Answer(ctx, []display.Query{
		{Name: protocol.QueryStatus, Handler: func() (protocol.ProcessView, error) { return v.view(), nil },
			Description: "Where the process stands: as `run --json` prints it, without States, and what it waits for."},
		{Name: protocol.QueryIdea, Handler: func() (protocol.Sealed, error) { return c.last, nil },
			Description: "The latest Idea of the chain: {at, digest, place}." + aboutChain},
		{Name: protocol.QueryApprovals, Handler: func() (protocol.ProcessApprovals, error) { return v.approvals(), nil },
			Description: "What waits for a person, in all " + aboutApprovals + ": {approvals}."},
	})
}

// viewOf is what the query "status" answers, but for what the process waits for beside a person's decisions.
func (c *core) viewOf(r loop.Result, pending []protocol.Approval) protocol.ProcessView {
	return protocol.ProcessView{
		Result: r, Waiting: []string{}, Refusals: c.inbox.LastRefusals(), Refused: c.inbox.Refusals.Count,
		Accepted: append([]protocol.Accepted{}, c.accepted...), Awaiting: len(pending),
	}
}

func waitingForPause(f *diag.Fault) string { return "paused: " + f.Message }

func waitingForPerson(a protocol.Approval) string {
	return fmt.Sprintf("%s%s %s since %s", protocol.WaitingForPerson, a.Call, a.Tool, a.Since.UTC().Format(time.RFC3339))
}

func (p *ordinaryProcess) answerQueries(ctx workflow.Context) error {
	return p.answer(ctx, p, "", "instances")
}

func (p *ordinaryProcess) view() protocol.ProcessView {
	pending := p.approvals().Approvals
	v := p.viewOf(p.result(p.status(p.paused()), false), pending)
	if f := p.paused(); f != nil {
		v.Waiting = append(v.Waiting, waitingForPause(f))
	} else if b := p.loop.InFlight(); b != nil {
		v.Waiting = append(v.Waiting, requestSummary(b))
	}
	for _, a := range pending {
		v.Waiting = append(v.Waiting, waitingForPerson(a))
	}
	return v
}

func (p *ordinaryProcess) approvals() protocol.ProcessApprovals {
	v := protocol.ProcessApprovals{Approvals: []protocol.Approval{}}
	for _, m := range p.loop.Instances() {
		for _, a := range m.Pending {
			v.Approvals = append(v.Approvals, protocol.Approval{Process: p.id, Instance: m.Token, PendingApproval: a})
		}
	}
	return v
}
