package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestAProcessIsSeenSteeredAndEndedAtTheDesk(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A1", "cents": 1}}`, `{"values": {"order": "A2", "cents": 2}}`)
	b := h.browse()
	p := b.open("/desk/processes?status=running").is(200).link(id).is(200).says("Payment "+id+" running",
		"2 cases wait for a person", "2 waiting", "The Plan", "Entry 1", "Pause")
	if live := all(p.root, "body"); !has(live[0], "data-live") {
		t.Error("the page does not look again")
	}
	var picture string
	for _, img := range all(p.root, "img") {
		picture = attribute(img, "src")
	}
	svg := b.open(picture).is(200)
	if !strings.Contains(picture, "?live=") || !strings.Contains(svg.source, "2 waiting for a person") {
		t.Errorf("%s does not show how the Calls stand now: %s", picture, svg.source)
	}
	if svg.header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(svg.source, ">1 Pay</text>") {
		t.Errorf("%v %s", svg.header, svg.source)
	}
	p = p.form("Pause").set("reason", "lunch").press("Pause").is(200).says("paused")
	b.open("/desk/processes?status=paused").is(200).form("Let them go on").set("because", "another").
		press("Let them go on").is(200).says("Resumed processes: 0.")
	p = b.open("/desk/processes/" + id).is(200).says("Payment " + id + " paused")
	p = p.form("Let it go on").press("Let it go on").is(200).says("running")
	p.form("Send the correction").press("Send the correction").is(422).says("needs a text")
	p = p.form("Send the correction").set("text", "Be kind.").press("Send the correction").is(200).says("running")
	p.form("End the process").press("End the process").is(422).says("Nothing was ended")
	f := p.form("End the process")
	f.values.Set("sure", "yes")
	f.press("End the process").is(200)
	h.get("/api/processes/" + id + "/result?wait=30").is(200)
	b.open("/desk/processes/"+id).is(200).says("Payment "+id+" cancelled").lacks("Pause", "End the process")
	b.open("/desk/processes/nobody").is(404)
	b.open("/desk/processes?status=nothing&page=wrong").is(422)
}

func TestOneGoesBackInTheTimeOfAProcessAndForksIt(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A1", "cents": 1}}`, `{"values": {"order": "A2", "cents": 2}}`)
	b := h.browse()
	b.open("/?process="+id).form("Approve").set("all", "yes", "reason",
		"as agreed").press("Approve selected").is(200).form("Approve").press("Approve all of them").is(200)
	h.receipts(id)
	b.open("/desk/processes/"+id).is(200).says("Payment "+id+" completed", "2 done")
	// What was sealed together is up to the process: what changed since the first Idea is not.
	p := b.open("/desk/processes/" + id + "/idea?since=1").is(200)
	p.says("What changed from entry 1", "“receipt” in what is known of it", "added", "Order A1: 1 cents", "Order A2: 2 cents",
		"ann of finance: approved: Pay: A1, 1 (①)", "The reason: as agreed", "by step 0.1 Pay")
	p.link("Earlier").is(200).link("Later").is(200)
	p.form("Go there").set("at", "1").press("Go there").is(200).says("Entry 1 of the record of Payment "+id,
		"Show ① alone none")
	first := b.open("/desk/processes/"+id+"/idea?at=1").is(200).says("This is the first one",
		"Show ① alone none").lacks("Order A1: 1")
	if again := first.form("Go there").set("at", "2").press("Go there").is(200); !strings.Contains(again.text(),
		"Entry 2 of the record of Payment "+id) {
		t.Error(again.text())
	}
	p.link("alone").is(200).says("①", "Order A1").lacks("Order A2")
	b.open("/desk/processes/"+id+"/verify").is(200).says("It is whole",
		"People decided 2 times: 2 under a name that was only stated, 0 signed",
		"approved: Pay: A1, 1 (①)", "The step 0.1@① pay", "as agreed",
		"declared: the name was only stated, not proved")
	fork := first.form("Start a process from here").press("Start a process from here").is(200).says("Payment "+id+"-fork-1 running",
		"Process "+id+"-fork-1")
	if !strings.HasPrefix(fork.address, "/desk/processes/"+url.PathEscape(id)+"-fork-1") {
		t.Errorf("it leads to %s", fork.address)
	}
	h.post("/api/processes/"+id+"-fork-1/cancel", map[string]any{}).is(204)
}

func TestInstancesComeInPages(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it plays many instances")
	}
	h := open(t)
	var rows []string
	for n := range 130 {
		rows = append(rows, fmt.Sprintf(`{"values": {"order": "A%d", "cents": 1}}`, n))
	}
	id := h.pays(rows...)
	b := h.browse()
	p := b.open("/desk/processes/"+id+"?status=waiting").is(200).says("130 waiting", "Cases 1 to 100 of 130")
	if n := len(all(p.link("More").is(200).says("Cases 101 to 130 of 130").root, "tr")); n < 30 || n > 60 {
		t.Errorf("the second page has %d rows", n)
	}
	h.post("/api/processes/"+id+"/cancel", map[string]any{}).is(204)
}

// Neither a mistyped token nor the end of a session takes anybody away from the page that they wanted.
func TestWhoIsNotLoggedInComesBackToThePageThatTheyWanted(t *testing.T) {
	h := open(t)
	b := h.stranger()
	const at = "/desk/processes?status=running"
	wrong := b.open(at).is(401).form("Log in").set("token", "wrong").press("Log in").is(401).says("not the token")
	if p := wrong.form("Log in").set("token", token).press("Log in").is(200); p.address != at {
		t.Errorf("it leads to %s", p.address)
	}
	sent := h.stranger().post("/desk/decide", url.Values{"reason": {"late"}}, "Referer", h.url+"/?text=A1").is(401)
	if next := sent.says("nothing was done").form("Log in").values.Get("next"); next != "/?text=A1" {
		t.Errorf("after the login comes %q", next)
	}
}
