package browser_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// refunds is a process whose Idea says what the business calls things.
func refunds(id string) map[string]any {
	return map[string]any{
		"id": id, "replies": strings.Repeat(`{"solution": {"calls": []}}`+"\n", 9),
		"instances": json.RawMessage(`[{"order": "A-1", "customer": "Ann Smith", "cents": 229900, "due": "2026-12-01"},
			{"order": "A-2", "customer": "مريم (Mary) & Söhne", "cents": 5, "due": "2026-12-02"}, {"order": "A-3", "customer": "Bob", "cents": 1603000, "due": "2026-11-30"}]`),
		"idea": json.RawMessage(`{
			"meta": {"path": "refunds", "version": "1"},
			"config": {"instanceName": "†` + "`order ${input.order}`" + `"},
			"schema": {"tools": {"refund": {"title": "Refund a customer", "type": "object", "additionalProperties": false,
				"required": ["values", "template"], "_title": "†` + "`Refund ${values.cents} to ${values.customer}`" + `",
				"properties": {"template": {"title": "Letter", "const": "†input.letter", "_display": "letter"}, "values": {"type": "object", "required": ["customer", "cents", "due"], "properties": {
					"customer": {"title": "Customer", "type": "string"}, "due": {"title": "Due on", "type": "string", "_display": "date"},
					"cents": {"title": "Amount", "type": "integer", "_display": "money", "currency": "EUR", "minorUnits": true}}}},
				"_activity": "formatText", "_outputPath": "†state.letter", "_approval": {"timeout": "72h", "onTimeout": "reject"}}}},
			"context": [{"type": "input", "schema": {"properties": {"order": {"title": "Order"}, "customer": {"title": "Customer"}, "due": {"title": "Due on", "_display": "date"},
				"cents": {"title": "Amount", "_display": "money", "currency": "EUR", "minorUnits": true}}}, "input": {"letter": "Dear {customer},\nyour money is on its way."}},
				{"type": "plan", "stage": "optimal", "plan": [{"_tool": "refund", "_instance": "*", "_reasoningForCall": "The goods came back whole",
					"values": {"customer": "†input.customer", "cents": "†input.cents", "due": "†input.due"}}]}]}`),
	}
}

// picture keeps how a page looks, for people, where PROCESSIDEA_PICTURES names a folder.
func (t *tab) picture(name string) {
	t.Helper()
	folder := os.Getenv("PROCESSIDEA_PICTURES")
	c, is := t.page.(*chromiumPage)
	if folder == "" || !is {
		return
	}
	for _, width := range []int64{1280, 390} {
		t.width(width)
		// What sticks to the end of the screen stands at its place in the page.
		t.did(c.do(chromedp.EmulateViewport(width, js[int64](t, "document.documentElement.scrollHeight"))))
		data, err := chromedp.Run(c.ctx, chromedp.FullScreenshot(100))
		t.did(err)
		file := filepath.Join(folder, name+map[int64]string{1280: "-wide.png", 390: "-narrow.png"}[width])
		t.did(os.WriteFile(file, data, 0o600))
	}
	t.width(1280)
}

func TestTheDeskSpeaksTheWordsOfTheBusiness(t *testing.T) {
	inEach(t, func(h *house) {
		b, id := h.browse(), h.id()
		h.begin(refunds(id), 3)
		b.open("/?process=" + id)
		b.says("Refund a customer", "3 cases", "order A-1", "2,299.00 EUR", "16,030.00 EUR", "0.05 EUR",
			"18,329.05 EUR", "30 November 2026", "مريم (Mary) & Söhne")
		rows := js[string](b, `[...document.querySelectorAll("tbody tr th a")].map((a) => a.textContent).join(", ")`)
		if rows != "order A-3, order A-1, order A-2" {
			t.Errorf("the rows stand as %s", rows)
		}
		b.says("Filtered by: Process: ", "Letter the same text in all", "The reason in all: ", "All 3 together")
		b.lacks("Waiting for") // the filter is folded
		b.click(box("order A-1"))
		b.click(box("order A-3"))
		b.says("2 ticked: 18,329.00 EUR", "Approve 2 – 18,329.00 EUR", "Reject 2")
		b.picture("inbox")
		b.press(decision("approve"))
		b.says("Approve these cases?", "2 cases: 18,329.00 EUR", "Once they have happened they cannot be taken back")
		b.picture("sure")
		b.press(button("Back"))
		b.says("2 ticked: 18,329.00 EUR")
		b.click("//input[@data-all]")
		b.says("3 ticked: 18,329.05 EUR")
		b.click("//input[@data-all]")
		b.says("Approve selected")
		b.lacks("ticked")
		b.width(390)
		for _, want := range []string{"sticky", "static"} { // ticked once, and no longer
			b.click(box("order A-1"))
			if got := js[string](b, `getComputedStyle(document.querySelector(".bar")).position`); got != want {
				t.Errorf("on a phone the buttons are %s, want %s", got, want)
			}
		}
		b.width(1280)
		b.press(link("order A-1"))
		b.says("Refund 2,299.00 EUR to Ann Smith", "order A-1", "1 December 2026", "Dear Ann Smith,",
			"your money is on its way", "The goods came back whole", "Approve 2,299.00 EUR",
			"You started the process yourself.")
		for _, width := range []int64{1280, 390} {
			b.width(width)
			if !js[bool](b, `(() => { const button = document.querySelector("button[value=approve]").getBoundingClientRect();
				return button.top >= 0 && button.bottom <= innerHeight })()`) {
				t.Errorf("whoever opens the case on a screen of %d pixels does not see how to decide", width)
			}
		}
		b.width(1280)
		if marked := js[string](b,
			`[...document.querySelectorAll("mark")].map((m) => m.textContent).join(", ")`); marked != "Ann Smith" {
			t.Errorf("in the letter is marked %s", marked)
		}
		b.picture("call")
		address := b.address()
		b.write("#reason", "the goods are here")
		b.press(decision("approve"))
		b.says("Done")
		b.open(address)
		b.says("Refund 2,299.00 EUR to Ann Smith", "order A-1", "Approved by ann", "the goods are here")
		b.picture("decided")
		b.click(summary("Approve similar cases in advance"))
		b.write("#order-count", "many")
		b.press(button("Show what it would approve"))
		b.says("must be a whole number")
		b.picture("order")
		b.write("#order-count", "7")
		b.write(`//input[@inputmode="decimal"]`, "20,000.00")
		b.press(button("Show what it would approve"))
		b.says("It would approve 2 cases now, 16,030.05 EUR in all.", "no more than 7 cases in all", "order A-3",
			"Approve 2 (16,030.05 EUR) now, up to 5 in advance",
			"“Amount” is 20,000.00 EUR or less", "the wording is the same", "Dear Customer",
			"come to 116,030.05 EUR at most")
		b.lacks("order A-1")
		b.picture("order-sure")
		b.open("/desk/decided")
		b.picture("mine")
		b.open("/desk/processes/" + id)
		b.picture("process")
		plan := refunds(id + "-plan")
		plan["idea"] = json.RawMessage(strings.Replace(string(plan["idea"].(json.RawMessage)), `"config": {`,
			`"config": {"approval": {"plan": true}, `, 1))
		h.planned(plan)
		b.open("/desk/plans/" + id + "-plan")
		b.says("3 × Refund a customer, 18,329.05 EUR", "Refund 2,299.00 EUR to Ann Smith")
		b.width(390)
		for _, once := range []string{"2,299.00 EUR", "Together"} {
			if n := strings.Count(b.text(), once); n != 1 {
				t.Errorf("a phone shows %s %d times", once, n)
			}
		}
		b.picture("plan")
		b.open("/desk/insights")
		b.picture("insights")
	})
}
