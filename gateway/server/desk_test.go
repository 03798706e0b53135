package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// payment is a process whose Calls have parameters of every kind, and wait for people; each instance has one.
func payment(id string, rows ...string) map[string]any {
	return map[string]any{
		"id": id, "instances": json.RawMessage("[" + strings.Join(rows, ",") + "]"),
		"replies": strings.Repeat(`{"solution": {"calls": [], "output": null}}`+"\n", 6),
		"idea": json.RawMessage(`{
			"meta": {"path": "payment", "version": "1"},
			"schema": {"tools": {
				"pay": {"description": "Pays a customer.", "type": "object", "additionalProperties": false, "required": ["template", "values"],
					"properties": {"template": {"const": "†input.letter", "_display": "letter"}, "values": {"type": "object", "additionalProperties": false,
						"required": ["order", "cents"], "properties": {"order": {"type": "string", "description": "As the customer gave it."}, "cents": {"type": "number", "minimum": 1},
							"how": {"enum": ["card", "cash"]}, "urgent": {"type": ["boolean", "null"]}, "note": {"type": "string", "maxLength": 900},
							"lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}}}}},
					"_activity": "formatText", "_outputPath": "†state.receipt",
					"_approval": {"timeout": "72h", "onTimeout": "reject", "note": "Look at the receipt first."}},
				"say": {"description": "Writes to a customer.", "type": "object", "properties": {"template": {"type": "string"}, "values": {"type": "object"}},
					"required": ["template", "values"], "_activity": "formatText", "_outputPath": "†state.receipt"}}},
			"context": [{"type": "input", "input": {"letter": "Order {order}: {cents} cents"}},
				{"type": "plan", "stage": "optimal", "plan": [{"_tool": "pay", "_instance": "*", "values": "†input.values"}]}]}`),
	}
}

// pays begins a process of payments, and waits until they wait.
func (h *house) pays(rows ...string) (id string) {
	h.Helper()
	id = strings.NewReplacer("/", "-").Replace(h.Name())
	h.post("/api/processes", payment(id, rows...)).is(201)
	h.waiting(id, len(rows))
	return id
}

// receipts gives what the instances of a process wrote, once it has ended.
func (h *house) receipts(id string) string {
	h.Helper()
	var all []string
	a := h.get("/api/processes/" + id + "/result?wait=20")
	if a.status != 200 {
		h.Fatalf("%s\n%s", h.get("/api/processes/"+id).body, h.get("/api/processes/"+id+"/instances").body)
	}
	r := a.object()
	for _, i := range r["instances"].(map[string]any) {
		state, _ := i.(map[string]any)["state"].(map[string]any)
		all = append(all, fmt.Sprint(state["receipt"]))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func TestThePrintedAddressLogsInAndTheSessionIsForTheDeskAlone(t *testing.T) {
	h := open(t)
	s := h.stranger()
	s.open("/").is(401).says("Log in").lacks("Log out")
	s.open("/?token=wrong").is(401).says("not the token")
	s.open("/desk/calls/a/b").is(401)
	s.post("/desk/decide", url.Values{"decision": {"approve"}}).is(401)
	p := s.open("/desk/nothing").is(404)
	if p.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", p.header)
	}
	b := h.browse()
	p = b.open("/").is(200).says("Inbox", "You are ann")
	csp := p.header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") ||
		p.header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("%v", p.header)
	}
	for _, n := range all(p.root, "script", "style", "link", "img") {
		src := attribute(n, "src") + attribute(n, "href")
		if n.FirstChild != nil || !strings.HasPrefix(src, "/desk/assets/") {
			t.Errorf("the page loads %q, or has a script or style in it", src)
		} else if a := b.open(src).is(200); !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", src, a.header)
		}
	}
	// The session opens no door of programs.
	b.open("/api/processes").is(401)
	p.form("Log out").press("Log out").is(401).says("Log in")
	b.open("/").is(401)
	// With the token in the form, to the page that was asked for.
	p = b.open("/?tool=pay").is(401).form("Log in").set("token", " "+token+" ").press("Log in").is(200)
	if p.address != "/?tool=pay" {
		t.Errorf("it leads to %s", p.address)
	}
	if to := b.post("/desk/enter", url.Values{"token": {token}, "next": {"https://evil.example/desk/"}}).is(
		200).address; to != "/" {
		t.Errorf("it leads to %s", to)
	}
}

func TestAForeignPageCanNeitherReadNorPostAtTheDesk(t *testing.T) {
	h := open(t)
	b := h.browse()
	for name, headers := range map[string][]string{
		"of another origin": {"Origin", "https://evil.example"}, "of none": {"Origin", "null"},
		"that says nothing": {"Origin", ""},
		"of another site":   {"Origin", "", "Sec-Fetch-Site", "cross-site"},
		"of a neighbour":    {"Origin", "", "Sec-Fetch-Site", "same-site"},
	} {
		if p := b.post("/desk/leave", url.Values{}, headers...); p.status != 403 {
			t.Errorf("a page %s may post: %d", name, p.status)
		}
	}
	b.open("/").is(200) // still logged in
	b.post("/desk/decide", url.Values{}, "Origin", "", "Sec-Fetch-Site", "same-origin").is(422)
	ask := func(headers ...string) *page {
		r := must(http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/", nil))
		for n := 0; n < len(headers); n += 2 {
			r.Header.Set(headers[n], headers[n+1])
		}
		return b.send(r)
	}
	ask("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image").is(403)
	ask("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe").is(403)
	// A link in a letter leads here; its browser sends the cookie once it comes from a page of the desk.
	b.client.Jar = nil
	p := ask("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document").is(200)
	if to := p.header.Get("Refresh"); to != "0; url=/" {
		t.Errorf("who follows a link is led to %q", to)
	}
	ask("Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document").is(401)
}

func TestManyCallsAreDecidedOnTogether(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A1", "cents": 10.50, "how": "card"}}`,
		`{"values": {"order": "A2", "cents": 12345678901234567890, "how": "card"}}`,
		`{"values": {"order": "A3", "cents": 3, "how": "card"}}`,
		`{"values": {"order": "A4", "cents": 4, "how": "card"}}`)
	b := h.browse()
	p := b.open("/?process="+id).is(200).says("4 cases wait for you", "Pay 4 cases of Payment", "The same in all: How",
		"Template the same text in all", "Order Order : Cents cents", "12345678901234567890", "10.50",
		"rejected in 3 days")
	if heads := all(p.root, "th"); !slices.ContainsFunc(heads,
		func(n *html.Node) bool {
			return strings.HasSuffix(strings.TrimSpace(textOf(n)), "Cents") && attribute(n, "class") == "number"
		}) {
		t.Errorf("what differs stands in no column: %s", p.text())
	}
	p.form("Approve").press("Approve selected").is(422).says("No case was selected")
	again := p.form("Approve").tick("A1").press("Reject selected").is(422).says("needs a reason",
		"4 cases wait for you")
	if f := again.form("Filter"); f.values.Get("process") != id {
		t.Errorf("the filter is gone: %v", f.values)
	}
	look := again.form("Approve").tick("A2").set("reason", "as agreed").press("Approve selected").is(200).says(
		"2 cases", "A1", "12345678901234567890", "Nothing is decided yet").lacks("A3")
	if f := look.form("Back").press("Back").is(200).form("Approve"); len(f.values["pick"]) != 2 ||
		f.values.Get("reason") != "as agreed" {
		t.Errorf("what was entered is gone: %v", f.values)
	}
	done := look.form("Approve").press(
		"Approve all of them").is(200).says("Done", "2 cases are approved", "A1", "12345678901234567890",
		"It is approved.",
		"Payment")
	if !strings.HasPrefix(done.address, "/desk/outcome?") {
		t.Errorf("a reload of %s would send it again", done.address)
	}
	b.open(done.address).is(200).says("2 cases are approved")
	eventually(t, "the next case is offered", func() bool {
		return strings.Contains(b.open(done.address).is(200).source, "2 cases left with this filter")
	})
	next := b.open(done.address).link("Next case: ").is(200).says("A4").form("Approve").press("Reject").is(422)
	if !strings.Contains(next.source, `<a href="/?process=`+id+`">Inbox`) {
		t.Errorf("the filter is gone: %s", next.source)
	}
	left := done.link("Back to the inbox").is(200).says("2 cases wait for you").lacks("A1")
	if !strings.Contains(left.address, "process=") {
		t.Errorf("the filter is gone: %s", left.address)
	}
	// The page of before: two are decided already, and two are not.
	p.form("Approve").set("all", "yes", "reason", "too late").press("Reject selected").is(200).says("4 cases",
		"The reason: too late").form("Reject").press("Reject all of them").is(200).says("Done in part",
		"2 cases are rejected", "2 cases are as before", "It was refused")
	if got := h.receipts(id); !strings.Contains(got, "Order A1: 10.50 cents") ||
		!strings.Contains(got, "12345678901234567890 cents") || strings.Contains(got, "A3") {
		t.Error(got)
	}
	b.open("/desk/outcome?o=made-up").is(404)
}

// splitPayment starts a payment of three instances in two parts.
func splitPayment(id string) map[string]any {
	start := payment(id)
	inputs := `"context": [`
	for n := range 3 {
		inputs += fmt.Sprintf(`{"type": "input", "_instance": "c%d", "input":
			{"values": {"order": "A%[1]d", "cents": 1}}},`, n)
	}
	start["idea"] = json.RawMessage(strings.NewReplacer(`"meta"`, `"config": {"batch": 2}, "meta"`, `"context": [`,
		inputs).Replace(string(start["idea"].(json.RawMessage))))
	return start
}

// A split process and its parts report the same Calls: each is listed once, with its case. So is a split delegate's.
func TestWhatWaitsInPartsIsListedOnce(t *testing.T) {
	h := open(t)
	id := "parts-that-wait"
	start := splitPayment(id)
	idea := start["idea"]
	h.post("/api/processes", start).is(201)
	h.post("/api/processes", map[string]any{"id": id + "-below", "delegates": map[string]any{"pay.json": idea},
		"replies": start["replies"],
		"idea": json.RawMessage(`{"schema": {"tools": {"ask": {"type": "object", "_delegate": "pay.json"}}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "ask"}]}]}`)}).is(201)
	h.waiting(id, 3)
	h.waiting(id+"-below", 3)
	eventually(t, "each is listed once over all processes", func() bool {
		count := map[string]int{}
		for _, a := range h.get("/api/approvals").is(200).list("approvals") {
			of := a["process"].(string)
			if strings.HasPrefix(of, id) && strings.Contains(of, "/~part/") && a["input"] != nil {
				count[fmt.Sprint(of, a["call"])]++
			}
		}
		maps.DeleteFunc(count, func(_ string, times int) bool { return times > 1 })
		return len(count) == 6
	})
	p := h.browse().open("/?process=" + id).is(200).says("3 cases wait for you")
	p.form("Approve").set("all", "yes").press("Approve selected").is(200).form("Approve").press(
		"Approve all of them").is(200).says("3 cases are approved").lacks("in part")
}

func TestMoneyIsAddedUpAndCasesWithoutNamesAreToldApart(t *testing.T) {
	h := open(t)
	for _, order := range []string{"A1", "A2"} {
		start := payment("alike-"+order, `{"values": {"order": "`+order+`", "cents": 16}}`)
		start["idea"] = json.RawMessage(strings.Replace(string(start["idea"].(json.RawMessage)), `"minimum": 1`,
			`"_display": "money", "currency": "EUR"`, 1))
		h.post("/api/processes", start).is(201)
		h.waiting("alike-"+order, 1)
	}
	p := h.browse().open("/?text=alike-").is(200).says("2 cases of 2 processes", "All 2 together", "32.00 EUR")
	p.link("16.00 EUR , A2").is(200).says("Order A2")
}

func TestTheInboxIsFiltered(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "blue coat", "cents": 1}}`, `{"values": {"order": "red hat", "cents": 2}}`)
	b := h.browse()
	for query, n := range map[string]int{
		"": 2, "&text=COAT": 1, "&text=nobody": 0, "&tool=pay": 2, "&tool=say": 0, "&age=1h": 0, "&due=7d": 2,
		"&due=1d": 0, "&who=all": 2, "&size=1": 2, "&text=" + id: 2,
	} {
		p := b.open("/?process=" + id + query).is(200)
		want := map[int]string{0: "Nothing that waits fits", 1: "1 case waits", 2: "2 cases wait"}[n]
		p.says(want)
	}
	p := b.open("/?size=1&process=" + id).is(200).says("These are 1 to 1")
	p.link("More").is(200).says("These are 2 to 2").link("Earlier").is(200).says("1 to 1")
	p.link("at once").is(200).lacks("These are")
}

func TestACallIsUnderstoodAndApproved(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A-77", "cents": 1.10}}`)
	b := h.browse()
	p := b.open("/?process=" + id).link("@").is(200)
	p.says("Pays a customer.", "Order A-77", "Order taken from the data it started with", "1.10",
		"Template always taken from the data it started with", "it is rejected in 3 days", "†state.receipt",
		"Inbox › Payment", "For operators Process "+id, "Digest ").lacks("Other data it started with")
	typed := "/desk/calls/" + id + "/0.1@1"
	b.open(typed).is(200).says("Order A-77", "Digest ")
	p.form("Approve").press("Approve").is(200).says("1 case is approved", "A-77")
	p.form("Approve").press("Approve").is(200).says("Nothing was decided", "refused")
	if got := h.receipts(id); got != "Order A-77: 1.10 cents" {
		t.Error(got)
	}
	for _, address := range []string{p.address, typed} {
		b.open(address).is(200).says("approved by ann", "A-77").lacks(
			"Show what it would approve") // the process has ended
	}
}

func TestACallIsTalkedAboutAndHandedOverAtTheDesk(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A-78", "cents": 110}}`)
	p := h.browse().open("/?process=" + id).link("@").is(200)
	p.form("Say it").press("Say it").is(409).says("it says nothing")
	p.form("Say it").press("Hand it over").is(409).says("it is handed over to nobody")
	p = p.form("Say it").set("reason", "a <b>good</b> customer").press("Say it").is(200).says(
		"ann says: a <b>good</b> customer")
	p = p.form("Say it").set("to", "bob", "reason",
		"is it late?").press("Ask").is(200).says("ann asks bob: is it late?")
	p = p.form("Say it").set("to", "bob").press("Hand it over").is(200).says("ann has handed it over to bob",
		"It is decided by bob", "whoever may decide can hand it over again").lacks("needed if you reject")
	p.form("Say it").set("to", "bob", "toGroup", "finance").press("Hand it over").is(409).says("not for both")
	p = p.form("Say it").set("toGroup", "finance").press("Hand it over").is(200).says(
		"ann has handed it over to people of finance")
	p.form("Say it").set("to", "ann").press("Hand it over").is(200).form("Approve").press("Approve").is(200).says(
		"1 case is approved")
}

func TestADeputyIsNamedAtTheDeskAndDecidesThere(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A-79", "cents": 110}}`)
	b := h.browse()
	at := "/desk/processes/" + url.PathEscape(id)
	f := b.open(at).is(200).form("Name the deputy")
	// What is wrong stands in the form, and nothing that was entered is lost.
	f.set("to", "bob", "reason", "on leave").press("Name the deputy").is(422).says("a name and a last day")
	f.set("from", "2026-12-01", "until", "soon")
	again := f.press("Name the deputy").is(422).says("must be a date").form("Name the deputy")
	if got, want := again.values.Encode(), f.values.Encode(); got != want {
		t.Errorf("the form has %s, not %s", got, want)
	}
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(time.DateOnly)
	f.set("from", "2999-12-31", "until", tomorrow).press("Name the deputy").is(422).says("after the last one")
	f.set("to", "ann", "from", "", "until", tomorrow)
	again = f.press("Name the deputy").is(409).says("ann cannot be their own deputy").form("Name the deputy")
	if got, want := again.values.Encode(), f.values.Encode(); got != want {
		t.Errorf("the form has %s, not %s", got, want)
	}
	f.set("to", "bob", "until", tomorrow, "reason", "on leave").press("Name the deputy").is(200).says("Deputy: bob",
		"on leave", "End it")
	call := "/?process=" + url.QueryEscape(id)
	eventually(t, "the Call is told", func() bool {
		return strings.Contains(b.open(call).link("@").is(200).text(), "bob may decide in place of ann until")
	})
	b.open(at).form("End it").press("End it").is(200).says("ended by ann")
	h.post("/api/processes/"+id+"/deputy", `{"to": "bob"}`).problem(422, "invalid")
	h.post("/api/processes/"+id+"/deputy", `{"id": "mine", "to": "bob", "until": "2100-01-01T00:00:00Z"}`).is(204)
}

func TestHowDecisionsGoIsSeenAtTheDeskAndInTheAPI(t *testing.T) {
	h := open(t)
	since := time.Now().UTC()
	id := h.pays(`{"values": {"order": "B-1", "cents": 1}}`, `{"values": {"order": "B-2", "cents": 2}}`)
	b := h.browse()
	b.open("/?text=B-1&process=" + id).link("@").is(200).form("Approve").press("Approve").is(200)
	pay := map[string]any{}
	eventually(t, "the decision is counted", func() bool {
		list := h.get("/api/insights?since=" + url.QueryEscape(since.Format(time.RFC3339Nano))).is(200).list("tools")
		for _, one := range list {
			if one["tool"] == "pay" {
				pay = one
			}
		}
		decided, _ := pay["decided"].(map[string]any)
		return fmt.Sprint(decided["approve"]) == "1" && fmt.Sprint(pay["waiting"]) != "0" && pay["oldest"] != nil
	})
	if fmt.Sprint(pay["byOrder"], pay["byDeadline"]) != "0 0" {
		t.Errorf("%v", pay)
	}
	b.open("/desk/insights").is(200).says("How decisions go", "Pay", "approved")
	h.get("/api/insights?since=yesterday").problem(422, "invalid")
}

func TestACallIsChangedByItsForm(t *testing.T) {
	h := open(t)
	id := h.pays(
		`{"values": {"order": "A-1", "cents": 12345678901234567890.10, "lines": [{"sku": "x"}], "note": "two\nlines"}}`)
	b := h.browse()
	p := b.open("/?process=" + id).link("@").is(200)
	p.form("Change it").press("Change it").is(422).says("Nothing is changed")
	p.form("Change it").set("p/values/cents", "1,5").press("Change it").is(422).says("this is not a number").says(
		"Some fields")
	p.form("Change it").set("p/values/cents", "0").press("Change it").is(422).says(
		"Some fields do not fit yet", "it must be: at least 1")
	more := p.form("Change it").set("p/values/order", "A-2").press("Add an item").is(200)
	f := more.form("Change it")
	if f.values.Get("p/values/order") != "A-2" || f.values.Get("p/values/lines~count") != "2" {
		t.Errorf("%v", f.values)
	}
	f.set("p/values/lines/1/sku", "y", "p/values/urgent~state", "null", "p/values/how~state", "given", "p/values/how",
		`"cash"`, "reason", "as it was agreed").
		press("Change it").is(200).says("1 case is changed", "waits again").
		link("approve it").is(200).says("Order A-2", "12345678901234567890.10").form("Approve").press("Approve").is(
		200).says("1 case is approved")
	if got := h.receipts(id); got != "Order A-2: 12345678901234567890.10 cents" {
		t.Error(got)
	}
	ideas := len(h.get("/api/processes/" + id + "/ideas").is(200).list("ideas"))
	diff := h.get(fmt.Sprintf("/api/processes/%s/diff?from=1&to=%d", id, ideas)).is(200)
	for _, part := range []string{`"sku":"y"`, `"urgent":null`, `"how":"cash"`, "as it was agreed", `two\nlines`} {
		if !strings.Contains(string(diff.body), part) {
			t.Errorf("%s is not on record: %s", part, diff.body)
		}
	}
}

func TestACallIsRejectedAnsweredAndReplaced(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "coat", "cents": 1}}`, `{"values": {"order": "shoe", "cents": 2}}`,
		`{"values": {"order": "glove", "cents": 3}}`)
	b := h.browse()
	show := func(order string) *page {
		return b.open("/?text=" + order + "&process=" + id).link("@").is(200).says("Order " + order)
	}
	p := show("coat")
	p.form("Reject").press("Reject").is(422).says("needs a reason")
	p.form("Reject").set("reason", "not ours").press("Reject").is(200).says("1 case is rejected")
	p = show("shoe")
	p.form("Give this result").set("answer-is", "json", "answer",
		"{").press("Give this result").is(422).says("is not JSON")
	p.form("Give this result").set("answer", "given by hand").press("Give this result").is(200).says(
		"1 case is answered")
	p = show("glove").form("Show its form").set("with", "say").press("Show its form").is(200)
	p.form("Have this done instead").set("w/template", "Instead of {x}", "w/values~more",
		`{"x": "†input.values.order"}`).press("Have this done instead").is(200).says("1 case is replaced")
	if got := h.receipts(id); got != "<nil>; Instead of glove; given by hand" {
		t.Error(got)
	}
}

func TestACallThatHasChangedIsShownAnew(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A", "cents": 1}}`)
	b := h.browse()
	p := b.open("/?process=" + id).link("@").is(200)
	for _, button := range []string{"Approve", "Change it", "Give this result"} {
		f := p.form(button)
		f.values.Set("digest", strings.Repeat("0", 64))
		f.press(button).is(409).says("has changed since you looked, and nothing was decided", "What would happen",
			"Look at the receipt first.", "Order A")
	}
	h.waiting(id, 1)
	p.form("Reject").set("reason", "enough").press("Reject").is(200)
}

func TestHostileDataIsTextAtTheDesk(t *testing.T) {
	h := open(t)
	nasty := `<script>alert(1)</script>"'><img src=x onerror=alert(2)>` + "\u202etxt.exe\u0000\u001b[31m"
	big := strings.Repeat("very long ", 60_000)
	row := func(order, note string) string {
		return string(
			must(
				json.Marshal(map[string]any{"values": map[string]any{"order": order, "cents": 1,
					"note": note[:min(len(note), 800)], "lines": []any{map[string]any{order: note, "sku": order}}}})))
	}
	id := h.pays(row(nasty, nasty), row("plain", big))
	b := h.browse()
	for _, p := range []*page{
		b.open("/?process=" + id).is(200), b.open("/?text=plain&process=" + id).link("@").is(200),
		b.open("/?text=txt.exe&process=" + id).link("@").is(200),
		b.open("/?text=" + url.QueryEscape(nasty)).is(200),
		b.open("/desk/calls/" + url.PathEscape(nasty) + "/" + url.PathEscape(nasty)).is(404),
	} {
		for _, n := range all(p.root, "script", "img") {
			if !strings.HasPrefix(attribute(n, "src"), "/desk/assets/") {
				t.Errorf("%s has a %s of what a process holds", p.address, n.Data)
			}
		}
		for n := range p.root.Descendants() {
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
					t.Errorf("%s has %s=%q", p.address, a.Key, a.Val)
				}
			}
		}
		if strings.ContainsAny(p.text(), "\u202e\u001b") || len(p.source) > 2<<20 {
			t.Errorf("%s hides something, or is %d bytes", p.address, len(p.source))
		}
	}
	b.open("/?text=txt.exe&process="+id).is(200).says("⟨U+202E⟩", "<script>alert(1)</script>")
	// A text that a browser would change stays as it is when something else is changed.
	p := b.open("/?text=txt.exe&process=" + id).link("@").is(200)
	p.form("Change it").set("p/values/cents", "7").press("Change it").is(200).says("1 case is changed")
	b.open("/?process="+id).form("Approve").set("all", "yes").press("Approve selected").is(200).form(
		"Approve").press("Approve all of them").is(200)
	if got := h.receipts(id); !strings.Contains(got, nasty+": 7 cents") {
		t.Error(got[:min(len(got), 400)])
	}
}
