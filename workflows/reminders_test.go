package workflows_test

import (
	"strings"
	"syscall"
	"testing"

	"processidea/activities/notify"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// told lists what people were told of Calls, in order: "waits 0.1@1", "reminder 1 0.1@1", "escalated 0.1@1".
func (b *board) told() (list []string) {
	for _, n := range b.all() {
		for _, one := range n.NewlyWaiting {
			list = append(list, "waits "+one.CallID)
		}
		for _, one := range n.Reminders {
			list = append(list, "reminder of "+one.CallID)
		}
		for _, one := range n.Escalations {
			list = append(list, "escalation of "+one.CallID+" to "+one.EscalatedTo.String())
		}
	}
	return list
}

func count(list []string, text string) (n int) {
	for _, one := range list {
		if one == text {
			n++
		}
	}
	return n
}

const soonEscalated = `{"by": {"groups": ["finance"], "notStarter": true}, "remind": ["1s"], "escalate": {"after": "2s", "by": {"groups": ["heads"]}}}`

// decideOf takes a decision of somebody of a group on a Call of an instance, and returns why it was refused; "" if it
// was taken.
func (s *scenario) decideOf(instance, call, by, group string) string {
	s.t.Helper()
	return s.outcome(s.id, instance, policy.Approve, map[string]any{"call": call, "by": by, "groups": []any{group},
		"id": by + " " + call})
}

// Reminders and escalations hold in every form of a process, though all workers are killed meanwhile.
func TestAnEscalationOfAPlan(t *testing.T) {
	t.Parallel()
	escalates(t, "", `{"type": "text", "text": "t"},`+payOnce, []string{"/main"}, 0, false)
}

func TestAnEscalationWhileTheWorkerIsKilled(t *testing.T) {
	t.Parallel()
	escalates(t, "", rows(1, 2)+`,`+payOnce, []string{"/1", "/2"}, 0, true)
}

func TestAnEscalationContinuedAsNew(t *testing.T) {
	t.Parallel()
	escalates(t, "", rows(1, 2)+`,`+payOnce, []string{"/1", "/2"}, 1, false)
}

func TestAnEscalationInPartsThatAreKilledAndContinueAsNew(t *testing.T) {
	t.Parallel()
	escalates(t, `"batch": 1`, rows(1, 3)+`,`+payOnce, []string{"/~part/1/1", "/~part/2/2", "/~part/3/3"}, 1, true)
}

// escalates runs a process in which nobody decides in time: people are reminded once of each Call, and others decide in
// the end. instances are workflow ids under the process, each with the Call 0.1.
func escalates(t *testing.T, config, context string, instances []string, every int, kill bool) {
	cr, b := newCrash(t), &board{}
	env := []string{notify.URLVariable + "=" + toolbox.handle("/"+cr.id+"/board", b.ServeHTTP)}
	worker := cr.productionWith(env)
	till := newTill(t)
	s := paying(t, till, config, soonEscalated, context)
	s.every = every
	run := cr.start(s)
	s.waitsFor(len(instances))
	if kill {
		worker.Signal(syscall.SIGKILL)
		cr.productionWith(env)
	}
	calls := map[string]string{}
	for _, under := range instances {
		if calls[under] = "0.1"; under != "/main" {
			calls[under] += "@" + under[strings.LastIndex(under, "/")+1:]
		}
	}
	const toHeads = " to people of heads"
	eventually(t, "people are told of every escalation", func() bool {
		list := b.told()
		for _, call := range calls {
			if count(list, "escalation of "+call+toHeads) == 0 {
				return false
			}
		}
		return true
	})
	list := b.told()
	for _, call := range calls {
		// A reminder and an escalation that are due when a worker comes back are told as one.
		if count(list, "reminder of "+call) > 1 || count(list, "escalation of "+call+toHeads) != 1 {
			t.Errorf("people were told %q", list)
		}
	}
	// Parts tell people themselves; the whole hears of it a moment later.
	eventually(t, "what waits says who was told and who may decide", func() bool {
		waiting := s.pending()
		for _, a := range waiting {
			if a.ReminderSchedule.NotificationProgressKey() != "r1e1" ||
				!strings.Contains(a.DecidersInWords(), "people of finance, heads; not who started the process") {
				return false
			}
		}
		return len(waiting) == len(calls)
	})
	for under, call := range calls {
		if why := s.decideOf(s.id+under, call, "sam", "heads"); !strings.Contains(why, "sam started the process") {
			t.Errorf("who started it: %q", why)
		}
		if why := s.decideOf(s.id+under, call, "hal", "heads"); why != "" {
			t.Errorf("a head: %q", why)
		}
	}
	if r := cr.finish(run); r.Calls.Done != len(calls) || len(till.seen()) != len(calls) {
		t.Errorf("%+v", r.Calls)
	}
	if err := replay(t, store, historyIn(t, cr.id, s.id)); err != nil {
		t.Errorf("it does not replay: %v", err)
	}
	made := s.decisionsInChain()
	for _, d := range made {
		if d.SentNotifications.String() != "reminded once, escalated to people of heads" {
			t.Errorf("on record: %+v", d)
		}
	}
	if len(made) != len(calls) {
		t.Errorf("on record are %d decisions", len(made))
	}
}

// Before its time an escalation lets nobody decide, and what waits shows what is to come. Who is in time is not
// reminded of anything.
func TestWhatIsToComeIsShownAndDoesNotHappenEarly(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, "",
		`{"by": {"groups": ["finance"]}, "remind": ["4h", "24h"], "escalate": {"after": "48h", "by": {"groups": ["heads"]}}}`, rows(1, 1)+`,`+payOnce)
	run := s.start()
	a := s.waitsFor(1)[0]
	if w := a.ReminderSchedule; len(w.ReminderTimes) != 2 || w.ReminderTimes[1].Sub(a.Since).Hours() != 24 ||
		len(w.Escalations) != 1 || w.Escalations[0].DueAt.Sub(a.Since).Hours() != 48 {
		t.Errorf("%+v", w)
	}
	if why := s.decideOf(s.id+"/1", "0.1@1", "hal", "heads"); !strings.Contains(why,
		"hal may not decide on it, only people of finance may") {
		t.Errorf("too early: %q", why)
	}
	if why := s.decideOf(s.id+"/1", "0.1@1", "ann", "finance"); why != "" {
		t.Error(why)
	}
	s.end(run)
	for _, d := range s.decisionsInChain() {
		if d.SentNotifications != nil {
			t.Errorf("%+v", d)
		}
	}
}

// What a process says of reminders and escalations holds for the Calls of its delegates too.
func TestRemindersReachDelegates(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"config": {"approval": {"by": {"groups": ["finance"]}, "remind": ["1s"], "escalate": {"after": "2s", "by": {"groups": ["heads"]}}}},
		"schema": {"tools": {"settle": {"type": "object", "properties": {}, "_delegate": "settle.json"}}},
		"context": [{"type": "text", "text": "t"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "settle"}]}]}`)
	s.file("settle.json", `{"schema": {"tools": {"pay": `+till.pay("true")+`}}, "context": [`+payOnce+`]}`)
	run := s.start()
	delegate := protocol.DelegateID(s.id, "0.1")
	eventually(t, "the delegate's Call is escalated", func() bool {
		var v protocol.ProcessApprovals
		q, err := s.client.QueryWorkflow(t.Context(), delegate, "", protocol.QueryApprovals)
		return err == nil && q.Get(&v) == nil && len(v.Approvals) == 1 &&
			v.Approvals[0].ReminderSchedule.NotificationProgressKey() == "r1e1"
	})
	if why := s.outcome(delegate, delegate+"/main", policy.Approve,
		map[string]any{"call": "0.1", "by": "hal", "groups": []any{"heads"}, "id": "hal"}); why != "" {
		t.Error(why)
	}
	s.end(run)
}

// decisionsInChain lists what people decided, as the chain has it.
func (s *scenario) decisionsInChain() (made []approval.Decision) {
	s.t.Helper()
	chains := chain.New(store)
	last, err := chains.LatestIdeaNumber(s.t.Context(), s.id)
	for at := 1; at <= last && err == nil; at++ {
		var log []turn.LogEntry
		log, err = chains.LogAt(s.t.Context(), s.id, at)
		for _, e := range log {
			if e.Decision != nil {
				made = append(made, *e.Decision)
			}
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}
