package model

import (
	"fmt"
	"strings"
	"testing"
)

func noticed(n Notices) string {
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
	s := withPeople(t, "", threeInstances)
	watch := Watch{}
	s.want("before anything waits", noticed(watch.Look(s.mind)), "0: ")
	s.asks()
	s.says(`{"calls": [{"_tool": "pay", "n": 1, "_instance": "*", "_outputPath": "a"}]}`)
	s.want("three wait", noticed(watch.Look(s.mind)), "3: +1.1@①, +1.1@②, +1.1@③")
	s.want("again", noticed(watch.Look(s.mind)), "3: ")
	s.decide(Approve, "1.1@①")
	s.decide(Reject, "1.1@③", `{"reason": "no"}`)
	s.want("two are decided", noticed(watch.Look(s.mind)), "1: -1.1@① approve ann, -1.1@③ reject ann")
	s.want("again", noticed(watch.Look(s.mind)), "1: ")
	if len(watch) != 1 {
		t.Errorf("it keeps %d", len(watch))
	}
}

func TestNoticesOfManyCallsNameTheFirstAndCountTheRest(t *testing.T) {
	m := NewMind(ideaOf(t, `{"context": [{"type": "state", "_instance": "①", "state": {}}]}`), "p", nil, began)
	var pending []Pending
	for n := range 50 {
		pending = append(pending, Pending{Call: fmt.Sprint(n), Digest: fmt.Sprint(n)})
	}
	m.Heard(Report{Token: "①", Number: 1, Heard: 1, Pending: pending})
	watch := Watch{}
	if n := watch.Look(m); n.Awaiting != 50 || len(n.Waiting) != 20 || n.MoreWaiting != 30 || n.Waiting[0].Call != "0" {
		t.Errorf("%+v", n)
	}
	m.Heard(Report{Token: "①", Number: 2, Heard: 2})
	if n := watch.Look(m); n.Awaiting != 0 || len(n.Decided) != 20 || n.MoreDecided != 30 || len(watch) != 0 {
		t.Errorf("%+v", n)
	}
}
