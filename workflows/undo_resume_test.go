package workflows_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
)

// What reads from a Call that is taken back, or was to come after it, does not run, whenever the process goes on.
func TestWhatComesAfterACallThatIsTakenBackDoesNotRun(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]bool{"resumed afterwards": false, "resumed meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &agency{}
			idea := a.journey(strings.ReplaceAll(t.Name(), " ", "-"), "", `{"type": "plan", "stage": "complete", "plan": [
				{"_tool": "book", "what": "flight", "_outputPath": "flight"}, {"_tool": "sign", "text": "†state.flight.id"},
				{"_tool": "sign", "text": "a", "_after": "†state.flight"}, {"_tool": "sign", "text": "b", "_after": "†call.0.1"}]}`)
			s := newScenario(t, strings.NewReplacer(`"onFailure": "undo"`, ``, `"whisper": {`, `"sign": {"type": "object",
				"properties": {"text": {"type": "string"}}, "_activity": "whisper", "_approval": true}, "whisper": {`).Replace(idea))
			hold, arrived := make(chan struct{}), make(chan struct{})
			a.before = func(path string) {
				if meanwhile && path == "/cancel" {
					close(arrived)
					<-hold
				}
			}
			run := s.start()
			s.waitsFor(3)
			if got := s.acts("pause", map[string]any{"by": "ann"}); got != "" {
				t.Fatal(got)
			}
			s.signal(s.id, "undo", map[string]any{"id": "u", "by": "ann"})
			if meanwhile {
				<-arrived
			} else {
				s.areTaken("u")
			}
			if got := s.acts("resume", map[string]any{"by": "ann"}); got != "" {
				t.Error(got)
			}
			close(hold)
			s.areTaken("u")
			eventually(t, "nothing waits", func() bool { return len(s.pending()) == 0 })
			_ = run.Get(t.Context(), nil) // nothing of it can be signed
			r := s.processStatus().ProcessResult
			if r.Status != loop.StatusFailed || r.Calls.Undone != 1 || r.Calls.Blocked != 3 || len(a.standing(t)) > 0 {
				t.Errorf("%s, %+v, and it stands: %q", r.Status, r.Calls, a.standing(t))
			}
			for _, id := range []string{s.id, protocol.InstanceID(s.id, "")} {
				if err := replay(t, store, history(t, id)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Nothing has run of a Call that its Tool's server refused unread, that the limits hold up, or whose turn has not come:
// it keeps nobody from taking back. If it read what was taken back it is never sent; else it waits on, for as long as
// the server asked.
func TestACallThatHasNotRunKeepsNobodyFromTakingBack(t *testing.T) {
	t.Parallel()
	const waiting, undone = "0.1 done, 0.2 waiting, 0.3 waiting", "0.1 undone, 0.1~undo done, 0.2 waiting, 0.3 waiting"
	for name, row := range map[string]struct {
		config, more string
		every        int
		sent, turns  int    // how many of both were sent, and wait for their turn
		tool         string // all of one name share their rate
	}{
		"refused":                     {sent: 2},
		"refused, the only attempt":   {sent: 2, more: `, "_retry": {"attempts": 1}`},
		"refused, continuing as new":  {sent: 2, every: 1},
		"the limits allow no further": {config: `"limits": {"calls": 1}`},
		"one's turn has not come":     {sent: 1, turns: 1, more: `, "_rate": {"perSecond": 0.001}`, tool: "mailByTurn"},
		"one's turn has not come, continuing as new": {sent: 1, turns: 1, more: `, "_rate": {"perSecond": 0.001}`,
			tool: "mailByTurnAnew", every: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, id := &agency{}, strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(t.Name())
			tool := cmp.Or(row.tool, "mail")
			var mu sync.Mutex
			var sent []string
			url := toolbox.handle("/"+id+"/mail", func(w http.ResponseWriter, r *http.Request) {
				var in struct{ Text string }
				_ = json.NewDecoder(r.Body).Decode(&in)
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, in.Text[strings.LastIndex(in.Text, "/")+1:])
				w.Header().Set("Retry-After", "7200")
				http.Error(w, "slowly", http.StatusTooManyRequests)
			})
			wasSent := func() []string {
				mu.Lock()
				defer mu.Unlock()
				return slices.Sorted(slices.Values(sent))
			}
			idea := a.journey(id, "", `{"type": "plan", "stage": "complete", "plan": [
				{"_tool": "book", "what": "flight", "_outputPath": "flight"}, {"_tool": "mail", "text": "†state.flight.id"},
				{"_tool": "mail", "text": "bye"}]}`)
			s := newScenario(t, strings.NewReplacer(`"onFailure": "undo"`, row.config, `"whisper": {`, `"`+tool+`": {"type": "object",
				"properties": {"text": {"type": "string"}}, "_activity": {"http": {"url": "`+url+`"}}`+row.more+`}, "whisper": {`,
				`"_tool": "mail"`, `"_tool": "`+tool+`"`).Replace(idea))
			s.every = row.every
			s.start()
			if row.sent > 0 {
				eventually(t, "the server has refused what was sent", func() bool {
					return len(wasSent()) == row.sent && s.awaitingTurn("") == row.turns
				})
				if got := s.acts("pause", map[string]any{"by": "ann"}); got != "" {
					t.Fatal(got)
				}
			}
			calls := func() string {
				list := jsonval.Map(s.instance("").Calls,
					func(c protocol.CallView) string { return c.ID + " " + string(c.Status) })
				slices.Sort(list)
				return strings.Join(list, ", ")
			}
			want := cmp.Or(strings.Join(wasSent(), " "), "bye")
			eventually(t, "it is paused, and nothing runs", func() bool {
				return s.processStatus().Status == loop.StatusPaused && calls() == waiting
			})
			eventually(t, "it takes back", func() bool { return s.acts("undo", map[string]any{"by": "ann"}) == "" })
			eventually(t, "it is on record", func() bool { return s.callsOf("") == undone })
			if left := a.standing(t); len(left) > 0 {
				t.Errorf("it stands: %q", left)
			}
			if got := s.acts("resume", map[string]any{"by": "ann", "limits": map[string]any{"calls": 9}}); got != "" {
				t.Error(got)
			}
			eventually(t, "what read it is blocked, and the other one waits on", func() bool {
				return calls() == "0.1 undone, 0.1~undo done, 0.2 blocked, 0.3 running"
			})
			eventually(t, "the other one was sent", func() bool { return strings.Join(wasSent(), " ") == want })
			for _, id := range []string{s.id, protocol.InstanceID(s.id, "")} {
				if err := replay(t, store, history(t, id)); err != nil {
					t.Error(err)
				}
			}
			s.cancel()
		})
	}
}

// awaitingTurn counts the Calls of an instance that wait for their turn.
func (s *scenario) awaitingTurn(token string) (n int) {
	d, err := s.client.DescribeWorkflowExecution(s.t.Context(), protocol.InstanceID(s.id, token), "")
	if err != nil {
		return 0
	}
	for _, a := range d.GetPendingActivities() {
		if a.GetActivityType().GetName() == protocol.ActivityAwaitLimitTurn {
			n++
		}
	}
	return n
}
