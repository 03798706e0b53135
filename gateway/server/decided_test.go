package server_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
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
