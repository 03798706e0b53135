package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// countedPage counts what a person presses: clicks and keys.
type countedPage struct {
	page
	pressCount int
}

func (p *countedPage) click(what string, leads bool) (int, error) {
	p.pressCount++
	return p.page.click(what, leads)
}

func (p *countedPage) keys(keys string, leads bool) (int, error) {
	p.pressCount += len([]rune(keys))
	return p.page.keys(keys, leads)
}

// One case is opened and approved; of alike ones all are ticked, approved, and looked at once more.
func TestTwoClicksDecideOneCaseAndFourDecideEleven(t *testing.T) {
	inEach(t, func(h *house) {
		b := h.browse()
		counted := &countedPage{page: b.page}
		b.page = counted
		one := h.pays(row("A1", 1))
		b.open("/?process=" + one)
		b.press("//tbody//th//a")
		b.press(button("Approve"))
		b.says("1 case is approved")
		if counted.pressCount != 2 {
			h.Errorf("one case takes %d clicks", counted.pressCount)
		}
		var rows []string
		for n := range 11 {
			rows = append(rows, row(fmt.Sprint("B", n), n+1))
		}
		many := one + "-many"
		h.begin(payments(many, rows...), len(rows))
		b.open("/?process=" + many)
		counted.pressCount = 0
		b.click("//input[@data-all]")
		b.press(decision("approve"))
		b.press(button("Approve all of them"))
		b.says("11 cases are approved")
		if counted.pressCount > 4 {
			h.Errorf("eleven cases take %d clicks", counted.pressCount)
		}
	})
}

func TestTheHeadOfAColumnSortsTheTableInABrowser(t *testing.T) {
	withAndWithoutScripts(t, func(h *house, b *tab) {
		b.open("/?process=" + h.pays(row("A2", 20), row("A1", 3), row("A3", 1)))
		b.wantOrder("cents", "A2", "A1", "A3")
		b.wantOrder("cents", "A3", "A1", "A2")
		b.wantOrder("Case", "A1", "A2", "A3")
	})
}

// wantOrder presses the head of a column, after which the rows with these texts stand in this order.
func (t *tab) wantOrder(column string, texts ...string) {
	t.Helper()
	t.press("//thead//a[@data-sort and contains(translate(., 'C', 'c'), " +
		quoted(strings.ReplaceAll(column, "C", "c")) + ")]")
	rows := js[[]string](t, `[...document.querySelectorAll("tbody tr th")].map((e) => e.textContent)`)
	isSorted := slices.EqualFunc(rows, texts, strings.Contains)
	if aria := js[string](t, `document.querySelector("[aria-sort] a :last-child").textContent`); !isSorted ||
		!strings.EqualFold(aria, column) {
		t.Errorf("by %s, the rows are %q, and the head says %q", column, rows, aria)
	}
}

func TestRowsStayTickedWhileATableIsSorted(t *testing.T) {
	inEach(t, func(h *house) {
		b := h.browse()
		address := "/?process=" + h.pays(row("A2", 20), row("A1", 3), row("A3", 1))
		b.open(address)
		b.click(box("A1"))
		b.write("//form[@action='/desk/decide']//input[@name='reason']", "late")
		b.wantOrder("Case", "A1", "A2", "A3")
		kept := js[[]string](b,
			`[...document.querySelectorAll("input[name=pick]:checked")].map((e) => e.closest("tr").textContent)`)
		reason := js[string](b, `document.querySelector(".bar input[name=reason]").value`)
		if len(kept) != 1 || !strings.Contains(kept[0], "A1") || reason != "late" {
			h.Errorf("ticked are %q, for %q", kept, reason)
		}
		b.says("Approve 1")
		js[any](b, `(window.beatCount = 0, setInterval(() => window.beatCount++, 5000), null)`)
		eventually(h, "the page had time to look again", func() bool { return js[int](b, "beatCount") > 1 })
		b.says("Approve 1")
		b.open(b.address()) // whoever comes anew has ticked nothing
		if n := js[int](b, `document.querySelectorAll("input[name=pick]:checked").length`); n != 0 {
			h.Errorf("%d rows are ticked", n)
		}
		b.open(address + "&size=2")
		b.wantOrder("cents", "A2", "A1")
		b.click(box("A1"))
		b.click(box("A2"))
		b.wantOrder("cents", "A3", "A1")
		b.says("Approve 1")
		b.says("no longer selected: 1")
	})
}

func TestThePictureOfAPlanIsDarkOnDarkPages(t *testing.T) {
	inEach(t, func(h *house) {
		b := h.browse()
		id := h.pays(row("A1", 1))
		b.open("/desk/processes/" + id)
		for scheme, isDark := range map[string]bool{"dark": true, "light": false} {
			b.scheme(scheme)
			eventually(h, "the picture is "+scheme, func() bool {
				return js[bool](b, `((img) => img.complete && img.naturalWidth > 0 &&
					img.currentSrc.includes("dark=yes"))(document.querySelector(".picture img"))`) == isDark
			})
		}
		b.scheme("")
	})
}
