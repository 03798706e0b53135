package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func noticed(n approval.Notification) string {
	var parts []string
	for _, w := range n.NewlyWaiting {
		parts = append(parts, "+"+w.CallID)
	}
	for _, d := range n.NoLongerWaiting {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("-%s %s %s", d.CallID, d.DecisionKind, d.DecidedBy)))
	}
	return fmt.Sprintf("%d: %s", n.AwaitingCallCount, strings.Join(parts, ", "))
}

func TestPeopleAreToldOnceOfWhatWaitsAndOfWhatWasDecided(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	watch := loop.SentNotices{}
	s.WantEqual("before anything waits", noticed(watch.TakeChanges(s.Loop)), "0: ")
	s.ExpectRequest()
	s.ReplyWith(`{"calls": [{"_tool": "pay", "n": 1, "_instance": "*", "_outputPath": "a"}]}`)
	s.WantEqual("three wait", noticed(watch.TakeChanges(s.Loop)), "3: +1.1@①, +1.1@②, +1.1@③")
	s.WantEqual("again", noticed(watch.TakeChanges(s.Loop)), "3: ")
	s.Decide(policy.Approve, "1.1@①")
	s.Decide(policy.Reject, "1.1@③", `{"reason": "no"}`)
	s.WantEqual("two are decided", noticed(watch.TakeChanges(s.Loop)), "1: -1.1@① approve ann, -1.1@③ reject ann")
	s.WantEqual("again", noticed(watch.TakeChanges(s.Loop)), "1: ")
	if len(watch) != 1 {
		t.Errorf("it keeps %d", len(watch))
	}
}

func TestPeopleAreToldOnceOfEachQuestionAndOfAHandOver(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	watch := loop.SentNotices{}
	s.ExpectRequest()
	s.ReplyWith(`{"calls": [{"_tool": "pay", "n": 1, "_instance": "①", "_outputPath": "a"}]}`)
	s.WantEqual("one waits", noticed(watch.TakeChanges(s.Loop)), "1: +1.1@①")
	for _, c := range []struct{ kind, more, want string }{
		{approval.Comment, `{"reason": "secret"}`, "[]"},
		{approval.Ask, `{"reason": "secret"}`, "[ann asks who started it]"},
		{approval.Comment, `{"reason": "secret"}`, "[]"},
		{approval.HandOver, `{"to": "bob", "reason": "secret"}`, "[ann has handed it over to bob]"},
	} {
		s.Decide(c.kind, "1.1@①", c.more)
		for _, want := range []string{c.want, "[]"} {
			told := []string{}
			for _, r := range watch.TakeChanges(s.Loop).Remarks {
				told = append(told, r.Remark.String())
			}
			s.WantEqual(c.kind, fmt.Sprint(told), want)
		}
	}
}

func TestPeopleAreToldOnceOfEachReminderAndOfAnEscalation(t *testing.T) {
	t.Parallel()
	m := loop.New(modeltest.IdeaFrom(t, `{"context": [{"type": "state", "_instance": "①", "state": {}}]}`), "p", nil,
		modeltest.StartTime)
	watch, reports := loop.SentNotices{}, 0
	told := func(s *policy.ReminderSchedule) string {
		reports++
		pending := []approval.PendingCall{{CallID: "1.1@①", Digest: "d", ReminderSchedule: s}}
		m.ApplyReport(turn.InstanceReport{InstanceToken: "①", ReportNumber: reports, WorkflowHistoryLength: reports,
			InstanceStatusDetails: turn.InstanceStatusDetails{PendingApprovals: pending}})
		n := watch.TakeChanges(m)
		var parts []string
		for _, r := range n.Reminders {
			parts = append(parts, fmt.Sprintf("%s reminded %d", r.CallID, r.ReminderCount))
		}
		for _, e := range n.Escalations {
			parts = append(parts, e.CallID+" escalated to "+e.EscalatedTo.String())
		}
		return noticed(n) + strings.Join(parts, ", ")
	}
	var g policy.RemindersByRule
	g.Add(policy.ReminderRules{ReminderDelays: []time.Duration{time.Hour, 3 * time.Hour},
		Escalation: &policy.Escalation{Delay: 2 * time.Hour,
			AddedDeciders: policy.DeciderRule{Groups: []string{"heads"}}}},
		-1)
	s := g.Schedule(modeltest.StartTime)
	for after, want := range []string{"1: +1.1@①", "1: 1.1@① reminded 1", "1: 1.1@① escalated to people of heads",
		"1: 1.1@① reminded 2", "1: "} {
		s, _ = s.AdvancedTo(modeltest.StartTime.Add(time.Duration(after)*time.Hour), nil)
		if got := told(s); got != want {
			t.Errorf("after %d hours %q, want %q", after, got, want)
		}
		if got := told(s); got != "1: " {
			t.Errorf("after %d hours, again: %q", after, got)
		}
	}
	watch = loop.SentNotices{} // no worker was there to tell anybody before
	if got := told(s); got != "1: +1.1@①1.1@① escalated to people of heads" {
		t.Errorf("of a Call that nobody has heard of and that was escalated people are told %q", got)
	}
}

func TestNoticesOfManyCallsNameTheFirstAndCountTheRest(t *testing.T) {
	t.Parallel()
	m := loop.New(modeltest.IdeaFrom(t, `{"context": [{"type": "state", "_instance": "①", "state": {}}]}`), "p", nil,
		modeltest.StartTime)
	var pending []approval.PendingCall
	for n := range 50 {
		pending = append(pending, approval.PendingCall{CallID: fmt.Sprint(n), Digest: fmt.Sprint(n)})
	}
	m.ApplyReport(turn.InstanceReport{InstanceToken: "①", ReportNumber: 1, WorkflowHistoryLength: 1,
		InstanceStatusDetails: turn.InstanceStatusDetails{PendingApprovals: pending}})
	watch := loop.SentNotices{}
	if n := watch.TakeChanges(m); n.AwaitingCallCount != 50 || len(n.NewlyWaiting) != 20 ||
		n.OmittedWaitingCount != 30 ||
		n.NewlyWaiting[0].CallID != "0" {
		t.Errorf("%+v", n)
	}
	m.ApplyReport(turn.InstanceReport{InstanceToken: "①", ReportNumber: 2, WorkflowHistoryLength: 2})
	if n := watch.TakeChanges(m); n.AwaitingCallCount != 0 || len(n.NoLongerWaiting) != 20 ||
		n.OmittedNoLongerWaitingCount != 30 ||
		len(watch) != 0 {
		t.Errorf("%+v", n)
	}
}
