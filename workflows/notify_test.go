package workflows_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"processidea/activities/notify"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/protocol"
)

// board is where notices go.
type board struct {
	mu      sync.Mutex
	fail    int // notices that are still to be refused
	refused []string
	ids     []string
	got     []approval.Notification
}

func (b *board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := r.Header.Get("webhook-id")
	if b.fail > 0 {
		b.fail--
		b.refused = append(b.refused, id)
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	// A worker that is killed after it told people, and before Temporal knew, tells them again.
	if slices.Contains(b.ids, id) {
		return
	}
	var body struct{ Data approval.Notification }
	_ = json.NewDecoder(r.Body).Decode(&body)
	b.ids, b.got = append(b.ids, id), append(b.got, body.Data)
}

func (b *board) all() []approval.Notification {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

const shoutsAfterAPerson = `{"schema": {"tools": {"loud": {"type": "object", "properties": {"text": {"type": "string"}}, "_activity": "analyzeSentiment", "_approval": true}}}, "context": [
	{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}}]}`

const bothShout = `{"solution": {"calls": [{"_tool": "loud", "_instance": "*", "text": "I like this.", "_outputPath": "a"}]}}`

func TestPeopleAreToldWhatWaitsAndWhatWasDecidedAndTheProcessWaitsForNoNotice(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	b := &board{fail: 1}
	c.productionWith([]string{notify.URLVariable + "=" + toolbox.handle("/"+c.id+"/board", b.ServeHTTP)})
	s := newScenario(t, shoutsAfterAPerson, bothShout, nothingMore)
	run := c.start(s)
	s.waitsFor(2)
	eventually(t, "people are told that two wait", func() bool {
		all := b.all()
		return len(all) > 0 && all[len(all)-1].AwaitingCallCount == 2
	})
	b.mu.Lock()
	if len(b.refused) != 1 || b.refused[0] != b.ids[0] {
		t.Errorf("refused was %v, then delivered %v", b.refused, b.ids)
	}
	b.mu.Unlock()
	waiting := 0
	for _, n := range b.all() {
		waiting += len(n.NewlyWaiting)
	}
	if waiting != 2 {
		t.Errorf("%+v", b.all())
	}
	s.signal(s.id, policy.Approve, map[string]any{"call": "1.1@①", "by": "ann"})
	eventually(t, "people are told that one is decided", func() bool {
		all := b.all()
		last := all[len(all)-1]
		return len(last.NoLongerWaiting) == 1 && last.NoLongerWaiting[0].DecisionKind == policy.Approve &&
			last.NoLongerWaiting[0].DecidedBy == "ann" && last.AwaitingCallCount == 1
	})
	b.mu.Lock()
	b.fail = 1000 // nobody can be told any more
	b.mu.Unlock()
	s.signal(s.id, policy.Approve, map[string]any{"call": "1.1@②", "by": "ann"})
	if r := c.finish(run); r.Calls.Done != 2 {
		t.Errorf("%+v", r.Calls)
	}
	if err := replay(t, store, historyIn(t, c.id, s.id)); err != nil {
		t.Errorf("it does not replay: %v", err)
	}
}

func TestWhereNobodyIsToBeToldHistorySaysNothingOfIt(t *testing.T) {
	t.Parallel()
	s := newScenario(t, shoutsAfterAPerson, bothShout, nothingMore)
	run := s.start()
	s.waitsFor(2)
	s.decide(policy.Approve, "1.1@①", "")
	s.decide(policy.Approve, "1.1@②", "")
	s.end(run)
	events := s.client.GetWorkflowHistory(t.Context(), s.id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == protocol.ActivityNotifyPeople {
			t.Error("somebody was to be told")
		}
	}
}
