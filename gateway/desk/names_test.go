package desk

import (
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
		{"inbox", inboxPage{Plans: []planRow{{PendingPlan: client.PendingPlan{Process: "pay-7"}, ProcessTitle: "Payment"}}},
			"of Payment (pay-7) Payment pay-7"},
		{"inbox", inboxPage{Groups: []callGroup{groupOf([]client.Approval{waits("pay-7"), waits("pay-8")}, decides)}},
			"Payment pay-8"},
		{"inbox", inboxPage{UnansweredProcesses: []string{"pay-7", "x"}, TitleByUnanswered: map[string]string{
			"pay-7": "Payment"}}, "Payment (pay-7), x"},
		{"processes", processesPage{Rows: []client.ProcessSummary{{ProcessID: "pay-7", ProcessPath: "shop/payment",
			StartedAt: time.Now()}}}, "Payment pay-7"},
		{"planoutcome", outcomePage{Plan: &client.PlanDecisionOutcome{ProcessID: "pay-7"}, PlanProcessTitle: "Payment"},
			"See how Payment goes on"},
		{"planoutcome", outcomePage{Plan: &client.PlanDecisionOutcome{ProcessID: "pay-7"}}, "See how pay-7 goes on"},
		{"problem", problemPage{frame: frame{ProcessTitle: "Payment"}, AboutProcess: "pay-7"}, "See how Payment goes on"},
		{"problem", problemPage{AboutProcess: "pay-7"}, "See how pay-7 goes on"},
	} {
		all, _ := pageText(t, shown.English, one.page, one.data)
		wantTexts(t, one.page, all, []string{one.want})
	}
}
