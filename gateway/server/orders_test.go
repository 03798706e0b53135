package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestAStandingOrderIsGivenFromACallAndEndedAtTheDesk(t *testing.T) {
	h := open(t)
	b := h.browse()
	id := h.pays(`{"values": {"order": "A1", "cents": 900}}`, `{"values": {"order": "A2", "cents": 300}}`,
		`{"values": {"order": "A3", "cents": 100}}`)
	var call string
	for _, a := range h.waiting(id, 3) {
		if strings.Contains(fmt.Sprint(a["params"]), "A2") {
			call = a["call"].(string)
		}
	}
	at := "/desk/calls/" + url.PathEscape(id) + "/" + url.PathEscape(call)
	const look, give = "Show what it would approve", "in advance"
	f := b.open(at).is(200).form(look)
	// It suggests what this case has, but for what only this case can have.
	if got := f.values; got.Get("o0") != "same" || got.Get("o1") != "any" || got.Get("o2") != "most" ||
		got.Get("o2-most") != "300" {
		t.Errorf("the form suggests %s", got.Encode())
	}
	// What is wrong stands beside its field, and nothing that was entered is lost.
	f.set("o2", "most", "o2-most", "a lot", "o1", "same", "until", "soon", "reason", "small ones")
	wrong := f.set("count", "0").press(look).is(422).says("Nothing is approved yet.",
		"The number of cases must be a whole number")
	f = wrong.form(look)
	for control, text := range map[string]string{"o2-most": "this is not a number", "order-count": "whole number",
		"order-until": "must be a date"} {
		wrong.saysBeside(control, text)
	}
	if got := f.values.Encode(); f.values.Get("o2-most") != "a lot" || f.values.Get("o1") != "same" ||
		f.values.Get("count") != "0" || f.values.Get("reason") != "small ones" {
		t.Errorf("the form has %s", got)
	}
	f.set("o2-most", "300.0", "o1", "any", "count", "").set("until", "")
	f.press(look).is(422).says("Nothing is approved yet.").saysBeside("order-count", "it would never end")
	f.set("until", "2001-01-01").press(look).is(422).saysBeside("order-until", "This day is over")
	// Nothing is approved before somebody has seen what would be, and nothing that was entered is lost on the way back.
	sure := f.set("count", "10", "until", "2999-12-31").press(look).is(200).says("Check what you approve in advance",
		"It would approve 2 cases now.", "until the end of 31 December 2999 (UTC), but no more than 10 cases in all",
		"if all of this is so", "“Cents” is 300 or less", "Order : any", "the wording is the same",
		"Order Order : Cents cents", "Underlined: filled in for each case.",
		"A2", "A3", "Nothing is approved yet").lacks("A1")
	h.waiting(id, 3)
	if reason := sure.form(give).values.Get("reason"); reason != "small ones" {
		t.Errorf("the second look has the reason %q", reason)
	}
	f = sure.form(give).press("Change it").is(200).lacks("Nothing is approved yet").form(look)
	if got := f.values; got.Get("o2-most") != "300.0" || got.Get("until") != "2999-12-31" ||
		got.Get("reason") != "small ones" {
		t.Errorf("on the way back the form has %s", got.Encode())
	}
	page := f.press(look).is(200).form(give).press(give).is(200)
	page.says("Approved in advance", "“Cents” is 300 or less", "small ones", "of 10")
	left := h.waiting(id, 1)
	if !strings.Contains(fmt.Sprint(left[0]["params"]), "A1") {
		t.Errorf("%v", left)
	}
	page = b.open("/desk/processes/" + url.PathEscape(id)).is(200).says("2 of 10")
	page.form("End it").press("End it").is(200).says("ended by ann")
	// The Call that was approved under it still offers the same for all like it.
	b.open(at).is(200).says(", in advance").form(look).set("count", "many").press(look).is(422).says("whole number")
	b.open(at).is(200).form(look).press(look).is(200).says("It would approve nothing now").form(give).
		press("Change it").is(200).form(look)
	h.post("/api/processes/"+id+"/allow", `{"id": "rest", "tool": "pay", "count": 5, "reason": "late"}`).is(204)
	if got := h.receipts(id); strings.Count(got, "cents") != 3 {
		t.Errorf("%s", got)
	}
	eventually(t, "the inbox names what standing orders took over", func() bool {
		text := b.open("/?process=" + id).is(200).text()
		return strings.Contains(text, "3 cases approved in advance by ann : Pay")
	})
}

// saysBeside checks that a text stands beside a control, which is marked as wrong.
func (p *page) saysBeside(control, text string) {
	p.Helper()
	inputs := all(p.root, "input")
	input := inputs[slices.IndexFunc(inputs, func(n *html.Node) bool { return attribute(n, "id") == control })]
	if !strings.Contains(textOf(input.Parent), text) || attribute(input, "aria-invalid") != "true" {
		p.Errorf("beside %s stands %q", control, textOf(input.Parent))
	}
}

func TestAStandingOrderThatCannotBeGivenIsRefused(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A1", "cents": 900}}`)
	at := "/api/processes/" + id
	for body, status := range map[string]int{
		`{"id": "a", "tool": "pay"}`:                                                     422,
		`{"id": "a", "tool": "pay", "count": 0}`:                                         422,
		`{"id": "a", "tool": "pay", "count": 1, "when": {"type": 7}}`:                    422,
		`{"id": "a", "tool": "pay", "count": 1, "when": []}`:                             422,
		`{"id": "a", "tool": "pay", "count": 1, "when": {"properties": {"colour": {}}}}`: 409,
		`{"id": "a", "tool": "paint", "count": 1}`:                                       409,
		`{"id": "a", "tool": "pay", "until": "2001-01-01T00:00:00Z"}`:                    409,
		`{"id": "a", "tool": "pay", "until": "tomorrow"}`:                                422,
		`{"id": "", "tool": "pay", "count": 1}`:                                          422,
		`{"id": "a", "tool": "pay", "count": 1, "by": "somebody else"}`:                  422,
	} {
		if a := h.post(at+"/allow", body); a.status != status {
			t.Errorf("%s: %d, want %d: %s", body, a.status, status, a.body)
		}
	}
	h.post(at+"/disallow", `{"order": "a"}`).problem(409, "refused")
	h.waiting(id, 1)
	h.post(at+"/allow", `{"id": "a", "tool": "pay", "count": 5, "when": {"properties": {"values":
		{"properties": {"cents": {"maximum": 1}}}}}}`).is(204)
	orders, _ := h.get(at).is(200).object()["orders"].([]any)
	if len(orders) != 1 || fmt.Sprint(orders[0].(map[string]any)["giver"]) == "" {
		t.Errorf("%v", orders)
	}
	h.post(at+"/disallow", `{"order": "a", "reason": "over"}`).is(204)
	h.waiting(id, 1)
}

// A part has no orders: what is given on a page of a part is given for the whole process, and counts in all parts.
func TestAnOrderOnThePageOfAPartIsForTheWholeProcess(t *testing.T) {
	h := open(t)
	const id = "parts-with-orders"
	h.post("/api/processes", splitPayment(id)).is(201)
	waiting := h.waiting(id, 3)
	part := waiting[0]["process"].(string)
	b := h.browse()
	at := "/desk/calls/" + url.PathEscape(part) + "/" + url.PathEscape(waiting[0]["call"].(string))
	b.open(at).is(200).form("Approve").press("Approve").is(200)
	deputy := b.open("/desk/processes/"+url.PathEscape(part)).is(200).form("Name the deputy").set("to", "bob",
		"until", "2999-01-01").press("Name the deputy").is(200).says("Deputy: bob")
	if deputy.address != "/desk/processes/"+id {
		t.Errorf("it leads to %s", deputy.address)
	}
	b.open(at).is(200).says("approved by ann").form("Show what it would approve").
		set("count", "10").press("Show what it would approve").is(200).form("in advance").
		press("in advance").is(200).says("of 10")
	eventually(t, "the order counts in all parts", func() bool {
		list, _ := h.get("/api/processes/" + id).is(200).object()["orders"].([]any)
		return len(list) == 2 && fmt.Sprint(list[1].(map[string]any)["approved"]) == "2"
	})
	h.post("/api/processes/"+url.PathEscape(part)+"/allow", `{"id": "more", "tool": "pay", "count": 1}`).is(204)
	h.post("/api/processes/"+url.PathEscape(part)+"/disallow", `{"order": "more"}`).is(204)
}
