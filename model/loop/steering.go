package loop

import (
	"errors"
	"fmt"
	"slices"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// ApplyRevision applies a correction: messages, which go behind all others, and limits. It returns the instances to
// which the correction must be sent. If it returns an error, nothing has changed.
func (l *Loop) ApplyRevision(s approval.SteeringPayload) (instancesToCorrect []*InstanceProgress, err error) {
	context, tokensToReopen, err := ideafile.ExtractTokensToReopen(
		l.WithInstanceTokensResolved(ideafile.NumberDirectPlans(l.Idea.Context, s.Context)))
	if err != nil {
		return nil, err
	}
	messages, err := ideafile.ReadMessages(context)
	if err != nil {
		return nil, err
	}
	instancesToReopen, err := l.instancesToReopen(tokensToReopen)
	if err != nil {
		return nil, err
	}
	changesViewByInstance, err := l.checkCorrections(messages, instancesToReopen)
	if err != nil {
		return nil, err
	}
	for _, inst := range instancesToReopen {
		l.reopenByPerson(inst, s)
	}
	oldMessageCount := len(l.Idea.Context)
	l.Idea = l.Idea.WithMessagesAdded(messages)
	if len(messages) > 0 {
		l.DraftOutput = nil // another output may be wanted: the LLM will be shown every State when asked for it
		l.forgetDescribedPlans()
	}
	l.setLimits(s.Limits)
	for _, inst := range l.replaceDirectPlans(oldMessageCount) {
		changesViewByInstance[inst] = true
	}
	for _, inst := range l.Instances {
		changesView, isRevised := changesViewByInstance[inst]
		inst.WasRevisedSinceRequest = inst.WasRevisedSinceRequest || isRevised
		if changesView {
			inst.SentCorrectionCount++
			instancesToCorrect = append(instancesToCorrect, inst)
		}
	}
	return instancesToCorrect, nil
}

// WithInstanceTokensResolved returns people's messages with the tokens of the instances that they name, in place of
// these tokens as people typed them.
func (l *Loop) WithInstanceTokensResolved(context []any) []any {
	return ideafile.WithInstanceTokensNormalized(context, spelling.NewInstanceTokenIndex(l.InstanceTokens()).FindToken)
}

// ExplainCallNotWaiting explains why a Call does not wait for a person, as far as its instance has reported. For an
// unknown Call it proposes similar ones, which takes long. mayArriveSoon, which is called only then, turns the
// proposals off; nil leaves them on.
func (l *Loop) ExplainCallNotWaiting(callID string, mayArriveSoon func() bool) error {
	token, isKnown := l.FindInstanceToken(ideafile.InstanceTokenOfCallID(callID))
	key, isCall := ideafile.ParseCallKey(callID)
	if isKnown && isCall {
		if report, isReported := l.instanceByToken[token].reportByCallKey[key]; isReported {
			return approval.CallNotWaitingError(key.ID(token), report.Status, report.Decisions)
		}
	}
	if mayArriveSoon != nil && mayArriveSoon() {
		return approval.UnknownCallShortError(callID)
	}
	var pendingApprovals []approval.PendingCall
	for _, inst := range l.Instances {
		pendingApprovals = append(pendingApprovals, inst.PendingApprovals...)
	}
	return approval.UnknownCallError(callID, nil, pendingApprovals)
}

// ErrNoPlanToReplace refuses a Plan that is to run directly if no Plan runs directly that it could replace.
var ErrNoPlanToReplace = errors.New("it could only replace a Plan that runs directly, and none does; without its " +
	"stage it guides the next Request")

// checkCorrections returns the instances that messages are about, each with whether the messages change its view, or
// why one of the messages cannot be applied. A message without a payload, such as text, is for the LLM only.
func (l *Loop) checkCorrections(messages []ideafile.Message,
	instancesToReopen []*InstanceProgress) (map[*InstanceProgress]bool, error) {
	changesViewByInstance := map[*InstanceProgress]bool{}
	if err := l.Idea.CheckInstructions(messages); err != nil {
		return nil, err
	}
	for n, msg := range messages {
		instances, err := l.instancesAffectedByRevision(msg, instancesToReopen)
		if err == nil && msg.IsDirectPlan() &&
			!slices.ContainsFunc(instances, (*InstanceProgress).usesDirectPlan) {
			err = ErrNoPlanToReplace
		}
		if err != nil {
			return nil, fmt.Errorf("$.context[%d]: %w", n, err)
		}
		for _, inst := range instances {
			if msg.PayloadKind == ideafile.TypeState {
				err = CheckStateCorrection(msg, ideafile.InstanceViewOf(l.Idea.Context, inst.Token), inst.state)
			}
			if err != nil {
				return nil, fmt.Errorf("$.context[%d]: %w", n, err)
			}
			changesViewByInstance[inst] = changesViewByInstance[inst] || msg.PayloadKind != ""
		}
	}
	return changesViewByInstance, nil
}

// AllCorrectionsAcked reports whether every instance has acknowledged its corrections.
func (l *Loop) AllCorrectionsAcked() bool {
	return !l.anyInstance(func(inst *InstanceProgress) bool {
		return inst.CanReceiveCalls() && inst.AckedCorrectionCount < inst.SentCorrectionCount
	})
}

// instancesAffectedByRevision lists the instances that a message is about: the one that it names or, if it names none,
// all that are at work, have settled only for now, or are reopened with it.
func (l *Loop) instancesAffectedByRevision(msg ideafile.Message,
	instancesToReopen []*InstanceProgress) ([]*InstanceProgress, error) {
	if msg.InstanceToken != "" {
		inst := l.instanceByToken[msg.InstanceToken]
		switch {
		case inst == nil:
			return nil, fmt.Errorf("there is no instance %s; add makes new ones", msg.InstanceToken)
		case !inst.isWorking() && !slices.Contains(instancesToReopen, inst):
			return nil, InstanceEndedError(inst.Token, inst.Status)
		}
		return []*InstanceProgress{inst}, nil
	}
	return l.instancesWhere(func(inst *InstanceProgress) bool {
		return inst.CanReceiveCalls() || slices.Contains(instancesToReopen, inst)
	}), nil
}

// CheckStateCorrection returns why a correction does not fit a State; view is what the instance saw before the
// correction.
func CheckStateCorrection(msg ideafile.Message, view ideafile.InstanceView, state *statelog.State) error {
	schema := view.SchemaByKind[ideafile.TypeState]
	if msg.PayloadSchema != nil {
		schema = msg.PayloadSchema
	}
	for _, w := range statelog.SplitPatch(msg.Payload, nil) {
		if reason := state.BlockingAncestorReason(w.Path); reason != "" {
			return fmt.Errorf("%s: %s", refexpr.Reference{Kind: ideafile.TypeState, Path: w.Path}, reason)
		}
		if schema == nil || jsonval.ContainsBlobHandle(w.Value) {
			continue
		}
		if err := statelog.CheckAgainstSchemaAt(schema, w.Path, w.Value); err != nil {
			return err
		}
	}
	return nil
}

// ReadAddedInstances reads messages that add instances to a process, which already has instances with the given tokens.
// Each message must name a new instance. hasInstance reports whether there is an instance of a token.
func ReadAddedInstances(i *ideafile.Idea, context []any, existingTokens []string,
	hasInstance func(string) bool) ([]ideafile.Message, error) {
	messages, err := ideafile.ReadMessages(context)
	if err == nil {
		err = i.CheckInstructions(messages)
	}
	if err != nil {
		return nil, err
	}
	tokenIndex := spelling.NewInstanceTokenIndex(existingTokens)
	for n, msg := range messages {
		switch {
		case msg.InstanceToken == "":
			return nil, fmt.Errorf("$.context[%d]: it names no new instance", n)
		case hasInstance(msg.InstanceToken):
			return nil, fmt.Errorf("$.context[%d]: there is an instance %s already", n, msg.InstanceToken)
		}
		if conflictingToken := tokenIndex.AddToken(msg.InstanceToken); conflictingToken != "" {
			return nil, fmt.Errorf("$.context[%d]: %w", n, ideafile.ConfusableTokensError(msg.InstanceToken,
				conflictingToken))
		}
	}
	return messages, nil
}

// AddInstances adds instances and returns their tokens.
func (l *Loop) AddInstances(s approval.SteeringPayload) ([]string, error) {
	if l.instanceByToken[""] != nil {
		return nil, errors.New("the process has one instance without a name, and takes no others")
	}
	messages, err := ReadAddedInstances(l.Idea, s.Context, l.InstanceTokens(), l.HasInstance)
	if err != nil {
		return nil, err
	}
	tokens := (&ideafile.Idea{Context: messages}).InstanceTokens()
	if err := l.checkPlansWereApproved(messages, tokens); err != nil {
		return nil, err
	}
	l.Idea = l.Idea.WithMessagesAdded(messages)
	l.dropOutput()
	l.addNewInstances(tokens)
	return tokens, nil
}
