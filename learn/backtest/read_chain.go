package backtest

import (
	"slices"

	"processidea/learn/past"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// readInstance reads one instance, whether it has ended or not.
func (ch *chain) readInstance(token string) *pastInstance {
	i := &pastInstance{token: token, status: ch.StatusByInstance[token],
		finalState: ch.EndView(token).PayloadByKind[ideafile.TypeState]}
	for _, m := range ch.Last().Context {
		if m.InstanceToken == token && m.InstanceStepOutcomes != nil {
			i.stepOutcomes = m.InstanceStepOutcomes
		}
	}
	for _, call := range ch.Calls(token) {
		call.WrittenCall = call.WrittenCall.WithoutTarget()
		i.calls = append(i.calls, &call)
	}
	i.sharedMessages, i.ownMessages = ch.StartMessages(token)
	if slices.ContainsFunc(past.DirectPlanCallsAtStart(ch.FirstIdeaByInstance[token]),
		func(p turn.RecordedCall) bool { return p.StatusByInstance[token].IsFinal() }) {
		ch.restoreStartState(i, true)
	}
	for _, e := range ch.WritesByInstance[token] {
		i.wasStateCorrected = i.wasStateCorrected || e.CorrectionNumber > 0
	}
	return i
}
