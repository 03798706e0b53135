package desk

import (
	"net/url"
	"strings"
	"testing"

	"processidea/gateway/api"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// refunded is an Idea of which ① has paid, ② has logged, and ③ waits.
const refunded = `{"meta": {"path": "refundPolicy"}, "schema": {"tools": {
		"pay": {"properties": {"text": {}}, "_activity": "note", "_undo": {"tool": "log", "params": {"text": "x"}}},
		"log": {"properties": {"text": {}}, "_activity": "note", "_undo": "never"}}},
	"context": [{"type": "input", "_instance": "①", "input": {"in": {"orderNumber": "A-1"}, "all": true, "who": "Ann"}},
		{"type": "input", "_instance": "②", "input": {"who": "Bob"}}, {"type": "input", "_instance": "③", "input": {}},
		{"type": "plan", "plan": [{"_tool": "pay", "_instance": "*"}, {"_tool": "log", "_instance": "*"}],
			"record": {"1.1": {"done": ["①"], "waiting": ["②"], "awaiting-approval": ["③"]}, "1.2": {"done": ["①", "②"], "waiting": ["③"]}}}]}`

func TestTakingBackIsOfferedWhereSomethingCanBeTakenBack(t *testing.T) {
	t.Parallel()
	d := &Desk{Options: Options{API: &api.API{}}}
	cases := d.readInstanceFacts(jsonval.AsObject(modeltest.MustDecodeJSON(refunded)))
	show := func(isAtWork bool, first ideafile.InstanceStatus, cases *processInstanceFacts) (all, source string) {
		page := &processPage{HasEnded: !isAtWork, UndoHref: "/undo"}
		page.Status.Instances = map[string]loop.InstanceResult{"①": {Status: first}, "②": {Status: "settled"},
			"③": {Status: "waiting"}}
		page.addInstanceRows(nil, wordsOf(t, refunded), shown.English, cases)
		all, _ = pageText(t, shown.English, "process", page)
		return all, shows(t, "process", page)
	}
	all, source := show(true, "waiting", cases)
	wantTexts(t, "the process", all, []string{"① Order number: A-1, Who: Ann waiting Take back", "② Who: Bob finished ③",
		"Take back what it did"})
	if n := strings.Count(source, `undo?instance=`); n != 1 {
		t.Errorf("%d cases can be taken back", n)
	}
	// While others are at work, what an instance did that has ended stays.
	all, _ = show(true, "settled", cases)
	wantTexts(t, "the process", all, nil, "Take back", "Taking back")
	all, _ = show(false, "settled", cases)
	wantTexts(t, "the process", all, []string{"Who: Ann finished Take back", "Take back what it did"})
	if _, source = show(false, "settled", nil); strings.Count(source, `undo?instance=`) != 3 {
		t.Error("where it is not known, it is not offered")
	}
}

// A case whose refund somebody rejected is not told as one that was refunded.
func TestACaseWithARejectedStepIsCountedApart(t *testing.T) {
	t.Parallel()
	newPage := func(query url.Values) *processPage {
		page := &processPage{frame: frame{Title: "Refunds", Href: "/desk/processes/p"}}
		page.Status.Instances = map[string]loop.InstanceResult{"①": {Status: "settled"},
			"②": {Status: "settled", RejectedCallCount: 1},
			"③": {Status: "failed", FailedCallCount: 1, RejectedCallCount: 2}}
		page.addInstanceRows(query, shown.NewPresenter(nil), shown.English, nil)
		return page
	}
	all, _ := pageText(t, shown.English, "process", newPage(nil))
	wantTexts(t, "the process", all, []string{"Cases 3, 1 failed , 1 finished with a rejected step , 1 finished Steps",
		"① finished", "② finished, 1 step rejected", "③ failed, 1 step failed, 2 steps rejected"})
	all, _ = pageText(t, shown.German, "process", newPage(nil))
	wantTexts(t, "the process", all, []string{"1 erledigt mit abgelehntem Schritt", "② erledigt, 1 Schritt abgelehnt",
		"③ gescheitert, 1 Schritt gescheitert, 2 Schritte abgelehnt"})
	source := shows(t, "process", newPage(nil))
	if !strings.Contains(source, `?status=finished%20with%20a%20rejected%20step#instances`) ||
		strings.Count(source, `class="tag rejected"`) != 1 {
		t.Error(source)
	}
	all, _ = pageText(t, shown.English, "process", newPage(url.Values{"status": {settledAfterRejection}}))
	wantTexts(t, "the process", all, []string{"Cases finished with a rejected step; show all", "② finished"},
		"① finished")
}

func TestEndingAProcessStandsBesidePausingIt(t *testing.T) {
	t.Parallel()
	page := &processPage{frame: frame{Title: "Refund policy", Process: "p-7", ProcessTitle: "Refund policy",
		HasRight: map[string]bool{"steer": true}}}
	page.Status.Status = loop.StatusRunning
	all, operators := pageText(t, shown.English, "process", page)
	wantTexts(t, "the process", all, []string{"Processes Refund policy p-7 running",
		"Correct it What it should know (the process uses it to plan what comes next) Send the correction Pause or end it",
		"nothing new starts. Yes, end it for good End the process What runs is broken off"})
	wantTexts(t, "the process", operators, []string{"Process p-7"})
}
