package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// show opens the Call of an order from the inbox.
func (t *tab) show(id, order string) {
	t.Helper()
	t.open("/?process=" + id + "&text=" + order)
	t.press("//tbody//th//a")
	t.says("What would happen", order)
}

func TestAPersonDecidesInABrowserInEveryWay(t *testing.T) {
	withAndWithoutScripts(t, func(h *house, b *tab) {
		id := h.pays(row("coat", 1), row("shoe", 2), row("hat", 3), row("scarf", 4), row("glove", 5))
		decideInEveryWay(b, id)
		if got := h.receipts(
			id); got != "Order coat: 1 cents; <nil>; Order tall hat: 3 cents; given by hand; Instead of glove" {
			t.Error(got)
		}
	})
}

func decideInEveryWay(b *tab, id string) {
	b.Helper()
	b.show(id, "coat")
	b.press(button("Approve"))
	b.says("Done", "1 case is approved")

	b.show(id, "shoe")
	b.write("#reason", "not ours")
	b.press(button("Reject"))
	b.says("1 case is rejected")

	b.show(id, "hat")
	b.click(summary("Change it"))
	b.write(`//*[@id="p/values/order"]`, "tall hat")
	b.write(`//*[@id="p/values/cents"]`, "three")
	b.press(button("Change it"))
	b.says("this is not a number")
	b.write(`//*[@id="p/values/cents"]`, "3")
	b.press(button("Change it"))
	b.says("1 case is changed", "waits again")
	b.press(link("approve it"))
	b.press(button("Approve"))
	b.says("1 case is approved")

	b.show(id, "scarf")
	b.click(summary("Enter the result"))
	b.write("#answer-text", "given by hand")
	b.press(button("Give this result"))
	b.says("1 case is answered")

	b.show(id, "glove")
	b.click(summary("Do something else"))
	b.choose("with", "say")
	b.press(button("Show its form"))
	b.write(`//*[@id="w/template"]`, "Instead of {x}")
	if opened := `//details[@class="operators"][.//*[@id="w/values~more"]]/summary`; b.exists(opened) {
		b.click(opened)
	}
	b.write(`//*[@id="w/values~more"]`, `{"x": "†input.values.order"}`)
	b.press(button("Have this done instead"))
	b.says("1 case is replaced")
}

// exists reports whether the page has what an XPath finds and does not see yet, as it is in something closed.
func (t *tab) exists(xpath string) bool {
	t.Helper()
	return js[bool](t, `(() => { const e = `+found(xpath)+`; return !!e && !e.parentElement.open })()`)
}

func TestManyAreDecidedAtOnceInABrowserAndTheSecondPersonIsTold(t *testing.T) {
	inEach(t, manyDecided)
}

func manyDecided(h *house) {
	id := h.pays(row("A1", 1), row("A2", 2), row("A3", 3))
	first, second := h.browse(), h.browse()
	first.open("/?process=" + id)
	second.open("/?process=" + id)
	first.click(box("A1"))
	first.click(box("A2"))
	first.press(decision("approve"))
	first.says("2 cases", "Nothing is decided yet")
	first.press(button("Approve all of them"))
	first.says("2 cases are approved")
	// The box of the whole table ticks those of its rows.
	second.click("//input[@data-all]")
	if ticked := js[int](second, `document.querySelectorAll("input[name=pick]:checked").length`); ticked != 3 {
		h.Errorf("%d boxes are ticked", ticked)
	}
	second.write("//form[@action='/desk/decide']//input[@name='reason']", "too late")
	second.press(decision("reject"))
	second.press(button("Reject all of them"))
	second.says("Done in part", "1 case is rejected", "2 cases are as before", "It was refused")
	if got := h.receipts(id); got != "Order A1: 1 cents; Order A2: 2 cents; <nil>" {
		h.Error(got)
	}
}

func TestAFormIsSentOnceHoweverOftenItsButtonIsPressed(t *testing.T) {
	inEach(t, func(h *house) {
		b := h.browse()
		b.show(h.pays(row("A1", 1)), "A1")
		sent := js[int](b, `(() => { const form = document.querySelector("main form"); let sent = 0;
			form.addEventListener("submit", (e) => { if (!e.defaultPrevented) sent++; e.preventDefault(); });
			form.querySelector("button.main").click(); form.querySelector("button.main").click(); return sent })()`)
		if sent != 1 {
			h.Errorf("it is sent %d times", sent)
		}
	})
}

func TestThePersonAtTheKeyboardReachesEveryControlAndDecides(t *testing.T) {
	withAndWithoutScripts(t, func(h *house, b *tab) {
		id := h.pays(row("A1", 1), row("A2", 2))
		b.open("/?process=" + id)
		reachesAll(b)
		b.open("/?process=" + id)
		b.tabTo("a box", func(f focused) bool { return f.Name == "pick" })
		b.key(" ")
		b.tabTo("the reason", func(f focused) bool { return f.Name == "reason" })
		b.key("as agreed")
		b.tabTo("the button", func(f focused) bool { return f.Name == "decision" })
		b.enter()
		b.says("1 case is approved")
		b.tabTo("the way back", func(f focused) bool { return f.Text == "Back to the inbox" })
		b.enter()
		b.tabTo("the Call", func(f focused) bool { return strings.Contains(f.Href, "/calls/") })
		b.enter()
		b.says("What would happen")
		reachesAll(b)
		b.open(b.address()) // behind the last control is the browser itself
		b.tabTo("what changes it", func(f focused) bool {
			return f.Kind == "summary" && strings.Contains(f.Text, "Change it")
		})
		b.key(kb.Enter)
		b.tabTo("the amount", func(f focused) bool { return f.Name == "p/values/cents" })
		b.key("7") // Tab has selected what is there
		b.tabTo("the button", func(f focused) bool { return f.Kind == "button" && f.Text == "Change it" })
		b.enter()
		b.says("1 case is changed")
	})
}

// reachesAll checks that Tab comes to every control that can be used, and that it is seen where one is.
func reachesAll(b *tab) {
	b.Helper()
	controls := js[map[string]string](b, `(() => {`+pathOf+` const all = {}; document.activeElement.blur();
		for (const e of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"))
			if (e.checkVisibility()) all[pathOf(e)] = e.outerHTML.slice(0, 120);
		return all })()`)
	if len(controls) < 5 {
		b.Fatalf("%s has few controls: %v", b.address(), controls)
	}
	for range 2 * len(controls) {
		b.key(kb.Tab)
		f := b.focus()
		if _, is := controls[f.Path]; is && !f.Seen {
			b.Errorf("%s does not show that the focus is on %s", b.address(), controls[f.Path])
		}
		if delete(controls, f.Path); len(controls) == 0 {
			return
		}
	}
	b.Errorf("Tab does not come to these on %s: %v", b.address(), controls)
}
