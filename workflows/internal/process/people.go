package process

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file handles what people signal an ordinary process (signals.Process).

// Pause lets running Calls finish and starts nothing new.
func (p *unsplitProcess) Pause(ctx workflow.Context, s approval.SteeringPayload) error {
	if f := p.pauseReason(); f != nil {
		if s.ID == protocol.ForwardedID {
			return nil
		}
		return alreadyPausedError(f)
	}
	p.loop.Pause(s.By, s.Reason)
	p.loop.LogSteering(steeringDecision(ctx, approval.SteerPause, s))
	return nil
}

func alreadyPausedError(f *diag.Fault) error {
	return fmt.Errorf("the process is paused already: %s", f.Message)
}

// Resume lets a paused process go on.
func (p *unsplitProcess) Resume(ctx workflow.Context, s approval.SteeringPayload) error {
	resumed := p.resumeDelegates(ctx)
	if s.ID == protocol.ForwardedID {
		p.resumesHeard++
	}
	if p.pauseReason() == nil && !resumed {
		if s.ID == protocol.ForwardedID {
			p.releaseInstances(ctx)
			return nil
		}
		return errors.New("the process is not paused")
	}
	if p.phase == running {
		p.propagatePause(ctx) // an instance that has put off a Call goes on only if it is told so
	}
	p.loop.Resume(s.Limits)
	p.loop.LogSteering(steeringDecision(ctx, approval.SteerResume, s))
	return nil
}

// resumeDelegates lets those delegates go on that are paused while the process is not, and reports whether there are any. Those of a
// process that is paused go on with it.
func (p *unsplitProcess) resumeDelegates(ctx workflow.Context) (any bool) {
	for _, m := range p.loop.Instances() {
		paused := slices.ContainsFunc(m.Delegates, func(d turn.DelegateView) bool { return d.Status == string(loop.StatusPaused) })
		if m.Status == ideafile.InstanceWorking && paused {
			any = true
			p.sendHold(ctx, m.Token, protocol.HoldSignal{Held: p.instancesHeld, Resume: true})
		}
	}
	return any
}

func (p *unsplitProcess) sendHold(ctx workflow.Context, token string, s protocol.HoldSignal) {
	p.outbox.Send(ctx, protocol.InstanceID(p.processID, token), mailbox.OutgoingSignal{Signal: protocol.SignalHold, Payload: s})
}

// askForReports has instances that are at work tell what they have done so far, for the Idea of a Request that does
// not cover them.
func (p *unsplitProcess) askForReports(ctx workflow.Context) {
	for _, m := range p.loop.TakeInstancesToReport() {
		p.sendHold(ctx, m.Token, protocol.HoldSignal{Held: p.instancesHeld, Report: true})
	}
}

// sendQuotas tells the instances what they may begin, as far as that has changed.
func (p *unsplitProcess) sendQuotas(ctx workflow.Context) { p.sendQuotasExcept(ctx, nil) }

func (p *unsplitProcess) sendQuotasExcept(ctx workflow.Context, starting []string) {
	for _, m := range p.loop.TakeInstancesWithNewQuota() {
		if !slices.Contains(starting, m.Token) {
			q := m.Claim.GrantedQuota
			p.sendHold(ctx, m.Token, protocol.HoldSignal{Held: p.instancesHeld, Quota: &q})
		}
	}
}

// onParentSignal takes what the process that this one is a part or a delegate of has it do.
func (p *unsplitProcess) onParentSignal(ctx workflow.Context, s protocol.ParentSignal) {
	if s.Quota != nil {
		p.loop.SetParentQuota(*s.Quota)
	}
	switch {
	case s.Steer == approval.SteerPause && p.pauseReason() == nil:
		p.loop.PauseWithParent(parentPausedFault(s))
	case s.Steer == approval.SteerResume:
		p.resumesHeard++
		p.resumeDelegates(ctx)
		if p.pauseReason() == nil {
			p.releaseInstances(ctx)
		}
		p.loop.Resume(ideafile.Limits{})
	}
}

func parentPausedFault(s protocol.ParentSignal) *diag.Fault {
	return diag.Faultf(turn.CodePaused, "the process that it works for is paused: %s", s.Reason)
}

// Revise takes a correction and sends the instances what concerns them. It is accepted once they have taken it in.
func (p *unsplitProcess) Revise(ctx workflow.Context, s approval.SteeringPayload) error {
	if p.phase == opening {
		return p.deferUntilRunning(approval.SteerRevise, s, p.Revise)
	}
	s.Context = p.loop.WithInstanceTokensResolved(ideafile.NumberDirectPlans(p.idea.Context, s.Context))
	touched, err := p.loop.ApplyRevision(s)
	if err != nil {
		return err
	}
	p.setIdea(p.loop.Idea())
	p.recordReviser(s)
	p.continueReopenedInstances(ctx)
	messages, _, _ := ideafile.ExtractReopenedTokens(s.Context)
	for _, m := range touched {
		p.sendCorrection(ctx, m.Token, protocol.CorrectionSignal{Context: messagesForInstance(messages, m.Token), By: s.By, Reason: s.Reason})
	}
	p.loop.LogSteering(steeringDecision(ctx, approval.SteerRevise, s))
	p.revisions = append(p.revisions, s)
	return mailbox.ErrUnderWay
}

// steeringDecision is a steering signal as the chain keeps it. Of an addition the Ideas hold the messages.
func steeringDecision(ctx workflow.Context, kind string, s approval.SteeringPayload) approval.Decision {
	d := approval.Decision{Kind: kind, DecidedBy: s.By, Reason: s.Reason, SignalID: s.ID, DecidedAt: workflow.Now(ctx)}
	if kind == approval.SteerRevise {
		d.Context = s.Context
	}
	if s.Limits != (ideafile.Limits{}) {
		d.Limits = &s.Limits
	}
	return d
}

// logAutomaticPause logs a pause that no person asked for.
func (p *unsplitProcess) logAutomaticPause(ctx workflow.Context, f *diag.Fault) {
	by := approval.DecidedByProcess
	switch f.Code {
	case turn.CodePaused:
		return
	case dataflow.CodeOverdue:
		by = approval.DecidedByTimeout
	}
	p.loop.LogSteering(approval.Decision{Kind: approval.SteerPause, DecidedBy: by, Reason: f.Message, DecidedAt: workflow.Now(ctx)})
}

// messagesForInstance picks the messages that an instance sees.
func messagesForInstance(context []any, token string) []any {
	var list []any
	for _, raw := range context {
		m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems))
		if ok && (m.PayloadKind != "" || m.IsDirectPlan()) && (m.InstanceToken == "" || m.InstanceToken == token) {
			list = append(list, raw)
		}
	}
	return list
}

// AddInstances takes in more instances. It is accepted once they have started.
func (p *unsplitProcess) AddInstances(ctx workflow.Context, s approval.SteeringPayload) error {
	if p.phase == opening {
		return p.deferUntilRunning(approval.SteerAdd, s, p.AddInstances)
	}
	tokens, err := p.loop.AddInstances(s)
	if err != nil {
		return err
	}
	p.setIdea(p.loop.Idea())
	p.recordCauser(s.By, tokens...)
	d := steeringDecision(ctx, approval.SteerAdd, s)
	d.Instances = tokens
	p.loop.LogSteering(d)
	p.joining = append(p.joining, joiningInstances{instanceTokens: tokens, addSteering: &s})
	return mailbox.ErrUnderWay
}

// signalBeforeStart is a signal that needs instances, of a process that has none yet.
type signalBeforeStart struct {
	kind     string
	steering approval.SteeringPayload
	handle   func(workflow.Context, approval.SteeringPayload) error
}

func (p *unsplitProcess) deferUntilRunning(kind string, s approval.SteeringPayload, handle func(workflow.Context, approval.SteeringPayload) error) error {
	p.earlySignals = append(p.earlySignals, signalBeforeStart{kind, s, handle})
	return mailbox.ErrUnderWay
}

// handleSignalsBeforeStart starts the instances and then does what people asked for early. If they paused the process, its instances start
// held; and a pause is an Idea of the chain, as is the beginning of a Plan that runs directly.
func (p *unsplitProcess) handleSignalsBeforeStart(ctx workflow.Context) error {
	if f := p.pauseReason(); f != nil {
		p.instancesHeld = true
		p.loop.MarkAllHeldByPause()
		p.logAutomaticPause(ctx, f)
	}
	if p.pauseReason() != nil || p.loop.RunsDirectPlan() {
		p.sealCurrentState(ctx)
	}
	if len(p.earlySignals) == 0 {
		return nil
	}
	err := p.startJoiningInstances(ctx)
	if err != nil {
		return err
	}
	for _, e := range p.earlySignals {
		err := e.handle(ctx, e.steering)
		p.inbox.Conclude(ctx, e.kind, map[string]any{"id": e.steering.ID, "by": e.steering.By}, err)
	}
	p.earlySignals = nil
	return nil
}

// sealRevisions makes a new Idea of what was revised, once every instance has taken it in.
func (p *unsplitProcess) sealRevisions(ctx workflow.Context) {
	if len(p.revisions) == 0 || !p.loop.AllCorrectionsAcked() {
		return
	}
	p.sealCurrentState(ctx)
	for _, s := range p.revisions {
		p.takeAct(ctx, approval.SteerRevise, s)
	}
	p.revisions = nil
}

// pauseWithFault pauses the process for a reason of its own.
func (p *unsplitProcess) pauseWithFault(f *diag.Fault) { p.loop.PauseWithFault(f) }

// pauseReason is why the process is paused; nil: it is not.
func (p *unsplitProcess) pauseReason() *diag.Fault { return p.loop.PauseReason() }

// propagatePause keeps the instances from starting anything while the process is paused, and lets them go on with it. Those that are at
// work tell what they have done so far: a pause is an Idea of the chain (sealAtRest).
func (p *unsplitProcess) propagatePause(ctx workflow.Context) {
	paused := p.pauseReason() != nil
	if paused == p.instancesHeld {
		return
	}
	p.instancesHeld = paused
	if paused {
		p.logAutomaticPause(ctx, p.pauseReason())
	}
	if !paused {
		p.releaseInstances(ctx)
		return
	}
	for _, m := range p.instancesToHold() {
		p.sendHold(ctx, m.Token, protocol.HoldSignal{Held: true, Report: !m.Idle, Reason: p.pauseReason().Message})
	}
}

// releaseInstances tells the instances that they may go on, and that what their Calls lacked when they began may be mended. A process that works
// for another one does so too where it was not paused itself.
func (p *unsplitProcess) releaseInstances(ctx workflow.Context) {
	if p.phase != running {
		return
	}
	for _, m := range p.instancesToHold() {
		m.ReleaseCount++
		p.sendHold(ctx, m.Token, protocol.HoldSignal{ReleaseNumber: m.ReleaseCount})
	}
}

// instancesToHold lists the instances that a pause holds: those that are being started anew begin as the process is then.
func (p *unsplitProcess) instancesToHold() []*loop.InstanceProgress {
	return slices.DeleteFunc(slices.Clone(p.loop.Instances()), func(m *loop.InstanceProgress) bool { return !m.CanReceiveCalls() || p.isRestarting(m.Token) })
}
