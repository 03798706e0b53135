package server_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestAPlanIsFoundInTheInboxUnderstoodAndApproved(t *testing.T) {
	h := open(t)
	id, plan := h.planned("", `{"name": "Ann"}`, `{"name": "Bob"}`)
	b := h.browse()
	b.open("/?process="+id).is(200).says("1 Plan waits for you", "Plan 1",
		"2 × Book, 2 × Tell").lacks("Call waits", "Nothing waits")
	b.open("/?process=" + id + "&tool=nothing").is(200).says("Nothing that waits fits")
	b.open("/?process=" + id + "&due=1h").is(200).says("Nothing that waits fits")
	b.open("/?process=" + id + "&text=4a").is(200).says("1 Plan waits")
	eventually(t, "the page of the process leads to the Plan", func() bool {
		return strings.Contains(b.open("/desk/processes/"+id).is(200).lacks("1 case waits").text(),
			"Its Plan waits for a person")
	})
	p := b.open("/?process=" + id).link("Plan 1").is(200)
	p.says("Plan 1 of "+id, "2 × Book; 2 × Tell It came in", "nothing of it has begun",
		"If nobody decides, it goes on waiting", "①, ②",
		"It runs the program formatText.",
		"Seat of step 1.1 Book", "“Seat”", "How the steps fit together", "digest "+plan["digest"].(string))
	var picture string
	for _, img := range all(p.root, "img") {
		picture = attribute(img, "src")
	}
	if svg := b.open(picture).is(200); svg.header.Get("Content-Type") != "image/svg+xml" ||
		!strings.Contains(svg.source, ">1 Book<") ||
		!strings.Contains(svg.source, ">→ Seat<") {
		t.Errorf("%v %s", svg.header, svg.source)
	}
	p.form("Reject the Plan").press("Reject the Plan").is(422).says("needs a reason")
	done := p.form("Approve the Plan").set("reason",
		"as agreed").press("Approve the Plan").is(200).says("The Plan is approved.")
	if !strings.HasPrefix(done.address, "/desk/outcome?") {
		t.Errorf("a reload of %s would send it again", done.address)
	}
	p.form("Approve the Plan").press("Approve the Plan").is(409)
	if got := h.states(id); strings.Count(got, "You have seat 4A") != 2 {
		t.Error(got)
	}
	b.open(p.address).is(404).says("waits: somebody has decided on it").link("See how Trip goes on").is(200)
	b.open("/desk/outcome?o=made-up").is(404)
}

func TestAPlanOfManyStepsIsApprovedByASecondLook(t *testing.T) {
	h := open(t)
	id, _ := h.planned("", slices.Repeat([]string{`{"name": "Ann"}`}, 6)...)
	b := h.browse()
	first := b.open("/desk/plans/"+id).is(200).form("Approve the Plan").set("reason", "as agreed")
	again := first.press("Approve the Plan").is(200).says("Approve this Plan? 12 steps", "The reason: as agreed",
		"Nothing is decided yet.").lacks("The Plan is")
	again.form("Approve the Plan").press("Approve the Plan").is(200).says("The Plan is approved.")
	if got := h.states(id); strings.Count(got, "You have seat 4A") != 6 {
		t.Error(got)
	}
}

func TestAPlanIsAmendedAtTheDesk(t *testing.T) {
	h := open(t)
	id, _ := h.planned("", `{"name": "Ann"}`)
	b := h.browse()
	p := b.open("/desk/plans/" + id).is(200)
	p.form("Have it run").press("Have it run").is(422).says("Nothing is changed")
	f := p.form("Have it run")
	f.values.Del("keep")
	f.press("Have it run").is(422).says("No step is left")
	// A Call is opened, and its form is that of its Tool.
	opened := p.form("Have it run").press("Change step 1.1").is(200).says("Change step 1.1 Book", "What else it says")
	f = opened.form("Have it run").set("c1/values/cents", "many")
	f.values["keep"] = []string{"1"}
	f.press("Have it run").is(422).says("this is not a number", "Step 1.1 does not fit yet")
	f.set("c1/values/cents", "700").set("c1/values/seat", "5B").set("new", "no JSON")
	f.press("Add it to the Plan").is(200).says("want a JSON object")
	added := f.set("new", `{"_tool": "fly", "to": "Rome"}`).press("Add it to the Plan").is(200).says(
		"there is no step of the kind fly", "Added step 1")
	g := added.form("Have it run")
	if g.values.Get("c1/values/seat") != "5B" || len(g.values["keep"]) != 1 {
		t.Errorf("what was changed is gone: %v", g.values)
	}
	g.press("Have it run").is(422).says("A step that you add is invalid")
	// What the process finds wrong stands beside the Call.
	second := func(s *sheet) *sheet { return s.press("Have it run").is(200).form("Have it run") }
	second(g.set("added", `{"_tool": "tell", "_instance": "*", "template": 7, "values": {}}`)).press("Have it run").is(
		409).says("template")
	again := second(g.set(
		"added",
		`{"_tool": "tell", "_instance": "*", "template": "By hand: {seat}", "values": {"seat": "†state.seat"}}`,
		"reason", "a window"))
	again.says("Approve this Plan? 2 steps", "as you have changed them", "By hand: {seat}", "The reason: a window",
		"Nothing is decided yet.").lacks("You have")
	// Back leads to all that was entered.
	g = again.press("Back").is(200).lacks("A step that you add is invalid").form("Have it run")
	if v := g.values; v.Get("c1/values/seat") != "5B" || !slices.Equal(v["keep"], []string{"1"}) ||
		v.Get("reason") != "a window" || !strings.Contains(v.Get("added"), "By hand") {
		t.Errorf("what was changed is gone: %v", v)
	}
	second(g).press("Have it run").is(200).says("The Plan is changed.")
	// The Tool's policy asks about the Call as it is now.
	h.waiting(id, 1)
	b.open("/?process=" + id).form("Approve").tick("").press("Approve selected").is(200)
	if got := h.states(id); !strings.Contains(got, "By hand: seat 5B") || strings.Contains(got, "You have") {
		t.Error(got)
	}
}

func TestAPlanThatHasChangedIsNotDecidedOnAndShownAnew(t *testing.T) {
	h := open(t)
	id, plan := h.planned(`, "by": {"count": 2}`, `{"name": "Ann"}`)
	b := h.browse()
	p := b.open("/desk/plans/" + id).is(200)
	h.post("/api/processes/"+id+"/plans/decision", map[string]any{
		"decision": "amend", "digest": plan["digest"], "by": "bob",
		"calls": []any{map[string]any{"_tool": "tell", "_instance": "*", "template": "Not by us",
			"values": map[string]any{}}},
	}).is(200)
	now := p.form("Approve the Plan").press("Approve the Plan").is(409).says("has changed since you looked",
		"Trip Tell: Not by us This Plan has changed", "Somebody has changed what was planned").lacks("4A")
	now.form("Approve the Plan").press("Approve the Plan").is(200).says("The Plan is approved.")
	if got := h.states(id); !strings.Contains(got, "Not by us") {
		t.Error(got)
	}
}

func TestWhoMayNotDecideOnAPlanIsShownNoForms(t *testing.T) {
	h := open(t)
	id, _ := h.planned(`, "by": {"groups": ["heads"]}`, `{"name": "Ann"}`)
	b := h.browse()
	b.open("/?process=" + id).is(200).says("1 Plan waits for other people").link("show them too").is(200).says(
		"Plan 1")
	p := b.open("/desk/plans/"+id).is(200).says("heads").lacks("Approve the Plan", "Have it run as changed")
	answer := b.post("/desk/plans/"+id, url.Values{"decision": {"approve"}, "digest": {strings.Repeat("0", 64)}})
	answer.is(409).says("has changed")
	if len(all(p.root, "button")) > 1 { // that which logs out
		t.Errorf("it has buttons: %s", p.text())
	}
	h.post("/api/processes/"+id+"/cancel", map[string]any{}).is(204)
}

func TestAPlanReadsInTheWordsOfTheBusiness(t *testing.T) {
	h := open(t)
	start := trip(h.Name(), "", `{"order": "A-1", "cents": 229900, "name": "Ann"}`,
		`{"order": "A-2", "cents": 100, "name": "Bob"}`)
	idea := string(start["idea"].(json.RawMessage))
	for old, now := range map[string]string{`{"approval"`: "{\"instanceName\": \"†`order ${input.order}`\", \"approval\"",
		`"cents": {"type": "number"}`: `"cents": {"type": "integer", "_display": "money", "currency": "EUR", "minorUnits": true}`,
		`"book": {`:                   "\"book\": {\"title\": \"Book a seat\", \"_title\": \"†`Book ${values.seat} for ${input.name}`\", "} {
		idea = strings.Replace(idea, old, now, 1)
	}
	start["idea"], start["replies"] = json.RawMessage(idea),
		strings.Replace(start["replies"].(string), `"cents": 120`, `"cents": "†input.cents"`, 1)
	h.post("/api/processes", start).is(201)
	h.planWaits(h.Name(), 1)
	b := h.browse()
	const sentence = "2 × Book a seat, 2 × Tell: order A-1, order A-2"
	b.open("/?process=" + h.Name()).is(200).says(sentence)
	for _, of := range []string{"/api/plans", "/api/processes/" + h.Name() + "/plans"} {
		if list := jsonText(h.get(of).is(200).list("plans")); !strings.Contains(list, `"sentence":"`+sentence) {
			t.Errorf("%s: %s", of, list)
		}
	}
	p := b.open("/desk/plans/" + h.Name()).is(200)
	p.says("2 × Book a seat, 2,300.00 EUR; 2 × Tell It came in", "Inbox › Trip").lacks("①")
	for _, img := range all(p.root, "img") {
		if svg := b.open(attribute(img, "src")).is(200).source; !strings.Contains(svg, ">1 Book a seat<") {
			t.Error(svg)
		}
	}
	p.says("order A-1 Book 4A for Ann See all of it", "Seat 4A Cents 2,299.00 EUR 2,299.00 EUR",
		"order A-2 Book 4A for Bob", "Together 2,300.00 EUR",
		"order A-1 Tell: You have {seat}")
	h.inGerman().open(p.address).is(200).says("Zusammen 2.300,00 EUR").isGerman()
	p.form("Reject the Plan").set("reason", "too dear").press("Reject the Plan").is(200)
}
