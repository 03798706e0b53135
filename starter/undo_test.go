package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"processidea/client"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/starter/internal/exit"
)

// bookings is the server of a travel agent. It does what a key asks once, and cancels no booking from which another
// came that still stands.
type bookings struct {
	*httptest.Server
	mu      sync.Mutex
	stands  map[string]string // by booking: the one that it came from
	answers map[string]string // by key
	broken  []string
	hold    chan struct{} // cancellations wait for it; nil: they do not
	arrived chan string   // the keys of cancellations that wait
	closed  bool          // nothing is cancelled for now
}

func newBookings(t *testing.T) *bookings {
	b := &bookings{stands: map[string]string{}, answers: map[string]string{}, arrived: make(chan string, 1000)}
	b.Server = httptest.NewServer(http.HandlerFunc(b.answer))
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

func (b *bookings) answer(w http.ResponseWriter, r *http.Request) {
	var in struct{ What, From, ID string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	key := r.Header.Get("Idempotency-Key")
	b.mu.Lock()
	hold := b.hold
	b.mu.Unlock()
	if r.URL.Path == "/cancel" && hold != nil {
		b.arrived <- key
		<-hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.URL.Path == "/cancel" && b.closed {
		http.Error(w, "we are closed", http.StatusConflict)
		return
	}
	if _, known := b.answers[key]; !known {
		b.answers[key] = b.act(r.URL.Path, key, in.What, in.From, in.ID)
	}
	if strings.HasPrefix(b.answers[key], "no") {
		w.WriteHeader(http.StatusConflict)
	}
	fmt.Fprint(w, b.answers[key])
}

func (b *bookings) act(path, key, what, from, id string) string {
	switch path {
	case "/book":
		if what == "balloon" {
			return "no balloon flies"
		}
		b.stands[key] = from
		return string(jsonval.Encode(map[string]any{"id": key}))
	case "/cancel":
		if _, there := b.stands[id]; !there {
			b.broken = append(b.broken, id+" is cancelled, and does not stand")
			return "no such booking"
		}
		for other, from := range b.stands {
			if from == id {
				b.broken = append(b.broken, other+" came from "+id)
				return "not before " + other
			}
		}
		delete(b.stands, id)
	}
	return `"done"`
}

// standing lists what is booked.
func (b *bookings) standing(t *testing.T) []string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.broken) > 0 {
		t.Errorf("it was broken: %q", b.broken)
	}
	return jsonval.SortedKeys(b.stands)
}

// idea is one of journeys: a flight, a hotel that is booked for it, a letter, and whatever more. letter is how letters
// are taken back.
func (b *bookings) idea(letter, config, more, context string) string {
	return `{"meta": {"path": "journeys"}, "config": {` + config + `}, "schema": {"tools": {
	"book": {"type": "object", "properties": {"what": {"type": "string"}, "from": {"type": "string"}}, "required": ["what"], "additionalProperties": false,
		"_output": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}, "_activity": {"http": {"url": "` + b.URL + `/book"}},
		"_undo": {"tool": "cancel", "params": {"id": "†result.id"}}},
	"cancel": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": false,
		"_outputPath": "†state.cancelled", "_activity": {"http": {"url": "` + b.URL + `/cancel"}}},
	"write": {"type": "object", "properties": {"what": {"type": "string"}}, "_activity": {"http": {"url": "` + b.URL + `/write"}}, "_undo": "` + letter + `"}}},
	"context": [` + context + `{"type": "plan", "stage": "complete", "plan": [
		{"_tool": "book", "what": "flight", "_outputPath": "flight"},
		{"_tool": "book", "what": "hotel", "from": "†state.flight.id", "_outputPath": "hotel"},
		{"_tool": "write", "what": "†state.hotel.id"}` + more + `]}]}`
}

func (b *bookings) desk(t *testing.T, idea string) *desk {
	return newDesk(t, map[string]string{"idea.json": idea}).set("PROCESSIDEA_HTTP_ALLOW=" +
		strings.TrimPrefix(b.URL, "http://"))
}

const threeTravellers = `{"type": "state", "_instance": "①", "n": 1}, {"type": "state", "_instance": "②", "n": 2}, {"type": "state", "_instance": "③", "n": 3},`

func TestWhatAnEndedProcessDidIsTakenBackOnce(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, b.idea("none", "", "", threeTravellers))
	d.dev()
	d.do("run", ".", "--id", "p").is(exit.Done)
	if n := len(b.standing(t)); n != 6 {
		t.Fatalf("%d are booked", n)
	}
	var u client.UndoPlan
	d.do("undo", "p", "--dry-run", "--json").is(exit.Done).json(&u)
	if len(u.Steps) != 6 || u.Steps[0].CallID != "0.2@①" || u.Steps[0].Tool != "cancel" ||
		u.Steps[0].Params["id"] != "p/%E2%91%A0/0.2@%E2%91%A0" ||
		u.UndoProcessID != "p-undo-1" || len(b.standing(t)) != 6 {
		t.Errorf("%+v", u)
	}
	d.do("undo", "p", "--instance", "2", "--yes", "--by", "ann", "--reason", "the customer fell ill").is(exit.Done)
	want(t, strings.Join(b.standing(t), " "),
		"p/%E2%91%A0/0.1@%E2%91%A0 p/%E2%91%A0/0.2@%E2%91%A0 p/%E2%91%A2/0.1@%E2%91%A2 p/%E2%91%A2/0.2@%E2%91%A2")
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("of p, 4 Calls would be taken back, as p-undo-2",
		"0.1@② (book): it was taken back by p-undo-1")
	d.do("undo", "p", "--yes", "--by", "ann", "--reason", "all of it", "--as", "refunds").is(exit.Done).complains(
		"run refunds")
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	d.do("undo", "p", "--yes", "--by", "ann", "--reason",
		"once more").is(exit.Usage).complains("undo p: refused: there is nothing to take back")
	d.do("show", "p").is(exit.Done).complains(
		"2 Calls are undone by p-undo-1, for ann: the customer fell ill (0.1@②, 0.2@②)").
		complains("4 Calls are undone by refunds, for ann: all of it")
	var idea struct {
		Meta struct{ Undone []client.UndoneCall }
	}
	if d.do("show", "p", "--json").is(exit.Done).json(&idea); len(idea.Meta.Undone) != 6 ||
		idea.Meta.Undone[1].CallID != "0.1@②" {
		t.Errorf("%+v", idea)
	}
	d.do("show", "p-undo-1").is(exit.Done).complains(
		"p-undo-1: it takes back what p did, for ann: the customer fell ill")
	d.do("verify", "p-undo-1").is(exit.Done).tells("it takes back what p did, for ann: the customer fell ill")
	d.do("blame", "p", "②:hotel").is(exit.Done).tells("0.2@② is undone by p-undo-1, for ann: the customer fell ill")
	d.do("export", "p", "--html").is(exit.Done).tells("What was taken back", "refunds", "the customer fell ill")
	var list []client.ProcessSummary
	d.do("list", "--json").is(exit.Done).json(&list)
	n := slices.IndexFunc(list, func(s client.ProcessSummary) bool { return s.ProcessID == "p" })
	want(t, list[n].StatusText(), "completed, undone by p-undo-1, refunds")
	d.do("history", "p").is(exit.Done).tells("it is undone by p-undo-1, refunds")
	d.do("history", "p-undo-1").is(exit.Done).tells(
		"it takes back what p did, for ann: the customer fell ill\nforked from Idea 2 of p")
	d.do("forget", "p", "--reason", "she asked").is(exit.Usage).complains("p-undo-1, refunds")
	d.do("forget", "p", "--reason", "she asked", "--with-forks").is(exit.Done)
	d.do("show", "p-undo-1").is(exit.Usage).complains("forgotten")
}

func TestAnUndoSaysWhatCannotBeTakenBackAndKeepsWhatThatCameFrom(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, b.idea("never", "", `, {"_tool": "book", "what": "car", "_after": "†call.0.3"}`, ""))
	d.do("run", ".", "--id", "p").is(exit.Done)
	d.do("undo", "p", "--yes", "--reason", "x", "--json").is(exit.Done)
	want(t, strings.Join(b.standing(t), " "), "p/main/0.1 p/main/0.2")
	d.do("undo", "p", "--dry-run").is(exit.Done).complains("no server answers: if p is at work").tells("of p, 0 Calls would",
		"cannot be taken back:\n  0.3 (write): nothing takes write back",
		"0.2 (book): 0.3 (write) reads from it and is not taken back", "0.4 (book): it was taken back by p-undo-1")
	d.do("fork", "p", "--at", "1", "--id", "q", "--undo", "--yes", "--reason", "x").is(exit.Done).complains(
		"nothing of p is taken back; what cannot be: 0.3 (write): nothing takes write back")
}

func TestAnUndoIsRefusedInASentence(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, b.idea("none", "", `, {"_tool": "book", "what": "balloon"}`, ""))
	d.dev()
	undo := func(args ...string) ended { return d.do(append([]string{"undo", "--yes", "--by", "ann"}, args...)...) }
	undo("p", "--reason", "x").is(exit.Usage).complains("undo p: the store has no Idea of a process with this id")
	d.do("run", ".", "--id", "p").is(exit.Failed)
	for says, args := range map[string][]string{
		"--reason is missing":                            {"p"},
		"Call 0.4 (book) is not done: it is failed":      {"p", "--reason", "x", "--call", "0.4"},
		"there is no Call 0.5":                           {"p", "--reason", "x", "--call", "0.5"},
		`no instance "④" has a Call`:                     {"p", "--reason", "x", "--instance", "④"},
		"undo p to Idea 9: there are 2":                  {"p", "--reason", "x", "--to", "9"},
		"leave out --to and --instance":                  {"p", "--reason", "x", "--to", "1", "--call", "0.1"},
		"undo p: refused: there is nothing to take back": {"p", "--reason", "x", "--to", "2"},
		"undo p as p: another process has this id":       {"p", "--reason", "x", "--as", "p"},
		"a process id must not contain /":                {"p", "--reason", "x", "--as", "a/b"},
	} {
		undo(args...).is(exit.Usage).quiet().complains(says)
	}
	if n := len(b.standing(t)); n != 2 {
		t.Errorf("%d are booked", n)
	}
	d.do("undo", "p", "--reason", "x").is(exit.Usage).complains("nothing was undone: repeat with --yes")
	d.do("forget", "p", "--reason", "they asked").is(exit.Done)
	undo("p", "--reason", "x").is(exit.Usage).complains("forgotten")
}

// The worker is killed while cancellations are under way, and another one goes on.
func TestAnUndoOutlivesItsWorker(t *testing.T) {
	b := newBookings(t)
	var travellers strings.Builder
	for n := range 101 {
		fmt.Fprintf(&travellers, `{"type": "state", "_instance": "t%d", "n": %d},`, n, n)
	}
	d := b.desk(t, b.idea("none", "", "", travellers.String())).ownServer()
	_, dev := d.dev()
	d.do("run", ".", "--id", "p").is(exit.Done)
	if n := len(b.standing(t)); n != 202 {
		t.Fatalf("%d are booked", n)
	}
	hold := make(chan struct{})
	b.mu.Lock()
	b.hold = hold
	b.mu.Unlock()
	d.do("undo", "p", "--yes", "--reason", "x", "--detach").is(exit.Done)
	for range 20 {
		<-b.arrived
	}
	d.do("undo", "p", "--yes", "--reason", "x").is(exit.Usage).complains("p-undo-1 takes it back already")
	dev.signal(syscall.SIGKILL)
	dev.end()
	close(hold)
	b.mu.Lock()
	b.hold = nil
	b.mu.Unlock()
	d.dev()
	r := d.do("watch", "p-undo-1", "--json").is(exit.Done).result()
	if left := b.standing(t); len(left) > 0 || r.Status != loop.StatusCompleted || r.Calls.Done != 202 {
		t.Errorf("%d are left; %+v", len(left), r)
	}
	if keys := jsonval.SortedKeys(b.answers); slices.ContainsFunc(keys,
		func(k string) bool { return strings.HasPrefix(k, "p-undo") }) {
		t.Errorf("it was known under %q", keys)
	}
}

// The commands of examples/journey work as its README says; --yes answers in the place of a person.
func TestAJourneyOfWhichTheThirdBookingFailsIsTakenBack(t *testing.T) {
	example, err := filepath.Abs("../examples/journey")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, nil)
	d.dev()
	d.do("check", example).is(exit.Done).tells("what these did cannot be taken back: cancel\n")
	d.do("run", example, "--id", "trip").is(exit.Failed).tells("no car is left", "taken back: 0.2 (book), 0.1 (book)", "2 undone")
	d.do("show", "trip").is(exit.Done).complains("2 Calls are undone by trip, for itself: it failed (0.1, 0.2)")
	d.do("blame", "trip", "hotel").is(exit.Done).tells("nothing any more", "0.2~undo")
	d.do("verify", "trip").is(exit.Done)
	d.do("undo", "trip", "--dry-run").is(exit.Done).tells("0 Calls would be taken back")
	d.do("undo", "trip", "--dry-run", "--call", "0.2").is(exit.Usage).complains("Call 0.2 (book) is not done: it is undone")
}

// What nothing takes back stays, and the instance says so.
func TestASagaOfWhichAnEffectStaysSaysSo(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, strings.Replace(b.idea("never", `"onFailure": "undo"`, `, {"_tool": "book", "what": "balloon", "_after": "†call.0.3"}`, ""),
		`"cancel": {`, `"cancel": {"_undo": "never", `, 1))
	r := d.do("run", ".", "--id", "p", "--json").is(exit.Failed).result()
	if i := r.Instances[""]; i.Status != "undo-failed" || !strings.Contains(r.Error.Message, "0.3 (write): nothing takes write back") {
		t.Errorf("%s: %v", i.Status, r.Error)
	}
}

// What an instance that failed could not take back, a person has taken back later.
func TestWhatASagaHasLeftIsTakenUp(t *testing.T) {
	b := newBookings(t)
	b.closed = true
	d := b.desk(t, strings.Replace(b.idea("none", `"onFailure": "undo"`,
		`, {"_tool": "book", "what": "balloon", "from": "†state.hotel.id"}`, ""), `"cancel": {`,
		`"cancel": {"_undo": "never", `, 1))
	d.dev()
	var r loop.ProcessResult
	d.do("run", ".", "--id", "p", "--json").is(exit.Failed).json(&r)
	if i := r.Instances[""]; i.Status != "undo-failed" || len(b.standing(t)) != 2 ||
		!strings.Contains(r.Error.Message, "nothing was taken back; not taken back: 0.2 (book): 0.2~undo (cancel), failed") {
		t.Errorf("%s, %q: %v", i.Status, b.standing(t), r.Error)
	}
	b.mu.Lock()
	b.closed = false
	b.mu.Unlock()
	d.do("undo", "p", "--yes", "--by", "ann", "--reason", "they are open again").is(exit.Done).tells(
		"2 Calls would be taken back, as p-undo-1")
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	d.do("show", "p").is(exit.Done).complains("2 Calls are undone by p-undo-1, for ann: they are open again")
}

func TestAPersonDecidesOnWhatTakesBackAndOnThePlanAsAWhole(t *testing.T) {
	b := newBookings(t)
	idea := strings.Replace(b.idea("none", `"approval": {"plan": true}`, "", ""), `"_outputPath": "†state.cancelled",`,
		`"_approval": {"by": {"notStarter": true}},`, 1)
	d := b.desk(t, idea)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.eventually("its Plan waits", func() bool { return d.do("approve-plan", "p").code == exit.Done })
	d.do("watch", "p").is(exit.Done)
	d.do("undo", "p", "--yes", "--by", "ann", "--reason", "x", "--detach").is(exit.Done)
	d.eventually("the Plan that takes back waits",
		func() bool { return d.do("approve-plan", "p-undo-1").code == exit.Done })
	if a := d.asked("p-undo-1"); a.CallID != "0.1" || a.Tool != "cancel" || len(b.standing(t)) != 2 {
		t.Errorf("%+v", a)
	}
	for _, starter := range []string{me.Username, "ann"} { // of the one process, and of the other
		d.do("approve", "p-undo-1", "0.1", "--by", starter).is(exit.Usage).complains("started")
	}
	d.do("approve", "p-undo-1", "0.1", "--by", "bob").is(exit.Done)
	if a := d.asked("p-undo-1"); a.CallID != "0.2" {
		t.Errorf("%+v", a)
	}
	d.do("reject", "p-undo-1", "0.2", "--by", "bob", "--reason", "the flight is refunded anyway").is(exit.Done)
	d.do("watch", "p-undo-1").is(exit.Failed)
	want(t, strings.Join(b.standing(t), " "), "p/main/0.1")
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("1 Call would be taken back, as p-undo-2",
		"0.2 (book): it was taken back by p-undo-1")
}

// What takes back was ended before it began: nothing is on record of it, and the next one does it.
func TestAnUndoThatNeverBeganIsDoneByTheNext(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, b.idea("none", "", "", ""))
	_, dev := d.dev()
	d.do("run", ".", "--id", "p").is(exit.Done)
	dev.signal(syscall.SIGINT)
	dev.end()
	_, dev = d.at(d.dir).set("PROCESSIDEA_HTTP_ALLOW=127.0.0.1:1").dev()
	d.do("undo", "p", "--yes", "--reason", "x", "--detach").is(exit.Done)
	d.eventually("it is paused", func() bool { return d.do("result", "p-undo-1").code == exit.Paused })
	d.do("cancel", "p-undo-1").is(exit.Done)
	dev.signal(syscall.SIGINT)
	dev.end()
	d.dev()
	d.do("undo", "p", "--yes", "--reason", "x").is(exit.Done).complains("run p-undo-2")
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("it was taken back by p-undo-2")
}

// What a Tool cannot take back, a person takes back otherwise and says so; the rest runs. In parts.
func TestAPersonAnswersForWhatItsToolCannotTakeBack(t *testing.T) {
	b := newBookings(t)
	b.closed = true
	var travellers strings.Builder
	for n := range 101 {
		fmt.Fprintf(&travellers, `{"type": "state", "_instance": "t%d", "n": %d},`, n, n)
	}
	d := b.desk(t, strings.Replace(b.idea("none", `"onFailure": "undo", "batch": 50`,
		`, {"_tool": "book", "what": "balloon", "from": "†state.hotel.id"}`, travellers.String()), `"cancel": {`,
		`"cancel": {"_undo": "never", `, 1))
	d.dev()
	r := d.do("run", ".", "--id", "p", "--json").is(exit.Failed).result()
	if i := r.Instances["t7"]; i.Status != "undo-failed" || len(b.standing(t)) != 202 {
		t.Errorf("%s, and %d stand", i.Status, len(b.standing(t)))
	}
	d.do("undo", "p", "--review", "--yes", "--by", "ann", "--reason", "I look", "--detach").is(exit.Done)
	waiting := func(call string) {
		d.eventually(call+" waits everywhere", func() bool {
			var list []protocol.Approval
			d.do("approvals", "p-undo-1", "--json").is(exit.Done).json(&list)
			return len(list) == 101 &&
				!slices.ContainsFunc(list, func(a protocol.Approval) bool { return !strings.HasPrefix(a.CallID, call+"@") })
		})
	}
	waiting("0.1")
	d.do("approvals", "p-undo-1/t7").is(exit.Done).tells("a person looks at each such Call first")
	b.mu.Lock()
	delete(b.stands, "p%2F~part%2F1/t7/0.2@t7") // by phone
	b.closed = false
	b.mu.Unlock()
	d.do("answer", "p-undo-1", "0.1@t7", "--output", `"by phone"`, "--by", "ann").is(exit.Done)
	d.eventually("the answered Call is not listed any more", func() bool {
		return !strings.Contains(d.do("approvals", "p-undo-1", "--json").is(exit.Done).out, `"0.1@t7"`)
	})
	d.do("decide", "p-undo-1", "--call", "0.1", "--yes", "--approve", "--by", "ann").is(exit.Done)
	waiting("0.2")
	d.do("decide", "p-undo-1", "--yes", "--approve", "--by", "ann").is(exit.Done)
	d.do("watch", "p-undo-1").is(exit.Done)
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("0 Calls would be taken back", "0.2@t7 (book): it was taken back by p-undo-1")
	d.do("verify", "p-undo-1").is(exit.Done)
}

// A person looks at what takes back in a delegate, too.
func TestWhatADelegateDidIsTakenBackUnderReview(t *testing.T) {
	b := newBookings(t)
	whole := b.idea("none", "", "", "")
	from, to := strings.Index(whole, `"book": {`), strings.Index(whole, `}},
	"context"`)
	d := newDesk(t, map[string]string{
		"idea.json": `{"schema": {"tools": {"trip": {"type": "object", "_delegate": "trip.json"}}}, "context": [
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "trip"}]}]}`,
		"trip.json": `{"schema": {"tools": {` + whole[from:to] + `}}, "context": [
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "book", "what": "train"}]}]}`,
	}).set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(b.URL, "http://"))
	d.dev()
	d.do("run", ".", "--id", "p").is(exit.Done)
	review := func(id string) ended {
		return d.do("undo", id, "--review", "--yes", "--by", "ann", "--reason", "x", "--detach")
	}
	review("p/~call/0.1").is(exit.Done)
	d.asked("p~call~0.1-undo-1")
	review("p").is(exit.Usage).complains("p~call~0.1-undo-1 takes it back already: wait for its end")
	d.do("reject", "p~call~0.1-undo-1", "0.1", "--reason", "not like this").is(exit.Done)
	d.do("watch", "p~call~0.1-undo-1").is(exit.Failed)
	review("p").is(exit.Done)
	a := d.asked("p-undo-1")
	if a.Process != "p-undo-1/~call/0.1" || a.Tool != "cancel" {
		t.Fatalf("%+v", a)
	}
	d.do("answer", a.Process, a.CallID, "--output", `"by phone"`, "--by", "ann").is(exit.Done)
	d.do("watch", "p-undo-1").is(exit.Done)
	if n := len(b.standing(t)); n != 1 {
		t.Errorf("%d are booked: something ran", n)
	}
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("0 Calls would be taken back")
}
