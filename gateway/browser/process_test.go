package browser_test

import (
	"strings"
	"testing"
)

func TestAPersonLogsInAndOut(t *testing.T) { inEach(t, logsInAndOut) }

func logsInAndOut(h *house) {
	b := h.stranger()
	if status := b.open("/"); status != 401 {
		h.Errorf("a stranger is answered %d", status)
	}
	b.write("#token", "wrong")
	b.press(button("Log in"))
	b.says("not the token")
	b.write("#token", token)
	b.press(button("Log in"))
	b.says("Inbox", "You are ann")
	if shown := js[string](b, `document.cookie + location.search`); shown != "" {
		h.Errorf("a script reads the session, or the address holds the token: %s", shown)
	}
	b.press(button("Log out"))
	b.says("Log in")
	if status := b.open("/desk/processes"); status != 401 {
		h.Errorf("after logging out one is answered %d", status)
	}
}

func TestAProcessIsFollowedOverARestartOfTheServerAndOfTheGateway(t *testing.T) { inEach(t, followed) }

func followed(h *house) {
	id := h.pays(row("A1", 1), row("A2", 2))
	b := h.browse()
	b.open("/desk/processes/" + id)
	b.says("Payment "+id+" running", "2 cases wait for a person")
	js[any](b, `window.same = "page"`)
	restartTemporal(h.T)
	h.stop()
	h.start()
	other := h.browse()
	other.open("/?process=" + id)
	other.click("//input[@data-all]")
	other.press(decision("approve"))
	other.press(button("Approve all of them"))
	other.says("2 cases are approved")
	eventually(h, "the page shows the end by itself",
		func() bool { return strings.Contains(b.text(), "Payment "+id+" completed") })
	if js[string](b, `window.same || ""`) != "page" {
		h.Error("the page was loaded anew")
	}
}

func TestAPersonTravelsInTimeAndForksInABrowser(t *testing.T) {
	withAndWithoutScripts(t, func(h *house, b *tab) {
		id := h.pays(row("A1", 1), row("A2", 2))
		b.open("/?process=" + id)
		b.click(box("A1"))
		b.click(box("A2"))
		b.press(decision("approve"))
		b.press(button("Approve all of them"))
		h.receipts(id)
		b.open("/desk/processes/" + id)
		b.says("Payment "+id+" completed", "2 done")
		if loaded := js[int](b, `document.querySelector(".picture img").naturalWidth`); loaded == 0 {
			h.Error("the picture of the Plan is not shown")
		}
		b.click(summary("For operators: its"))
		b.press(link("Entry 1"))
		b.says("This is the first one")
		b.lacks("Order A1: 1")
		b.press(link("Later"))
		for strings.Contains(b.text(), "Later") {
			b.press(link("Later"))
		}
		b.says("“receipt” in what is known of it", "Order A2: 2 cents", "approved: Pay")
		b.open("/desk/processes/" + id)
		b.press(link("Take back what it did"))
		b.says("What would be taken back", "by this: Say")
		b.write("#reason", "paid twice")
		b.press(button("Take back 2 steps"))
		if !strings.HasSuffix(b.address(), id+"-undo-1") {
			h.Errorf("it leads to %s", b.address())
		}
		b.open("/desk/processes/" + id + "/idea?at=1")
		b.press(button("Start a process from here"))
		b.says("Payment " + id + "-fork-1 running")
		if !strings.HasSuffix(b.address(), id+"-fork-1") {
			h.Errorf("it leads to %s", b.address())
		}
		_, _ = h.ask("POST", "/api/processes/"+id+"-fork-1/cancel", map[string]any{})
	})
}

func TestAProcessIsSteeredInABrowserWithoutScripts(t *testing.T) {
	h := open(t)
	id := h.pays(row("A1", 1))
	b := h.browse()
	b.withoutScripts()
	b.open("/desk/processes/" + id)
	b.click(summary("Pause or end it"))
	b.press(button("Pause"))
	b.says("paused")
	b.press(button("Let it go on"))
	b.says("running")
	b.click(summary("Correct it"))
	b.write("#correction", "Be kind.")
	b.press(button("Send the correction"))
	b.click(summary("Pause or end it"))
	b.click("//input[@name='sure']")
	b.press(button("End the process"))
	h.receipts(id)
	b.open("/desk/processes/" + id)
	b.says("Payment " + id + " cancelled")
}

const parcels = `meta: {path: parcels, template: true}
schema:
  tools:
    label:
      type: object
      properties: {template: {type: string}, values: {type: object}}
      required: [template, values]
      _activity: formatText
      _outputPath: †state.label
context:
  - {type: input, schema: {type: object, properties: {weight: {type: number}}}, input: {letter: "To {to}"}}
  - {type: plan, stage: optimal, plan: [{_tool: label, _instance: "*", template: "A parcel", values: {}}]}
`

func TestAPersonStartsAProcessFromFilesOfWhichOneIsWrong(t *testing.T) {
	withAndWithoutScripts(t, func(h *house, b *tab) {
		b.open("/desk/start")
		b.upload("#idea", "parcels.yaml", parcels)
		b.upload("#rows", "rows.csv", "to,weight\nann,1\nbob,heavy\n")
		if status := b.press(button("Check")); status != 422 {
			h.Errorf("a mistake is answered %d", status)
		}
		b.says("rows.csv, line 3", "weight", "Kept: parcels.yaml", "Kept: rows.csv")
		b.click(summary("What rows.csv says"))
		b.write("#rows-text", "to,weight\nann,1\nbob,2\n")
		b.write("#id", h.id())
		b.press(button("Check"))
		b.says("No mistakes: 2 cases")
		b.click(summary("replies of a script"))
		b.upload("#replies", "replies.jsonl", strings.Repeat(`{"solution": {"calls": [], "output": null}}`+"\n", 2))
		b.press(button("Start"))
		b.says(h.id())
		h.ended(h.id())
	})
}
