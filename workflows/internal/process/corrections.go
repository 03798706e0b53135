package process

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/loop"
	"processidea/model/split"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file takes people's corrections and additions, and sends them to instances or parts.

// revise sends each instance the messages that concern it. The act takes effect once all of them have applied the
// messages.
func (p *unsplitProcess) revise(ctx workflow.Context, s *approval.SteeringPayload) (*ideafile.Idea, error) {
	if p.phase == phaseOpening {
		return nil, p.deferUntilRunning(approval.SteerRevise, *s, p.Revise)
	}
	s.Context = p.loop.WithInstanceTokensResolved(ideafile.NumberDirectPlans(p.idea.Context, s.Context))
	affectedInstances, err := p.loop.ApplyRevision(*s)
	if err != nil {
		return nil, err
	}
	p.continueReopenedInstances(ctx)
	messages, _, _ := ideafile.ExtractTokensToReopen(s.Context)
	for _, m := range affectedInstances {
		p.sendCorrection(ctx, m.Token, protocol.CorrectInstanceSignal{
			Context: messagesForInstance(messages, m.Token), By: s.SentBy, Account: s.Account, Reason: s.Reason,
		})
	}
	p.UnsealedRevisions = append(p.UnsealedRevisions, *s)
	return p.loop.Idea, mailbox.ErrOutcomePending
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

// sealRevisions seals the revisions as a new Idea, once every instance has applied them.
func (p *unsplitProcess) sealRevisions(ctx workflow.Context) {
	if len(p.UnsealedRevisions) == 0 || !p.loop.AllCorrectionsAcked() {
		return
	}
	p.sealCurrentState(ctx)
	for _, s := range p.UnsealedRevisions {
		p.recordSignalOutcome(ctx, approval.SteerRevise, s, nil)
	}
	p.UnsealedRevisions = nil
}

// addInstances starts instances. The act takes effect once they have started.
func (p *unsplitProcess) addInstances(s approval.SteeringPayload) (*ideafile.Idea, []string, error) {
	if p.phase == phaseOpening {
		return nil, nil, p.deferUntilRunning(approval.SteerAddInstances, s, p.AddInstances)
	}
	tokens, err := p.loop.AddInstances(s)
	if err != nil {
		return nil, nil, err
	}
	p.pendingStarts = append(p.pendingStarts, pendingInstanceStart{instanceTokens: tokens, addSignal: &s})
	return p.loop.Idea, tokens, mailbox.ErrOutcomePending
}

// revise sends each part the messages that concern it. Parts that have not started will start with theirs.
func (p *splitProcess) revise(ctx workflow.Context, s *approval.SteeringPayload) (*ideafile.Idea, error) {
	s.Context = ideafile.WithInstanceTokensNormalized(
		ideafile.NumberDirectPlans(p.idea.Context, s.Context),
		spelling.NewInstanceTokenIndex(p.instanceTokens()).FindToken)
	messages, reopenedTokens, err := ideafile.ExtractTokensToReopen(s.Context)
	if err == nil {
		err = p.checkReopenable(reopenedTokens)
	}
	var parsed []ideafile.Message
	if err == nil {
		parsed, err = p.validateMessages(messages)
	}
	if err == nil && len(reopenedTokens) == 0 { // else the parts check them, since they know what is reopened
		err = p.splitState.CheckCorrections(p.idea, parsed)
	}
	if err != nil {
		return nil, err
	}
	p.splitState.Limits = p.splitState.Limits.OverriddenBy(s.Limits)
	index := split.NewMessageIndex(s.Context)
	for _, number := range p.splitState.RunningPartNumbers() {
		partMessages := index.MessagesOf(p.splitState.Parts[number-1])
		if len(partMessages) > 0 {
			payload := forwardedPayload(s.SentBy, s.Reason)
			approval.AddSenderAccount(payload, s.Account)
			payload["context"] = partMessages
			p.sendToPart(ctx, number, mailbox.OutgoingSignal{SignalName: approval.SteerRevise, Payload: payload})
		}
	}
	return p.idea.WithMessagesAdded(parsed), nil
}

// checkReopenable returns why an instance that a correction names cannot be reopened; nil if its part decides.
func (p *splitProcess) checkReopenable(instanceTokens []string) error {
	for _, token := range instanceTokens {
		number := p.splitState.PartNumberOf(token)
		switch {
		case number == 0:
			return fmt.Errorf("there is no instance %s; add makes new ones", token)
		case p.splitState.Parts[number-1].Report.IsFinished():
			return fmt.Errorf("instance %s belongs to part %d, which has ended with all its instances; "+
				"a fork with --reopen %s works on it again", token, number, spelling.TypeableInstanceToken(token))
		case !p.splitState.Parts[number-1].HasStarted:
			return fmt.Errorf("instance %s has not ended: there is nothing to reopen", token)
		}
	}
	return nil
}

// addInstances makes parts of more instances.
func (p *splitProcess) addInstances(s approval.SteeringPayload) (*ideafile.Idea, []string, error) {
	messages, err := loop.ReadAddedInstances(p.idea, s.Context, p.instanceTokens(),
		func(token string) bool { return p.splitState.PartNumberOf(token) > 0 })
	if err != nil {
		return nil, nil, err
	}
	tokens := ideafile.SplitContextByInstance(s.Context).InstanceTokens
	p.splitState.AddInstances(tokens)
	return p.idea.WithMessagesAdded(messages), tokens, nil
}

// validateMessages reads people's messages, or returns the errors in them or in their instances.
func (p *splitProcess) validateMessages(context []any) ([]ideafile.Message, error) {
	messages, err := ideafile.ReadMessages(context)
	if err == nil {
		err = p.idea.CheckInstructions(messages)
	}
	if err != nil {
		return nil, err
	}
	for n, m := range messages {
		if m.InstanceToken != "" && p.splitState.PartNumberOf(m.InstanceToken) == 0 {
			return nil, fmt.Errorf("$.context[%d]: there is no instance %s; add makes new ones", n, m.InstanceToken)
		}
	}
	return messages, nil
}
