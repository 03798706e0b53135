package desk

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// inboxOf is the page with one table, of Calls with some parameters, each of an instance without a name.
func inboxOf(t *testing.T, params ...string) string {
	t.Helper()
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(`{"schema": {"tools": {"pay": {"type": "object",
		"properties": {"to": {"type": "string"}, "amount": {"type": "integer"},
			"bank": {"type": "object", "_display": "hidden"}}}}},
		"context": [{"type": "text", "text": "Go."}]}`).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	who := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	var list []client.Approval
	for n, one := range params {
		token := string(rune(0x2460 + n)) // ①, ②
		p := jsonval.AsObject(modeltest.MustDecodeJSON(one))
		list = append(list, client.Approval{Process: "p", Instance: token,
			Call: shown.NewPresenter(idea).Call("pay", p, token, shown.InstanceValues{}, shown.English),
			PendingCall: approval.PendingCall{CallID: "1.1@" + token, Tool: "pay", Params: p, Since: time.Now(),
				AllowedDecisions: policy.DecisionKinds()}})
	}
	all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []callGroup{groupOf(list, who)}})
	return all
}

// Who decides on many reads once why they are asked, in the words of the page of each.
func TestATableSaysBecauseOfWhichRulePeopleAreAsked(t *testing.T) {
	t.Parallel()
	over := map[string]any{"properties": map[string]any{"amount": map[string]any{
		"exclusiveMinimum": json.Number("1000")}}}
	euros := shown.Format{Properties: map[string]shown.Format{"amount": {Title: "Amount", Display: shown.Money,
		Currency: "EUR"}}}
	waiting := func(rule any, reviewReason string, l shown.Language) client.Approval {
		return client.Approval{Process: "p", PendingCall: approval.PendingCall{Tool: "pay", ReviewReason: reviewReason},
			Call: shown.Call{ReviewCondition: rule, ParamsFormat: euros, Language: l}}
	}
	for _, one := range []struct {
		other    client.Approval
		language shown.Language
		want     string
	}{
		{waiting(over, "", shown.English), shown.English,
			"A person looks at this before it happens, because “Amount” is more than 1,000.00 EUR."},
		{waiting(over, "", shown.German), shown.German,
			"Ein Mensch prüft dies, bevor es geschieht, denn: „Amount“ ist mehr als 1.000,00 EUR."},
		{waiting(nil, "", shown.English), shown.English, ""},
		{waiting(over, "the Plan was amended", shown.English), shown.English, ""},
	} {
		list := []client.Approval{waiting(over, "", one.language), one.other}
		all, _ := pageText(t, one.language, "inbox", inboxPage{Groups: []callGroup{groupOf(list, &access.Person{})}})
		if one.want == "" {
			wantTexts(t, "the inbox", all, nil, "because")
			continue
		}
		wantTexts(t, "the inbox", all, []string{one.want})
		all, _ = pageText(t, one.language, "call", &callPage{Approval: list[0], RuleText: reviewRuleText(list[0])})
		wantTexts(t, "the page of a case", all, []string{one.want})
	}
}

func TestTheInboxNamesWhatStandingOrdersTookOver(t *testing.T) {
	t.Parallel()
	page := inboxPage{OrderApprovals: []orderApprovals{{
		client.OrderApprovals{ProcessID: "p/1", GivenBy: "ann", Tool: "pay", Count: 12}, "Pay a bill", "Refunds"}}}
	all, _ := pageText(t, shown.English, "inbox", page)
	wantTexts(t, "the inbox", all, []string{"12 cases approved in advance by ann : Pay a bill , Refunds"})
	if source := shows(t, "inbox", page); !strings.Contains(source, `href="/desk/processes/p%2F1#orders"`) {
		t.Error(source)
	}
	all, _ = pageText(t, shown.German, "inbox", page)
	wantTexts(t, "the inbox", all, []string{"12 Fälle im Voraus freigegeben von ann"})
}

func TestAPartOrADelegateIsNamedByTheProcessThatPeopleStarted(t *testing.T) {
	t.Parallel()
	list := []client.Approval{{Process: "p/~part/1", Call: shown.Call{Sentence: "Pay Ann"}},
		{Process: "p/~part/2/~call/1.1@1", Call: shown.Call{Sentence: "Pay Bob"}}}
	if got := groupOf(list, &access.Person{}); got.ProcessTitle != "p" {
		t.Errorf("they are of %d processes", got.ProcessCount)
	}
	list[1].Process = "q"
	all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []callGroup{groupOf(list, &access.Person{})}})
	wantTexts(t, "the inbox", all, []string{"of 2 processes"}, "~part")
	waits := &callPage{Approval: client.Approval{Process: "p/~part/1", Call: shown.Call{ProcessTitle: "Refunds"}}}
	all, operators := pageText(t, shown.English, "call", waits)
	wantTexts(t, "the page of a case", all, []string{"Inbox › Refunds "}, "~part")
	wantTexts(t, "the page of a case", operators, []string{"Process p/~part/1"})
}

func TestACaseWithoutANameIsTheOneThatIsPaid(t *testing.T) {
	t.Parallel()
	wantTexts(t, "the inbox", inboxOf(t, `{"to": "Ann", "amount": 12}`), []string{"Pay: 12 , Ann"}, "(①)", "1.1@")
	page := inboxOf(t, `{"to": "Ann", "amount": 12}`, `{"to": "Ann", "amount": 12}`, `{"to": "Bob", "amount": 12}`)
	wantTexts(t, "the inbox", page, []string{"Pay: 12 , Ann (①)", "Pay: 12 , Ann (②)", "Pay: 12 , Bob"}, "(③)", "1.1@")
}

// Whoever hears the page is told the same of a box as others read in its row, and no id of the engine's.
func TestABoxIsSelectedByWhatItsRowSays(t *testing.T) {
	t.Parallel()
	waiting := func(process, id, token, name, sentence string) client.Approval {
		return client.Approval{Process: process, Instance: token, PendingCall: approval.PendingCall{CallID: id},
			Call: shown.Call{Sentence: sentence, InstanceName: name}}
	}
	who := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	label := regexp.MustCompile(`aria-label="Select ([^"]*)"`)
	for _, one := range []struct {
		list []client.Approval
		want []string
	}{
		{[]client.Approval{waiting("p", "1.1@①", "①", "order 7", "Pay Ann"),
			waiting("p", "1.1@②", "②", "②", "Pay Bob")},
			[]string{"order 7, Pay Ann", "Pay Bob"}},
		{[]client.Approval{waiting("p", "1.1@①", "①", "①", "Pay Ann"),
			waiting("p", "1.1@②", "②", "②", "Pay Ann"), waiting("q", "1.1@①", "①", "①", "Pay Ann")},
			[]string{"Pay Ann, ①, p", "Pay Ann, ②, p", "Pay Ann, q"}},
		{[]client.Approval{waiting("p", "1.1@①", "①", "order 7", "Pay Ann"),
			waiting("p", "1.2@①", "①", "order 7", "Pay Ann")},
			[]string{"order 7, Pay Ann, step 1.1", "order 7, Pay Ann, step 1.2"}},
		{[]client.Approval{waiting("p/~part/1", "1.1@①", "①", "order 7", "Pay Ann"),
			waiting("p/~part/1", "1.2@①", "①", "order 7", "Pay Ann")},
			[]string{"order 7, Pay Ann, step 1.1", "order 7, Pay Ann, step 1.2"}},
		{[]client.Approval{waiting("p", "1.1", "", "", "Pay Ann"), waiting("p/1.2", "1.1", "", "", "Pay Ann")},
			[]string{"Pay Ann, step 1.1", "Pay Ann, step 1.1 of p/1.2"}},
	} {
		page := shows(t, "inbox", inboxPage{Groups: []callGroup{groupOf(one.list, who)}})
		got := jsonval.Map(label.FindAllStringSubmatch(page, -1), func(m []string) string { return m[1] })
		if !slices.Equal(got, one.want) {
			t.Errorf("%q, want %q", got, one.want)
		}
	}
	german, _ := loadCatalogues()
	if got := german[shown.German].TranslateAs("beside", "step 1.1 of p/1.2"); got != "Schritt 1.1 von p/1.2" {
		t.Error(got)
	}
}

func TestWhySomebodyIsAskedIsSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	waiting := func(why string) client.Approval {
		return client.Approval{Process: "p", Call: shown.Call{Sentence: "Pay Ann"},
			PendingCall: approval.PendingCall{CallID: "1.1", ReviewReason: why}}
	}
	const before = "it waited for a person in the process before"
	for _, list := range [][]client.Approval{{waiting(before)}, {waiting(before), waiting("busy")}} { // above, and in a column
		all, _ := pageText(t, shown.German, "inbox", inboxPage{Groups: []callGroup{groupOf(list, &access.Person{})}})
		wantTexts(t, "the inbox", all, []string{"Er wartete im Prozess davor auf einen Menschen"}, before)
	}
}

func TestACellKeepsItsRoomBesideALongWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"R-24084": "short", "Anna-Maria Smith-Jones": "text",
		strings.Repeat("a word ", 9): "long"} {
		if got := (labelledCell{Text: text}).CSSClass(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWhatIsForOperatorsIsNoColumnWithItsMembersEither(t *testing.T) {
	t.Parallel()
	page := inboxOf(t, `{"to": "Ann", "bank": {"iban": "DE1", "of": {"name": "Hers"}, "bic": "B"}}`,
		`{"to": "Bob", "bank": {"iban": "DE2", "of": {"name": "His"}, "bic": "B"}}`)
	wantTexts(t, "the inbox", page, []string{"Ann", "Bob"}, "DE1", "His", "iban", "bic")
	if strings.Contains(inboxOf(t, `{"to": "Ann", "bank": {"iban": "DE1"}}`), "DE1") {
		t.Error("it is shown of one Call")
	}
}

// What happens by itself today, or should have, is told in words, and bold; so is a date that is today's.
func TestWhatIsDueTodayStandsOut(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	waiting := func(deadline time.Duration) client.Approval {
		at := now.Add(deadline)
		return client.Approval{Process: "p",
			PendingCall: approval.PendingCall{CallID: "1.1", Deadline: &at, TimeoutAction: "reject"}}
	}
	list := []client.Approval{waiting(-time.Hour), waiting(2 * time.Hour), waiting(12 * time.Hour)}
	page := inboxPage{frame: frame{Now: now}, Groups: []callGroup{groupOf(list, &access.Person{})}, DueCount: 2,
		pagination: pagination{Total: 3}}
	if all := shows(t, "inbox", page); !strings.Contains(all, `<b class="due">overdue:</b>`) ||
		strings.Count(all, `<b class="due">due today:</b>`) != 1 || strings.Count(all, `class="due"`) != 2 {
		t.Error(all)
	}
	all, _ := pageText(t, shown.German, "inbox", page)
	wantTexts(t, "the inbox", all, []string{"3 Fälle", "2 sind heute fällig oder überfällig", "überfällig: Ablehnung jetzt",
		"heute fällig: Ablehnung in 2 Stunden"})
	for text, format := range map[string]shown.Display{"2026-11-30": shown.Date, "2026-11-30T23:59:59Z": shown.Plain,
		"2026-12-01": shown.Date, now.UTC().Format(time.RFC3339): shown.DateTime} {
		want := format != shown.Plain && text != "2026-12-01"
		if got := isToday(&shown.Field{Value: text, Format: shown.Format{Display: format}}, now); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	cells := []labelledCell{{Name: "Due on", Text: "30 November 2026", IsToday: true}}
	if all := shows(t, "inbox", inboxPage{Groups: []callGroup{{SharedCells: cells,
		Rows: []row{{}}}}}); !strings.Contains(all,
		"<b>30 November 2026 (today)</b>") {
		t.Error(all)
	}
}

// What holds for all cases of a table is said once, above it.
func TestOneDeadlineOfAllIsSaidAboveTheTable(t *testing.T) {
	t.Parallel()
	now := time.Now()
	waiting := func(deadline time.Duration, onTimeout string) client.Approval {
		at := now.Add(deadline)
		return client.Approval{Process: "p", Call: shown.Call{Sentence: "Pay Ann"},
			PendingCall: approval.PendingCall{CallID: "1.1", Deadline: &at, TimeoutAction: onTimeout}}
	}
	const day = 24 * time.Hour
	for _, one := range []struct {
		list   []client.Approval
		isSaid bool
	}{
		{[]client.Approval{waiting(3*day+time.Second, "reject"), waiting(3*day, "reject")}, true},
		{[]client.Approval{waiting(3*day, "reject"), waiting(4*day, "reject")}, false},
		{[]client.Approval{waiting(3*day, "reject"), waiting(3*day, "approve")}, false},
		{[]client.Approval{waiting(3*day, "reject"), {Process: "p"}}, false},
		{[]client.Approval{{Process: "p"}, waiting(3*day, "reject")}, false},
	} {
		g := groupOf(one.list, &access.Person{})
		all, _ := pageText(t, shown.English, "inbox", inboxPage{frame: frame{Now: now}, Groups: []callGroup{g}})
		got := strings.Contains(all, "If nobody decides: rejected in 3 days")
		if got != one.isSaid || g.HasDeadline == got {
			t.Errorf("%t, and a column %t: %s", got, g.HasDeadline, all)
		}
	}
}

func TestWhatTheNameOfEachCaseHasIsNoColumn(t *testing.T) {
	t.Parallel()
	list := lettersOf(t, `{"to": "Ann", "fee": 1, "letter": "order 1"}`, `{"to": "Bob", "fee": 2, "letter": "2"}`)
	for _, one := range []struct {
		names [2]string
		want  string
	}{
		{[2]string{"refund: Ann, 1.00 EUR", "refund: Bob"}, "fee letter"}, {[2]string{"Ann", "Bobby"}, "fee letter to"},
		{[2]string{"to-Ann", "to-Bob"}, "fee letter to"}, {[2]string{}, "fee letter to"},
		{[2]string{"Ann, order 1", "2 (Bob)"}, "fee"},
	} {
		for n := range list {
			list[n].InstanceName = one.names[n]
		}
		g := groupOf(list, &access.Person{})
		got := strings.Join(jsonval.Map(g.Columns, func(c column) string { return c.FullName }), " ")
		if cells := len(g.Rows[0].Cells); got != one.want || cells != len(g.Columns) {
			t.Errorf("%q: %s, and %d cells", one.names, got, cells)
		}
	}
}

// lettersOf are Calls that write to people, one letter each.
func lettersOf(t *testing.T, params ...string) (list []client.Approval) {
	t.Helper()
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(`{"schema": {"tools": {"write": {"type": "object",
		"properties": {"letter": {"type": "string", "_display": "letter"}, "to": {"type": "string"},
			"fee": {"type": "number", "_display": "money", "currency": "EUR"}}}}},
		"context": [{"type": "text", "text": "Go."}]}`).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	for _, one := range params {
		p := jsonval.AsObject(modeltest.MustDecodeJSON(one))
		list = append(list, client.Approval{Process: "p", Call: shown.NewPresenter(idea).Call("write", p, "",
			shown.InstanceValues{}, shown.English), PendingCall: approval.PendingCall{CallID: "1.1", Tool: "write",
			Params:           p,
			AllowedDecisions: policy.DecisionKinds()}})
	}
	return list
}

func TestOnlyWhatReadsAlikeIsSaidToBeTheSame(t *testing.T) {
	t.Parallel()
	who := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	for _, one := range []struct {
		list        []client.Approval
		want, lacks []string
	}{
		{list: lettersOf(t, `{"letter": "Dear {to}", "to": "Ann"}`, `{"letter": "Dear {to}", "to": "Bob"}`),
			want: []string{"Letter the same text in all, filled in for each case", "Dear To",
				"Underlined: filled in for each case."},
			lacks: []string{"The same in all"}},
		{list: lettersOf(t, `{"letter": "Dear {to}", "to": "Ann"}`, `{"letter": "Dear {to}", "to": "Ann"}`),
			want: []string{"The same in all: Letter, To", "Dear Ann"}, lacks: []string{"the same text", "{to}"}},
		{list: lettersOf(t, `{"letter": "Dear {to}", "to": "Ann"}`),
			want: []string{"What would happen", "Dear Ann"}, lacks: []string{"the same text", "{to}"}},
	} {
		all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []callGroup{groupOf(one.list, who)}})
		wantTexts(t, "the inbox", all, one.want, one.lacks...)
	}
	// Two versions of a process show one value in two ways: that is no letter, and stands in a column.
	list := lettersOf(t, `{"to": "Ann", "letter": "x"}`, `{"to": "Ann", "letter": "x"}`)
	list[1].Fields = slices.Clone(list[1].Fields)
	list[1].Field("to").DisplayText = "Ann Smith"
	if g := groupOf(list, who); len(g.Columns) != 1 || g.Columns[0].FullName != "to" ||
		g.Rows[1].Cells[0].Text != "Ann Smith" {
		t.Errorf("%+v", g.Columns)
	}
}

// The reason that the plan gives stands beside each case, or once where it is the same.
func TestTheInboxGivesTheReasonsOfThePlan(t *testing.T) {
	t.Parallel()
	who := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	list := lettersOf(t, `{"to": "Ann"}`, `{"to": "Bob"}`)
	for _, one := range []struct {
		reasons     [2]string
		want, lacks []string
	}{
		{[2]string{"broken", "late"}, []string{"Reason given Came in", "broken", "late"}, []string{"in all"}},
		{[2]string{"broken", ""}, []string{"Reason given Came in", "broken"}, []string{"in all"}},
		{[2]string{"broken", "broken"}, []string{"The reason in all: broken"}, []string{"Reason given"}},
		{[2]string{}, nil, []string{"Reason given", "The reason in all"}},
	} {
		list[0].Reasoning, list[1].Reasoning = one.reasons[0], one.reasons[1]
		all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []callGroup{groupOf(list, who)}})
		wantTexts(t, "the inbox", all, one.want, one.lacks...)
	}
}

// The script of the page adds up whole numbers, so that no digit is lost.
func TestATableGivesItsAmountsAsWholeNumbers(t *testing.T) {
	t.Parallel()
	who := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	list := lettersOf(t, `{"fee": 0.125}`, `{"fee": 12345678901234567890}`, `{"fee": -1}`)
	page := shows(t, "inbox", inboxPage{Groups: []callGroup{groupOf(list, who)}})
	for _, want := range []string{`data-amount="125"`, `data-amount="12345678901234567890000"`, `data-amount="-1000"`,
		`data-digits="3" data-min-digits="2" data-currency="EUR">12,345,678,901,234,567,889.125 EUR`,
		`role="status" data-ticked="ticked"`, "All 3 together"} {
		if !strings.Contains(page, want) {
			t.Errorf("the inbox lacks %s: %s", want, page)
		}
	}
}

// A filter is folded, so that what waits is on the first screen of a phone; what is set stands on one line.
func TestAFilterIsFoldedAndSaysWhatIsSet(t *testing.T) {
	t.Parallel()
	page := inboxPage{Filter: inboxFilter{Text: "coat", Tool: "pay", Process: "p-7", Age: "1d", Due: "4h"},
		IsNarrowed:      true,
		frame:           frame{ProcessTitle: "Refunds"},
		ToolTitleByName: map[string]string{"pay": "Pay somebody"}}
	if all := shows(t, "inbox", page); !strings.Contains(all, `<details class="filters">`) {
		t.Error(all)
	}
	all, _ := pageText(t, shown.English, "inbox", page)
	wantTexts(t, "the inbox", all, []string{"Filtered by: Text: coat Kind: Pay somebody Process: Refunds " +
		"Waiting for more than a day Deadline within 4 hours Show all"}, "whenever")
	all, _ = pageText(t, shown.German, "inbox", page)
	wantTexts(t, "the inbox", all, []string{"Gefiltert nach: Text: coat Art: Pay somebody Prozess: Refunds " +
		"Wartet seit über einem Tag Frist endet binnen 4 Stunden Alle zeigen"})
	all, _ = pageText(t, shown.English, "inbox", inboxPage{})
	wantTexts(t, "the inbox", all, nil, "Filtered by")
}

// A process is called by its kind. One whose kind nobody knows, and that of a delegate's case, is called by its id.
func TestAProcessIsCalledByItsKind(t *testing.T) {
	t.Parallel()
	const title = "Supplier payments"
	for _, one := range [][3]string{{"p", title, title}, {"p/~part/1", title, title}, {"p", "", "p"},
		{"p/1.2", title, "p"}} {
		if got := processTitle(one[0], one[1]); got != one[2] {
			t.Errorf("%s: %q, want %q", one[0], got, one[2])
		}
	}
	list := []client.Approval{{Process: "pay-7", Call: shown.Call{ProcessTitle: title}}}
	all, _ := pageText(t, shown.English, "inbox", inboxPage{Groups: []callGroup{groupOf(list, &access.Person{})}})
	wantTexts(t, "the inbox", all, []string{"1 case of Supplier payments"}, "pay-7")
	all, operators := pageText(t, shown.English, "call", &callPage{Approval: list[0]})
	wantTexts(t, "the page of a case", all, []string{"Inbox › Supplier payments"}, "pay-7")
	wantTexts(t, "the page of a case", operators, []string{"Process pay-7"})
	of := frame{Title: "The record of Supplier payments", Process: "pay-7", ProcessTitle: "Supplier payments"}
	all, _ = pageText(t, shown.German, "idea", &ideaPage{frame: of})
	wantTexts(t, "an entry", all, []string{"Prozesse › Supplier payments",
		"Die Aufzeichnung von Supplier payments pay-7"})
	past := []client.PastDecision{{ProcessID: "pay-7", RecordedDecision: client.RecordedDecision{ProcessTitle: title,
		Decision: approval.Decision{CallID: "1.1"}}}}
	all, _ = pageText(t, shown.English, "mine", ownDecisionsPage{Decisions: past})
	wantTexts(t, "what was decided", all, []string{title})
	for path, want := range map[string]string{"team/supplierPayments": "Supplier payments", "refunds": "Refunds",
		"": ""} {
		idea, _ := ideafile.ReadIdea(jsonval.Object{"meta": jsonval.Object{"path": path}})
		if got := shown.NewPresenter(idea).ProcessTitle; got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
