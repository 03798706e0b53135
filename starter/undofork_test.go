package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"processidea/starter/internal/exit"
)

// A fork of a process that has taken back says which of the effects that it goes on from do not stand, and takes back what
// it did itself, though its Requests have the numbers of others.
func TestAForkOfWhatWasTakenBackSaysSo(t *testing.T) {
	b := newBookings(t)
	idea := strings.NewReplacer(`"cancel": {`, `"cancel": {"_undo": "never", `, `"write": {`,
		`"sign": {"properties": {"text": {"type": "string"}}, "_activity": "note", "_approval": true, "_undo": "none"}, "write": {`).Replace(
		b.idea("none", `"onFailure": "undo"`, "", `{"type": "state", "_instance": "①", "schema": {"required": ["car"]}}, {"type": "state", "_instance": "②"},`))
	const plan = `,{"type": "plan", "stage"`
	reply := func(calls ...string) string {
		return `{"solution": {"calls": [` + strings.Join(calls, ", ") + `], "output": null}}` + "\n"
	}
	book := func(token, what string) string {
		return fmt.Sprintf(`{"_tool": "book", "_instance": %q, "what": %[2]q, "_outputPath": %[2]q}`, token, what)
	}
	d := newDesk(t, map[string]string{"idea.json": idea[:strings.Index(idea, plan)] + "]}",
		"replies.jsonl": reply(book("*", "flight")) + reply(book("②", "hotel"), `{"_tool": "sign", "_instance": "①", "text": "a"}`) +
			reply(book("②", "room")) + strings.Repeat(reply(), 8),
		"more.jsonl": reply(book("②", "boat")) + strings.Repeat(reply(), 3),
		"on.jsonl":   reply(book("①", "car")) + strings.Repeat(reply(), 3),
	}).set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(b.URL, "http://"))
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.asked("p")
	d.eventually("② has settled", func() bool { return d.do("result", "p", "--json").result().Instances["②"].Status == "settled" })
	d.do("approve", "p", "2.2@1").is(exit.Done)
	d.do("watch", "p").is(exit.Failed).tells("taken back: 1.1@① (book)")
	var ideas []struct {
		At, Request int
	}
	d.do("history", "p", "--json").is(exit.Done).json(&ideas)
	last := ideas[len(ideas)-1].At
	before := len(b.standing(t))

	d.do("fork", "p", "--at", fmt.Sprint(last), "--id", "q", "--reopen", "②", "--replies", "more.jsonl").complains(
		"what Calls of p did in the outside world is done")
	if said := d.do("show", "q").is(exit.Done).err; strings.Contains(said, "undone") {
		t.Error(said)
	}
	d.do("undo", "q", "--yes", "--reason", "x").is(exit.Done).tells("1 Call would be taken back", "3.1@② (book) by cancel", `"id":"q/`)
	if left := b.standing(t); len(left) != before || slices.ContainsFunc(left, func(id string) bool { return strings.HasPrefix(id, "q") }) {
		t.Errorf("%q are left", left)
	}

	at := slices.IndexFunc(ideas, func(i struct{ At, Request int }) bool { return i.Request == 2 })
	fork := d.do("fork", "p", "--at", fmt.Sprint(at+1), "--id", "r", "--replies", "on.jsonl")
	fork.complains("what call 1.1 did does not stand: it was taken back by p, for itself: it failed")
	fork.complains("what other Calls of p did in the outside world is done")
	d.do("show", "r", "--at", "1").is(exit.Done).tells("what call 1.1 did does not stand").complains(
		"1 Call is undone by p, for itself: it failed (1.1@①)")
	d.do("undo", "r", "--dry-run").is(exit.Done).tells("1.1@① (book): it was taken back by p\n",
		"1.1@② (book): it was done by p, from which this process was forked: take it back there")
}

// What a delegate did is taken back under one key: by its Tool, if that has an undo of its own, or by its process.
func TestADelegateWhoseToolSaysHowIsTakenBackByThatAlone(t *testing.T) {
	b := newBookings(t)
	whole := b.idea("none", "", "", "")
	from, to := strings.Index(whole, `"book": {`), strings.Index(whole, `}},
	"context"`)
	idea := func(more, plan string) string {
		return `{"schema": {"tools": {` + whole[from:to] + more + `}, "context": [{"type": "plan", "stage": "complete", ` + plan + `}]}`
	}
	d := newDesk(t, map[string]string{
		"idea.json": idea(`, "trip": {"_delegate": "trip.json", "_undo": {"tool": "cancel", "params": {"id": "†result"}}}}`,
			`"plan": [{"_tool": "trip", "_outputPath": "trip"}]`),
		"trip.json": idea(`, "leg": {"_delegate": "leg.json"}}, "output": {"type": "string"}`, `"output": "†state.flight.id", "plan": [
			{"_tool": "book", "what": "flight", "_outputPath": "flight"}, {"_tool": "leg"}]`),
		"leg.json": idea("}", `"plan": [{"_tool": "book", "what": "train"}]`),
	}).set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(b.URL, "http://"))
	d.dev()
	d.do("run", ".", "--id", "p").is(exit.Done)
	for _, id := range []string{"p/~call/0.1", "p/~call/0.1/~call/0.2"} {
		d.do("undo", id, "--dry-run").is(exit.Done).tells("(book): it is taken back with 0.1 (trip) of p, by cancel")
		d.do("undo", id, "--yes", "--reason", "x").is(exit.Usage).complains("there is nothing to take back")
	}
	d.do("undo", "p", "--yes", "--reason", "x").is(exit.Done).tells("0.1 (trip) by cancel")
	want(t, strings.Join(b.standing(t), " "), "p%2F~call%2F0.1%2F~call%2F0.2/main/0.1")
}
