package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func noticed(n turn.Notices) string {
	var parts []string
	for _, w := range n.Waiting {
		parts = append(parts, "+"+w.Call)
	}
	for _, d := range n.Decided {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("-%s %s %s", d.Call, d.Decision, d.By)))
	}
	return fmt.Sprintf("%d: %s", n.Awaiting, strings.Join(parts, ", "))
}

func TestPeopleAreToldOnceOfWhatWaitsAndOfWhatWasDecided(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	watch := loop.NoticeBoard{}
	s.Want("before anything waits", noticed(watch.Changes(s.Mind)), "0: ")
	s.Asks()
	s.Says(`{"calls": [{"_tool": "pay", "n": 1, "_instance": "*", "_outputPath": "a"}]}`)
	s.Want("three wait", noticed(watch.Changes(s.Mind)), "3: +1.1@①, +1.1@②, +1.1@③")
	s.Want("again", noticed(watch.Changes(s.Mind)), "3: ")
	s.Decide(ideafile.Approve, "1.1@①")
	s.Decide(ideafile.Reject, "1.1@③", `{"reason": "no"}`)
	s.Want("two are decided", noticed(watch.Changes(s.Mind)), "1: -1.1@① approve ann, -1.1@③ reject ann")
	s.Want("again", noticed(watch.Changes(s.Mind)), "1: ")
	if len(watch) != 1 {
		t.Errorf("it keeps %d", len(watch))
	}
}

func TestNoticesOfManyCallsNameTheFirstAndCountTheRest(t *testing.T) {
	m := loop.New(modeltest.IdeaOf(t, `{"context": [{"type": "state", "_instance": "①", "state": {}}]}`), "p", nil, modeltest.Began)
	var pending []turn.Pending
	for n := range 50 {
		pending = append(pending, turn.Pending{Call: fmt.Sprint(n), Digest: fmt.Sprint(n)})
	}
	m.ApplyReport(turn.Report{Token: "①", Number: 1, Heard: 1, Pending: pending})
	watch := loop.NoticeBoard{}
	if n := watch.Changes(m); n.Awaiting != 50 || len(n.Waiting) != 20 || n.MoreWaiting != 30 || n.Waiting[0].Call != "0" {
		t.Errorf("%+v", n)
	}
	m.ApplyReport(turn.Report{Token: "①", Number: 2, Heard: 2})
	if n := watch.Changes(m); n.Awaiting != 0 || len(n.Decided) != 20 || n.MoreDecided != 30 || len(watch) != 0 {
		t.Errorf("%+v", n)
	}
}
