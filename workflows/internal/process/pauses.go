package process

import (
	"cmp"
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

// This file pauses a process and lets it go on: its instances and delegates, or its parts.

func (p *unsplitProcess) pause(_ workflow.Context, s approval.SteeringPayload) {
	p.loop.Pause(s.SentBy, s.Reason)
}

func (p *unsplitProcess) resume(ctx workflow.Context, s approval.SteeringPayload) bool {
	anyDelegateResumed, isForwarded := p.resumeDelegates(ctx), s.ID == protocol.ForwardedSteeringSignalID
	if isForwarded {
		p.ParentResumeCount++
	}
	if p.pauseReason() == nil && !anyDelegateResumed {
		if isForwarded {
			p.resumeInstances(ctx)
		}
		return false
	}
	if p.phase == phaseRunning {
		p.propagatePause(ctx) // an instance that has postponed a Call goes on only if it is notified
	}
	p.loop.Resume(s.Limits)
	return true
}

// resumeDelegates resumes paused delegates, and reports whether there are any. It is for delegates that are paused
// while the process is not; the delegates of a paused process go on with the process.
func (p *unsplitProcess) resumeDelegates(ctx workflow.Context) (anyDelegatePaused bool) {
	for _, m := range p.loop.Instances {
		hasPausedDelegate := slices.ContainsFunc(m.Delegates, func(d turn.DelegateView) bool {
			return d.Status == string(loop.StatusPaused)
		})
		if m.Status == ideafile.InstanceWorking && hasPausedDelegate {
			anyDelegatePaused = true
			p.sendHoldSignal(ctx, m.Token, protocol.HoldInstanceSignal{IsHeld: p.AreInstancesHeld,
				ResumesDelegates: true})
		}
	}
	return anyDelegatePaused
}

func (p *unsplitProcess) sendHoldSignal(ctx workflow.Context, instanceToken string, s protocol.HoldInstanceSignal) {
	workflowID := protocol.InstanceID(p.processID, instanceToken)
	p.outbox.Send(ctx, workflowID, mailbox.OutgoingSignal{SignalName: protocol.SignalHoldInstance, Payload: s})
}

// askInstancesForReports asks working instances to report what they have done so far, for the Idea of a Request that
// does not cover them.
func (p *unsplitProcess) askInstancesForReports(ctx workflow.Context) {
	for _, m := range p.loop.TakeInstancesToAskForReport() {
		p.sendHoldSignal(ctx, m.Token, protocol.HoldInstanceSignal{IsHeld: p.AreInstancesHeld, WantsReport: true})
	}
}

// sendQuotas sends changed quotas to their instances. It leaves out the starting instances, whose start contains the
// quota.
func (p *unsplitProcess) sendQuotas(ctx workflow.Context, startingTokens ...string) {
	for _, m := range p.loop.TakeInstancesWithNewQuota() {
		if !slices.Contains(startingTokens, m.Token) {
			q := m.QuotaAllocation.GrantedQuota
			p.sendHoldSignal(ctx, m.Token, protocol.HoldInstanceSignal{IsHeld: p.AreInstancesHeld, Quota: &q})
		}
	}
}

// onSteering handles an instruction from the process that this one is a part or a delegate of.
func (p *unsplitProcess) onSteering(ctx workflow.Context, s protocol.SteerChildSignal) {
	if s.Quota != nil {
		p.loop.ParentQuota = *s.Quota
	}
	switch {
	case s.PauseOrResume == approval.SteerPause && p.pauseReason() == nil:
		p.loop.PauseReason = parentPausedFault(s)
	case s.PauseOrResume == approval.SteerResume:
		p.ParentResumeCount++
		p.resumeDelegates(ctx)
		if p.pauseReason() == nil {
			p.resumeInstances(ctx)
		}
		p.loop.Resume(ideafile.Limits{})
	}
}

func parentPausedFault(s protocol.SteerChildSignal) *diag.Fault {
	return diag.Faultf(turn.CodePaused, "the process that it works for is paused: %s", s.Reason)
}

// logAutomaticPause logs a pause that no person asked for.
func (p *unsplitProcess) logAutomaticPause(ctx workflow.Context, f *diag.Fault) {
	decidedBy := approval.DecidedByProcess
	switch f.Code {
	case turn.CodePaused:
		return
	case dataflow.CodeApprovalOverdue:
		decidedBy = approval.DecidedByTimeout
	}
	p.logDecision(steeringDecision(ctx, approval.SteerPause,
		approval.SteeringPayload{SentBy: decidedBy, Reason: f.Message}))
}

func (p *unsplitProcess) pauseWithFault(f *diag.Fault) { p.loop.PauseWithFault(f) }

func (p *unsplitProcess) pauseReason() *diag.Fault { return p.loop.PauseReason }

// propagatePause keeps the instances from starting anything while the process is paused, and releases them when it goes
// on. Working instances report what they have done so far, since a pause is an Idea of the chain (sealAtRest).
func (p *unsplitProcess) propagatePause(ctx workflow.Context) {
	isPaused := p.pauseReason() != nil
	if isPaused == p.AreInstancesHeld {
		return
	}
	p.AreInstancesHeld = isPaused
	if !isPaused {
		p.resumeInstances(ctx)
		return
	}
	p.logAutomaticPause(ctx, p.pauseReason())
	for _, m := range p.instancesToHold() {
		p.sendHoldSignal(ctx, m.Token, protocol.HoldInstanceSignal{IsHeld: true, WantsReport: !m.IsIdle,
			Reason: p.pauseReason().Message})
	}
}

// resumeInstances notifies the instances that they may go on, and that what their Calls lacked when they began may be
// there now. A process that works for another one does so even if it was not paused itself.
func (p *unsplitProcess) resumeInstances(ctx workflow.Context) {
	if p.phase != phaseRunning {
		return
	}
	for _, m := range p.instancesToHold() {
		m.ResumeCount++
		p.sendHoldSignal(ctx, m.Token, protocol.HoldInstanceSignal{ResumeNumber: m.ResumeCount})
	}
}

// instancesToHold lists the instances that must be notified of a pause. An instance that is being started anew need not
// be: it begins paused or not, as the process is then.
func (p *unsplitProcess) instancesToHold() []*loop.InstanceProgress {
	return slices.DeleteFunc(slices.Clone(p.loop.Instances), func(m *loop.InstanceProgress) bool {
		return !m.CanReceiveCalls() || p.isRestarting(m.Token)
	})
}

// pause pauses the parts, and no other part starts.
func (p *splitProcess) pause(ctx workflow.Context, s approval.SteeringPayload) {
	p.splitState.PauseReason = turn.PersonPauseFault(s.SentBy, s.Reason)
	p.steerParts(ctx, approval.SteerPause, s.SentBy, s.Reason)
}

// resume lets the parts go on. The limits are the whole process's: the parts have none.
func (p *splitProcess) resume(ctx workflow.Context, s approval.SteeringPayload) bool {
	p.splitState.PauseReason = nil
	p.splitState.Limits = p.splitState.Limits.OverriddenBy(s.Limits)
	p.steerParts(ctx, approval.SteerResume, s.SentBy, s.Reason)
	return true
}

// forwardedPayload is the payload of a steering signal to a part.
func forwardedPayload(author, reason string) map[string]any {
	return map[string]any{"by": author, "reason": reason, "id": protocol.ForwardedSteeringSignalID}
}

// steerParts sends a steering signal to the parts that it concerns.
func (p *splitProcess) steerParts(ctx workflow.Context, signalName, author, reason string) {
	p.sendToParts(ctx, signalName, mailbox.OutgoingSignal{SignalName: signalName,
		Payload: forwardedPayload(author, reason)})
}

// sendToParts sends a signal to every working part; a resume goes only to the paused ones.
func (p *splitProcess) sendToParts(ctx workflow.Context, signalName string, s mailbox.OutgoingSignal) {
	partNumbers := p.splitState.RunningPartNumbers()
	if signalName == approval.SteerResume {
		partNumbers = p.splitState.TakePartsToResume()
	}
	for _, number := range partNumbers {
		p.sendToPart(ctx, number, s)
	}
}

func (p *splitProcess) sendToPart(ctx workflow.Context, partNumber int, s mailbox.OutgoingSignal) {
	p.outbox.Send(ctx, protocol.PartID(p.processID, partNumber), s)
}

// pauseOtherParts pauses all other parts if one part has paused for a reason of its own.
func (p *splitProcess) pauseOtherParts(ctx workflow.Context, pausedPartNumber int, f *diag.Fault) {
	for _, number := range p.splitState.RunningPartNumbers() {
		if number != pausedPartNumber && p.splitState.Parts[number-1].Report.Status != loop.StatusPaused {
			p.sendToPart(ctx, number, mailbox.OutgoingSignal{
				SignalName: approval.SteerPause, Payload: forwardedPayload(fmt.Sprintf("part %d", pausedPartNumber),
					f.Message),
			})
		}
	}
}

// onSteering handles an instruction from the process that this one is a delegate of.
func (p *splitProcess) onSteering(ctx workflow.Context, s protocol.SteerChildSignal) {
	if s.Quota != nil {
		p.splitState.ParentQuota = *s.Quota
	}
	switch {
	case s.PauseOrResume == approval.SteerPause && p.pauseReason() == nil:
		p.splitState.PauseReason = parentPausedFault(s)
	case s.PauseOrResume == approval.SteerResume:
		p.splitState.PauseReason = nil
	default:
		return
	}
	p.sendToParts(ctx, s.PauseOrResume, steerChildSignal(protocol.SteerChildSignal{PauseOrResume: s.PauseOrResume,
		Reason: s.Reason}))
}

// steerChildSignal is an instruction of the whole, its parent, to a part.
func steerChildSignal(s protocol.SteerChildSignal) mailbox.OutgoingSignal {
	return mailbox.OutgoingSignal{SignalName: protocol.SignalSteerChild, Payload: s}
}

func (p *splitProcess) pauseWithFault(f *diag.Fault) {
	p.splitState.PauseReason = cmp.Or(p.splitState.PauseReason, f)
}

func (p *splitProcess) pauseReason() *diag.Fault { return p.splitState.PauseReason }
