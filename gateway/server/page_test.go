package server_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
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

// send sends a request. A page that is still being gathered is asked for again, as it asks of browsers itself.
func (b *browser) send(r *http.Request) *page {
	b.Helper()
	p := b.sendOnce(r)
	if address := p.address; p.status == http.StatusAccepted {
		eventually(b, address+" is there", func() bool {
			p = b.sendOnce(must(http.NewRequestWithContext(b.Context(), http.MethodGet, b.url+address, nil)))
			return p.status != http.StatusAccepted
		})
	}
	return p
}

func (b *browser) sendOnce(r *http.Request) *page {
	b.Helper()
	answer, err := b.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	data := must(io.ReadAll(answer.Body))
	return &page{b, answer.StatusCode, answer.Header, answer.Request.URL.RequestURI(), string(data),
		must(html.Parse(strings.NewReader(string(data))))}
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
		if strings.Contains(textOf(a), text) || text == "@" && strings.Contains(attribute(a, "href"), "/calls/") {
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
		found := slices.ContainsFunc(all(s.form, "input", "select", "textarea"),
			func(f *html.Node) bool { return attribute(f, "name") == pairs[n] })
		if !found {
			s.Fatalf("the form has no field %s: %v", pairs[n], s.values)
		}
		s.values.Set(pairs[n], pairs[n+1])
	}
	return s
}

// tick ticks the boxes of those rows that have a text; every row has the empty one.
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
	r := must(http.NewRequestWithContext(b.Context(), http.MethodPost, b.url+action,
		strings.NewReader(values.Encode())))
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
