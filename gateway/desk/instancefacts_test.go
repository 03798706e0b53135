package desk

import (
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
