package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// axe is the program that finds what keeps people out, from npm; it is kept beside the caches of other tools.
const axe = "axe-core-4.14.1"

// axeScript gives the program's source, or why it cannot be had.
func axeScript(t *testing.T) (source, why string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err.Error()
	}
	dir := filepath.Join(cache, "process-idea", axe)
	file := filepath.Join(dir, "package", "axe.min.js")
	if _, err := os.Stat(file); err != nil {
		if _, err := exec.LookPath("npm"); err != nil {
			return "", "there is no npm to take it from"
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err.Error()
		}
		name := strings.Replace(axe, "core-", "core@", 1)
		pack := exec.CommandContext(t.Context(), "npm", "pack", "--silent", name)
		pack.Dir = dir
		if out, err := pack.CombinedOutput(); err != nil {
			return "", fmt.Sprintf("npm cannot give it: %v: %s", err, out)
		}
		unpack := exec.CommandContext(t.Context(), "tar", "-xzf", axe+".tgz")
		unpack.Dir = dir
		if out, err := unpack.CombinedOutput(); err != nil {
			return "", fmt.Sprintf("it cannot be unpacked: %v: %s", err, out)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err.Error()
	}
	return string(data), ""
}

// violations asks axe about the page that is shown, after the levels A and AA of WCAG 2.2.
func (t *tab) violations(axeSource string) string {
	t.Helper()
	_, err := t.page.eval(axeSource)
	t.did(err)
	found := js[[]any](t, `axe.run({runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}, rules: {"target-size": {enabled: true}}})
		.then((r) => r.violations.map((v) => ({rule: v.id, help: v.help, where: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary)})))`)
	if len(found) == 0 {
		return ""
	}
	data, _ := json.MarshalIndent(found, "", " ")
	return string(data)
}

// everyPage leads to every kind of page, after one another.
func everyPage(h *house, b *tab) map[string]func() {
	wide := strings.Repeat("a-word-without-an-end", 30)
	id := h.pays(row("A1", 1), row(wide, 2),
		`{"values": {"order": "A3", "cents": 3, "lines": [{"sku": "x"}], "note": "`+
			strings.Repeat("much to read ", 200)+`"}}`)
	done := id + "-done"
	h.begin(payments(done, row("B1", 1)), 1)
	b.open("/?process=" + done)
	b.click(box("B1"))
	b.press(decision("approve"))
	outcome := b.address()
	h.receipts(done)
	trip := id + "-trip"
	h.planned(trips(trip, "", `{"name": "Ann"}`, `{"name": "`+wide+`"}`))
	h.planned(trips(trip+"-done", "", `{"name": "Ann"}`))
	b.open("/desk/plans/" + trip + "-done")
	b.press(button("Approve the Plan"))
	planOutcome := b.address()
	h.planned(trips(trip+"-many", "", slices.Repeat([]string{`{"name": "Ann"}`}, 6)...))
	at := func(path string) func() { return func() { b.open(path) } }
	ordering := func(count string) {
		b.show(id, "A1")
		b.click(summary("Approve similar cases in advance"))
		b.write("#order-count", count)
		b.press(button("Show what it would approve"))
	}
	return map[string]func(){
		"the inbox":             at("/?process=" + id),
		"an inbox with nothing": at("/?process=nobody"),
		"a Call":                func() { b.show(id, "A3") },
		"a Call of long words":  func() { b.show(id, wide[:21]) },
		"a form that is opened": func() {
			b.show(id, "A3")
			for _, details := range []string{"Change it", "Enter the result", "Do something else"} {
				b.click(summary(details))
			}
		},
		"a form that is wrong": func() {
			b.show(id, "A1")
			b.click(summary("Change it"))
			b.write(`//*[@id="p/values/cents"]`, "none")
			b.press(button("Change it"))
			b.says("this is not a number")
		},
		"a sorted inbox": at("/?sort=%40case&process=" + id),
		"a second look": func() {
			b.open("/?process=" + id)
			b.click("//input[@data-all]")
			b.press(decision("approve"))
			b.says("Nothing is decided yet")
		},
		"a second look at a Plan": func() {
			b.open("/desk/plans/" + trip + "-many")
			b.press(button("Approve the Plan"))
			b.says("Nothing is decided yet")
		},
		"an order that is wrong": func() { ordering("none"); b.says("Nothing is approved yet") },
		"what an order approves": func() { ordering("2"); b.says("It would approve") },
		"a decided Call":         at("/desk/calls/" + done + "/0.1@1"),
		"what is taken back":     at("/desk/processes/" + done + "/undo"),
		"an outcome":             at(outcome),
		"a Plan":                 at("/desk/plans/" + trip),
		"a Plan's outcome":       at(planOutcome),
		"a Plan that is changed": func() {
			b.open("/desk/plans/" + trip)
			b.click(summary("Change the plan"))
			b.press(`//button[@name="edit" and @value="2"]`)
			b.click(summary("add a step"))
			b.write("#new", "none")
			b.press(button("Add it to the Plan"))
			b.says("want a JSON object")
		},
		"an inbox with a Plan": at("/?process=" + trip),
		"the processes":        at("/desk/processes"),
		"the insights":         at("/desk/insights"),
		"what I decided":       at("/desk/decided"),
		"a process":            at("/desk/processes/" + id),
		"one that has ended":   at("/desk/processes/" + done),
		"an Idea":              at("/desk/processes/" + done + "/idea?at=2"),
		"a record":             at("/desk/processes/" + done + "/verify"),
		"a start":              at("/desk/start"),
		"rows to add":          at("/desk/processes/" + id + "/add"),
		"a page that is not":   at("/desk/nothing"),
		"the login":            func() { b.press(button("Log out")) },
	}
}

func TestEveryPageFitsItsScreenAndKeepsNobodyOut(t *testing.T) {
	source, why := axeScript(t)
	inEach(t, func(h *house) { everyPageFits(h, source) })
	if source == "" {
		t.Skip("what axe-core finds was not looked for: " + why)
	}
}

// pageByTemplate has a page for every template of the desk. Those that everyPage does not show are said to be
// elsewhere.
var pageByTemplate = map[string]string{"add": "rows to add", "call": "a Call", "decided": "a decided Call",
	"enter": "the login", "idea": "an Idea", "inbox": "the inbox", "insights": "the insights", "key": inPasskeyTest,
	"leadon": onlyInPassing, "mine": "what I decided", "order": "an order that is wrong",
	"ordersure": "what an order approves", "outcome": "an outcome", "plan": "a Plan", "planoutcome": "a Plan's outcome",
	"problem": "a page that is not", "process": "a process", "processes": "the processes", "sign": inPasskeyTest,
	"start": "a start", "sure": "a second look", "underway": onlyInPassing, "undo": "what is taken back",
	"verify": "a record"}

const (
	inPasskeyTest = "inspected where people have passkeys"
	onlyInPassing = "leads on by itself"
)

// everyTemplateHasPage fails the test where a page of the desk is not looked at.
func everyTemplateHasPage(t *testing.T, pages map[string]func()) {
	t.Helper()
	files, err := filepath.Glob("../desk/templates/*.html")
	if err != nil || len(files) < 20 {
		t.Fatalf("the templates are %q, %v", files, err)
	}
	for _, file := range files {
		name := pageByTemplate[strings.TrimSuffix(filepath.Base(file), ".html")]
		if name != inPasskeyTest && name != onlyInPassing && pages[name] == nil {
			t.Errorf("%s is on no page that is looked at: %q", file, name)
		}
	}
}

func everyPageFits(h *house, axeSource string) {
	b := h.browse()
	pages := everyPage(h, b)
	everyTemplateHasPage(h.T, pages)
	for name, show := range pages {
		if name != "the login" {
			b.inspect(name, show, axeSource)
		}
	}
	b.open("/")
	b.inspect("the login", func() {
		if js[bool](b, `!!document.querySelector(".who")`) {
			pages["the login"]()
		}
	}, axeSource)
}

// inspect looks at a page in both colour schemes, and as narrow and as wide as screens are. It keeps a screenshot of a
// phone's size and of a desk's: go test -artifacts says where.
func (t *tab) inspect(name string, show func(), axeSource string) {
	t.Helper()
	show()
	for _, pixels := range []int64{320, 2560, 1280} {
		t.width(pixels)
		if wide := js[int64](t, `document.documentElement.scrollWidth`); wide > pixels {
			t.Errorf("%s is %d pixels wide on a screen of %d: %v", name, wide, pixels, js[[]string](t,
				`[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll")).slice(0, 3).map((e) => e.outerHTML.slice(0, 160))`))
		}
	}
	if edges := js[[]float64](t, `[...new Set([...document.querySelectorAll("header.top, main, footer")].map((e) =>
		e.getBoundingClientRect().right - parseFloat(getComputedStyle(e).paddingRight)))]`); len(edges) != 1 {
		t.Errorf("%s has its right edge at each of %v", name, edges)
	}
	for _, pixels := range []int64{390, 1280} {
		t.width(pixels)
		t.keepPicture(fmt.Sprintf("%s %d.png", name, pixels), int(pixels))
		if axeSource == "" {
			continue
		}
		for _, scheme := range []string{"light", "dark"} {
			t.scheme(scheme)
			if found := t.violations(axeSource); found != "" {
				t.Errorf("%s, %d pixels wide, %s: %s", name, pixels, scheme, found)
			}
		}
		t.scheme("")
	}
}

// keepPicture keeps a screenshot among the artifacts of the test.
func (t *tab) keepPicture(name string, width int) {
	t.Helper()
	data, err := t.page.picture()
	t.did(err)
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width != width || config.Height == 0 {
		t.Fatalf("the screenshot %s is %d by %d: %v", name, config.Width, config.Height, err)
	}
	t.did(os.WriteFile(filepath.Join(t.ArtifactDir(), strings.ReplaceAll(name, "'", "")), data, 0o600))
}
