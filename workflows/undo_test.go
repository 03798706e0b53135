package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/protocol"
)

// agency is the server of a travel agent. It does what a key asks once, and cancels no booking from which another came
// that still stands.
type agency struct {
	mu       sync.Mutex
	stands   map[string]string // by booking, that is, by the key under which it was made: the one that it came from
	answers  map[string]string // by key
	mistakes []string
	// before is called before the first answer to a key is sent. keeps is the booking that it does not cancel.
	before func(path string)
	keeps  string
}

func (a *agency) serve(id string) (url string) {
	a.stands, a.answers = map[string]string{}, map[string]string{}
	for _, path := range []string{"/book", "/cancel"} {
		url = toolbox.handle("/"+id+path, func(w http.ResponseWriter, r *http.Request) {
			var in struct{ What, From, ID string }
			_ = json.NewDecoder(r.Body).Decode(&in)
			key := r.Header.Get("Idempotency-Key")
			a.mu.Lock()
			_, known := a.answers[key]
			if !known {
				a.answers[key] = a.act(path, key, in.What, in.From, in.ID)
			}
			answer := a.answers[key]
			a.mu.Unlock()
			if a.before != nil && !known {
				a.before(path)
			}
			if strings.HasPrefix(answer, "no") {
				w.WriteHeader(http.StatusConflict)
			}
			fmt.Fprint(w, answer)
		})
	}
	return strings.TrimSuffix(url, "/cancel")
}

func (a *agency) act(path, key, what, from, id string) string {
	switch {
	case path == "/book" && what == "balloon":
		return "no balloon flies"
	case path == "/book":
		a.stands[key] = from
		return asJSON(map[string]any{"id": key})
	case a.keeps != "" && strings.HasSuffix(id, a.keeps):
		return "no, it is paid for"
	}
	if _, there := a.stands[id]; !there || !strings.HasPrefix(key, id) || !strings.HasSuffix(key, "/undo") {
		a.mistakes = append(a.mistakes, key+" cancels "+id)
	}
	for other, came := range a.stands {
		if came == id {
			a.mistakes = append(a.mistakes, other+" came from "+id)
		}
	}
	delete(a.stands, id)
	return `"done"`
}

// standing lists what is booked.
func (a *agency) standing(t *testing.T) []string {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.mistakes) > 0 {
		t.Errorf("it was broken: %q", a.mistakes)
	}
	return jsonval.SortedKeys(a.stands)
}

const journeyCalls = `{"_tool": "book", "what": "flight", "_outputPath": "flight"},
	{"_tool": "book", "what": "hotel", "from": "†state.flight.id", "_outputPath": "hotel"},
	{"_tool": "whisper", "text": "†state.hotel.id", "_outputPath": "said"},
	{"_tool": "book", "what": "balloon", "from": "†state.said", "_outputPath": "balloon"}`

// journey is an Idea whose instances take back what they did when the balloon does not fly.
func (a *agency) journey(id, config, context string) string {
	url := a.serve(id)
	return `{"config": {"onFailure": "undo"` + config + `}, "schema": {"tools": {
	"book": {"type": "object", "properties": {"what": {"type": "string"}, "from": {"type": "string"}}, "required": ["what"],
		"_output": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
		"_activity": {"http": {"url": "` + url + `/book"}},
		"_undo": {"tool": "cancel", "params": {"id": "†result.id"}}},
	"cancel": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"],
		"_outputPath": "†state.cancelled", "_activity": {"http": {"url": "` + url + `/cancel"}}},
	"whisper": {"type": "object", "properties": {"text": {"type": "string"}}}}}, "context": [` + context + `]}`
}

func directJourney(more string) string {
	return more + `{"type": "plan", "stage": "complete", "plan": [` + journeyCalls + `]}`
}

// callsOf lists the statuses of Calls in an instance, as the last Idea tells them.
func (s *scenario) callsOf(token string) string {
	s.t.Helper()
	idea, problems := ideafile.ReadIdea(s.sealedLast())
	if len(problems.Errors()) > 0 {
		s.t.Fatal(problems)
	}
	var list []string
	for _, m := range idea.Context {
		for id := range m.PlanRecordByCallID {
			if status := m.RecordedStatusByInstance(id, []string{token})[token]; status != "" {
				list = append(list, id+" "+string(status))
			}
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func TestAnInstanceThatFailsTakesBackWhatItDid(t *testing.T) {
	t.Parallel()
	const undone = "0.1 undone, 0.1~undo done, 0.2 undone, 0.2~undo done, 0.3 undone, 0.4 failed"
	for name, row := range map[string]struct {
		config, context, calls string
		every                  int
		instances              []string
		replies                []string
	}{
		"a direct Plan":         {context: directJourney(""), calls: undone, instances: []string{""}},
		"that continues as new": {context: directJourney(""), calls: undone, every: 1, instances: []string{""}},
		"instances":             {context: directJourney(rows(1, 3) + ","), calls: undone, instances: []string{"1", "2", "3"}},
		"in parts, and as new":  {config: `, "batch": 1`, every: 1, context: directJourney(rows(1, 2) + ","), calls: undone, instances: []string{"1", "2"}},
		"a Plan of the LLM": {context: `{"type": "text", "text": "Go."}, {"type": "state", "state": {}, "schema": {"required": ["balloon"]}}`,
			calls: strings.TrimSuffix(strings.ReplaceAll(undone, "0.", "1."), ", 1.4 failed"), instances: []string{""},
			replies: []string{`{"solution": {"calls": [` + journeyCalls + `]}}`, `{"solution": {"calls": []}}`,
				`{"solution": {"calls": []}}`, `{"solution": {"calls": []}}`, `{"solution": {"calls": []}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &agency{}
			s := newScenario(t, a.journey(strings.ReplaceAll(t.Name(), " ", "-"), row.config, row.context), row.replies...)
			s.every = row.every
			r := s.cameTo()
			if left := a.standing(t); len(left) > 0 || len(a.answers) != 5*len(row.instances) {
				t.Errorf("still booked: %q after %v", left, a.answers)
			}
			if r.Status != loop.StatusFailed || r.Calls.Undone != 3*len(row.instances) ||
				!strings.Contains(r.Error.Message, "taken back: ") {
				t.Errorf("%s, %+v: %v", r.Status, r.Calls, r.Error)
			}
			for _, token := range row.instances {
				i := r.Instances[token]
				if i.Status != ideafile.InstanceFailed || strings.Contains(asJSON(i.State), "flight") ||
					strings.Contains(asJSON(i.State), "cancelled") {
					t.Errorf("%s is %s with %s", token, i.Status, asJSON(i.State))
				}
				if got := s.callsOf(token); got != row.calls {
					t.Errorf("%s: %s", token, got)
				}
			}
			if row.instances[0] == "" {
				replays(t, "undo", s.id)
			}
		})
	}
}

// bookings leaves the journey without the Tool that runs in the worker of these tests alone.
var bookings = strings.NewReplacer(journeyCalls, `{"_tool": "book", "what": "flight", "_outputPath": "flight"},
	{"_tool": "book", "what": "hotel", "from": "†state.flight.id", "_outputPath": "hotel"},
	{"_tool": "book", "what": "balloon", "from": "†state.hotel.id"}`)

// Processes take back what they did although their worker is killed again and again, while they book and while they
// cancel.
func TestWhatFailsIsTakenBackThoughWorkersAreKilled(t *testing.T) {
	t.Parallel()
	c, runs, every := newCrash(t), 10, 9
	if longrun.Enabled() {
		runs, every = 100, 60
	}
	var kill func()
	var effects atomic.Int64
	struck := make(chan bool, 1)
	before := func(string) {
		if effects.Add(1)%int64(every) == 0 {
			struck <- true // of those in flight no worker hears
		}
	}
	var worlds []*agency
	var processes []client.WorkflowRun
	kill = c.work()
	for n := range runs {
		a := &agency{before: before}
		s := newScenario(t, a.journey(fmt.Sprint(t.Name(), n), "", bookings.Replace(directJourney(""))))
		s.id += fmt.Sprint(n)
		worlds, processes = append(worlds, a), append(processes, c.start(s))
	}
	over, done := t.Context(), make(chan bool)
	go func() {
		defer close(done)
		for _, run := range processes {
			var failed *temporal.WorkflowExecutionError // and not that a slow server did not answer
			for err := run.Get(over, nil); err != nil && !errors.As(err, &failed) && over.Err() == nil; {
				err = run.Get(over, nil)
			}
		}
	}()
	kills := 0
	for ended := false; !ended; {
		select {
		case <-struck:
			kill()
			kills++
			kill = c.work()
		case <-done:
			ended = true
		}
	}
	for n, a := range worlds {
		var view protocol.ProcessView
		v, err := c.client.QueryWorkflow(t.Context(), processes[n].GetID(), "", protocol.QueryStatus)
		if err == nil {
			err = v.Get(&view)
		}
		if left := a.standing(t); err != nil || len(left) > 0 || len(a.answers) != 5 || view.Calls.Undone != 2 ||
			view.Instances[""].Status != ideafile.InstanceFailed {
			t.Errorf("%d: %q stands after %v: %+v, %v", n, left, a.answers, view.ProcessResult, err)
		}
	}
	if kills < 3 {
		t.Errorf("the worker was killed %d times", kills)
	}
}

func TestTwoHundredInstancesTakeBackAtOnce(t *testing.T) {
	t.Parallel()
	atLength(t)
	count, batch := 12, 5
	if longrun.Enabled() {
		count, batch = 200, 101
	}
	a := &agency{}
	s := newScenario(t, a.journey(t.Name(), fmt.Sprintf(`, "batch": %d`, batch), directJourney(rows(1, count)+",")))
	r := s.cameTo()
	if left := a.standing(t); len(left) > 0 || len(a.answers) != 5*count || r.Calls.Undone != 3*count {
		t.Errorf("%q stands after %d effects: %+v", left, len(a.answers), r.Calls)
	}
}

func TestWhatCannotBeTakenBackIsSaid(t *testing.T) {
	t.Parallel()
	a := &agency{keeps: "0.2"}
	s := newScenario(t, a.journey(t.Name(), "", directJourney("")))
	r := s.cameTo()
	if got := r.Instances[""]; got.Status != ideafile.InstanceUndoFailed || r.Status != loop.StatusFailed ||
		!strings.Contains(r.Error.Message, "nothing was taken back; not taken back: 0.2 (book): 0.2~undo (cancel), failed") ||
		!strings.Contains(r.Error.Message, "0.1 (book): 0.1~undo (cancel), blocked") {
		t.Errorf("%s: %v", got.Status, r.Error)
	}
	if got := a.standing(t); len(got) != 2 {
		t.Errorf("it stands: %q", got)
	}
	if got := s.callsOf(""); got != "0.1 done, 0.1~undo blocked, 0.2 done, 0.2~undo failed, 0.3 done, 0.4 failed" {
		t.Error(got)
	}
}

// acts sends an act, and gives why it was refused.
func (s *scenario) acts(kind string, payload map[string]any) string {
	s.t.Helper()
	payload["id"] = fmt.Sprint("act ", actNumber.Add(1))
	if err := s.client.SignalWorkflow(s.t.Context(), s.id, "", kind, payload); err != nil {
		s.t.Fatal(err)
	}
	if became := s.became(s.id, payload["id"].(string))[0]; became != approval.ActAccepted {
		return became
	}
	return ""
}

var actNumber atomic.Int64

// A paused process takes back what a person wants; the paths are open again, and the next Request is told why.
func TestAPausedProcessTakesBackAndGoesOn(t *testing.T) {
	t.Parallel()
	a := &agency{}
	s := newScenario(t, strings.Replace(a.journey(t.Name(), "", `{"type": "text", "text": "Go."},
		{"type": "state", "state": {}, "schema": {"required": ["signed", "hotel"]}}`), `"onFailure": "undo"`, "", 1),
		`{"solution": {"calls": [{"_tool": "book", "what": "flight", "_outputPath": "flight"},
			{"_tool": "book", "what": "hotel", "from": "†state.flight.id", "_outputPath": "hotel"},
			{"_tool": "whisper", "text": "†state.hotel.id", "_outputPath": "said"}]}}`,
		`{"when": "taken_back: by ann, since: too dear; taken back: 1.2 (book)", "solution": {"calls": [
			{"_tool": "book", "what": "inn", "from": "†state.flight.id", "_outputPath": "hotel"},
			{"_tool": "whisper", "text": "B", "_outputPath": "signed"}]}}`)
	hold, arrived := make(chan struct{}), make(chan struct{})
	var booked atomic.Int64
	a.before = func(string) {
		if booked.Add(1) == 2 {
			close(arrived)
			<-hold
		}
	}
	run := s.start()
	<-arrived
	refused := s.acts("undo", map[string]any{"call": "1.2", "by": "ann"})
	if !strings.Contains(refused, "pause it first") {
		t.Error(refused)
	}
	if got := s.acts("pause", map[string]any{"by": "ann"}); got != "" {
		t.Fatal(got)
	}
	if got := s.acts("undo", map[string]any{"call": "1.1", "by": "ann"}); !strings.Contains(got, "is still running") {
		t.Error(got)
	}
	close(hold)
	eventually(t, "it rests", func() bool {
		got := s.acts("undo", map[string]any{"call": "9.9", "by": "ann"})
		return strings.Contains(got, "there is no Call 9.9")
	})
	if got := s.acts("undo", map[string]any{"call": "1.2", "by": "ann", "reason": "too dear"}); got != "" {
		t.Error(got)
	}
	if got := a.standing(t); len(got) != 1 || !strings.HasSuffix(got[0], "1.1") {
		t.Errorf("it stands: %q", got)
	}
	if got := s.acts("undo", map[string]any{"call": "1.2", "by": "ann"}); !strings.Contains(got, "is not done: it is undone") {
		t.Error(got)
	}
	if got := s.acts("resume", map[string]any{"by": "ann"}); got != "" {
		t.Error(got)
	}
	if err := run.Get(t.Context(), nil); err != nil {
		t.Fatal(err, s.story())
	}
	r := s.processStatus().ProcessResult
	if got := a.standing(t); len(got) != 2 || r.Status != loop.StatusCompleted || r.Calls.Undone != 1 {
		t.Errorf("it stands: %q, %+v", got, r)
	}
	replays(t, "undo", s.id)
}

// A bare signal to the whole of a split process reaches its parts: what they refuse is said, but that one has nothing to
// take back only where all have nothing.
func TestASplitProcessHasItsPartsTakeBack(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]int{"in one run": 0, "in many": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &agency{}
			plan := `{"type": "plan", "stage": "complete", "plan": [{"_tool": "book", "what": "flight", "_outputPath": "flight"},
				{"_tool": "sign", "text": "†state.flight.id", "_outputPath": "signed"}]}`
			s := newScenario(t, strings.NewReplacer(`"onFailure": "undo"`, ``, `"whisper": {`, `"sign": {"type": "object",
				"properties": {"text": {"type": "string"}}, "_activity": "whisper", "_approval": true}, "whisper": {`).Replace(
				a.journey(strings.ReplaceAll(t.Name(), " ", "-"), `"batch": 1`, rows(1, 3)+","+plan)))
			s.every = every
			run := s.start()
			s.waitsFor(3)
			refuses := func(payload, want string) {
				t.Helper()
				if got := s.acts("undo", jsonval.AsObject(modeltest.DecodeJSON(t, payload))); !strings.Contains(got, want) {
					t.Errorf("%s: %q, not %q", payload, got, want)
				}
			}
			refuses(`{"by": "ann"}`, "pause it first")
			if got := s.acts("pause", map[string]any{"by": "ann"}); got != "" {
				t.Fatal(got)
			}
			refuses(`{"instance": "9"}`, `there is no instance "9"`)
			refuses(`{"call": "0.2@3"}`, "part 3: nothing was taken back; not taken back: Call 0.2@3 (sign) is not done")
			refuses(`{"calls": ["0.2@1"]}`, "part 1: nothing was taken back")
			for n, payload := range []string{`{"call": "0.1@2", "by": "ann", "reason": "too dear"}`, `{"by": "ann"}`} {
				if got := s.acts("undo", jsonval.AsObject(modeltest.DecodeJSON(t, payload))); got != "" {
					t.Errorf("%s: %s", payload, got)
				}
				if left := a.standing(t); len(left) != 2-2*n {
					t.Errorf("%s leaves %q", payload, left)
				}
			}
			refuses(`{"by": "ann"}`, "part 3: nothing was taken back")
			if got := s.acts("resume", map[string]any{"by": "ann"}); got != "" {
				t.Error(got)
			}
			eventually(t, "nothing waits", func() bool { return len(s.pending()) == 0 })
			_ = run.Get(t.Context(), nil) // what was to be signed is not there any more
			r := s.processStatus().ProcessResult
			if r.Calls.Undone != 3 || r.Calls.Blocked != 3 || r.Status != loop.StatusFailed || len(a.standing(t)) > 0 {
				t.Errorf("%s, %+v, and it stands: %q", r.Status, r.Calls, a.standing(t))
			}
			for _, id := range []string{s.id, protocol.PartID(s.id, 2)} {
				if err := replay(t, store, history(t, id)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// What takes back is under the approval of its own Tool: a person who rejects it leaves the booking, and all that it
// came from.
func TestAPersonKeepsAnInstanceFromTakingBack(t *testing.T) {
	t.Parallel()
	a := &agency{}
	s := newScenario(t, strings.Replace(a.journey(t.Name(), "", directJourney("")), `"_outputPath": "†state.cancelled",`,
		`"_approval": true,`, 1))
	run := s.start()
	waits := s.waitsFor(1)[0]
	if waits.CallID != "0.2~undo" || waits.Tool != "cancel" || len(a.standing(t)) != 2 {
		t.Errorf("%+v waits", waits)
	}
	s.decide("reject", "0.2~undo", `{"by": "ann", "reason": "it is paid for"}`)
	_ = run.Get(t.Context(), nil) // it has failed
	r := s.processStatus().ProcessResult
	if got := r.Instances[""]; got.Status != ideafile.InstanceUndoFailed || len(a.standing(t)) != 2 ||
		!strings.Contains(r.Error.Message, "not taken back: 0.2 (book): 0.2~undo (cancel), rejected") {
		t.Errorf("%s, %q: %v", got.Status, a.standing(t), r.Error)
	}
	if got := s.callsOf(""); got != "0.1 done, 0.1~undo blocked, 0.2 done, 0.2~undo rejected, 0.3 done, 0.4 failed" {
		t.Error(got)
	}
	replays(t, "undo", s.id)
}

// A simulation takes back as the process would, and the world sees neither.
func TestASimulatedInstanceThatFailsTakesBackAsWell(t *testing.T) {
	t.Parallel()
	a := &agency{}
	idea := strings.NewReplacer(`"whisper": {`, `"odd": {"type": "object", "properties": {}, "_undo": "never",
		"_activity": {"http": {"url": "http://127.0.0.1:1"}}, "_output": {"type": "string", "minLength": 2, "maxLength": 1}}, "whisper": {`,
		`"_tool": "book", "what": "balloon", "from": "†state.said"`, `"_tool": "odd", "_after": "†state.said"`).Replace(
		a.journey(t.Name(), "", directJourney("")))
	r := newScenario(t, idea).simulate(ideafile.FakedBySchemas, ideafile.FakedBySchemas).cameTo()
	if r.Status != loop.StatusFailed || r.Calls.Undone != 3 || len(a.answers) > 0 ||
		!strings.Contains(r.Error.Message, "taken back: 0.2 (book), 0.1 (book)") {
		t.Errorf("%s, %+v, the world saw %v: %v", r.Status, r.Calls, a.answers, r.Error)
	}
}

func TestTheMetricsCountWhatIsTakenBack(t *testing.T) {
	t.Parallel()
	c, a := newCrash(t), &agency{}
	s := newScenario(t, a.journey(t.Name(), "", bookings.Replace(directJourney(""))))
	p := c.production()
	_ = c.start(s).Get(t.Context(), nil) // it has failed
	for series, want := range map[string]string{
		`processidea_undone_total{tool="cancel"}`:                    "2",
		`processidea_calls_total{outcome="done",tool="cancel"}`:      "2",
		`processidea_calls_total{outcome="tool_failed",tool="book"}`: "1",
		`processidea_undone_total{tool="book"}`:                      "",
	} {
		if got := metric(p, series); got != want {
			t.Errorf("%s is %q, not %q", series, got, want)
		}
	}
}
