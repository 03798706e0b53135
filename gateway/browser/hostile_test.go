package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// nasty would run as a script wherever it is not shown as text, and hides what comes after it.
const nasty = `<script>window.ran=1</script>"'><img src=x onerror="window.ran=2"><a href="javascript:window.ran=3">x</a>` + "\u202etxt.exe\x1b[31m"

// ranNothing checks that no script of what a process holds ran, that marks are shown, and that the page can be used.
func (t *tab) ranNothing(where string) {
	t.Helper()
	if ran := js[int](t, `window.ran || 0`); ran != 0 {
		t.Errorf("%s runs a script of what a process holds", where)
	}
	if n := js[int](
		t,
		`document.querySelectorAll("main script, main [onerror], main a[href^='javascript:'], main img[src=x]").length`); n != 0 {
		t.Errorf("%s has what a process holds as elements", where)
	}
	if text := t.text(); strings.ContainsAny(text, "\u202e\x1b") {
		t.Errorf("%s shows marks that hide or turn text: %.400q", where, text)
	}
	if size := js[int](t, `document.documentElement.outerHTML.length`); size > 3<<20 {
		t.Errorf("%s is %d characters long", where, size)
	}
}

func TestHostileDataIsTextInABrowser(t *testing.T) {
	h := open(t)
	var keys []string
	for n := range 10_000 {
		keys = append(keys, fmt.Sprintf(`"key %d %s": %d`, n,
			strings.ReplaceAll(`<img src=x onerror=\"window.ran=4\">`, "\n", ""), n))
	}
	many := `{"values": {"order": "many", "cents": 3, ` + strings.Join(keys, ", ") + `}}`
	big := `{"values": {"order": "big", "cents": 2, "note": "` + strings.Repeat("five million ", 400_000) + `"}}`
	id := `hostile "'><img src=x onerror=window.ran=5>&#`
	start := payments(id, `{"values": {"order": `+jsonText(nasty)+`, "cents": 1, "lines": [{"sku": "x", `+
		jsonText(nasty)+`: 1}]}}`, big, many)
	h.begin(start, 3)
	b := h.browse()
	inbox := "/?process=" + url.QueryEscape(id)
	at := "/desk/processes/" + url.PathEscape(id)
	for _, order := range []string{"", "txt.exe", "big", "many"} {
		b.open(inbox + "&text=" + order)
		b.ranNothing("the inbox, " + order)
		if order == "" {
			continue
		}
		b.press("//tbody//th//a")
		b.says("What would happen")
		b.ranNothing("the Call " + order)
	}
	b.open(inbox + "&text=txt.exe")
	b.press("//tbody//th//a")
	b.write("#reason", "no "+nasty[:60])
	b.press(button("Reject"))
	b.says("1 case is rejected")
	b.ranNothing("the outcome")
	b.open(inbox)
	b.click("//input[@data-all]")
	b.press(decision("approve"))
	b.ranNothing("the second look")
	b.press(button("Approve all of them"))
	b.says("2 cases are approved")
	h.ended(id)
	for _, page := range []string{at, at + "/idea?at=1", at + "/idea?at=2", at + "/idea?at=3", at + "/verify",
		"/desk/processes", "/?text=" + url.QueryEscape(nasty),
		"/desk/calls/" + url.PathEscape(nasty) + "/" + url.PathEscape(nasty), "/desk/" + url.PathEscape(nasty)} {
		b.open(page)
		b.ranNothing(page)
	}
}

// ended waits for the end of a process.
func (h *house) ended(id string) {
	h.Helper()
	eventually(h, id+" has ended", func() bool {
		status, _ := h.ask("GET", "/api/processes/"+url.PathEscape(id)+"/result?wait=20", nil)
		return status == http.StatusOK
	})
}

func TestNoScriptInAPageRunsEvenWhereOneGotIn(t *testing.T) {
	h := open(t)
	b := h.browse()
	js[any](
		b,
		`document.getElementById("main").append(document.createRange().createContextualFragment("<script>window.ran=1</`+`script><img src=x onerror='window.ran=2'>"))`)
	js[any](b, `new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))`)
	if ran := js[int](b, `window.ran || 0`); ran != 0 {
		t.Error("the policy lets an inline script run")
	}
}

func TestAForeignPageInABrowserCanNeitherReadNorPost(t *testing.T) {
	h := open(t)
	id := h.pays(row("A1", 1))
	b := h.browse()
	b.show(id, "A1")
	call := b.address()
	digest := js[string](b, `document.querySelector("input[name=digest]").value`)
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>foreign</title><main><form method="post" action="%[1]s%[2]s"><input name="decision" value="approve">
			<input name="digest" value="%[3]s"><button>Win a prize</button></form><iframe src="%[1]s/"></iframe></main>`, h.url, call, digest)
	}))
	t.Cleanup(foreign.Close)
	for name, page := range map[string]string{
		"another origin of the site": foreign.URL,
		"another site":               strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1),
	} {
		b.open(page)
		read := js[string](b, `(async () => {
			const tries = [["/", {credentials: "include"}], ["/api/processes", {credentials: "include"}], [`+jsonText(call)+`, {method: "POST", credentials: "include",
				body: new URLSearchParams({decision: "approve", digest: `+jsonText(digest)+`})}]];
			const got = [];
			for (const [path, how] of tries) {
				for (const mode of ["cors", "no-cors"]) {
					const text = await fetch(`+jsonText(h.url)+` + path, {...how, mode}).then((r) => r.text(), () => "");
					if (text) got.push(path + " " + mode + ": " + text.slice(0, 100));
				}
			}
			return got.join("\n") })()`)
		if read != "" {
			t.Errorf("a page of %s reads %s", name, read)
		}
		if status := b.press(button("Win a prize")); status != http.StatusForbidden {
			t.Errorf("a form of %s is answered %d: %s", name, status, b.text())
		}
	}
	if _, answer := h.ask("GET", "/api/processes/"+id+"/approvals", nil); len(answer["approvals"].([]any)) != 1 {
		t.Errorf("a foreign page decided: %v", answer)
	}
	b.open("/")
	b.says("You are ann")
}
