package main

import (
	"strconv"
	"strings"
	"testing"

	"processidea/starter/internal/exit"
)

func TestAProcessAtWorkIsPausedAndTakesBack(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, strings.Replace(b.idea("none", "", `, {"_tool": "sign"}`, ""), `"write": {`,
		`"sign": {"_activity": "note", "_approval": true}, "write": {`, 1))
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.asked("p")
	d.do("undo", "p", "--dry-run").is(exit.Done).tells(" would be taken back, as p\n",
		"it is at work: it is paused first")
	d.do("undo", "p", "--dry-run", "--as", "q").is(exit.Usage).complains("so it cannot be done as process q")
	d.do("undo", "p", "--reason", "x").is(exit.Usage).complains("nothing was undone: repeat with --yes")
	if said := d.do("list").is(exit.Done).out; strings.Contains(said, "paused") {
		t.Errorf("it is paused though nothing is done: %s", said)
	}
	d.do("undo", "p", "--call", "0.9", "--yes", "--reason", "x").is(exit.Usage).complains("there is no Call 0.9").complains(
		"p is paused first").complains("nothing of p is taken back: it goes on")
	if said := d.do("list").is(exit.Done).out; strings.Contains(said, "paused") {
		t.Errorf("it stays paused though nothing is done: %s", said)
	}
	d.do("undo", "p", "--call", "0.2", "--yes", "--reason", "too dear", "--by", "ann").is(exit.Done).complains(
		"p is paused first, so that all that it did is on record; to go on: starter resume p").tells(
		"of p, 1 Call would be taken back, as p", "p: 1 Call is taken back; it is paused")
	want(t, strings.Join(b.standing(t), " "), "p/main/0.1")
	d.do("undo", "p", "--as", "q", "--yes", "--reason",
		"x").is(exit.Usage).complains("it is at work and takes back by itself")
	d.do("undo", "p", "--call", "0.2", "--yes", "--reason", "x").is(exit.Usage).complains("it is undone")
	d.do("undo", "p", "--call", "0.2~undo", "--dry-run").is(exit.Usage).complains("takes 0.2 back")
	d.do("show", "p").is(exit.Done).complains("1 Call is undone by p, for ann: too dear")
	d.do("list").is(exit.Done).tells("paused, 2 Calls undone") // and the letter
	var ideas []struct{ At int }
	d.do("history", "p", "--json").is(exit.Done).json(&ideas)
	d.do("diff", "p", "1", strconv.Itoa(len(ideas))).is(exit.Done).tells(`~ call 0.2 book  "done" → "undone"`)
	d.do("cancel", "p", "--undo", "--yes").is(exit.Usage).complains("--reason is missing")
	d.do("cancel", "p", "--undo", "--reason", "x").is(exit.Usage).complains("nothing is done, since nobody can be asked")
	d.do("list").is(exit.Done).tells("paused, 2 Calls undone")
	d.do("cancel", "p", "--undo", "--yes", "--reason", "x").is(exit.Done).complains("run p-undo-1")
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// What a delegate at work has done is left to an undo of its own; the process takes back the rest meanwhile.
func TestAProcessWhoseDelegateIsAtWorkTakesBackTheRest(t *testing.T) {
	b := newBookings(t)
	idea := func(tool, called string) string {
		return strings.Replace(b.idea("none", "", `, {"_tool": "`+called+`"}`, ""), `"write": {`, `"`+called+`": `+tool+`, "write": {`, 1)
	}
	d := newDesk(t, map[string]string{"idea.json": idea(`{"type": "object", "_delegate": "sub.json"}`, "trip"),
		"sub.json": idea(`{"_activity": "note", "_approval": true}`, "sign")}).set("PROCESSIDEA_HTTP_ALLOW=" +
		strings.TrimPrefix(b.URL, "http://"))
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.asked("p")
	d.do("undo", "p", "--yes", "--reason", "x").is(exit.Done).tells("0.4 (trip): it has a process of its own: take back p/~call/0.4",
		"starter undo 'p/~call/0.4' --reason TEXT", "p: 2 Calls are taken back; it is paused")
	want(t, strings.Join(b.standing(t), " "), "p%2F~call%2F0.4/main/0.1 p%2F~call%2F0.4/main/0.2")
	d.do("undo", "p/~call/0.4", "--yes", "--reason", "x").is(exit.Done)
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	d.do("cancel", "p", "--undo", "--yes", "--reason", "x").is(exit.Usage).complains("there is nothing to take back")
}

// A process in parts is paused, and those of its parts that have not ended take back by themselves; when all have ended
// it is taken back to its Ideas as one that was not split is.
func TestAProcessInPartsTakesBackAtWorkAndToAnIdea(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, strings.Replace(b.idea("none", `"batch": 1`, `, {"_tool": "sign", "text": "a", "_outputPath": "signed"},
		{"_tool": "book", "what": "car", "_after": "†state.signed", "_outputPath": "car"}`, threeTravellers), `"write": {`,
		`"sign": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_approval": true, "_undo": "none"}, "write": {`,
		1))
	d.dev()
	d.signable("p", 3)
	undo := func(args ...string) ended {
		return d.do(append([]string{"undo", "p", "--yes", "--by", "ann", "--reason", "too dear"}, args...)...)
	}
	undo("--call", "0.2@2").is(exit.Done).tells("of p, 1 Call would be taken back, as p",
		"p: 1 Call is taken back; it is paused")
	if n := len(b.standing(t)); n != 5 {
		t.Errorf("%d are booked", n)
	}
	var ideas []struct{ At int }
	d.do("history", "p", "--json").is(exit.Done).json(&ideas)
	at := strconv.Itoa(len(ideas))
	d.do("resume", "p").is(exit.Done)
	d.do("approve", "p", "0.4@1").is(exit.Done)
	d.eventually("a part ends",
		func() bool { return d.do("result", "p", "--json").result().Instances["①"].Status == "settled" })
	undo("--instance", "3").is(exit.Done)
	undo("--instance", "1").is(exit.Usage).complains("there is nothing to take back")
	want(t, strings.Join(b.standing(t), " "),
		"p%2F~part%2F1/%E2%91%A0/0.1@%E2%91%A0 p%2F~part%2F1/%E2%91%A0/0.2@%E2%91%A0 "+
			"p%2F~part%2F1/%E2%91%A0/0.5@%E2%91%A0 p%2F~part%2F2/%E2%91%A1/0.1@%E2%91%A1")
	d.do("cancel", "p").is(exit.Done)
	d.do("show", "p").is(exit.Done).complains("3 Calls are undone by p, for ann: too dear (0.1@③, 0.2@②, 0.2@③)")
	undo("--to", at).is(exit.Done).tells("of p, 1 Call would be taken back, as p-undo-1", "0.5@① (book) by cancel")
	undo().is(exit.Done)
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Of a process in parts too, a person looks at each Call that takes back.
func TestAPersonLooksAtWhatIsTakenBackInParts(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, b.idea("none", `"batch": 1`, "", threeTravellers))
	d.dev()
	d.do("run", ".", "--id", "p").is(exit.Done)
	d.do("undo", "p", "--review", "--yes", "--by", "ann", "--reason", "x", "--detach").is(exit.Done)
	for round := range 2 { // the hotels, then the flights
		d.eventually("three wait", func() bool {
			return strings.Count(d.do("approvals", "p-undo-1").out, "it takes back what was done") == 3
		})
		if n := len(b.standing(t)); n != 6-3*round {
			t.Errorf("%d are booked", n)
		}
		d.do("decide", "p-undo-1", "--approve", "--by", "bob", "--yes").is(exit.Done)
	}
	d.do("watch", "p-undo-1").is(exit.Done)
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// An instance that has ended waits with what it did until all have; the others take back, and that is done.
func TestAnInstanceThatHasEndedWaitsWithItsUndo(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, strings.Replace(b.idea("none", "", `, {"_tool": "sign", "_when": {"properties": {"state": {"properties": {"n": {"const": 2}}}}}}`,
		`{"type": "state", "_instance": "①", "state": {"n": 1}}, {"type": "state", "_instance": "②", "state": {"n": 2}},`), `"write": {`,
		`"sign": {"_activity": "note", "_approval": true}, "write": {`, 1))
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.eventually("one ends", func() bool {
		i := d.do("result", "p", "--json").result().Instances
		return i["①"].Status == "settled" && i["②"].Status == "waiting"
	})
	const waits = "0.2@① (book): its instance has ended: it is taken back when all instances have"
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("of p, 2 Calls would be taken back", waits)
	d.do("undo", "p", "--yes", "--reason", "x").is(exit.Done).tells(waits, "p: 2 Calls are taken back; it is paused")
	want(t, strings.Join(b.standing(t), " "), "p/%E2%91%A0/0.1@%E2%91%A0 p/%E2%91%A0/0.2@%E2%91%A0")
}

// A part and its whole know of each other's undo.
func TestWhatAPartHasTakenBackStaysSoForTheWhole(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, b.idea("none", `"batch": 1`, "", threeTravellers))
	d.dev()
	d.do("run", ".", "--id", "p").is(exit.Done)
	d.do("undo", "p/~part/1", "--yes", "--reason", "x").is(exit.Done)
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("4 Calls would be taken back",
		"0.1@① (book): it was taken back by p~part~1-undo-1", "0.2@① (book): it was taken back by p~part~1-undo-1")
	if said := d.do("show", "p/~part/2").is(exit.Done).err; strings.Contains(said, "undone") {
		t.Error(said)
	}
	d.do("undo", "p", "--yes", "--reason", "y").is(exit.Done)
	d.do("undo", "p/~part/2", "--dry-run").is(exit.Done).tells("0.2@② (book): it was taken back by p-undo-1")
	d.do("show", "p").is(exit.Done).complains("2 Calls are undone by p~part~1-undo-1").complains(
		"4 Calls are undone by p-undo-1")
	d.do("show", "p/~part/2").is(exit.Done).complains("2 Calls are undone by p-undo-1")
	d.do("run", ".", "--id", "q").is(exit.Done)
	d.do("undo", "q/~part/1", "--dry-run").is(exit.Done).tells("2 Calls would be taken back")
	d.do("fork", "q", "--at", "1", "--id", "r").is(exit.Done)
	d.do("undo", "q/~part/1", "--dry-run").is(exit.Usage).complains("it is a part of q, from which r was forked: take back q")
	d.do("undo", "q", "--dry-run").is(exit.Done).tells("6 Calls would be taken back")
}

// A fork takes back what it did itself; what was done before it is taken back where it was done, once, and not before
// what came from it in the fork.
func TestAForkTakesBackWhatItDidItself(t *testing.T) {
	b := newBookings(t)
	idea := strings.Replace(b.idea("none", "",
		`, {"_tool": "sign", "text": "a", "_outputPath": "signed"},
			{"_tool": "book", "what": "car", "from": "†state.hotel.id", "_after": "†state.signed", "_outputPath": "car"}`, ""),
		`"write": {`,
		`"sign": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_approval": true}, "write": {`, 1)
	d := b.desk(t, idea)
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.asked("p")
	d.do("pause", "p").is(exit.Done)
	d.do("cancel", "p").is(exit.Done)
	var ideas []struct{ At int }
	d.do("history", "p", "--json").is(exit.Done).json(&ideas)
	d.do("fork", "p", "--at", strconv.Itoa(len(ideas)), "--id", "q", "--detach").is(exit.Done)
	d.asked("q")
	d.do("approve", "q", "0.4").is(exit.Done)
	d.do("watch", "q").is(exit.Done)
	want(t, strings.Join(b.standing(t), " "), "p/main/0.1 p/main/0.2 q/main/0.5")
	d.do("undo", "q", "--dry-run").is(exit.Done).tells("1 Call would be taken back", "0.5 (book) by cancel",
		"0.1 (book): it was done by p, from which this process was forked: take it back there")
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("of p, 0 Calls would be taken back",
		"0.2 (book): q was forked from this process and reads from it: take back first what that did",
		"0.1 (book): 0.2 (book) reads from it and is not taken back")
	d.do("undo", "q", "--yes", "--reason", "x").is(exit.Done)
	d.do("undo", "p", "--yes", "--by", "ann", "--reason", "x").is(exit.Done)
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	d.do("blame", "q", "hotel").is(exit.Done).tells("0.2 is undone by p-undo-1, for ann: x, 20")
}

// What a delegate did is taken back with its Call, delegates within delegates too, and once, whoever asks. What of it
// cannot be keeps the Call. A delegate that failed has done something too.
func TestWhatADelegateDidIsTakenBackWithItsCall(t *testing.T) {
	b := newBookings(t)
	idea := func(letter, more, plan string) string {
		whole := b.idea(letter, "", "", "")
		from, to := strings.Index(whole, `"book": {`), strings.Index(whole, `}},
	"context"`)
		return `{"schema": {"tools": {` + whole[from:to] + more + `}, "context": [{"type": "plan", "stage": "complete", ` + plan + `}]}`
	}
	trip := func(file string) string {
		return idea("none", `, "trip": {"properties": {"to": {"type": "string"}}, "_delegate": "`+file+`"}}`, `"plan": [
			{"_tool": "trip", "to": "Lisbon", "_outputPath": "trip"}, {"_tool": "book", "what": "car", "from": "†state.trip"}]`)
	}
	const output = `}, "output": {"type": "string"}`
	d := newDesk(t, map[string]string{
		"idea.json": trip("trip.json"), "tells.json": trip("letter.json"), "fails.json": trip("balloon.json"),
		"trip.json": idea("none", `, "leg": {"type": "object", "_delegate": "leg.json"}`+output, `"output": "†state.flight.id", "plan": [
			{"_tool": "leg"}, {"_tool": "book", "what": "flight", "_outputPath": "flight"}, {"_tool": "book", "what": "seat"}]`),
		"leg.json": idea("never", "}", `"plan": [{"_tool": "book", "what": "train"}]`),
		"letter.json": idea("never", output, `"output": "†state.flight.id", "plan": [
			{"_tool": "book", "what": "flight", "_outputPath": "flight"}, {"_tool": "write", "what": "we come"}]`),
		"balloon.json": idea("never", output, `"output": "†state.flight.id", "plan": [{"_tool": "book", "what": "flight", "_outputPath": "flight"},
			{"_tool": "book", "what": "balloon", "from": "†state.flight.id"}]`),
	}).set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(b.URL, "http://"))
	d.dev()
	undo := func(args ...string) ended {
		return d.do(append([]string{"undo", "--yes", "--by", "ann", "--reason", "they stay at home"}, args...)...)
	}
	for id, file := range map[string]string{"p": "idea.json", "q": "idea.json", "t": "tells.json"} {
		d.do("run", file, "--id", id).is(exit.Done)
	}
	d.do("run", "fails.json", "--id", "f").is(exit.Failed).tells("no balloon flies")
	if n := len(b.standing(t)); n != 11 {
		t.Fatalf("%q are booked", b.standing(t))
	}
	d.do("undo", "p", "--dry-run").is(exit.Done).tells("of p, 2 Calls would be taken back, as p-undo-1\n  0.2 (book) by cancel",
		"  0.1 (trip) by what takes back p/~call/0.1:\n    0.3 (book) by cancel",
		"    0.1 (leg) by what takes back p/~call/0.1/~call/0.1:\n      0.1 (book) by cancel")
	undo("p/~call/0.1/~call/0.1").is(exit.Done).complains("run p~call~0.1~call~0.1-undo-1")
	undo("p").is(exit.Done).complains("run p-undo-1")
	undo("f").is(exit.Done).tells("of f, 1 Call would be taken back", "0.1 (trip) by what takes back f/~call/0.1:")
	if left := strings.Join(b.standing(t), " "); strings.Contains(left, "p") || strings.Contains(left, "f") {
		t.Errorf("%s is left", left)
	}
	d.do("show", "p").is(exit.Done).complains("2 Calls are undone by p-undo-1, for ann: they stay at home (0.1, 0.2)")
	d.do("show", "p/~call/0.1").is(exit.Done).complains(
		"2 Calls are undone by p-undo-1/~call/0.2, for ann: they stay at home (0.2, 0.3)")
	d.do("verify", "p-undo-1").is(exit.Done)
	d.do("verify", "p-undo-1/~call/0.2").is(exit.Done)
	undo("p/~call/0.1").is(exit.Usage).complains("there is nothing to take back")
	d.do("undo", "q/~call/0.1", "--dry-run").is(exit.Done).tells("0.3 (book) by cancel",
		"0.2 (book) of q read what came from it: take back 0.1 (trip) of q instead")
	undo("q/~call/0.1", "--call", "0.3").is(exit.Done)
	d.do("undo", "q", "--dry-run").is(exit.Done).tells("    0.3 (book) stays: it was taken back by q~call~0.1-undo-1")
	undo("q").is(exit.Done)
	undo("t").is(exit.Done).tells("of t, 1 Call would be taken back",
		"0.1 (trip): it ran t/~call/0.1, where 0.2 (write) cannot be taken back: nothing takes write back\n"+
			"    starter undo 't/~call/0.1' --reason TEXT")
	undo("t/~call/0.1").is(exit.Done)
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Requests of an LLM made the Plans: the Ideas are theirs, and what came after one of them is taken back, then the
// rest.
func TestWhatAnLLMPlannedIsTakenBackToAnIdea(t *testing.T) {
	b := newBookings(t)
	whole := b.idea("none", "", "", `{"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"},`)
	idea := whole[:strings.Index(whole, `,{"type": "plan", "stage"`)] + "]}"
	d := newDesk(t, map[string]string{"idea.json": idea, "replies.jsonl": `{"solution": {"calls": [` +
		`{"_tool": "book", "_instance": "*", "what": "flight", "_outputPath": "flight"}, ` +
		`{"_tool": "book", "_instance": "*", "what": "hotel", "from": "†state.flight.id", "_outputPath": "hotel"}], "output": null}}` + "\n" +
		`{"solution": {"calls": [{"_tool": "book", "_instance": "①", "what": "car", "from": "†state.hotel.id"}], "output": null}}` + "\n" +
		nothingMore + "\n" + nothingMore, "more.jsonl": nothingMore + "\n" + nothingMore}).set(
		"PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(b.URL, "http://"))
	d.dev()
	d.do("run", ".", "--id", "p").is(exit.Done)
	if n := len(b.standing(t)); n != 5 {
		t.Fatalf("%d are booked", n)
	}
	d.do("undo", "p", "--dry-run", "--to", "2").is(exit.Done).tells("1 Call would be taken back",
		"2.1@① (book) by cancel")
	d.do("undo", "p", "--dry-run", "--call", "1.1@1").is(exit.Done).tells("3 Calls would be taken back",
		"2.1@① (book) by cancel", "1.2@① (book) by cancel", "1.1@① (book) by cancel")
	d.do("fork", "p", "--at", "2", "--id", "q", "--undo", "--yes", "--replies",
		"more.jsonl").is(exit.Usage).complains("--reason is missing")
	fork := d.do("fork", "p", "--at", "2", "--id", "q", "--undo", "--yes", "--reason", "x", "--replies",
		"more.jsonl").is(exit.Done).complains("run p-undo-1").
		complains("run q")
	if strings.Contains(fork.err, "a fork does not undo it") {
		t.Errorf("it has undone it: %s", fork.err)
	}
	if n := len(b.standing(t)); n != 4 {
		t.Errorf("%d are booked", n)
	}
	d.do("undo", "p", "--yes", "--reason", "y").is(exit.Done)
	if left := b.standing(t); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Where a person must decide on what takes back, whoever has ordered it need not wait; what is ordered meanwhile is
// refused.
func TestAnUndoThatAwaitsAPersonSaysSo(t *testing.T) {
	b := newBookings(t)
	d := b.desk(t, strings.NewReplacer(`"cancel": {`, `"cancel": {"_approval": true, `, `"write": {`,
		`"sign": {"_activity": "note", "_approval": true}, "write": {`).Replace(b.idea("none", "", `, {"_tool": "sign"}`, "")))
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.asked("p")
	d.do("undo", "p", "--yes", "--reason", "x").is(exit.Paused).tells("2 Calls would be taken back",
		"p: it takes back once a person has decided on 0.2~undo: starter approvals p")
	d.do("undo", "p", "--yes", "--reason", "x").is(exit.Usage).complains("it is taking back already")
	d.do("approve", "p", "0.2~undo").is(exit.Done)
	d.eventually("the other one waits", func() bool { return strings.Contains(d.do("approvals", "p").out, "0.1~undo") })
	d.do("approve", "p", "0.1~undo").is(exit.Done)
	d.eventually("nothing is booked", func() bool { return len(b.standing(t)) == 0 })
}
