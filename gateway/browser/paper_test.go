package browser_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// seen reports whether the first element of a selector takes room on the page.
func (t *tab) seen(selector string) bool {
	t.Helper()
	return js[bool](t, `document.querySelector(`+jsonText(selector)+`)?.checkVisibility() ?? false`)
}

// What is printed, or kept as PDF, has who decided, and no controls. Of the browsers here, Chromium can be told.
func TestADecidedCaseIsPrintedWithWhoDecided(t *testing.T) {
	inChromium.needs(t)
	h := open(t)
	b, id := h.browse(), h.id()
	h.begin(refunds(id), 3)
	b.open("/?process=" + id)
	b.press(link("order A-1"))
	address := b.address()
	b.write("#reason", "the goods are here")
	b.press(button("Approve"))
	b.open(address)
	b.says("Approved by ann", "the goods are here")
	_, err := chromedp.Call(b.page.(*chromiumPage).ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Media: "print"})
	b.did(err)
	if !b.seen(".verdict") || !b.seen(".verdict + p") {
		t.Error("who decided is not printed")
	}
	if b.seen("header nav") || b.seen(".decision") || b.seen("a.button") || b.seen(".next") {
		t.Error("what only a screen can use is printed")
	}
}

func TestALongWordStaysWithinItsCardOnAPhone(t *testing.T) {
	inEach(t, func(h *house) {
		b, id := h.browse(), h.id()
		start := refunds(id)
		start["instances"] = json.RawMessage(strings.Replace(string(start["instances"].(json.RawMessage)), "Ann Smith",
			strings.Repeat("Donaudampfschiff", 12), 1))
		h.begin(start, 3)
		b.width(390)
		b.open("/?process=" + id)
		b.says("Donaudampfschiff")
		if wide := js[int](b, `[...document.querySelectorAll(".cards tbody td, .cards tbody bdi")].filter((e) =>
			e.getBoundingClientRect().right > 390).length`); wide > 0 {
			t.Errorf("%d cells are wider than the phone", wide)
		}
	})
}
