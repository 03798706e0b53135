package modeltest

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
)

// ExpectRequest returns the Request in flight, or else lets the loop take a step, which must be a Request.
func (s *Scenario) ExpectRequest() *turn.RequestInput {
	s.T.Helper()
	if in := s.Loop.InFlight(); in != nil {
		s.Input = in
		return in
	}
	s.continueAsNew()
	step, in := s.Loop.Advance(s.Now)
	if step != loop.StepRequest {
		s.T.Fatalf("the step is %s, paused by %v", step, s.Loop.PauseReason())
	}
	s.Input = in
	return in
}

// ExpectStep fails the test unless the loop's next step is this one.
func (s *Scenario) ExpectStep(want loop.Step) {
	s.T.Helper()
	s.continueAsNew()
	if step, _ := s.Loop.Advance(s.Now); step != want {
		s.T.Fatalf("the step is %s, not %s; paused by %v", step, want, s.Loop.PauseReason())
	}
}

// ReplyWith answers the next Request with a whole solution, and concludes it.
func (s *Scenario) ReplyWith(reply string) *loop.Conclusion {
	s.T.Helper()
	s.ExpectRequest()
	m := DecodeJSON(s.T, reply).(map[string]any)
	calls, _ := m["calls"].([]any)
	r := s.DeliverCalls(calls)
	r.Complete, r.Output = true, m["output"]
	r.OutputFault = turn.CheckOutput(s.Idea, m["output"])
	return s.Conclude(r)
}

// BreakOff ends the next Request with an incomplete Reply after some Calls, and concludes it.
func (s *Scenario) BreakOff(end turn.Reply, calls ...string) *loop.Conclusion {
	s.T.Helper()
	s.ExpectRequest()
	var list []any
	for _, c := range calls {
		list = append(list, DecodeJSON(s.T, c))
	}
	r := s.DeliverCalls(list)
	if end.WorkerLost {
		r = turn.Reply{} // what the worker received is lost with it; the instances have the Calls
	}
	r.Fault, r.WorkerLost, r.NotRetryable, r.InstancesWithoutCalls = end.Fault, end.WorkerLost, end.NotRetryable, nil
	return s.Conclude(r)
}

// DeliverCalls delivers the Calls of a reply to their instances, as the stream does when each Call closes, and returns the Reply so far.
func (s *Scenario) DeliverCalls(values []any) turn.Reply {
	calls := ideafile.ParseWrittenCalls(values)
	r := turn.Reply{Calls: calls, Usage: turn.Usage{PromptTokens: 100, CompletionTokens: 10}, Attempts: 1}
	p := ideafile.Palette{Tools: s.Idea.Tools, Bindings: s.Bindings, InstanceTokens: s.Input.InstanceTokens()}
	if s.Input.OutputOnly {
		p.InstanceTokens = nil
	}
	withCalls := map[string]bool{}
	for n, call := range calls {
		deliver := s.deliverCall
		if len(s.Input.Questions) > 0 {
			deliver = s.deliverAnswer
		}
		tokens, f := deliver(p, n+1, call)
		if f != nil && len(tokens) == 0 {
			r.CallFaults = append(r.CallFaults, turn.CallFault{Index: n + 1, Fault: *f})
		}
		for _, token := range tokens {
			withCalls[token] = true
		}
	}
	for _, token := range p.InstanceTokens {
		if !withCalls[token] {
			r.InstancesWithoutCalls = append(r.InstancesWithoutCalls, token)
		}
	}
	return r
}

// deliverCall returns the instances that a Call was delivered to, or why there are none.
func (s *Scenario) deliverCall(p ideafile.Palette, index int, call ideafile.WrittenCall) ([]string, *diag.Fault) {
	tokens, f := p.TargetInstances(call)
	for _, token := range tokens {
		s.Instances[token].AcceptCall(s.Input.Number, index, call)
	}
	return tokens, f
}

// deliverAnswer delivers the answer to a Question. It gives no instance a Call.
func (s *Scenario) deliverAnswer(_ ideafile.Palette, _ int, answer ideafile.WrittenCall) ([]string, *diag.Fault) {
	q, output, params, f := turn.ReadAnswer(s.Idea, s.Input, answer)
	switch {
	case f != nil:
	case q.ParamsError != "":
		s.Instances[q.Token].ApplyAdaptedParams(q.ID, params)
	default:
		s.Instances[q.Token].Succeed(q.ID, output)
	}
	return nil, f
}

// Conclude runs the covered instances until they are idle, delivers their reports, and concludes the Request with its Reply.
func (s *Scenario) Conclude(r turn.Reply) *loop.Conclusion {
	s.T.Helper()
	for _, token := range s.Input.InstanceTokens() {
		if !s.Input.OutputOnly {
			s.RunToIdle(token, s.Input.Number)
			s.DeliverReport(s.Report(token, s.Input.Number))
		}
	}
	s.Loop.ApplyReply(r)
	c := s.Loop.Conclude()
	if c == nil {
		s.T.Fatal("the Request is not concluded")
	}
	s.Ended = s.Loop.TakeEnded()
	s.continueAsNew()
	return c
}
