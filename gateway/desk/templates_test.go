package desk

import (
	"maps"
	"testing"
	"text/template/parse"

	"processidea/gateway/desk/ownkey"
	"processidea/internal/templatecheck"
)

// pageData gives the data of each page, as it is rendered.
var pageData = map[string]any{
	"add": &addRowsPage{}, "call": &callPage{}, "decided": decidedPage{}, "enter": loginPage{}, "idea": &ideaPage{},
	"inbox": inboxPage{}, "insights": insightsPage{}, "leadon": redirectPage{}, "mine": ownDecisionsPage{},
	"order": orderPage{}, "ordersure": &orderConfirmPage{}, "outcome": outcomePage{}, "plan": planPage{},
	"planoutcome": outcomePage{},
	"problem":     problemPage{}, "process": &processPage{}, "processes": processesPage{}, "start": &startPage{},
	"sure": confirmPage{}, "underway": underwayPage{}, "undo": &undoPage{}, "verify": verifyPage{},
	"key": struct {
		frame
		D ownkey.KeyPage
	}{},
	"sign": struct {
		frame
		D ownkey.SignPage
	}{},
}

// Executing a page fails only in the branches that its data takes.
func TestAPageReadsOnlyWhatItsDataHas(t *testing.T) {
	t.Parallel()
	all, err := loadCatalogues()
	if err != nil {
		t.Fatal(err)
	}
	for language, words := range all {
		made, err := parsePages(language, words)
		if err != nil {
			t.Fatal(err)
		}
		known := maps.Clone(templateFuncs)
		maps.Copy(known, languageFuncs(language, words))
		for name, page := range made {
			data, has := pageData[name]
			if !has {
				t.Errorf("nothing says what data the page %s has", name)
				continue
			}
			for _, problem := range templatecheck.Problems("frame", data, known, func(part string) *parse.Tree {
				return page.Lookup(part).Tree
			}) {
				t.Errorf("%s: %s", name, problem)
			}
		}
		for name := range pageData {
			if made[name] == nil {
				t.Errorf("there is no page %s", name)
			}
		}
	}
}
