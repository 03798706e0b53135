package modeltest

import (
	"processidea/model/dataflow"
	"processidea/model/turn"
)

// RunToIdle closes a Request at an instance and runs its Calls until nothing is left to run.
func (s *Scenario) RunToIdle(token string, request int) {
	instance := s.Instances[token]
	instance.SetTime(s.Now)
	instance.CloseRequest(request)
	for todo := instance.Advance(); len(todo) > 0; todo = instance.Advance() {
		for _, ready := range todo {
			if ready.Record.Tool == "slow" {
				continue // until completeSlow or failSlow
			}
			if out, f := s.RunTool(ready.Record.Tool, ready.Params); f != nil {
				instance.FailCall(ready.Record.ID, f)
			} else {
				instance.SucceedCall(ready.Record.ID, out)
			}
		}
	}
}

// runAndReport runs an instance until it is idle, and delivers its report.
func (s *Scenario) runAndReport(token string, closed int) {
	s.RunToIdle(token, closed)
	s.DeliverReport(s.Report(token, closed))
}

// DeliverReport delivers an instance's next report the way it arrives when a worker is lost: a shorter version of the
// report under the same number comes before it, and both come a second time afterwards. The loop must apply the first
// two and ignore the others.
func (s *Scenario) DeliverReport(r turn.InstanceReport) {
	s.reportCount++
	early := r
	early.Writes = r.Writes[:len(r.Writes)/2]
	early.ReportNumber, early.WorkflowHistoryLength = s.reportCount, 10
	r.ReportNumber, r.WorkflowHistoryLength = s.reportCount, 15
	known := s.Loop.HasInstance(r.Token)
	for n, accepted := range []bool{s.Loop.ApplyReport(early), s.Loop.ApplyReport(r), s.Loop.ApplyReport(r),
		s.Loop.ApplyReport(early)} {
		if want := known && n < 2; accepted != want {
			s.T.Fatalf("report %d of %+v: taken %v, want %v", n, r, accepted, want)
		}
	}
}

// Report returns the report of an idle instance, encoded and decoded as a signal's payload is.
func (s *Scenario) Report(token string, closed int) turn.InstanceReport {
	instance := s.Instances[token]
	r := turn.InstanceReport{
		Token: token, ClosedThroughRequest: closed, Writes: instance.TakeNewWrites(),
		PauseFault: instance.TakePauseFault(), AckedCorrectionCount: s.CorrectionsAcked[token],
		InstanceStanding: instance.Standing(),
	}
	r.Calls = instance.ReportCalls(s.Reported[token],
		func(rec *dataflow.CallRecord) bool { return rec.Request > closed || rec.Request == s.rereportedRequest })
	var out turn.InstanceReport
	roundTripJSON(s.T, r, &out)
	return out
}
