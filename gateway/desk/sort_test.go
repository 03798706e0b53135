package desk

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// waitingPayment is a Call that waits, of a case with a name; "" cents: it has no amount.
func waitingPayment(t *testing.T, name, cents string, since int, deadlineHours ...int) client.Approval {
	t.Helper()
	params := jsonval.Object{"to": name}
	if cents != "" {
		params["amount"] = json.Number(cents)
	}
	start := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	a := client.Approval{Process: "p", PendingCall: approval.PendingCall{CallID: "1.1@" + name, Tool: "pay",
		Params: params, Since: start.Add(time.Duration(since) * time.Minute), AllowedDecisions: []string{client.Approve}}}
	for _, hours := range deadlineHours {
		deadline := start.Add(time.Duration(hours) * time.Hour)
		a.Deadline = &deadline
	}
	a.Call = wordsOf(t, paid).Call("pay", params, "", shown.InstanceValues{}, shown.English)
	a.InstanceName = name
	return a
}

func namesOf(list []client.Approval) string {
	return strings.Join(jsonval.Map(list, func(a client.Approval) string { return a.InstanceName }), " ")
}

// What must be decided first stands first, and of that what is most.
func TestTheInboxIsInTheOrderOfDeadlineAndThenOfAmount(t *testing.T) {
	t.Parallel()
	list := []client.Approval{waitingPayment(t, "small-late", "5", 1, 9), waitingPayment(t, "never", "900", 0),
		waitingPayment(t, "large-late", "1200", 2, 9), waitingPayment(t, "small-soon", "7", 3, 2)}
	const want = "small-soon large-late small-late never"
	for range 4 {
		list = append(list[1:], list[0])
		sorted := slices.Clone(list)
		sortByUrgency(sorted)
		if got := namesOf(groupByTable(sorted, "")); got != want {
			t.Errorf("%s becomes %s", namesOf(list), got)
		}
	}
}

func TestTheRowsOfATableAreSortedByAnyColumn(t *testing.T) {
	t.Parallel()
	list := []client.Approval{waitingPayment(t, "Carl", "1000", 1, 5), waitingPayment(t, "ann", "99", 3, 4),
		waitingPayment(t, "Bob", "12345678901234567890", 2), waitingPayment(t, "dora", "12345678901234567891", 0, 1)}
	for key, want := range map[string]string{"": "dora ann Carl Bob", "amount": "ann Carl Bob dora",
		"-amount": "dora Bob Carl ann", sortByCase: "ann Bob Carl dora", "-" + sortByCase: "dora Carl Bob ann",
		sortByArrival: "dora Carl Bob ann", sortByDeadline: "dora ann Carl Bob", "no-column": "dora ann Carl Bob"} {
		if got := namesOf(groupByTable(list, key)); got != want {
			t.Errorf("by %q: %s, want %s", key, got, want)
		}
	}
}

// Rows are in the order of the reader's language, and numbers in texts count. What has no value comes last both ways.
func TestTheRowsOfATableAreSortedAsPeopleRead(t *testing.T) {
	t.Parallel()
	list := []client.Approval{waitingPayment(t, "Zebra", "1", 0, 3), waitingPayment(t, "case-10", "", 1),
		waitingPayment(t, "Österreich", "20", 2, 1), waitingPayment(t, "case-9", "3", 3),
		waitingPayment(t, "äpfel", "", 4, 2)}
	list[1].Params["amount"], list[4].Params["amount"] = nil, nil // with the others in one table
	for key, want := range map[string]string{
		sortByCase:           "äpfel case-9 case-10 Österreich Zebra",
		"-" + sortByCase:     "Zebra Österreich case-10 case-9 äpfel",
		"to":                 "äpfel case-9 case-10 Österreich Zebra",
		sortByDeadline:       "Österreich äpfel Zebra case-9 case-10",
		"-" + sortByDeadline: "Zebra äpfel Österreich case-9 case-10",
		"amount":             "Zebra case-9 Österreich äpfel case-10",
		"-amount":            "Österreich case-9 Zebra äpfel case-10",
	} {
		if got := namesOf(groupByTable(list, key)); got != want {
			t.Errorf("by %q: %s, want %s", key, got, want)
		}
	}
}

// Days are sorted by the calendar, though they are shown in words; what is shown as a title is sorted by that.
func TestDaysAreSortedByTheCalendar(t *testing.T) {
	t.Parallel()
	words := wordsOf(t, `{"schema": {"tools": {"call": {"type": "object", "properties": {"day": {"_display": "date"}}}}}}`)
	var list []client.Approval
	for _, day := range []string{"2026-12-03", "2027-01-15", "2026-02-20"} {
		a := waitingPayment(t, day, "", 0)
		a.Params = jsonval.Object{"day": day}
		a.Call = words.Call("call", a.Params, "", shown.InstanceValues{}, shown.German)
		a.InstanceName = day
		list = append(list, a)
	}
	if got := namesOf(groupByTable(list, "day")); got != "2026-02-20 2026-12-03 2027-01-15" {
		t.Error(got)
	}
}

// A script keeps what is entered in the form of a table by its id, whatever stands above it.
func TestATableHasItsIDWhereverItStands(t *testing.T) {
	t.Parallel()
	pay, stop := waitingPayment(t, "Carl", "1000", 1), waitingPayment(t, "ann", "99", 3)
	stop.Tool = "stop"
	first := groupsOf([]client.Approval{pay, stop}, &access.Person{})
	second := groupsOf([]client.Approval{stop, pay}, &access.Person{})
	if first[0].ID != second[1].ID || first[1].ID != second[0].ID || first[0].ID == first[1].ID {
		t.Errorf("%s %s, then %s %s", first[0].ID, first[1].ID, second[0].ID, second[1].ID)
	}
}

// Each press of a head leads on: the other way round, and then back.
func TestTheHeadOfAColumnLeadsToTheNextOrder(t *testing.T) {
	t.Parallel()
	order := func(sortKey, column string, beginsDescending bool) (next, aria string) {
		f := readFilter(url.Values{"sort": {sortKey}, "text": {"x"}, "page": {"3"}})
		link := f.sortLink(column, beginsDescending, "g2")
		u, err := url.Parse(link.Href)
		if err != nil || u.Fragment != "g2" || u.Query().Get("text") != "x" || u.Query().Has("page") {
			t.Errorf("%s: %v", link.Href, err)
		}
		return u.Query().Get("sort"), link.AriaSort
	}
	for _, c := range []struct {
		sortKey, column, next, aria string
		beginsDescending            bool
	}{
		{"", "to", "to", "", false}, {"to", "to", "-to", "ascending", false}, {"-to", "to", "", "descending", false},
		{"", "amount", "-amount", "", true}, {"-amount", "amount", "amount", "descending", true},
		{"amount", "amount", "", "ascending", true}, {"to", "amount", "-amount", "", true},
	} {
		if next, aria := order(c.sortKey, c.column, c.beginsDescending); next != c.next || aria != c.aria {
			t.Errorf("%+v: leads to %q, is %q", c, next, aria)
		}
	}
	list := []client.Approval{waitingPayment(t, "Carl", "1000", 1), waitingPayment(t, "ann", "99", 3)}
	g := groupOf(list, &access.Person{Name: "eve", Rights: []access.Right{access.Decide}})
	g.ID = "g1"
	g.addSortLinks(readFilter(url.Values{"sort": {"-amount"}}))
	page := shows(t, "inbox", inboxPage{Groups: []callGroup{g}, Filter: inboxFilter{Sort: "-amount"}})
	wantTexts(t, "the table", page, []string{
		`class="number" aria-sort="descending"><a href="/?sort=amount#g1" data-sort>` +
			`<span class="hidden">sort in the reverse order by </span><span>Amount</span></a>`,
		`data-label="Sort by:"`, `<h2 id="g1" tabindex="-1">`,
		`href="/?sort=%40case#g1" data-sort><span class="hidden">sort by </span><span>Case</span></a>`,
		`<input type="hidden" name="sort" value="-amount">`})
	german, _ := pageText(t, shown.German, "inbox", inboxPage{Groups: []callGroup{g}})
	wantTexts(t, "the table", german, []string{"sortieren nach Fall ", " Eingegangen"}, "Came in", "Case")
	single := groupOf(list[:1], &access.Person{})
	single.addSortLinks(inboxFilter{})
	if single.CaseSort.Href != "" {
		t.Error("a table of one row can be sorted")
	}
}
