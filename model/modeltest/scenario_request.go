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
		s.Input = in
		return in
	}
	step, in := s.nextStep()
	if step != loop.StepRequest {
		s.T.Fatalf("the step is %s, paused by %v", step, s.Loop.PauseReason)
	}
	s.Input = in
	return in
}

// nextStep lets the loop take a step. Instances that are asked for a report before it give one first.
func (s *Scenario) nextStep() (loop.Step, *turn.RequestInput) {
	s.continueAsNew()
	step, in := s.Loop.Advance(s.Now)
	instances := s.Loop.TakeInstancesToReport()
	if len(instances) == 0 {
		return step, in
	}
	for _, m := range instances {
		s.DeliverReport(s.Report(m.Token, s.InstanceByToken[m.Token].CarryIntoNextRun().ClosedThroughRequest))
	}
	return s.nextStep()
}

// ExpectStep fails the test unless the loop's next step is this one.
func (s *Scenario) ExpectStep(want loop.Step) {
	s.T.Helper()
	if step, _ := s.nextStep(); step != want {
		s.T.Fatalf("the step is %s, not %s; paused by %v", step, want, s.Loop.PauseReason)
	}
}

// ReplyWith answers the next Request with a whole solution, and concludes it.
func (s *Scenario) ReplyWith(reply string) *loop.RequestConclusion {
	s.T.Helper()
	s.ExpectRequest()
	m := DecodeJSON(s.T, reply).(jsonval.Object)
	r := s.DeliverCalls(jsonval.AsList(m["calls"]))
	r.IsComplete, r.Output = true, m["output"]
	if finished, isGiven := m["finished"].(bool); isGiven {
		r.SaysFinished, r.SaysUnfinished = finished, !finished
	}
	r.Notes = jsonval.AsText(m["notes"])
	r.OutputFault = turn.CheckOutput(s.Idea, m["output"])
	return s.Conclude(r)
}

// InterruptRequest ends the next Request with an incomplete Reply after some Calls, and concludes it.
func (s *Scenario) InterruptRequest(incompleteReply turn.LLMReply, calls ...string) *loop.RequestConclusion {
	s.T.Helper()
	s.ExpectRequest()
	var list []any
	for _, c := range calls {
		list = append(list, DecodeJSON(s.T, c))
	}
	r := s.DeliverCalls(list)
	for _, token := range s.FullyDeliveredTokens {
		s.runAndReport(token, s.Input.RequestNumber)
	}
	if incompleteReply.IsWorkerLost {
		r = turn.LLMReply{} // the reply is lost with its worker; the instances have the Calls
	}
	r.Fault, r.IsWorkerLost, r.HasUndeliveredCalls, r.NotRetryable, r.InstancesWithoutCalls = incompleteReply.Fault,
		incompleteReply.IsWorkerLost, incompleteReply.HasUndeliveredCalls, incompleteReply.NotRetryable, nil
	return s.Conclude(r)
}

// DeliverCalls delivers the Calls of a reply to their instances, as the stream does when each Call closes, and returns
// the Reply so far.
func (s *Scenario) DeliverCalls(rawCalls []any) turn.LLMReply {
	calls := ideafile.ParseWrittenCalls(rawCalls)
	r := turn.LLMReply{Calls: calls, Usage: cmp.Or(s.Usage, turn.TokenUsage{PromptTokens: 100, CompletionTokens: 10}),
		HTTPAttemptCount: 1}
	p := ideafile.Palette{Tools: s.Idea.Tools, BindingByTool: s.Bindings, InstanceTokens: s.Input.InstanceTokens(),
		ReopenableTokens: s.Input.ReopenableTokens}
	if s.Input.IsOutputOnly {
		p.InstanceTokens = nil
	}
	tokensWithCalls := map[string]bool{}
	for n, call := range calls {
		deliver := s.deliverCall
		if len(s.Input.Questions) > 0 {
			deliver = s.deliverAnswer
		}
		tokens, f := deliver(p, n+1, call)
		if f != nil {
			r.CallFaults = append(r.CallFaults, turn.CallFault{Index: n + 1, Fault: *f})
		}
		for _, token := range tokens {
			tokensWithCalls[token] = true
		}
	}
	s.calledTokens = jsonval.SortedKeys(tokensWithCalls)
	for _, token := range p.InstanceTokens {
		if !tokensWithCalls[token] {
			r.InstancesWithoutCalls = append(r.InstancesWithoutCalls, token)
		}
	}
	return r
}

// deliverCall returns the instances that a Call was delivered to, or the reason why there are none.
func (s *Scenario) deliverCall(p ideafile.Palette, index int, call ideafile.WrittenCall) ([]string, *diag.Fault) {
	tokens, f := p.TargetInstances(call)
	for _, token := range tokens {
		if !slices.Contains(s.UnreachedTokens, token) {
			s.InstanceByToken[token].AcceptCall(s.Input.RequestNumber, index, call)
		}
	}
	return tokens, f
}

// deliverAnswer delivers the answer to a Question. It gives no instance a Call.
func (s *Scenario) deliverAnswer(_ ideafile.Palette, _ int, answer ideafile.WrittenCall) ([]string, *diag.Fault) {
	q, output, params, f := turn.ReadLLMAnswer(s.Idea, s.Input, answer)
	switch {
	case f != nil:
	case q.ParamsError != "":
		s.InstanceByToken[q.Token].ApplyAdaptedParams(q.CallID, params)
	default:
		s.InstanceByToken[q.Token].SucceedCall(q.CallID, output)
	}
	return nil, f
}

// Conclude runs the covered instances until they are idle, delivers their reports, and concludes the Request with its
// Reply.
func (s *Scenario) Conclude(r turn.LLMReply) *loop.RequestConclusion {
	s.T.Helper()
	for _, token := range slices.Concat(s.Input.InstanceTokens(), s.Input.ReopenableTokens) {
		switch {
		case s.Input.IsOutputOnly, slices.Contains(s.Input.ReopenableTokens, token) && r.IsComplete &&
			!slices.Contains(s.calledTokens, token):
		case r.CallsMayBeUndelivered():
			closedRequest := s.InstanceByToken[token].CarryIntoNextRun().ClosedThroughRequest
			s.InstanceByToken[token].StopAcceptingCalls(s.Input.RequestNumber)
			s.RunToIdle(token, closedRequest)
			if s.Loop.NeedsCallsFromInstances(&r) {
				s.rereportedRequest = s.Input.RequestNumber
				maps.DeleteFunc(s.ReportedCallsByToken[token],
					func(id string, _ dataflow.ReportedCall) bool {
						return s.InstanceByToken[token].FindCall(id).Request == s.rereportedRequest
					})
			}
			report := s.Report(token, closedRequest)
			report.RefusedThroughRequest, report.ReportedThroughRequest = s.Input.RequestNumber, s.rereportedRequest
			s.DeliverReport(report)
		default:
			s.runAndReport(token, s.Input.RequestNumber)
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
			s.InstanceByToken[delivery.Token].AcceptRedeliveredCall(delivery.Request, call.Index, call.Call)
		}
		s.runAndReport(delivery.Token, delivery.Request)
	}
	s.EndedInstances = s.Loop.TakeEndedInstances()
	s.continueAsNew()
	return c
}
