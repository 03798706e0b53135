package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"processidea/gateway/server"
)

// browser is one without scripts.
type browser struct {
	*testing.T
	client *http.Client
	url    string
}

// browse opens the desk by the address that is printed.
func (h *house) browse() *browser {
	h.Helper()
	b := h.stranger()
	p := b.open("/?token=" + token)
	if p.address != "/" || p.status != 200 {
		h.Fatalf("the printed address leads to %s, which answers %d", p.address, p.status)
	}
	return b
}

// stranger is a browser in which nobody is logged in.
func (h *house) stranger() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{h.T, &http.Client{Jar: jar}, h.url}
}

// page is what a browser shows.
type page struct {
	*browser
	status  int
	header  http.Header
	address string // path and query, after redirects
	source  string
	root    *html.Node
}

func (b *browser) open(address string) *page {
	b.Helper()
	return b.send(must(http.NewRequestWithContext(b.Context(), http.MethodGet, b.url+address, nil)))
}

func (b *browser) send(r *http.Request) *page {
	b.Helper()
	answer, err := b.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	data := must(io.ReadAll(answer.Body))
	return &page{b, answer.StatusCode, answer.Header, answer.Request.URL.RequestURI(), string(data), must(html.Parse(strings.NewReader(string(data))))}
}

// is checks the status, and gives the page.
func (p *page) is(status int) *page {
	p.Helper()
	if p.status != status {
		p.Fatalf("%s answers %d, want %d: %s", p.address, p.status, status, p.text())
	}
	return p
}

// says checks that the page has texts.
func (p *page) says(texts ...string) *page {
	p.Helper()
	for _, text := range texts {
		if !strings.Contains(p.text(), text) {
			p.Errorf("%s does not say %q: %s", p.address, text, p.text())
		}
	}
	return p
}

func (p *page) lacks(texts ...string) *page {
	p.Helper()
	for _, text := range texts {
		if strings.Contains(p.text(), text) {
			p.Errorf("%s says %q: %s", p.address, text, p.text())
		}
	}
	return p
}

// text is what is read on the page.
func (p *page) text() string { return strings.Join(strings.Fields(textOf(p.root)), " ") }

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		if c.Data != "script" && c.Data != "head" {
			b.WriteString(textOf(c))
			if c.Type == html.ElementNode && c.Data != "a" && c.Data != "b" && c.Data != "time" && c.Data != "code" {
				b.WriteString(" ")
			}
		}
	}
	return b.String()
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

// all gives the elements of a kind below a node, in their order.
func all(n *html.Node, kinds ...string) (list []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && slices.Contains(kinds, d.Data) {
			list = append(list, d)
		}
	}
	return list
}

// link follows the first link with a text.
func (p *page) link(text string) *page {
	p.Helper()
	for _, a := range all(p.root, "a") {
		if strings.Contains(textOf(a), text) {
			return p.open(attribute(a, "href"))
		}
	}
	p.Fatalf("%s has no link %q: %s", p.address, text, p.text())
	return nil
}

// sheet is a form of a page, filled in as the page has it.
type sheet struct {
	*page
	form   *html.Node
	values url.Values
}

// form gives the first form that has a button with a text.
func (p *page) form(button string) *sheet {
	p.Helper()
	for _, f := range all(p.root, "form") {
		for _, b := range all(f, "button") {
			if strings.Contains(textOf(b), button) {
				return &sheet{p, f, filled(f)}
			}
		}
	}
	p.Fatalf("%s has no form with a button %q: %s", p.address, button, p.text())
	return nil
}

// filled is what a browser sends of a form that nobody touched.
func filled(f *html.Node) url.Values {
	values := url.Values{}
	for _, n := range all(f, "input", "select", "textarea") {
		name := attribute(n, "name")
		switch {
		case name == "", attribute(n, "type") == "checkbox" && !has(n, "checked"):
		case n.Data == "select":
			options := all(n, "option")
			if len(options) == 0 {
				continue
			}
			chosen := options[0]
			for _, o := range options {
				if has(o, "selected") {
					chosen = o
				}
			}
			v := attribute(chosen, "value")
			if !has(chosen, "value") {
				v = textOf(chosen)
			}
			values.Add(name, v)
		case n.Data == "textarea":
			values.Add(name, strings.ReplaceAll(strings.TrimPrefix(textOf(n), "\n"), "\n", "\r\n"))
		default:
			values.Add(name, attribute(n, "value"))
		}
	}
	return values
}

func (s *sheet) set(pairs ...string) *sheet {
	s.Helper()
	for n := 0; n < len(pairs); n += 2 {
		found := slices.ContainsFunc(all(s.form, "input", "select", "textarea"), func(f *html.Node) bool { return attribute(f, "name") == pairs[n] })
		if !found {
			s.Fatalf("the form has no field %s: %v", pairs[n], s.values)
		}
		s.values.Set(pairs[n], pairs[n+1])
	}
	return s
}

// tick ticks the boxes of those rows that have a text.
func (s *sheet) tick(texts ...string) *sheet {
	s.Helper()
	for _, text := range texts {
		found := false
		for _, row := range all(s.form, "tr") {
			for _, box := range all(row, "input") {
				if strings.Contains(textOf(row), text) && attribute(box, "type") == "checkbox" {
					s.values.Add(attribute(box, "name"), attribute(box, "value"))
					found = true
				}
			}
		}
		if !found {
			s.Fatalf("no row has %q and a box: %s", text, s.text())
		}
	}
	return s
}

// press sends the form by a button.
func (s *sheet) press(button string) *page {
	s.Helper()
	for _, b := range all(s.form, "button") {
		if !strings.Contains(textOf(b), button) {
			continue
		}
		values := url.Values{}
		for k, v := range s.values {
			values[k] = v
		}
		if name := attribute(b, "name"); name != "" {
			values.Add(name, attribute(b, "value"))
		}
		action := attribute(s.form, "action")
		action, _, _ = strings.Cut(action, "#")
		if !strings.EqualFold(attribute(s.form, "method"), "post") {
			return s.open(action + "?" + values.Encode())
		}
		return s.post(action, values)
	}
	s.Fatalf("the form has no button %q", button)
	return nil
}

func (b *browser) post(action string, values url.Values, headers ...string) *page {
	b.Helper()
	r := must(http.NewRequestWithContext(b.Context(), http.MethodPost, b.url+action, strings.NewReader(values.Encode())))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.url)
	for n := 0; n < len(headers); n += 2 {
		r.Header.Set(headers[n], headers[n+1])
		if headers[n+1] == "" {
			r.Header.Del(headers[n])
		}
	}
	return b.send(r)
}

// payment is a process whose Calls have parameters of every kind, and wait for people; each instance has one.
func payment(id string, rows ...string) map[string]any {
	return map[string]any{
		"id": id, "instances": json.RawMessage("[" + strings.Join(rows, ",") + "]"), "replies": strings.Repeat(`{"solution": {"calls": [], "output": null}}`+"\n", 6),
		"idea": json.RawMessage(`{
			"meta": {"path": "payment", "version": "1"},
			"schema": {"tools": {
				"pay": {"description": "Pays a customer.", "type": "object", "additionalProperties": false, "required": ["template", "values"],
					"properties": {"template": {"const": "†input.letter"}, "values": {"type": "object", "additionalProperties": false,
						"required": ["order", "cents"], "properties": {"order": {"type": "string", "description": "As the customer gave it."}, "cents": {"type": "number", "minimum": 1},
							"how": {"enum": ["card", "cash"]}, "urgent": {"type": ["boolean", "null"]}, "note": {"type": "string", "maxLength": 900},
							"lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}}}}},
					"_activity": "formatText", "_outputPath": "†state.receipt",
					"_approval": {"timeout": "72h", "onTimeout": "reject"}},
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
	p = b.open("/").is(200).says("Inbox", "You are ann", "Nothing waits")
	csp := p.header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || p.header.Get("Referrer-Policy") != "same-origin" {
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
	if to := b.post("/desk/enter", url.Values{"token": {token}, "next": {"https://evil.example/desk/"}}).is(200).address; to != "/" {
		t.Errorf("it leads to %s", to)
	}
}

func TestAForeignPageCanNeitherReadNorPostAtTheDesk(t *testing.T) {
	h := open(t)
	b := h.browse()
	for name, headers := range map[string][]string{
		"of another origin": {"Origin", "https://evil.example"}, "of none": {"Origin", "null"}, "that says nothing": {"Origin", ""},
		"of another site": {"Origin", "", "Sec-Fetch-Site", "cross-site"}, "of a neighbour": {"Origin", "", "Sec-Fetch-Site", "same-site"},
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
	// A link in a letter leads here; its browser sends no cookie.
	b.client.Jar = nil
	ask("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document").is(401).says("open the page")
}

func TestManyCallsAreDecidedOnTogether(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A1", "cents": 10.50, "how": "card"}}`, `{"values": {"order": "A2", "cents": 12345678901234567890, "how": "card"}}`,
		`{"values": {"order": "A3", "cents": 3, "how": "card"}}`, `{"values": {"order": "A4", "cents": 4, "how": "card"}}`)
	b := h.browse()
	p := b.open("/?process="+id).is(200).says("4 Calls wait for you", "pay 4 Calls of "+id, "The same in all:", "12345678901234567890", "10.50", "in 2 days", "it is rejected")
	if heads := all(p.root, "th"); !slices.ContainsFunc(heads, func(n *html.Node) bool { return textOf(n) == "cents" && attribute(n, "class") == "number" }) {
		t.Errorf("what differs stands in no column: %s", p.text())
	}
	p.form("Approve").press("Approve the selected").is(422).says("No Call was selected")
	p.form("Approve").tick("A1").press("Reject the selected").is(422).says("needs a reason")
	done := p.form("Approve").tick("A1", "A2").press("Approve the selected").is(200).says("Done", "2 Calls are approved", "It is approved.")
	if !strings.HasPrefix(done.address, "/desk/outcome?") {
		t.Errorf("a reload of %s would send it again", done.address)
	}
	b.open(done.address).is(200).says("2 Calls are approved")
	left := done.link("Back to the inbox").is(200).says("2 Calls wait for you").lacks("A1")
	if !strings.Contains(left.address, "process=") {
		t.Errorf("the filter is gone: %s", left.address)
	}
	// The page of before: two are decided already, and two are not.
	p.form("Approve").set("all", "yes", "reason", "too late").press("Reject the selected").is(200).says("Done in part", "2 Calls are rejected", "2 Calls are as before", "It was refused")
	if got := h.receipts(id); !strings.Contains(got, "Order A1: 10.50 cents") || !strings.Contains(got, "12345678901234567890 cents") || strings.Contains(got, "A3") {
		t.Error(got)
	}
	b.open("/desk/outcome?o=made-up").is(404)
}

func TestTheInboxIsFiltered(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "blue coat", "cents": 1}}`, `{"values": {"order": "red hat", "cents": 2}}`)
	b := h.browse()
	for query, n := range map[string]int{
		"": 2, "&text=COAT": 1, "&text=nobody": 0, "&tool=pay": 2, "&tool=say": 0, "&age=1h": 0, "&due=7d": 2, "&due=1d": 0, "&who=all": 2, "&size=1": 2, "&text=" + id: 2,
	} {
		p := b.open("/?process=" + id + query).is(200)
		want := map[int]string{0: "Nothing that waits fits", 1: "1 Call waits", 2: "2 Calls wait"}[n]
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
	p.says("Pays a customer.", "order A-77", "the same as †input.values.order", "1.10", "†input.letter, which the Tool's designer wired", "it is rejected in 2 days", "†state.receipt",
		"Its input", "digest ")
	p.form("Approve").press("Approve").is(200).says("1 Call is approved")
	p.form("Approve").press("Approve").is(200).says("Nothing was decided", "refused")
	if got := h.receipts(id); got != "Order A-77: 1.10 cents" {
		t.Error(got)
	}
	b.open(p.address).is(404).says("waits for nobody any more")
}

func TestACallIsChangedByItsForm(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A-1", "cents": 12345678901234567890.10, "lines": [{"sku": "x"}], "note": "two\nlines"}}`)
	b := h.browse()
	p := b.open("/?process=" + id).link("@").is(200)
	p.form("Change it").press("Change it").is(422).says("Nothing is changed")
	p.form("Change it").set("p/values/cents", "1,5").press("Change it").is(422).says("this is no number").says("Some fields")
	p.form("Change it").set("p/values/cents", "0").press("Change it").is(422).says("does not fit the Tool")
	more := p.form("Change it").set("p/values/order", "A-2").press("Add an item").is(200)
	f := more.form("Change it")
	if f.values.Get("p/values/order") != "A-2" || f.values.Get("p/values/lines~count") != "2" {
		t.Errorf("%v", f.values)
	}
	f.set("p/values/lines/1/sku", "y", "p/values/urgent~state", "null", "p/values/how~state", "given", "p/values/how", `"cash"`, "reason", "as it was agreed").
		press("Change it").is(200).says("1 Call is changed", "waits again").
		link("approve it").is(200).says("order A-2", "12345678901234567890.10").form("Approve").press("Approve").is(200).says("1 Call is approved")
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
	id := h.pays(`{"values": {"order": "coat", "cents": 1}}`, `{"values": {"order": "shoe", "cents": 2}}`, `{"values": {"order": "glove", "cents": 3}}`)
	b := h.browse()
	show := func(order string) *page {
		return b.open("/?text=" + order + "&process=" + id).link("@").is(200).says("order " + order)
	}
	p := show("coat")
	p.form("Reject").press("Reject").is(422).says("needs a reason")
	p.form("Reject").set("reason", "not ours").press("Reject").is(200).says("1 Call is rejected")
	p = show("shoe")
	p.form("Give this result").set("answer-is", "json", "answer", "{").press("Give this result").is(422).says("is no JSON")
	p.form("Give this result").set("answer", "given by hand").press("Give this result").is(200).says("1 Call is answered")
	p = show("glove").form("Show its form").set("with", "say").press("Show its form").is(200)
	p.form("Replace it").set("w/template", "Instead of {x}", "w/values~more", `{"x": "†input.values.order"}`).press("Replace it").is(200).says("1 Call is replaced")
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
		f.press(button).is(409).says("has changed since you looked, and nothing was decided", "What would run", "order A")
	}
	h.waiting(id, 1)
	p.form("Reject").set("reason", "enough").press("Reject").is(200)
}

func TestHostileDataIsTextAtTheDesk(t *testing.T) {
	h := open(t)
	nasty := `<script>alert(1)</script>"'><img src=x onerror=alert(2)>` + "\u202etxt.exe\u0000\u001b[31m"
	big := strings.Repeat("very long ", 60_000)
	row := func(order, note string) string {
		return string(must(json.Marshal(map[string]any{"values": map[string]any{"order": order, "cents": 1, "note": note[:min(len(note), 800)], "lines": []any{map[string]any{order: note, "sku": order}}}})))
	}
	id := h.pays(row(nasty, nasty), row("plain", big))
	b := h.browse()
	for _, p := range []*page{
		b.open("/?process=" + id).is(200), b.open("/?text=plain&process=" + id).link("@").is(200), b.open("/?text=txt.exe&process=" + id).link("@").is(200),
		b.open("/?text=" + url.QueryEscape(nasty)).is(200), b.open("/desk/calls/" + url.PathEscape(nasty) + "/" + url.PathEscape(nasty)).is(404),
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
	p.form("Change it").set("p/values/cents", "7").press("Change it").is(200).says("1 Call is changed")
	b.open("/?process="+id).form("Approve").set("all", "yes").press("Approve the selected").is(200)
	if got := h.receipts(id); !strings.Contains(got, nasty+": 7 cents") {
		t.Error(got[:min(len(got), 400)])
	}
}

func TestWhoMayNotDecideIsTold(t *testing.T) {
	h := open(t, func(o *server.Options) {})
	id := "desk-" + t.Name()
	start := payout(id)
	h.post("/api/processes", start).is(201)
	h.waiting(id, 1)
	b := h.browse()
	b.open("/?process=" + id).is(200).says("1 Call waits for other people")
	p := b.open("/?who=all&process="+id).is(200).says("1 Call waits.", "signed").lacks("Approve the selected")
	p.link("0.1").is(200).says("What would run", "2 of").lacks("Approve it")
	h.post("/api/processes/"+id+"/cancel", map[string]any{}).is(204)
}
