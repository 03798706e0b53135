package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/store/chain"
)

// rowsOf gives the rows of a page's tables whose first link leads to a process or to one of its Calls.
func (p *page) rowsOf(process string) (list []*html.Node) {
	for _, row := range all(p.root, "tr") {
		links := all(row, "a")
		if len(links) > 0 && strings.Contains(attribute(links[0], "href")+"/", "/"+process+"/") {
			list = append(list, row)
		}
	}
	return list
}

func TestWhatIDecidedIsListedWithWhatBecameOfIt(t *testing.T) {
	h := open(t)
	b := h.browse()
	plan := strings.NewReplacer("/", "-").Replace(h.Name()) + "-plan"
	trip := trip(plan, "", `{"name": "Ann"}`)
	h.post("/api/processes", trip).is(201)
	h.planWaits(plan, 1)
	b.open("/desk/plans/" + plan).form("Approve the Plan").press("Approve the Plan").is(200)
	h.states(plan)
	id := h.refunds()
	call := b.open("/?process=" + id).is(200).link("@").is(200)
	call.form("Ask").set("reason", "Is it late?").press("Ask").is(200)
	b.open(call.address).form("Approve").press("Approve").is(200)
	var rows []*html.Node
	var p *page
	eventually(t, "what was decided is recorded", func() bool {
		p = b.open("/").is(200).link("Decided").is(200)
		rows = p.rowsOf(id)
		return len(rows) == 2 && strings.Contains(textOf(rows[0]), "done")
	})
	for n, texts := range [][]string{{"Pay a refund: 1,234.59 EUR", "approved"}, {"asked", ", approved by ann"}} {
		for _, text := range append(texts, "1,234.59 EUR", "done") {
			if !strings.Contains(strings.Join(strings.Fields(textOf(rows[n])), " "), text) {
				t.Errorf("a row does not say %q: %s", text, textOf(rows[n]))
			}
		}
	}
	b.open(attribute(all(rows[0], "a")[0], "href")).is(200).says("approved by ann", "It is done.", "What came of it")
	of := p.rowsOf(plan)
	if len(of) != 1 || !strings.Contains(textOf(of[0]), "Plan 1") ||
		attribute(all(of[0], "a")[0], "href") != "/desk/processes/"+plan {
		t.Errorf("%s", p.text())
	}
	h.inGerman().open("/desk/decided").is(200).isGerman().says("Was Sie entschieden haben", "genehmigt von ann",
		"erledigt", "Plan 1")
	b.open("/desk/decided?page=99").is(200).says("There is nothing older")
}

// Temporal deletes ended processes after a time; the link in a message stays.
func TestADecidedCallIsShownFromTheRecordOnceTemporalHasDeletedItsProcess(t *testing.T) {
	h := open(t)
	id := strings.NewReplacer("/", "-").Replace(h.Name())
	var idea map[string]any
	if err := json.Unmarshal([]byte(`{"schema": {"tools": {"pay": {"type": "object", "title": "Pay a bill",
		"properties": {"to": {"type": "string"}}, "_approval": true}}}, "context": []}`), &idea); err != nil {
		t.Fatal(err)
	}
	_, err := chain.New(values).Seal(t.Context(), chain.IdeaToSeal{ProcessID: id, IdeaNumber: 1, Idea: idea,
		Log: []turn.LogEntry{{Decision: &approval.Decision{Kind: "approve", CallID: "0.1", DecidedBy: "bob",
			Tool: "pay", Reason: "it was late", DecidedAt: time.Now(), ShownParams: map[string]any{"to": "Ann"}}},
			{Outcome: &turn.CallOutcome{CallID: "0.1", Status: ideafile.CallDone}}}})
	if err != nil {
		t.Fatal(err)
	}
	at := "/desk/calls/" + id + "/0.1"
	h.browse().open(at).is(200).says("Pay a bill: Ann", "approved by bob", "It is done.", "it was late",
		"This is what the record says")
	h.inGerman().open(at).is(200).isGerman().says("genehmigt von bob", "So steht es in der Aufzeichnung")
	h.browse().open("/desk/calls/" + id + "/0.2").is(404)
}
