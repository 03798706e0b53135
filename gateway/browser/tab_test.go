package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"processidea/internal/longrun"
)

// page is a page of a browser in which nobody is logged in yet.
type page interface {
	// open goes to an address, and gives the status of what came.
	open(address string) (status int, err error)
	// click clicks an element with the mouse, and keys types; where that leads to another page, they wait for it.
	click(what string, leads bool) (status int, err error)
	keys(keys string, leads bool) (status int, err error)
	// eval gives the text that a script comes to; of anything else, nothing.
	eval(script string) (string, error)
	// upload chooses a file in a field, which a CSS selector finds.
	upload(what, file string) error
	width(pixels int64) error
	// picture takes a screenshot of the whole page, as PNG.
	picture() ([]byte, error)
	// scheme has pages be light or dark; empty: as usual.
	scheme(name string) error
	// scripts has pages run theirs, or not.
	scripts(run bool) error
}

// browser is a kind of browser that people use. It is started when it is used first.
type browser struct {
	name, install string
	programs      []string
	start         func(program, dir string) (newPage func(*testing.T) (page, error), stop func(), err error)

	started func() error
	newPage func(*testing.T) (page, error)
	stop    func()
}

var (
	inChromium = &browser{name: "Chromium", install: "chromium",
		programs: []string{"chromium", "chromium-browser", "google-chrome"}, start: startChromium}
	inFirefox = &browser{name: "Firefox", install: "firefox-esr", programs: []string{"firefox-esr", "firefox"},
		start: func(program, dir string) (func(*testing.T) (page, error), func(), error) {
			f, stop, err := startFirefox(program, dir)
			if err != nil {
				return nil, nil, err
			}
			return f.newPage, stop, nil
		}}
	browsers = []*browser{inChromium, inFirefox}
)

// program is where the browser is; empty: it is not here.
func (b *browser) program() string {
	for _, name := range b.programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// keepIn says where the browsers keep their files. What it returns ends them.
func keepIn(dir string) (stop func()) {
	for _, b := range browsers {
		b.started = sync.OnceValue(func() (err error) {
			b.newPage, b.stop, err = b.start(b.program(), filepath.Join(dir, b.name))
			return err
		})
	}
	return func() {
		for _, b := range browsers {
			if b.stop != nil {
				b.stop()
			}
		}
	}
}

// needs skips the test where the browser is not here. The ordinary run has one browser do what each does in the long
// run: the first that is here.
func (b *browser) needs(t *testing.T) {
	t.Helper()
	if b != browsers[0] && browsers[0].program() != "" {
		longrun.SkipUnlessEnabled(t)
	}
	if b.program() == "" {
		t.Skipf("there is no %s here: apt-get install %s", b.name, b.install)
	}
}

// inEach does a test in each browser, at a gateway of its own.
func inEach(t *testing.T, test func(h *house)) {
	t.Helper()
	for _, b := range browsers {
		t.Run(b.name, func(t *testing.T) {
			b.needs(t)
			h := open(t)
			h.browser = b
			test(h)
		})
	}
}

// withAndWithoutScripts does a test in each browser twice: scripts run in the pages, or not.
func withAndWithoutScripts(t *testing.T, test func(h *house, b *tab)) {
	t.Helper()
	inEach(t, func(h *house) {
		for _, run := range []bool{true, false} {
			h.Run(map[bool]string{true: "with scripts", false: "without scripts"}[run], func(t *testing.T) {
				in := open(t)
				in.browser = h.browser
				b := in.browse()
				if !run {
					b.withoutScripts()
				}
				test(in, b)
			})
		}
	})
}

// tab is a page in which a test does what people do.
type tab struct {
	*testing.T
	page page
	url  string
}

func (h *house) stranger() *tab {
	h.Helper()
	if err := h.browser.started(); err != nil {
		h.Fatal(err)
	}
	p, err := h.browser.newPage(h.T)
	if err != nil {
		h.Fatal(err)
	}
	t := &tab{h.T, p, h.url}
	t.width(1280)
	return t
}

// browse opens the desk by the address that is printed.
func (h *house) browse() *tab {
	h.Helper()
	t := h.stranger()
	t.open("/?token=" + token)
	t.says("You are ann")
	return t
}

// patience is how long a browser may take for one step on a slow machine.
const patience = 3 * time.Minute

// did ends the test where something could not be done.
func (t *tab) did(err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v, on %s: %s", err, t.address(), t.text())
	}
}

// open goes to a page of the gateway, or to an address elsewhere.
func (t *tab) open(address string) (status int) {
	t.Helper()
	if strings.HasPrefix(address, "/") {
		address = t.url + address
	}
	status, err := t.page.open(address)
	t.did(err)
	return t.shown(status)
}

// shown waits until the page is there, where it is still being gathered: it looks again by itself.
func (t *tab) shown(status int) int {
	t.Helper()
	if status == http.StatusAccepted {
		eventually(t, "the page is there", func() bool {
			there, err := tryJS[bool](t,
				`document.readyState === "complete" && !document.querySelector("[data-underway]")`)
			return err == nil && there
		})
		return http.StatusOK
	}
	return status
}

// js asks the browser, as its developer tools do: what a page forbids scripts does not concern it.
func js[T any](t *tab, expression string) T {
	t.Helper()
	v, err := tryJS[T](t, expression)
	if err != nil {
		t.Fatalf("%v: %s", err, expression[:min(len(expression), 300)])
	}
	return v
}

func tryJS[T any](t *tab, expression string) (v T, err error) {
	// Where scripts are off, promises never come to anything.
	text, err := t.page.eval(
		`((v) => v instanceof Promise ? v.then((v) => JSON.stringify(v) ?? "null") : JSON.stringify(v) ?? "null")(` +
			expression + `)`)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal([]byte(text), &v)
}

// found is a script that finds an element: by XPath, or by a CSS selector.
func found(what string) string {
	if strings.HasPrefix(what, "/") {
		return fmt.Sprintf("document.evaluate(%s, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue",
			jsonText(what))
	}
	return fmt.Sprintf("document.querySelector(%s)", jsonText(what))
}

func (t *tab) text() string {
	text, _ := tryJS[string](t, `document.body.innerText`)
	return strings.Join(strings.Fields(text), " ")
}

func (t *tab) address() string {
	address, _ := tryJS[string](t, `location.pathname + location.search`)
	return address
}

func (t *tab) says(texts ...string) {
	t.Helper()
	shown := t.text()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			t.Errorf("%s does not say %q: %s", t.address(), text, shown[:min(len(shown), 3000)])
		}
	}
}

func (t *tab) lacks(texts ...string) {
	t.Helper()
	shown := t.text()
	for _, text := range texts {
		if strings.Contains(shown, text) {
			t.Errorf("%s says %q: %s", t.address(), text, shown[:min(len(shown), 3000)])
		}
	}
}

// quoted is a text in XPath.
func quoted(text string) string {
	if strings.Contains(text, `"`) {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

// button, link and summary are what has a text and can be pressed.
func button(text string) string  { return "//button[contains(., " + quoted(text) + ")]" }
func link(text string) string    { return "//main//a[contains(., " + quoted(text) + ")]" }
func summary(text string) string { return "//summary[contains(., " + quoted(text) + ")]" }

// decision is the button of a table that decides so. What it says changes with what is ticked.
func decision(kind string) string {
	return "//button[@name='decision' and @value=" + quoted(kind) + "]"
}

// box is the one of the row with a text.
func box(text string) string {
	return "//tr[contains(., " + quoted(text) + ")]//input[@type='checkbox']"
}

// press clicks what leads to another page.
func (t *tab) press(what string) (status int) {
	t.Helper()
	status, err := t.page.click(what, true)
	t.did(err)
	return t.shown(status)
}

// click clicks what stays on the page.
func (t *tab) click(what string) {
	t.Helper()
	_, err := t.page.click(what, false)
	t.did(err)
}

// write replaces what a field holds by what is typed.
func (t *tab) write(what, text string) {
	t.Helper()
	if !js[bool](t, `(() => { const e = `+found(what)+
		`; e.scrollIntoView(); e.focus(); e.select(); return document.activeElement === e })()`) {
		t.Fatalf("nothing can be written in %s on %s", what, t.address())
	}
	if text == "" {
		text = kb.Delete
	}
	t.key(text)
}

// choose picks from a list.
func (t *tab) choose(id, value string) {
	t.Helper()
	js[any](t, `document.getElementById(`+jsonText(id)+`).value = `+jsonText(value))
}

// upload chooses a file, which has a text.
func (t *tab) upload(field, name, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	t.did(os.WriteFile(path, []byte(text), 0o600))
	t.did(t.page.upload(field, path))
}

func (t *tab) key(keys string) {
	t.Helper()
	_, err := t.page.keys(keys, false)
	t.did(err)
}

// enter presses Enter, which leads to another page.
func (t *tab) enter() {
	t.Helper()
	status, err := t.page.keys(kb.Enter, true)
	t.did(err)
	t.shown(status)
}

// withoutScripts has the pages run none, until the test ends.
func (t *tab) withoutScripts() {
	t.Helper()
	t.did(t.page.scripts(false))
	t.Cleanup(func() { _ = t.page.scripts(true) })
}

// scheme has pages be light or dark.
func (t *tab) scheme(name string) {
	t.Helper()
	t.did(t.page.scheme(name))
}

func (t *tab) width(pixels int64) {
	t.Helper()
	t.did(t.page.width(pixels))
}

// focused tells which control has the focus, and whether that is seen.
type focused struct {
	Path, Name, Text, Kind, Href string
	Seen                         bool
}

const pathOf = `const pathOf = (e) => { const p = []; for (; e && e.parentElement; e = e.parentElement) p.unshift([...e.parentElement.children].indexOf(e)); return p.join("/") };`

func (t *tab) focus() focused {
	t.Helper()
	return js[focused](t, `(() => {`+pathOf+` const e = document.activeElement, s = getComputedStyle(e);
		return {Path: pathOf(e), Name: e.name || "", Text: e.textContent.trim(), Kind: e.localName, Href: e.getAttribute("href") || "", Seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0} })()`)
}

// tabTo goes on by Tab until a control has the focus.
func (t *tab) tabTo(what string, is func(focused) bool) {
	t.Helper()
	for range 300 {
		t.key(kb.Tab)
		if is(t.focus()) {
			return
		}
	}
	t.Fatalf("Tab never comes to %s on %s", what, t.address())
}

func jsonText(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}
