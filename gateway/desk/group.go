package desk

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"processidea/client"
	"processidea/client/bulk"
	"processidea/client/readable"
	"processidea/gateway/access"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// callGroup holds Calls of one Tool that are alike enough for one table.
type callGroup struct {
	ID           string
	ToolTitle    string // its title
	Count        int
	ProcessCount int
	ProcessTitle string // the process, if there is only one
	SharedCells  []labelledCell
	LetterCells  []labelledCell // templates with one wording, which differ by what fills them in
	Columns      []column
	Rows         []row
	HasDeadline  bool // some Calls have one, and not all the same
	// SharedDeadlineCall is a Call whose deadline is that of all; nil: there is none.
	SharedDeadlineCall *client.Approval
	DecidableCount     int
	CanReject          bool
	CanApprove         bool
	HasSums            bool
	// HasReasoning means that the reasons of the plan differ; SharedReasoning is the reason of all, if it is one.
	HasReasoning    bool
	SharedReasoning string
	RuleText        string // the rule for asking a person, in words; "": there is none, or they differ
	Reason          string // as it was entered
	// NeedsReason means that a rejection of these was refused because it gave no reason.
	NeedsReason bool
	// CaseSort, ArrivalSort and DeadlineSort are the heads of the columns that are no fields.
	CaseSort, ArrivalSort, DeadlineSort sortLink
}

type labelledCell struct {
	Name, FullName, Text string
	IsNumber             bool
	IsToday              bool            // it is a date, and today's
	Letter               shown.TextSpans // of a letter: its text, with titles for what is filled in
	Amount               string          // of money that has a sum: a whole number of the column's smallest unit
	Href                 string          // of an address that the page may link to
}

// CSSClass is how a cell of the table is laid out.
func (l labelledCell) CSSClass() string {
	switch {
	case l.IsNumber:
		return "number"
	case utf8.RuneCountInString(l.Text) > longCellChars:
		return "long" // a minimum width, beside long words in other cells
	case utf8.RuneCountInString(l.Text) > shortCellChars:
		return "text"
	}
	return "short" // on one line
}

type column struct {
	Name, FullName string
	IsNumber       bool
	Sum            string // of money
	Currency       string
	// Digits is how many digits the amounts have after the point, and MinDigits how many are shown at least.
	Digits, MinDigits int
	Sort              sortLink

	amounts []string // of the rows, as in labelledCell
}

// row is one Call.
type row struct {
	client.Approval
	PickValue     string // what its box sends: the Call, the digest of what is shown, and what the Call is about
	Name          string // the instance's name for people; empty: it has none
	Disambiguator string // the instance's token or the step, if another row reads the same
	IsTicked      bool
	Cells         []labelledCell
	DenialReason  string // why this person may not decide on it; empty: they may
}

// ShowsRowsAsCards reports whether a phone shows a row as a card, each cell with the name of its column.
func (g callGroup) ShowsRowsAsCards() bool { return len(g.Columns) <= maxCardColumns }

// maxCardColumns is the maximum number of columns of a table whose rows are cards on a phone.
const maxCardColumns = 50

// callGroupKey is the same for Calls that share a table: with the same Tool, parameters and decisions.
func callGroupKey(a client.Approval) string {
	return fmt.Sprintf("%q", []any{a.Tool, jsonval.SortedKeys(a.Params), a.AllowedDecisions})
}

func groupsOf(list []client.Approval, person *access.Person) (groups []callGroup) {
	for len(list) > 0 {
		n, key := 1, callGroupKey(list[0])
		for n < len(list) && callGroupKey(list[n]) == key {
			n++
		}
		g := groupOf(list[:n], person)
		digest := sha256.Sum256([]byte(key))
		g.ID = fmt.Sprintf("g%x", digest[:8]) // the same in every order and on every page: a script keeps reasons by it
		groups = append(groups, g)
		list = list[n:]
	}
	return groups
}

// omittedFieldNames are fields that are shown elsewhere: in the table, or on the page of the Call, for operators.
var omittedFieldNames = []string{bulk.FieldTool, bulk.FieldWritesTo, bulk.FieldDeadline, bulk.FieldOnTimeout,
	bulk.FieldAllowedDecisions}

const (
	maxCellChars       = 160
	longCellChars      = 40
	shortCellChars     = 20
	maxSharedCellChars = 600
)

func groupOf(list []client.Approval, person *access.Person) callGroup {
	table := bulk.TableOf(list)
	g := callGroup{
		ToolTitle: list[0].ToolTitle, Count: len(list), CanApprove: slices.Contains(list[0].AllowedDecisions,
			client.Approve),
		CanReject: slices.Contains(list[0].AllowedDecisions, client.Reject),
	}
	rootProcessIDs := map[string]bool{}
	for _, a := range list {
		rootProcessIDs[blobs.RootProcessID(a.Process)] = true
		g.HasDeadline = g.HasDeadline || a.Deadline != nil
	}
	if g.SharedDeadlineCall = sharedDeadlineCall(list); g.SharedDeadlineCall != nil {
		g.HasDeadline = false
	}
	if g.ProcessCount = len(rootProcessIDs); g.ProcessCount == 1 {
		g.ProcessTitle = processTitle(list[0].Process, list[0].ProcessTitle)
	}
	titleByField := fieldTitles(table, list)
	columns := append(slices.Clone(table.ColumnNames), g.addSharedFields(list, table.SharedFields, titleByField)...)
	for _, name := range sortColumns(columns, list[0].Fields) {
		if !isFieldHidden(list[0], name) {
			g.addColumn(fieldsNamed(list, name), list[0].Language, column{Name: titleByField[name], FullName: name})
		}
	}
	for _, a := range list {
		g.addRow(a, person)
	}
	hasOtherReasoning := func(a client.Approval) bool { return a.Reasoning != list[0].Reasoning }
	if g.HasReasoning = slices.ContainsFunc(list, hasOtherReasoning); !g.HasReasoning {
		g.SharedReasoning = list[0].Reasoning
	}
	g.RuleText = sharedRuleText(list)
	g.omitRedundantColumns()
	g.disambiguateRows()
	return g
}

// sharedDeadlineCall returns the Call with the first deadline, if all have one with the same effect; nil: they differ.
// The deadlines of Calls that were planned together differ by moments.
func sharedDeadlineCall(list []client.Approval) *client.Approval {
	first, last := list[0], list[0]
	for _, a := range list {
		if a.Deadline == nil || a.TimeoutAction != first.TimeoutAction {
			return nil
		}
		if a.Deadline.Before(*first.Deadline) {
			first = a
		}
		if a.Deadline.After(*last.Deadline) {
			last = a
		}
	}
	if last.Deadline.Sub(*first.Deadline) >= time.Minute {
		return nil
	}
	return &first
}

// sharedRuleText returns in words because of which rule a person looks at each of the Calls; "" if they differ.
func sharedRuleText(list []client.Approval) (text string) {
	for n, a := range list {
		isLikePrevious := n > 0 && a.ReviewReason == list[n-1].ReviewReason &&
			jsonval.Equal(a.ReviewCondition, list[n-1].ReviewCondition)
		if isLikePrevious {
			continue
		}
		if ruleText := reviewRuleText(a); n == 0 {
			text = ruleText
		} else if ruleText != text {
			return ""
		}
	}
	return text
}

// omitRedundantColumns leaves out each column whose values the names of the cases have already.
func (g *callGroup) omitRedundantColumns() {
	for n := len(g.Columns) - 1; n >= 0; n-- {
		saysMoreThanName := func(r row) bool { return r.Cells[n].IsToday || !containsWords(r.Name, r.Cells[n].Text) }
		if g.Columns[n].Sum != "" || slices.ContainsFunc(g.Rows, saysMoreThanName) {
			continue
		}
		g.Columns = slices.Delete(g.Columns, n, n+1)
		for k := range g.Rows {
			g.Rows[k].Cells = slices.Delete(g.Rows[k].Cells, n, n+1)
		}
	}
}

// containsWords reports whether the words of a text stand in another one, whole and in a row.
func containsWords(text, words string) bool {
	spaced := func(s string) string {
		return " " + strings.Join(strings.Fields(punctuationToSpace.Replace(s)), " ") + " "
	}
	return spaced(words) != "  " && strings.Contains(spaced(text), spaced(words))
}

var punctuationToSpace = strings.NewReplacer(",", " ", ":", " ", ";", " ", "(", " ", ")", " ")

// addSharedFields adds the fields that have one value in all Calls, and returns the names of those that need a column
// nevertheless: amounts, for their sum, and what reads differently in versions of a process.
func (g *callGroup) addSharedFields(list []client.Approval, sharedFields []bulk.Field,
	titleByField map[string]string) (columns []string) {
	for _, f := range sharedFields {
		fields := fieldsNamed(list, f.Name)
		readsAlike, isLetter := haveSameDisplayText(fields), fields[0] != nil &&
			fields[0].Format.Display == shown.Letter
		cell := cellOf(list[0], f.Name, f.Value, maxSharedCellChars)
		cell.Name = titleByField[f.Name]
		switch {
		case shown.SumText(fields, list[0].Language) != "" || !readsAlike && !isLetter:
			columns = append(columns, f.Name)
		case isFieldHidden(list[0], f.Name):
		case readsAlike:
			g.SharedCells = append(g.SharedCells, cell)
		default:
			cell.Letter = paramsFormat(list[0]).LetterOutline(clip(jsonval.AsText(f.Value), maxOrderLetterBytes))
			g.LetterCells = append(g.LetterCells, cell)
		}
	}
	return columns
}

// paramsFormat is the format of a Call's parameters, as far as its fields tell.
func paramsFormat(a client.Approval) shown.Format {
	format := shown.Format{Properties: map[string]shown.Format{}}
	for _, f := range a.Fields {
		path := strings.Split(f.Name, ".")
		f.Format.Title = f.Title
		format.Properties[path[len(path)-1]] = f.Format
	}
	return format
}

func (g *callGroup) addColumn(fields []*shown.Field, l shown.Language, c column) {
	if c.IsNumber, c.Sum = true, shown.SumText(fields, l); c.Sum != "" {
		c.amounts, c.Digits, c.MinDigits = shown.WholeAmounts(fields)
		c.Currency, g.HasSums = fields[0].Format.Currency, true
	}
	g.Columns = append(g.Columns, c)
}

// fieldsNamed returns a field of each Call; nil where there is none.
func fieldsNamed(list []client.Approval, name string) []*shown.Field {
	return jsonval.Map(list, func(a client.Approval) *shown.Field { return a.Field(name) })
}

// isFieldHidden reports whether a table does not show a field.
func isFieldHidden(a client.Approval, name string) bool {
	return slices.Contains(omittedFieldNames, name) || slices.ContainsFunc(a.HiddenParamNames,
		func(hidden string) bool {
			return name == hidden || strings.HasPrefix(name, hidden+".")
		})
}

// disambiguateRows adds to rows that read the same what they differ in: the instance, or the step.
func (g *callGroup) disambiguateRows() {
	label := func(r row) string { return blobs.RootProcessID(r.Process) + "\n" + cmp.Or(r.Name, r.Sentence) }
	rowCountByLabel, rowCountByInstance := map[string]int{}, map[string]int{}
	for _, r := range g.Rows {
		rowCountByLabel[label(r)]++
		rowCountByInstance[label(r)+"\n"+r.Instance]++
	}
	for n := range g.Rows {
		r := &g.Rows[n]
		switch {
		case rowCountByLabel[label(*r)] == 1:
		case r.Instance != "" && rowCountByInstance[label(*r)+"\n"+r.Instance] == 1:
			r.Disambiguator = r.Instance
		default:
			key, _ := ideafile.ParseCallKey(r.CallID)
			r.Disambiguator = "step " + key.ID("")
			if processID := spelling.ProcessIDWithoutParts(r.Process); processID != blobs.RootProcessID(r.Process) {
				r.Disambiguator += " of " + processID
			}
		}
	}
}

func (g *callGroup) addRow(a client.Approval, person *access.Person) {
	oneCallTable := bulk.TableOf([]client.Approval{a})
	valueByField := jsonval.Object{}
	for _, f := range oneCallTable.SharedFields {
		valueByField[f.Name] = f.Value
	}
	r := row{Approval: a, PickValue: jsonval.EncodeToString([]any{a.Process, a.CallID, a.Digest, describeCase(a)}),
		Name: caseName(a), DenialReason: denialReason(person, a)}
	for n := range g.Columns {
		c := &g.Columns[n]
		cell := labelledCell{FullName: c.FullName}
		if v, hasValue := valueByField[c.FullName]; hasValue {
			cell = cellOf(a, c.FullName, v, maxCellChars)
			c.IsNumber = c.IsNumber && cell.IsNumber
		}
		if c.Sum != "" {
			cell.Amount = c.amounts[len(g.Rows)]
		}
		r.Cells = append(r.Cells, cell)
	}
	if r.DenialReason != "" && mayDecideByPasskey(person, a) {
		r.DenialReason = "Open it: you sign it with your passkey."
	}
	if r.DenialReason == "" {
		g.DecidableCount++
	}
	g.Rows = append(g.Rows, r)
}

// caseName is the name of a Call's instance; empty if it has none.
func caseName(a client.Approval) string {
	if a.InstanceName == a.Instance {
		return ""
	}
	return a.InstanceName
}

// describeCase says what a Call would do, and for whom.
func describeCase(a client.Approval) string {
	sentence, name := clip(a.Sentence, maxCellChars), clip(a.InstanceName, maxCellChars)
	return client.RecordedDecision{Sentence: sentence, InstanceName: name}.About()
}

// cellOf shows one value of a Call. A number is aligned to the right.
func cellOf(a client.Approval, fieldName string, v any, maxChars int) labelledCell {
	f := a.Field(fieldName)
	if f == nil {
		return labelledCell{FullName: fieldName, Text: shortText(v, maxChars), IsNumber: isNumber(v)}
	}
	cell := labelledCell{FullName: fieldName, Text: shortText(f.DisplayText, maxChars),
		IsNumber: isNumber(v) || f.Format.Display == shown.Money, IsToday: isToday(f, time.Now())}
	if target := readable.LinkTarget(f.Format.Display, f.Value); target == cell.Text { // nobody follows half an address
		cell.Href = target
	}
	return cell
}

// haveSameDisplayText reports whether a field that has one value in all Calls reads alike in them, too. A letter does
// not if what fills it in differs, nor does a value that two versions of a process show in two ways.
func haveSameDisplayText(fields []*shown.Field) bool {
	return !slices.ContainsFunc(fields, func(f *shown.Field) bool {
		return (f == nil) != (fields[0] == nil) || f != nil && f.DisplayText != fields[0].DisplayText
	})
}

// isToday reports whether a field is a date, and today's by the server's clock.
func isToday(f *shown.Field, now time.Time) bool {
	text := jsonval.AsText(f.Value)
	switch f.Format.Display {
	case shown.DateTime:
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return isSameDay(t, now)
		}
	case shown.Date:
	default:
		return false
	}
	return text == now.Local().Format(time.DateOnly)
}

func isSameDay(a, b time.Time) bool {
	return a.Local().Format(time.DateOnly) == b.Local().Format(time.DateOnly)
}

// dueText says of what happens by itself at a deadline that it is today, or should have happened; "" for later.
func dueText(now time.Time, deadline *time.Time) string {
	switch {
	case deadline == nil:
	case !deadline.After(now):
		return "overdue"
	case isSameDay(now, *deadline):
		return "due today"
	}
	return ""
}

// sortColumns puts the names of columns into the order of the schema. Names that the schema lacks come last.
func sortColumns(names []string, fields []shown.Field) []string {
	positionByName := map[string]int{}
	for n, f := range fields {
		positionByName[f.Name] = n - len(fields)
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return positionByName[a] - positionByName[b] })
	return names
}

// fieldTitles returns the names of fields for people: titles or short names, or whole names where short ones are
// ambiguous.
func fieldTitles(t bulk.Table, list []client.Approval) map[string]string {
	titleByField := shortFieldNames(t)
	for _, a := range list {
		for _, f := range a.Fields {
			if name := titleByField[f.Name]; name != "" && (f.Format.Title != "" || !strings.Contains(name, ".")) {
				titleByField[f.Name] = clipName(f.Title)
			}
		}
	}
	return titleByField
}

// shortFieldNames shortens the name of a member to its last part, if no other member has the same last part.
func shortFieldNames(t bulk.Table) map[string]string {
	lastSegment := func(name string) string { return name[strings.LastIndex(name, ".")+1:] }
	countBySegment := map[string]int{}
	var fieldNames []string
	for _, f := range t.SharedFields {
		fieldNames = append(fieldNames, f.Name)
	}
	fieldNames = append(fieldNames, t.ColumnNames...)
	for _, name := range fieldNames {
		countBySegment[lastSegment(name)]++
	}
	shortNameByField := map[string]string{}
	for _, name := range fieldNames {
		shortNameByField[name] = visibleText(name)
		if shortName := lastSegment(name); countBySegment[shortName] == 1 && shortName != "" && !strings.Contains(name, `"`) {
			shortNameByField[name] = visibleText(shortName)
		}
	}
	return shortNameByField
}

func callHref(processID, callID string) string {
	return "/desk/calls/" + url.PathEscape(processID) + "/" + url.PathEscape(callID)
}

// onTimeoutText describes what happens at the deadline.
func onTimeoutText(a client.Approval) string {
	effects := map[string]string{client.Reject: "it is rejected", client.Approve: "it is approved",
		"pause": "the process pauses"}
	return cmp.Or(effects[a.TimeoutAction], a.TimeoutAction)
}
