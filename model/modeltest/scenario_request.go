package modeltest

import (
	"cmp"
	"maps"
	"slices"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// ExpectRequest returns the Request in flight, or else lets the loop take a step, which must be a Request.
func (s *Scenario) ExpectRequest() *turn.RequestInput {
	s.T.Helper()
	if in := s.Loop.RequestInFlight(); in != nil {
		s.RequestInput = in
		return in
	}
	step, in := s.nextStep()
	if step != loop.StepRequest {
		s.T.Fatalf("the step is %s, paused by %v", step, s.Loop.PauseReason)
	}
	s.RequestInput = in
	return in
}

// nextStep lets the loop take a step. Instances that are asked for a report before it give one first.
func (s *Scenario) nextStep() (loop.NextStep, *turn.RequestInput) {
	s.continueAsNew()
	step, in := s.Loop.Advance(s.Now)
	instances := s.Loop.TakeInstancesToAskForReport()
	if len(instances) == 0 {
		return step, in
	}
	for _, m := range instances {
		s.DeliverReport(s.TakeReport(m.Token, s.InstanceByToken[m.Token].CarryIntoNextRun().ClosedThroughRequest))
	}
	return s.nextStep()
}

// ExpectStep fails the test unless the loop's next step is this one.
func (s *Scenario) ExpectStep(want loop.NextStep) {
	s.T.Helper()
	if step, _ := s.nextStep(); step != want {
		s.T.Fatalf("the step is %s, not %s; paused by %v", step, want, s.Loop.PauseReason)
	}
}

// ReplyWith answers the next Request with a whole solution, and concludes it.
func (s *Scenario) ReplyWith(replyJSON string) *loop.RequestConclusion {
	s.T.Helper()
	s.ExpectRequest()
	m := DecodeJSON(s.T, replyJSON).(jsonval.Object)
	r := s.DeliverCalls(jsonval.AsList(m["calls"]))
	r.IsComplete, r.Output = true, m["output"]
	if isFinished, isGiven := m["finished"].(bool); isGiven {
		r.SaysFinished, r.SaysUnfinished = isFinished, !isFinished
	}
	r.Notes = jsonval.AsText(m["notes"])
	r.OutputFault = turn.CheckOutput(s.Idea, m["output"])
	return s.Conclude(r)
}

// InterruptRequest ends the next Request with an incomplete Reply after some Calls, and concludes it.
func (s *Scenario) InterruptRequest(incompleteReply turn.LLMReply, callsJSON ...string) *loop.RequestConclusion {
	s.T.Helper()
	s.ExpectRequest()
	var rawCalls []any
	for _, c := range callsJSON {
		rawCalls = append(rawCalls, DecodeJSON(s.T, c))
	}
	r := s.DeliverCalls(rawCalls)
	for _, token := range s.FullyDeliveredInstanceTokens {
		s.runAndReport(token, s.RequestInput.RequestNumber)
	}
	if incompleteReply.IsWorkerLost {
		r = turn.LLMReply{} // the reply is lost with its worker; the instances have the Calls
	}
	r.Fault, r.IsWorkerLost = incompleteReply.Fault, incompleteReply.IsWorkerLost
	r.HasUndeliveredCalls, r.IsNotRetryable = incompleteReply.HasUndeliveredCalls, incompleteReply.IsNotRetryable
	r.InstanceTokensWithoutCalls = nil
	return s.Conclude(r)
}

// DeliverCalls delivers the Calls of a reply to their instances, as the stream does when each Call closes, and returns
// the Reply so far.
func (s *Scenario) DeliverCalls(rawCalls []any) turn.LLMReply {
	calls := ideafile.ParseWrittenCalls(rawCalls)
	r := turn.LLMReply{Calls: calls, Usage: cmp.Or(s.UsagePerRequest,
		turn.TokenUsage{PromptTokens: 100, CompletionTokens: 10}),
		HTTPAttemptCount: 1}
	p := ideafile.Palette{Tools: s.Idea.Tools, BindingByTool: s.Bindings,
		InstanceTokens:   s.RequestInput.InstanceTokens(),
		ReopenableTokens: s.RequestInput.ReopenableTokens}
	if s.RequestInput.IsOutputOnly {
		p.InstanceTokens = nil
	}
	instanceTokensWithCalls := map[string]bool{}
	for n, call := range calls {
		deliver := s.deliverCall
		if len(s.RequestInput.Questions) > 0 {
			deliver = s.deliverAnswer
		}
		tokens, f := deliver(p, n+1, call)
		if f != nil {
			r.CallFaults = append(r.CallFaults, turn.CallFault{Index: n + 1, Fault: *f})
		}
		for _, token := range tokens {
			instanceTokensWithCalls[token] = true
		}
	}
	s.calledInstanceTokens = jsonval.SortedKeys(instanceTokensWithCalls)
	for _, token := range p.InstanceTokens {
		if !instanceTokensWithCalls[token] {
			r.InstanceTokensWithoutCalls = append(r.InstanceTokensWithoutCalls, token)
		}
	}
	return r
}

// deliverCall returns the instances that a Call was delivered to, or the reason why there are none.
func (s *Scenario) deliverCall(p ideafile.Palette, callIndex int, call ideafile.WrittenCall) ([]string, *diag.Fault) {
	tokens, f := p.TargetInstances(call)
	for _, token := range tokens {
		if !slices.Contains(s.UnreachedInstanceTokens, token) {
			s.InstanceByToken[token].AcceptCall(s.RequestInput.RequestNumber, callIndex, call)
		}
	}
	return tokens, f
}

// deliverAnswer delivers the answer to a Question. It gives no instance a Call.
func (s *Scenario) deliverAnswer(_ ideafile.Palette, _ int, answer ideafile.WrittenCall) ([]string, *diag.Fault) {
	q, output, params, f := turn.ReadLLMAnswer(s.Idea, s.RequestInput, answer)
	switch {
	case f != nil:
	case q.ParamsError != "":
		s.InstanceByToken[q.InstanceToken].ApplyAdaptedParams(q.CallID, params)
	default:
		s.InstanceByToken[q.InstanceToken].SucceedCall(q.CallID, output)
	}
	return nil, f
}

// Conclude runs the covered instances until they are idle, delivers their reports, and concludes the Request with its
// Reply.
func (s *Scenario) Conclude(r turn.LLMReply) *loop.RequestConclusion {
	s.T.Helper()
	for _, token := range slices.Concat(s.RequestInput.InstanceTokens(), s.RequestInput.ReopenableTokens) {
		switch {
		case s.RequestInput.IsOutputOnly, slices.Contains(s.RequestInput.ReopenableTokens, token) && r.IsComplete &&
			!slices.Contains(s.calledInstanceTokens, token):
		case r.CallsMayBeUndelivered():
			closedRequestNumber := s.InstanceByToken[token].CarryIntoNextRun().ClosedThroughRequest
			s.InstanceByToken[token].StopAcceptingCalls(s.RequestInput.RequestNumber)
			s.RunToIdle(token, closedRequestNumber)
			if s.Loop.NeedsCallsFromInstances(&r) {
				s.rereportedRequestNumber = s.RequestInput.RequestNumber
				maps.DeleteFunc(s.ReportedCallsByToken[token],
					func(id string, _ dataflow.LastReportedCall) bool {
						return s.InstanceByToken[token].FindCall(id).Request == s.rereportedRequestNumber
					})
			}
			report := s.TakeReport(token, closedRequestNumber)
			report.RefusedThroughRequest, report.ReportedThroughRequest = s.RequestInput.RequestNumber,
				s.rereportedRequestNumber
			s.DeliverReport(report)
		default:
			s.runAndReport(token, s.RequestInput.RequestNumber)
		}
	}
	s.Loop.Advance(s.Now) // reports come one by one, and before the reply is known
	s.Loop.ApplyReply(r)
	c := s.Loop.ConcludeRequest()
	if c == nil {
		s.T.Fatal("the Request is not concluded")
	}
	for _, delivery := range c.CallsToRedeliver {
		for _, call := range delivery.Calls {
			s.InstanceByToken[delivery.InstanceToken].AcceptRestOfRequest(delivery.RequestNumber, call.Index,
				call.Call)
		}
		s.runAndReport(delivery.InstanceToken, delivery.RequestNumber)
	}
	s.EndedInstances = s.Loop.TakeEndedInstances()
	s.continueAsNew()
	return c
}
