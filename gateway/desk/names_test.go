package desk

import (
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
)

// An id tells processes of one title apart, and stands alone only where no title is known.
func TestAProcessIsCalledByItsTitle(t *testing.T) {
	t.Parallel()
	titled := shown.Call{ProcessTitle: "Payment"}
	waits := func(id string) client.Approval {
		return client.Approval{Process: id, Call: titled, PendingCall: approval.PendingCall{CallID: "1.1", Tool: "pay",
			AllowedDecisions: []string{client.Approve}}}
	}
	decides := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	for _, one := range []struct {
		page string
		data any
		want string
	}{
		{"inbox", inboxPage{Plans: []planRow{{PendingPlan: client.PendingPlan{Process: "pay-7"},
			ProcessTitle: "Payment"}}}, "of Payment (pay-7) Payment pay-7"},
		{"inbox", inboxPage{Groups: []callGroup{groupOf([]client.Approval{waits("pay-7"), waits("pay-8")}, decides)}},
			"Payment pay-8"},
		{"inbox", inboxPage{UnansweredProcesses: []string{"pay-7", "x"}, TitleByUnanswered: map[string]string{
			"pay-7": "Payment"}}, "Payment (pay-7), x"},
		{"processes", processesPage{Rows: []client.ProcessSummary{{ProcessID: "pay-7", ProcessPath: "shop/payment",
			StartedAt: time.Now()}}}, "Payment pay-7"},
		{"planoutcome", outcomePage{Plan: &client.PlanDecisionOutcome{ProcessID: "pay-7"}, PlanProcessTitle: "Payment"},
			"See how Payment goes on"},
		{"planoutcome", outcomePage{Plan: &client.PlanDecisionOutcome{ProcessID: "pay-7"}}, "See how pay-7 goes on"},
		{"problem", problemPage{frame: frame{ProcessTitle: "Payment"}, AboutProcess: "pay-7"},
			"See how Payment goes on"},
		{"problem", problemPage{AboutProcess: "pay-7"}, "See how pay-7 goes on"},
	} {
		all, _ := pageText(t, shown.English, one.page, one.data)
		wantTexts(t, one.page, all, []string{one.want})
	}
}

func TestAnAddressIsALinkOnEveryPageWithIt(t *testing.T) {
	t.Parallel()
	const web = "https://shop.example/receipt.png"
	receipt := fact{Name: "Receipt", Text: web, Href: web}
	link := `<a href="` + web + `" rel="noreferrer noopener">` + web + `</a>`
	for page, data := range map[string]any{
		"call":    &callPage{Input: &fact{Facts: []fact{receipt}}},
		"decided": decidedPage{Result: []fact{{Name: "Files", Facts: []fact{receipt}}}},
		"inbox": inboxPage{Groups: []callGroup{{DecidableCount: 1,
			SharedCells: []labelledCell{{Name: "Receipt", Text: web, Href: web}}}}},
	} {
		if got := shows(t, page, data); !strings.Contains(got, link) {
			t.Errorf("the page %s has no link: %s", page, got)
		}
	}
	field := shown.Field{Name: "receipt", Value: web, DisplayText: web, Format: shown.Format{Display: shown.Image}}
	a := client.Approval{Call: shown.Call{Fields: []shown.Field{field}}}
	if got := factsOfFields(a, noOrigin)[0].Href; got != web {
		t.Errorf("the Call's page leads to %q", got)
	}
	for maxChars, want := range map[int]string{10: "", 100: web} { // nobody follows an address that is cut
		if got := cellOf(a, "receipt", web, maxChars); got.Href != want {
			t.Errorf("with %d characters the inbox leads to %q", maxChars, got.Href)
		}
	}
}
