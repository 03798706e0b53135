package modeltest

import (
	"slices"
	"strings"
	"time"

	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// AdvanceInstance runs an instance until it is idle, and delivers its report.
func (s *Scenario) AdvanceInstance(token string) {
	s.runAndReport(token, s.InstanceByToken[token].CarryIntoNextRun().ClosedThroughRequest)
}

// Decide gives an instance a person's decision on a Call, and advances the instance. extraPayloads are further keys of
// the signal's payload.
func (s *Scenario) Decide(decisionKind, callID string, extraPayloads ...string) {
	s.T.Helper()
	m := jsonval.Object{"call": callID, "by": "ann"}
	for _, text := range extraPayloads {
		m = jsonval.DeepMerge(m, DecodeJSON(s.T, text)).(jsonval.Object)
	}
	instance := s.InstanceByToken[ideafile.InstanceTokenOfCallID(callID)]
	instance.SetTime(s.Now)
	d, err := approval.ReadDecision(decisionKind, m)
	if err == nil {
		err = instance.ApplyDecision(d)
	}
	if err != nil {
		s.T.Fatalf("%s %s: %s", decisionKind, callID, err)
	}
	s.AdvanceInstance(ideafile.InstanceTokenOfCallID(callID))
}

// AdvanceClock lets time pass.
func (s *Scenario) AdvanceClock(d time.Duration) { s.Now = s.Now.Add(d) }

// ExpectRequestFor is ExpectRequest, and fails the test unless the Request covers exactly these instances.
func (s *Scenario) ExpectRequestFor(wantInstanceTokens string) *turn.RequestInput {
	s.T.Helper()
	in := s.ExpectRequest()
	s.WantEqual("the Request is about", strings.Join(in.InstanceTokens(), " "), wantInstanceTokens)
	return in
}

// AddInstances adds instances to the running process, as the signal add does.
func (s *Scenario) AddInstances(contextJSON string) {
	s.T.Helper()
	tokens, err := s.Loop.AddInstances(approval.SteeringPayload{Context: DecodeJSON(s.T, contextJSON).([]any)})
	if err != nil {
		s.T.Fatal(err)
	}
	s.StartInstances(tokens)
}

// Revise sends the process a correction, as the signal revise does, and returns the instances that the correction
// affects.
func (s *Scenario) Revise(payloadJSON string) []*loop.InstanceProgress {
	s.T.Helper()
	r, err := approval.ReadSteering(approval.SteerRevise, DecodeJSON(s.T, payloadJSON).(jsonval.Object))
	if err != nil {
		s.T.Fatal(err)
	}
	affectedInstances, err := s.Loop.ApplyRevision(r)
	if err != nil {
		s.T.Fatal(err)
	}
	s.restartReopenedInstances()
	for _, p := range affectedInstances {
		s.CorrectionsByToken[p.Token] = append(s.CorrectionsByToken[p.Token], r)
	}
	return affectedInstances
}

// restartReopenedInstances starts the dataflow of reopened instances anew, if they had been told that they had ended.
func (s *Scenario) restartReopenedInstances() {
	for _, inst := range s.Loop.TakeInstancesToRestart() {
		initialState, writes := inst.StateHistory()
		context, err := ideafile.ReadMessages(ideafile.ContextForRestartedInstance(s.Loop.Idea.Context,
			inst.Token, initialState))
		if err != nil {
			s.T.Fatal(err)
		}
		s.InstanceByToken[inst.Token] = dataflow.Restore(s.palette(), context, inst.Token,
			dataflow.RebuildFromReports(inst.Token, inst.ClosedThroughRequest, writes, inst.CallReports()))
	}
}

// ApplyCorrections lets an instance apply the corrections that it has not applied yet, and advances it.
func (s *Scenario) ApplyCorrections(token, person string) {
	for _, r := range s.CorrectionsByToken[token] {
		wholeContext := s.Loop.Idea.Context
		addedMessages, _, _ := ideafile.ExtractTokensToReopen(r.Context)
		oldMessages := wholeContext[:len(wholeContext)-len(addedMessages)]
		messages, err := ideafile.ReadMessages(ideafile.NumberDirectPlans(oldMessages, addedMessages))
		if err != nil {
			s.T.Fatal(err)
		}
		s.InstanceByToken[token].ApplyRevision(slices.DeleteFunc(messages, func(m ideafile.Message) bool {
			return m.PayloadKind == "" && !m.IsDirectPlan() || m.InstanceToken != "" && m.InstanceToken != token
		}), person, "")
		s.AckedCorrectionCountByToken[token]++
	}
	s.CorrectionsByToken[token] = nil
	s.AdvanceInstance(token)
}
