package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// The desk speaks the language that the browser asks for. Of those that are driven here, Chromium can be told.
func TestACaseIsDecidedInGerman(t *testing.T) {
	inChromium.needs(t)
	h := open(t)
	b, id := h.stranger(), h.id()
	_, err := chromedp.Call(b.page.(*chromiumPage).ctx, network.SetExtraHTTPHeaders,
		network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "de-DE,de;q=0.9,en;q=0.5"}})
	b.did(err)
	h.begin(refunds(id), 3)
	b.open("/?token=" + token)
	b.says("Sie sind ann")
	b.open("/?process=" + id)
	b.says("3 Fälle", "2.299,00 EUR", "18.329,05 EUR", "30. November 2026")
	b.click(box("order A-1"))
	b.click(box("order A-3"))
	b.says("2 angekreuzt: 18.329,00 EUR")
	b.press(link("order A-1"))
	b.says("Was geschehen würde", "2.299,00 EUR", "1. Dezember 2026")
	b.write("#reason", "die Ware ist da")
	address := b.address()
	b.press(button("Genehmigen"))
	b.says("Erledigt", "1 Fall ist genehmigt")
	b.open(address)
	b.says("Genehmigt von ann", "die Ware ist da")
	if language := js[string](b, `document.documentElement.lang`); language != "de" {
		t.Errorf("the page says that it is in %q", language)
	}
}
