package process

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
)

// This file answers queries. A split process answers the same queries as any other.

// queryableProcess is a process of either kind, as queries ask about it.
type queryableProcess interface {
	view() protocol.ProcessView
	approvals() protocol.ProcessApprovals
	// callCounts lists the Calls of the latest Plan.
	callCounts() []turn.PlannedCallCounts
	// plans lists the Plans that wait for a person.
	plans() []protocol.PlanView
	// addApprovalContexts adds to approvals the known context of their instances.
	addApprovalContexts([]protocol.Approval)
}

// registerQueries registers the queries; chainNote and approvalSources complete their descriptions.
func (c *processCore) registerQueries(ctx workflow.Context, v queryableProcess, chainNote,
	approvalSources string) error {
	return display.RegisterQueries(ctx, []display.Query{
		{Name: protocol.QueryStatus, Handler: func() (protocol.ProcessView, error) { return v.view(), nil },
			Description: "Where the process stands: as `run --json` prints it, without States, and what it waits for."},
		{Name: protocol.QueryIdea, Handler: func() (protocol.IdeaRef, error) { return c.LastSealedIdea, nil },
			Description: "The latest Idea of the chain: {at, digest, place}." + chainNote},
		{Name: protocol.QueryApprovals, Handler: func() (protocol.ProcessApprovals, error) {
			list := v.approvals()
			v.addApprovalContexts(list.Approvals)
			list.Plans = v.plans()
			return list, nil
		}, Description: "What waits for a person, in all " + approvalSources + ": {approvals, plans}."},
		{Name: protocol.QueryPlanProgress, Handler: func() (protocol.PlanProgress, error) {
			return protocol.PlanProgress{Calls: v.callCounts()}, nil
		},
			Description: "The Calls of the latest Plan, each with its number of instances by status: {calls}. Of " +
				"a split process, ask the parts."},
	})
}

// processView is the answer to the query "status" for a result so far: why nothing goes on, what holds the process up,
// and what it waits for beside people's decisions.
func (c *processCore) processView(p queryableProcess, r loop.ProcessResult, stallFault *diag.Fault,
	holdUps []turn.HoldUp,
	ownWaitReasons []string) protocol.ProcessView {
	pending, plans, allWaitReasons := p.approvals().Approvals, p.plans(), []string{}
	if len(c.pendingMCPServerNames) > 0 {
		allWaitReasons = append(allWaitReasons, c.askingMCPServersText())
	}
	allWaitReasons = append(allWaitReasons, ownWaitReasons...)
	for _, plan := range plans {
		allWaitReasons = append(allWaitReasons, planWaitingText(plan))
	}
	for _, a := range pending {
		allWaitReasons = append(allWaitReasons, approvalWaitingText(a))
	}
	if r.Error == nil && r.Status == loop.StatusPaused {
		r.Error = stallFault
	}
	r.HoldUps = holdUps
	return protocol.ProcessView{
		ProcessResult: r, WaitingFor: allWaitReasons, Refusals: c.inbox.Fates.Refusals(),
		RefusalCount:         c.inbox.Fates.RefusedCount,
		PendingDecisionCount: len(pending) + len(plans), Orders: c.orders.Orders.WithoutDigests(),
	}
}

func pauseWaitingText(f *diag.Fault) string { return "paused: " + f.Message }

func approvalWaitingText(a protocol.Approval) string {
	return fmt.Sprintf("%s%s %s since %s", protocol.WaitingForPersonPrefix, a.CallID, a.Tool,
		a.Since.UTC().Format(time.RFC3339))
}

func (p *unsplitProcess) callCounts() []turn.PlannedCallCounts { return p.loop.LatestPlanCallCounts() }

func (p *unsplitProcess) view() protocol.ProcessView {
	var waitReasons []string
	pauseFault, stallFault := p.pauseReason(), p.loop.StalledDelegatesFault()
	if holdUps := p.ownHoldUps(false); pauseFault != nil {
		waitReasons = append(waitReasons, pauseWaitingText(pauseFault))
	} else if len(holdUps) > 0 {
		waitReasons = jsonval.Map(holdUps, turn.HoldUp.String)
	} else if input := p.loop.RequestInFlight(); input != nil && p.loop.PendingPlan == nil {
		waitReasons = append(waitReasons, requestSummary(input))
	}
	waitReasons = append(waitReasons, delegateStatusLines(p.delegateViews())...)
	return p.processView(p, p.result(p.status(cmp.Or(pauseFault, stallFault)), false), stallFault, p.allHoldUps(),
		waitReasons)
}

func (p *unsplitProcess) delegateViews() (list []turn.DelegateView) {
	for _, m := range p.loop.Instances {
		list = append(list, m.Delegates...)
	}
	return list
}

const maxDelegateLines = 20

// delegateStatusLines describe delegates, without those that run and wait for nothing.
func delegateStatusLines(list []turn.DelegateView) (lines []string) {
	for _, d := range list {
		if len(d.WaitingFor) > 0 && len(lines) < maxDelegateLines {
			lines = append(lines, fmt.Sprintf("delegate %s: %s", d.ProcessID, d.StatusLine()))
		}
	}
	return lines
}

func (p *unsplitProcess) approvals() protocol.ProcessApprovals {
	v := protocol.ProcessApprovals{Approvals: []protocol.Approval{}}
	for _, m := range p.loop.Instances {
		for _, a := range m.PendingApprovals {
			v.Approvals = append(v.Approvals, protocol.Approval{Process: p.processID, Instance: m.Token,
				PendingCall: a})
		}
	}
	return v
}

// maxApprovalContextBytes bounds the inputs and States in one answer, in bytes of JSON: a larger answer would not fit.
const maxApprovalContextBytes = 1 << 20

// addApprovalContexts adds the input and State of each instance, as reported, until they become too large for one
// answer.
func (p *unsplitProcess) addApprovalContexts(list []protocol.Approval) {
	messagesByToken := ideafile.GroupMessagesByInstance(p.idea.Context)
	contextBytes := 0
	for n := range list {
		token := list[n].Instance
		c := protocol.ApprovalContext{Input: ideafile.OwnInstanceInput(messagesByToken[token], token),
			State: p.loop.StateOf(token)}
		contextBytes += len(jsonval.Encode(c.Input)) + len(jsonval.Encode(c.State))
		if contextBytes > maxApprovalContextBytes {
			return
		}
		list[n].ApprovalContext = c
	}
}
