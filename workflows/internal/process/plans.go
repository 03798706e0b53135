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

// holdPlansIfAsked holds the Plans of the process if its Idea, or a process that it works for, says so.
func (p *unsplitProcess) holdPlansIfAsked() {
	if o := p.approvalOverride(); o.HoldsPlans() {
		p.loop.HoldsPlans, p.loop.PlanDeciders = true, o.PlanDeciders()
		p.setup.HoldCalls = true
	}
}

// holdOrHandOut holds the Plan of a whole reply that no instance has received yet. A Plan with nothing to decide on is
// sent immediately.
func (p *unsplitProcess) holdOrHandOut(ctx workflow.Context, input *turn.RequestInput) {
	if !p.setup.HoldCalls || !loop.HandsOutCalls(input) || p.loop.HoldReply(workflow.Now(ctx)) {
		return
	}
	p.handOutPlan(ctx)
}

// handOutPlan sends the instances the Calls of the Request in flight, and closes it.
func (p *unsplitProcess) handOutPlan(ctx workflow.Context) {
	p.loop.MarkGone(p.sendCalls(ctx, p.loop.PlanToHandOut(), false))
}

// awaitStartDecision waits, before any instance has started, until people have decided on the Calls that the process
// begins with.
func (p *unsplitProcess) awaitStartDecision(ctx workflow.Context) error {
	if !p.loop.HoldsPlans || !p.loop.HoldStart(workflow.Now(ctx)) {
		return nil
	}
	p.phase = opening
	p.sealCurrentState(ctx)
	for p.loop.PendingPlan != nil && !p.mustStop(ctx) {
		step := loop.StepWait
		if p.pauseReason() != nil {
			step = loop.StepPaused
		}
		p.publishStatus(ctx, step)
		p.inbox.Wait(ctx)
	}
	p.phase = running
	if p.mustStop(ctx) {
		return p.cancel(ctx)
	}
	p.setIdea(p.loop.Idea)
	p.start.Idea = p.idea.Source // later runs begin with it
	return nil
}

// DecidePlan takes a decision on the Plan that waits: it runs as it is, with other Calls, or not at all.
func (p *unsplitProcess) DecidePlan(ctx workflow.Context, payload jsonval.Object, d approval.Decision) error {
	if err := p.refuseDeputies(ctx, payload); err != nil {
		return err
	}
	pending := p.loop.PendingPlan
	if pending != nil && d.Proof != "" {
		d.Finding = activity.VerifyProof(ctx, d.Proof, pending.Name(), p.processID)
	}
	deputies := p.orders.Orders.Deputies()
	if p.start.Part != nil {
		deputies = d.Deputies
	} else if len(deputies) > 0 && !mailbox.KnowsChange(ctx, "deputies decide on Plans") {
		deputies = nil
	}
	d, err := approval.CheckPlanDecision(pending, d, policy.ReadStarters(p.idea.Source),
		p.causersOf(tokensOf(pending)), deputies, workflow.Now(ctx))
	if err == nil && d.Kind == approval.SteerAmendPlan {
		d.Calls = pending.WithLargeValues(d.Calls)
		err = p.checkAmendment(ctx, pending, d.Calls)
	}
	if err != nil {
		return err
	}
	if d.Kind == approval.SteerAmendPlan {
		for _, who := range d.Identities() {
			p.recordCauser(who, tokensOf(pending)...)
		}
	}
	request, count := p.loop.RequestInFlight(), approval.Count{Have: 1, Want: 1} // one rejection is enough
	decided := p.loop.DecidePlan(d)
	if d.Kind != approval.SteerRejectPlan {
		count.Want = pending.Deciders.RequiredApprovals()
		count.Have = count.Want
	}
	if still := p.loop.PendingPlan; !decided && still != nil {
		count.Have = len(still.DecidedSoFar)
	}
	if decided && request != nil {
		p.ideaAtRequest = p.idea
		if d.Kind == approval.SteerRejectPlan {
			p.closeRequest(ctx, request, protocol.CloseSignal{})
		} else {
			p.handOutPlan(ctx)
		}
	}
	p.inbox.Settle(approval.Fate{ID: d.SignalID, Signal: d.Kind, By: d.DecidedBy, At: workflow.Now(ctx), Count: count})
	return nil
}

// checkAmendment returns why the Calls of an amendment cannot run.
func (p *unsplitProcess) checkAmendment(ctx workflow.Context, pending *approval.Plan,
	calls []ideafile.WrittenCall) error {
	c := check.AmendedPlan{Context: p.loop.Idea.Context, Palette: ideafile.Palette{
		Tools: p.idea.Tools, BindingByTool: p.setup.Bindings, ApprovalOverride: p.approvalOverride(),
		AdaptValuesWithLLM: p.LLMMayAdapt,
	}}
	if handle, isStored := ideafile.StoredPaletteHandle(p.idea.Source); isStored {
		c.Palette.Tools = activity.LoadTools(ctx, handle.AsJSONValue(), calls)
	}
	if request := p.loop.RequestInFlight(); request != nil {
		return c.CheckRequestCalls(request, calls)
	}
	context, offset := p.loop.StartWithPlan(calls)
	c.Context = context
	return c.CheckDirectCalls(tokensOf(pending), calls, offset)
}

// tokensOf lists the instances of a Plan that waits: "" is the only one.
func tokensOf(pending *approval.Plan) []string {
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
func (c *processCore) planView(process string, pending *approval.Plan) protocol.PlanView {
	v := protocol.PlanView{Process: process, Plan: *pending, Deputies: c.orders.Orders.Deputies()}
	if pending.Deciders.ExcludeStarter() {
		v.Excluded = &approval.Excluded{StartedBy: policy.ReadStarters(c.idea.Source),
			CausedBy: c.causersOf(tokensOf(pending))}
	}
	return v
}

// planWaitingText describes a Plan that waits for a person.
func planWaitingText(v protocol.PlanView) string {
	return fmt.Sprintf("%s%s (%s) since %s", protocol.WaitingForPerson, v.Name(), v.Summary(),
		v.Since.UTC().Format(time.RFC3339))
}

// DecidePlan sends a decision to the part whose Plan has the decision's digest. A decision without a digest goes by the
// number of the Request, if only one Plan of that number waits.
func (p *splitProcess) DecidePlan(ctx workflow.Context, payload jsonval.Object, d approval.Decision) error {
	if err := p.refuseDeputies(ctx, payload); err != nil {
		return err
	}
	var of []string
	for _, v := range p.plans() {
		if d.ApprovalDigest == v.Digest || (d.ApprovalDigest == "" && v.Request == *d.PlanRequest) {
			of = append(of, v.Process)
		}
	}
	switch {
	case len(of) == 0 && d.ApprovalDigest != "":
		return errors.New("no Plan with that digest waits in any part")
	case len(of) == 0:
		return fmt.Errorf("no Plan of Request %d waits in any part", *d.PlanRequest)
	case len(of) > 1:
		return fmt.Errorf("Plans of Request %d wait in %d parts: name one by its digest", *d.PlanRequest, len(of))
	}
	if deputies := p.orders.Orders.Deputies(); len(deputies) > 0 {
		payload = maps.Clone(payload)
		payload[approval.DeputiesKey] = jsonval.ToJSONValue(deputies)
	}
	p.outbox.Send(ctx, of[0],
		mailbox.OutgoingSignal{Signal: d.Kind, Payload: payload,
			RefusalReason: "the part has ended: no Plan waits there"})
	return mailbox.ErrUnderWay
}

// refuseDeputies refuses a decision that names deputies, except in a part, whose whole adds them.
func (c *processCore) refuseDeputies(ctx workflow.Context, payload jsonval.Object) error {
	if c.start.Part != nil || payload[approval.DeputiesKey] == nil ||
		!mailbox.KnowsChange(ctx, "a whole is told of no deputies") {
		return nil
	}
	return errors.New(`unknown key "deputies"`)
}

// plans lists the waiting Plans of the parts.
func (p *splitProcess) plans() (list []protocol.PlanView) {
	for _, part := range p.parts.All {
		if pending := part.Report.PendingPlan; pending != nil && !part.Report.IsFinished() {
			list = append(list, p.planView(protocol.PartID(p.processID, part.Number), pending))
		}
	}
	return list
}
