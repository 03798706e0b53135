package loop_test

import (
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// Nothing that waits for an instance waits for one whose workflow was terminated.
func TestALostReplyIsConcludedWithoutAnInstanceThatIsGone(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ExpectRequest()
	s.DeliverCalls([]any{modeltest.DecodeJSON(t, `{"_tool":"work","_instance":"*","_outputPath":"b"}`)})
	s.RunToIdle("①", 1)
	r := s.TakeReport("①", 1)
	r.ReportedThroughRequest = 1
	s.DeliverReport(r)
	s.Loop.ApplyReply(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")})
	if s.Loop.ConcludeRequest() != nil {
		t.Error("it is concluded before ② has told its Calls")
	}
	s.Loop.MarkInstancesGone([]string{"②"})
	if s.Loop.ConcludeRequest() == nil {
		t.Error("it still waits for ②")
	}
	if inst := s.Loop.Instances[1]; inst.Status != ideafile.InstanceFailed || inst.Fault.Code != turn.CodeInstanceGone {
		t.Errorf("② is %s, %v", inst.Status, inst.Fault)
	}
}

func TestAnUndoEndsWithoutAnInstanceThatIsGone(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	order := &approval.UndoOrder{RequestedBy: "ann"}
	for _, inst := range s.Loop.Instances {
		inst.UndoOrder = order
	}
	s.Loop.Instances[0].UndoResult = &turn.UndoResult{Summary: "all was undone"}
	if o, _ := s.Loop.TakeEndedUndo(); o != nil {
		t.Error("it has ended before ②")
	}
	s.Loop.MarkInstancesGone([]string{"②"})
	o, err := s.Loop.TakeEndedUndo()
	if o != order || !strings.Contains(modeltest.ErrorText(err), "was terminated") {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestAnUndoSaysOnceWhatCameOfManyInstances(t *testing.T) {
	t.Parallel()
	nothing := turn.UndoResult{Summary: "nothing was taken back", HasUndoneNothing: true}
	failed := turn.UndoResult{Summary: "not taken back: 1.1@②", HasFailed: true}
	for _, all := range [][]turn.UndoResult{{nothing, nothing}, {nothing, failed}, {failed, failed}} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
		want := all[1].Summary
		for n, came := range all {
			s.Loop.Instances[n].UndoOrder, s.Loop.Instances[n].UndoResult = &approval.UndoOrder{RequestedBy: "ann"}, &came
		}
		if _, err := s.Loop.TakeEndedUndo(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAnUndoIsRefusedBeforeAnotherOneHasEnded(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.Loop.PauseReason = diag.Faultf(turn.CodePaused, "by ann")
	for _, inst := range s.Loop.Instances {
		inst.IsIdle = true
	}
	s.Loop.Instances[1].UndoCause = diag.Faultf(turn.CodeInstanceGone, "it fails")
	list, err := s.Loop.BeginUndo(approval.UndoOrder{RequestedBy: "ann"}, s.Now)
	if refused, is := err.(approval.Refusal); !is || refused.Code != approval.CodeUndoUnderWay || list != nil {
		t.Errorf("%v, %v", list, err)
	}
	s.Loop.Instances[1].UndoCause = nil
	if list, err = s.Loop.BeginUndo(approval.UndoOrder{RequestedBy: "ann"}, s.Now); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// Where no Plan runs unseen, nothing is taken back unseen.
func TestAnUndoIsReviewedWherePlansWait(t *testing.T) {
	t.Parallel()
	for _, holds := range []bool{false, true} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
		s.Loop.PauseReason, s.Loop.RequiresPlanReview = diag.Faultf(turn.CodePaused, "by ann"), holds
		for _, inst := range s.Loop.Instances {
			inst.IsIdle = true
		}
		list, err := s.Loop.BeginUndo(approval.UndoOrder{RequestedBy: "ann"}, s.Now)
		if err != nil || len(list) != 2 || list[1].UndoOrder.RequiresReview != holds {
			t.Errorf("%v: %+v, %v", holds, list, err)
		}
	}
}
