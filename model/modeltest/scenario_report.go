package modeltest

import (
	"processidea/model/dataflow"
	"processidea/model/turn"
)

// RunToIdle closes a Request at an instance and runs its Calls until nothing is left to run.
func (s *Scenario) RunToIdle(token string, requestNumber int) {
	instance := s.InstanceByToken[token]
	instance.SetTime(s.Now)
	instance.CloseRequest(requestNumber)
	for readyCalls := instance.Advance(); len(readyCalls) > 0; readyCalls = instance.Advance() {
		for _, ready := range readyCalls {
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
func (s *Scenario) runAndReport(token string, closedRequestNumber int) {
	s.RunToIdle(token, closedRequestNumber)
	s.DeliverReport(s.TakeReport(token, closedRequestNumber))
}

// DeliverReport delivers an instance's next report the way it arrives when a worker is lost: a shorter version of the
// report under the same number comes before it, and both come a second time afterwards. The loop must apply the first
// two and ignore the others.
func (s *Scenario) DeliverReport(r turn.InstanceReport) {
	s.reportCount++
	partialReport := r
	partialReport.Writes = r.Writes[:len(r.Writes)/2]
	partialReport.ReportNumber, partialReport.WorkflowHistoryLength = s.reportCount, 10
	r.ReportNumber, r.WorkflowHistoryLength = s.reportCount, 15
	isKnown := s.Loop.HasInstance(r.InstanceToken)
	for n, accepted := range []bool{s.Loop.ApplyReport(partialReport), s.Loop.ApplyReport(r), s.Loop.ApplyReport(r),
		s.Loop.ApplyReport(partialReport)} {
		if want := isKnown && n < 2; accepted != want {
			s.T.Fatalf("report %d of %+v: taken %v, want %v", n, r, accepted, want)
		}
	}
}

// TakeReport returns the report of an idle instance, encoded and decoded as a signal's payload is.
func (s *Scenario) TakeReport(token string, closedRequestNumber int) turn.InstanceReport {
	instance := s.InstanceByToken[token]
	r := turn.InstanceReport{
		InstanceToken: token, ClosedThroughRequest: closedRequestNumber, Writes: instance.TakeUnreportedWrites(),
		PauseFault: instance.TakePauseFault(), AckedCorrectionCount: s.AckedCorrectionCountByToken[token],
		InstanceStatusDetails: instance.StatusDetails(),
	}
	r.Calls = instance.ReportChangedCalls(s.ReportedCallsByToken[token],
		func(rec *dataflow.CallRecord) bool {
			return rec.Request > closedRequestNumber || rec.Request == s.rereportedRequestNumber
		})
	var out turn.InstanceReport
	roundTripJSON(s.T, r, &out)
	return out
}
