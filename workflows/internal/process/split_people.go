package process

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file handles what people signal a split process (signals.Process): it passes on what is for the parts.

// Pause pauses the parts, and starts no other.
func (p *splitProcess) Pause(ctx workflow.Context, s approval.SteeringPayload) error {
	if f := p.pauseReason(); f != nil {
		return alreadyPausedError(f)
	}
	p.parts.PauseReason = turn.PauseFault(s.By, s.Reason)
	p.parts.LogSteering(steeringDecision(ctx, approval.SteerPause, s))
	p.sendToParts(ctx, approval.SteerPause, forwardedPayload(s.By, s.Reason))
	return nil
}

// Resume lets the parts go on. The limits are the whole process's: the parts have none.
func (p *splitProcess) Resume(ctx workflow.Context, s approval.SteeringPayload) error {
	p.parts.PauseReason, p.mcpUnreachableFault = nil, nil
	p.parts.Limits = p.parts.Limits.MergedWith(s.Limits)
	p.parts.LogSteering(steeringDecision(ctx, approval.SteerResume, s))
	p.sendToParts(ctx, approval.SteerResume, forwardedPayload(s.By, s.Reason))
	return nil
}

// forwardedPayload is the payload of a steering signal to a part.
func forwardedPayload(by, reason string) map[string]any {
	return map[string]any{"by": by, "reason": reason, "id": protocol.ForwardedID}
}

// sendToParts sends a steering signal to every part that works.
func (p *splitProcess) sendToParts(ctx workflow.Context, kind string, payload map[string]any) {
	numbers := p.parts.RunningParts()
	if kind == approval.SteerResume {
		numbers = p.parts.TakePartsToResume()
	}
	for _, number := range numbers {
		p.outbox.Send(ctx, protocol.PartID(p.processID, number), mailbox.OutgoingSignal{Signal: kind, Payload: payload})
	}
}

// Revise gives each part what concerns it. Those that have not started will start with it.
func (p *splitProcess) Revise(ctx workflow.Context, s approval.SteeringPayload) error {
	s.Context = ideafile.WithTokensNormalized(s.Context, spelling.NewTokenIndex(p.parts.InstanceTokens()).FindToken)
	messages, reopened, err := ideafile.ExtractReopenedTokens(s.Context)
	if err == nil {
		err = p.checkReopenable(reopened)
	}
	if err == nil {
		err = p.validateMessages(messages, false)
	}
	if err != nil {
		return err
	}
	s.Context = ideafile.NumberDirectPlans(p.idea.Context, s.Context)
	plain, _, _ := ideafile.ExtractReopenedTokens(s.Context)
	read, err := ideafile.ReadMessages(plain)
	if err == nil && len(reopened) == 0 { // else the parts check, which know what is reopened
		err = p.parts.CheckCorrections(p.idea, read)
	}
	if err != nil {
		return err
	}
	p.setIdea(p.idea.WithMessages(read))
	p.recordReviser(s)
	p.parts.Limits = p.parts.Limits.MergedWith(s.Limits)
	for _, number := range p.parts.RunningParts() {
		list := p.parts.All[number-1].FilterContext(s.Context)
		if len(list) > 0 {
			p.outbox.Send(ctx, protocol.PartID(p.processID, number), mailbox.OutgoingSignal{
				Signal: approval.SteerRevise, Payload: map[string]any{"context": list, "by": s.By, "reason": s.Reason, "id": protocol.ForwardedID},
			})
		}
	}
	p.parts.LogSteering(steeringDecision(ctx, approval.SteerRevise, s))
	return nil
}

// checkReopenable returns why an instance cannot be reopened that a correction names; nil if its part decides.
func (p *splitProcess) checkReopenable(tokens []string) error {
	for _, token := range tokens {
		number := p.parts.PartNumberOf(token)
		switch {
		case number == 0:
			return fmt.Errorf("there is no instance %s; add makes new ones", token)
		case p.parts.All[number-1].Report.IsFinished():
			return fmt.Errorf("instance %s belongs to part %d, which has ended with all its instances; a fork with --reopen %s works on it again",
				token, number, spelling.TypeableToken(token))
		case !p.parts.All[number-1].Started:
			return fmt.Errorf("instance %s has not ended: there is nothing to reopen", token)
		}
	}
	return nil
}

// AddInstances makes parts of more instances.
func (p *splitProcess) AddInstances(ctx workflow.Context, s approval.SteeringPayload) error {
	err := p.validateMessages(s.Context, true)
	if err != nil {
		return err
	}
	p.setIdea(p.idea.WithRawMessages(s.Context))
	d := steeringDecision(ctx, approval.SteerAdd, s)
	d.Instances = ideafile.SplitContextByInstance(s.Context).InstanceTokens
	p.recordCauser(s.By, d.Instances...)
	p.parts.LogSteering(d)
	p.parts.AddInstances(d.Instances)
	return nil
}

// validateMessages returns what is wrong with messages of people: whether they can be read, and whom they are about. newInstances:
// each must be about an instance that does not exist yet.
func (p *splitProcess) validateMessages(context []any, newInstances bool) error {
	names := spelling.NewTokenIndex(p.parts.InstanceTokens())
	for n, raw := range context {
		var problems diag.Problems
		m, ok := ideafile.ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), &problems)
		known := p.parts.PartNumberOf(m.InstanceToken) > 0
		switch {
		case !ok || len(problems.Errors()) > 0:
			return problems
		case newInstances && m.InstanceToken == "":
			return fmt.Errorf("$.context[%d]: it names no new instance", n)
		case newInstances && known:
			return fmt.Errorf("$.context[%d]: there is an instance %s already", n, m.InstanceToken)
		case !newInstances && m.InstanceToken != "" && !known:
			return fmt.Errorf("$.context[%d]: there is no instance %s; add makes new ones", n, m.InstanceToken)
		}
		if alike := names.AddToken(m.InstanceToken); alike != "" && newInstances {
			return fmt.Errorf("$.context[%d]: %w", n, ideafile.ConfusableTokensError(m.InstanceToken, alike))
		}
	}
	return nil
}

// pauseWithFault pauses the process before it has any part.
func (p *splitProcess) pauseWithFault(f *diag.Fault) { p.mcpUnreachableFault = f }

// pauseReason is why the process is paused; nil: it is not.
func (p *splitProcess) pauseReason() *diag.Fault {
	if p.parts.PauseReason == nil {
		return p.mcpUnreachableFault
	}
	return p.parts.PauseReason
}
