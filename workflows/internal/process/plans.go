package process

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/mailbox"
)

// This file holds Plans until people have decided on them, and then sends them to the instances.

// holdPlansIfConfigured holds the Plans of the process if its Idea, or a process that it works for, says so.
func (p *unsplitProcess) holdPlansIfConfigured() {
	if o := p.oversight(); o.RequiresPlanReview() {
		p.loop.RequiresPlanReview, p.loop.PlanDeciders = true, o.PlanDeciders()
		p.setup.WithholdsCalls = true
	}
}

// holdOrDeliverPlan holds the Plan of a whole reply that no instance has received yet. A Plan with nothing to decide on
// is sent immediately.
func (p *unsplitProcess) holdOrDeliverPlan(ctx workflow.Context, input *turn.RequestInput) {
	if !p.setup.WithholdsCalls || !loop.AsksForCalls(input) || p.loop.HoldReplyPlan(workflow.Now(ctx)) {
		return
	}
	p.deliverPlan(ctx)
}

// deliverPlan sends the instances the Calls of the Request in flight, and closes it.
func (p *unsplitProcess) deliverPlan(ctx workflow.Context) {
	p.loop.MarkInstancesGone(p.sendCalls(ctx, p.loop.DecidedPlanDeliveries(), false))
}

// awaitStartPlanDecision waits, before any instance has started, until people have decided on the Calls that the
// process begins with.
func (p *unsplitProcess) awaitStartPlanDecision(ctx workflow.Context) error {
	if !p.loop.RequiresPlanReview || !p.loop.HoldStartPlan(workflow.Now(ctx)) {
		return nil
	}
	p.phase = phaseOpening
	p.sealCurrentState(ctx)
	for p.loop.PendingPlan != nil && !p.mustStop(ctx) {
		step := loop.StepWait
		if p.pauseReason() != nil {
			step = loop.StepPaused
		}
		p.publishStatus(ctx, step)
		p.inbox.Wait(ctx)
	}
	p.phase = phaseRunning
	if p.mustStop(ctx) {
		return p.cancel(ctx)
	}
	p.setIdea(p.loop.Idea)
	p.start.Idea = p.idea.Source // later runs begin with it
	return nil
}

// DecidePlan takes a decision on the Plan that waits: it runs as it is, with other Calls, or not at all.
func (p *unsplitProcess) DecidePlan(ctx workflow.Context, payload jsonval.Object, d approval.Decision) error {
	if err := p.refuseDeputies(payload); err != nil {
		return err
	}
	pending := p.loop.PendingPlan
	if pending != nil && d.Proof != "" {
		d.Verification = activity.VerifyProof(ctx, d.Proof, pending.Name(), p.processID)
	}
	deputyRemarks := p.orders.Orders.DeputyRemarks()
	if p.start.Part != nil {
		deputyRemarks = d.DeputyRemarks
	}
	d, err := approval.CheckPlanDecision(pending, d, policy.ReadStarters(p.idea.Source),
		p.causersOf(instanceTokensOfPlan(pending)), deputyRemarks, workflow.Now(ctx))
	if err == nil && d.Kind == approval.SteerAmendPlan {
		d.AmendedCalls = pending.RestoreLargeValues(d.AmendedCalls)
		err = p.checkAmendment(ctx, pending, d.AmendedCalls)
	}
	if err != nil {
		return err
	}
	if d.Kind == approval.SteerAmendPlan {
		for _, person := range d.Identities() {
			p.recordCauser(person, instanceTokensOfPlan(pending)...)
		}
	}
	request, votes := p.loop.RequestInFlight(), approval.VoteCount{Have: 1, Want: 1} // one rejection is enough
	isDecided := p.loop.DecidePlan(d)
	if d.Kind != approval.SteerRejectPlan {
		votes.Want = pending.Deciders.RequiredApprovals()
		votes.Have = votes.Want
	}
	if stillPending := p.loop.PendingPlan; !isDecided && stillPending != nil {
		votes.Have = len(stillPending.VotesSoFar)
	}
	if isDecided && request != nil {
		p.ideaAtRequest = p.idea
		if d.Kind == approval.SteerRejectPlan {
			p.closeRequest(ctx, request, protocol.CloseRequestSignal{})
		} else {
			p.deliverPlan(ctx)
		}
	}
	p.inbox.RecordOwnFate(approval.Fate{ID: d.SignalID, Signal: d.Kind, SentBy: d.DecidedBy,
		ReceivedAt: workflow.Now(ctx),
		Votes:      votes})
	return nil
}

// checkAmendment returns why the Calls of an amendment cannot run.
func (p *unsplitProcess) checkAmendment(ctx workflow.Context, pending *approval.PlanAwaitingDecision,
	calls []ideafile.WrittenCall) error {
	c := check.AmendedPlanChecker{Context: p.loop.Idea.Context, Palette: ideafile.Palette{
		Tools: p.idea.Tools, BindingByTool: p.setup.Bindings, ApprovalOversight: p.oversight(),
		AdaptValuesWithLLM: p.LLMMayAdaptValues,
	}}
	if handle, isStored := ideafile.StoredPaletteHandle(p.idea.Source); isStored {
		c.Palette.Tools = activity.LoadTools(ctx, handle.AsJSONValue(), calls)
	}
	if request := p.loop.RequestInFlight(); request != nil {
		return c.CheckRequestCalls(request, calls)
	}
	context, callIndexOffset := p.loop.ContextWithStartPlan(calls)
	c.Context = context
	return c.CheckDirectCalls(instanceTokensOfPlan(pending), calls, callIndexOffset)
}

// instanceTokensOfPlan lists the instances of a Plan that waits: "" is the only one.
func instanceTokensOfPlan(pending *approval.PlanAwaitingDecision) []string {
	if pending == nil || len(pending.Instances) == 0 {
		return []string{""}
	}
	return pending.Instances
}

// plans lists the Plan that waits, if one does.
func (p *unsplitProcess) plans() []protocol.PlanView {
	if pending := p.loop.PendingPlan; pending != nil {
		return []protocol.PlanView{p.planView(p.processID, pending)}
	}
	return nil
}

// planView is a Plan that waits in a process, with what is known here of who may decide on it.
func (c *processCore) planView(processID string, pending *approval.PlanAwaitingDecision) protocol.PlanView {
	v := protocol.PlanView{Process: processID, PlanAwaitingDecision: *pending,
		DeputyRemarks: c.orders.Orders.DeputyRemarks()}
	if pending.Deciders.ExcludesStarter() {
		v.Excluded = &approval.ExcludedPeople{StartedBy: policy.ReadStarters(c.idea.Source),
			CausedBy: c.causersOf(instanceTokensOfPlan(pending))}
	}
	return v
}

// planWaitingText describes a Plan that waits for a person.
func planWaitingText(v protocol.PlanView) string {
	return fmt.Sprintf("%s%s (%s) since %s", protocol.WaitingForPersonPrefix, v.Name(), v.Summary(),
		v.Since.UTC().Format(time.RFC3339))
}

// DecidePlan sends a decision to the part whose Plan has the decision's digest. A decision without a digest goes by the
// number of the Request, if only one Plan of that number waits.
func (p *splitProcess) DecidePlan(ctx workflow.Context, payload jsonval.Object, d approval.Decision) error {
	if err := p.refuseDeputies(payload); err != nil {
		return err
	}
	var processIDs []string
	for _, v := range p.plans() {
		if d.ApprovalDigest == v.Digest || (d.ApprovalDigest == "" && v.RequestNumber == *d.PlanRequest) {
			processIDs = append(processIDs, v.Process)
		}
	}
	switch {
	case len(processIDs) == 0 && d.ApprovalDigest != "":
		return errors.New("no Plan with that digest waits in any part")
	case len(processIDs) == 0:
		return fmt.Errorf("no Plan of Request %d waits in any part", *d.PlanRequest)
	case len(processIDs) > 1:
		return fmt.Errorf("Plans of Request %d wait in %d parts: name one by its digest", *d.PlanRequest,
			len(processIDs))
	}
	if deputyRemarks := p.orders.Orders.DeputyRemarks(); len(deputyRemarks) > 0 {
		payload = maps.Clone(payload)
		payload[approval.DeputiesKey] = jsonval.ToJSONValue(deputyRemarks)
	}
	p.outbox.Send(ctx, processIDs[0],
		mailbox.OutgoingSignal{SignalName: d.Kind, Payload: payload,
			RefusalIfUndelivered: "the part has ended: no Plan waits there"})
	return mailbox.ErrOutcomePending
}

// refuseDeputies refuses a decision that names deputies, except in a part, whose whole adds them.
func (c *processCore) refuseDeputies(payload jsonval.Object) error {
	if c.start.Part != nil || payload[approval.DeputiesKey] == nil {
		return nil
	}
	return errors.New(`unknown key "deputies"`)
}

// plans lists the waiting Plans of the parts.
func (p *splitProcess) plans() (list []protocol.PlanView) {
	for _, part := range p.splitState.Parts {
		if pending := part.Report.PendingPlan; pending != nil && !part.Report.IsFinished() {
			list = append(list, p.planView(protocol.PartID(p.processID, part.Number), pending))
		}
	}
	return list
}
