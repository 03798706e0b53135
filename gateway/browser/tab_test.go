package browser_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var chromium context.Context

// findBrowser gives the program, or nothing.
func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func needsBrowser(t *testing.T) {
	t.Helper()
	if findBrowser() == "" {
		t.Skip("there is no Chromium here: apt-get install chromium")
	}
}

func startBrowser(dir string) (stop func(), err error) {
	allocator, free := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(findBrowser()), chromedp.UserDataDir(dir), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := chromedp.NewContext(allocator)
	stop = func() { cancel(); free() }
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return func() {}, err
	}
	chromium = ctx
	return stop, nil
}

// tab is a page in a browser in which nobody is logged in yet.
type tab struct {
	*testing.T
	ctx context.Context
	url string
}

func (h *house) stranger() *tab {
	h.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	h.Cleanup(cancel)
	t := &tab{h.T, ctx, h.url}
	// A tab lives as long as the context of what is done in it first.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900)); err != nil {
		h.Fatal(err)
	}
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

// step is something done in a browser.
type step = chromedp.Action[chromedp.Void]

// patience is how long a browser may take for one step on a slow machine.
const patience = time.Minute

func (t *tab) run(actions ...step) {
	t.Helper()
	if err := t.try(actions...); err != nil {
		t.Fatalf("%v, on %s: %s", err, t.address(), t.text())
	}
}

func (t *tab) try(actions ...step) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// open goes to a page of the gateway, or to an address elsewhere.
func (t *tab) open(address string) (status int) {
	t.Helper()
	if strings.HasPrefix(address, "/") {
		address = t.url + address
	}
	return t.goes(chromedp.Navigate(address))
}

// goes does what leads to another page, and waits for it.
func (t *tab) goes(actions ...step) (status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	answer, err := chromedp.RunResponse(ctx, actions...)
	if err != nil {
		t.Fatalf("%v, on %s: %s", err, t.address(), t.text())
	}
	if answer == nil {
		return http.StatusOK
	}
	return int(answer.Status)
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

func tryJS[T any](t *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// call sends a command of the DevTools protocol.
func call[P, R any](t *tab, command cdp.Command[P, R], params P) R {
	t.Helper()
	r, err := chromedp.Call(t.ctx, command, params)
	if err != nil {
		t.Fatal(err)
	}
	return r
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

// box is the one of the row with a text.
func box(text string) string {
	return "//tr[contains(., " + quoted(text) + ")]//input[@type='checkbox']"
}

// press clicks what leads to another page.
func (t *tab) press(what string) (status int) {
	t.Helper()
	return t.goes(chromedp.Click(what, chromedp.NodeVisible))
}

// click clicks what stays on the page.
func (t *tab) click(what string) {
	t.Helper()
	t.run(chromedp.Click(what, chromedp.NodeVisible))
}

// write replaces what a field holds by what is typed.
func (t *tab) write(what, text string) {
	t.Helper()
	t.run(chromedp.ScrollIntoView(what, chromedp.NodeVisible), chromedp.Focus(what))
	js[chromedp.Void](t, `document.activeElement.select()`)
	if text == "" {
		text = kb.Delete
	}
	t.key(text)
}

// choose picks from a list.
func (t *tab) choose(id, value string) {
	t.Helper()
	js[chromedp.Void](t, `document.getElementById(`+jsonText(id)+`).value = `+jsonText(value))
}

func (t *tab) key(keys string) {
	t.Helper()
	t.run(chromedp.KeyEvent(keys))
}

// withoutScripts has the pages run none.
func (t *tab) withoutScripts() {
	t.Helper()
	call(t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// scheme has pages be light or dark.
func (t *tab) scheme(name string) {
	t.Helper()
	call(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

func (t *tab) width(pixels int64) {
	t.Helper()
	t.run(chromedp.EmulateViewport(pixels, 900))
}

// focused tells which control has the focus, and whether that is seen.
type focused struct {
	Path, Name, Text, Kind string
	Seen                   bool
}

const pathOf = `const pathOf = (e) => { const p = []; for (; e && e.parentElement; e = e.parentElement) p.unshift([...e.parentElement.children].indexOf(e)); return p.join("/") };`

func (t *tab) focus() focused {
	t.Helper()
	return js[focused](t, `(() => {`+pathOf+` const e = document.activeElement, s = getComputedStyle(e);
		return {Path: pathOf(e), Name: e.name || "", Text: e.textContent.trim(), Kind: e.localName, Seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0} })()`)
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
