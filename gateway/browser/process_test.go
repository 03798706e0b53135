package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestAPersonLogsInAndOut(t *testing.T) {
	h := open(t)
	b := h.stranger()
	if status := b.open("/"); status != 401 {
		t.Errorf("a stranger is answered %d", status)
	}
	b.write("#token", "wrong")
	b.press(button("Log in"))
	b.says("not the token")
	b.write("#token", token)
	b.press(button("Log in"))
	b.says("Inbox", "You are ann")
	if shown := js[string](b, `document.cookie + location.search`); shown != "" {
		t.Errorf("a script reads the session, or the address holds the token: %s", shown)
	}
	b.press(button("Log out"))
	b.says("Log in")
	if status := b.open("/desk/processes"); status != 401 {
		t.Errorf("after logging out one is answered %d", status)
	}
}

func TestAProcessIsFollowedOverARestartOfTheServerAndOfTheGateway(t *testing.T) {
	h := open(t)
	id := h.pays(row("A1", 1), row("A2", 2))
	b := h.browse()
	b.open("/desk/processes/" + id)
	b.says(id+" running", "2 Calls wait for a person")
	b.run(chromedp.Evaluate[chromedp.Void](`window.same = "page"`))
	restartTemporal(t)
	h.stop()
	h.start()
	other := h.browse()
	other.open("/?process=" + id)
	other.click("//input[@data-all]")
	other.press(button("Approve the selected"))
	other.says("2 Calls are approved")
	eventually(t, "the page shows the end by itself", func() bool { return strings.Contains(b.text(), id+" completed") })
	if js[string](b, `window.same || ""`) != "page" {
		t.Error("the page was loaded anew")
	}
}

func TestAPersonTravelsInTimeAndForksInABrowser(t *testing.T) {
	for _, scripts := range []bool{true, false} {
		h := open(t)
		id := h.Name() + jsonText(scripts)
		h.begin(payments(id, row("A1", 1), row("A2", 2)), 2)
		b := h.browse()
		if !scripts {
			b.withoutScripts()
		}
		b.open("/?process=" + id)
		b.click(box("A1"))
		b.click(box("A2"))
		b.press(button("Approve the selected"))
		h.receipts(id)
		b.open("/desk/processes/" + id)
		b.says(id+" completed", "2 done")
		if loaded := js[int](b, `document.querySelector(".picture img").naturalWidth`); loaded == 0 {
			t.Error("the picture of the Plan is not shown")
		}
		b.press(link("Idea 1"))
		b.says("This is the first one")
		b.lacks("Order A1: 1")
		b.press(link("Later"))
		for strings.Contains(b.text(), "Later") {
			b.press(link("Later"))
		}
		b.says("†state.receipt", "Order A2: 2 cents", "approved by ann")
		b.open("/desk/processes/" + id + "/idea?at=1")
		b.press(button("Start a process from this Idea"))
		b.says(id+"-fork-1", "running")
		_, _ = h.ask("POST", "/api/processes/"+id+"-fork-1/cancel", map[string]any{})
	}
}

func TestAProcessIsSteeredInABrowserWithoutScripts(t *testing.T) {
	h := open(t)
	id := h.pays(row("A1", 1))
	b := h.browse()
	b.withoutScripts()
	b.open("/desk/processes/" + id)
	b.press(button("Pause"))
	b.says("paused")
	b.press(button("Let it go on"))
	b.says("running")
	b.write("#correction", "Be kind.")
	b.press(button("Send the correction"))
	b.click("//input[@name='sure']")
	b.press(button("End it"))
	h.receipts(id)
	b.open("/desk/processes/" + id)
	b.says(id + " cancelled")
}
