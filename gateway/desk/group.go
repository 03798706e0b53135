package desk

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"processidea/client"
	"processidea/client/bulk"
	"processidea/gateway/access"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// callGroup holds Calls of one Tool that are alike enough for one table.
type callGroup struct {
	ID        string
	Tool      string // its title
	Count     int
	Processes int
	Process   string // the process, if there is only one
	Alike     []labelledCell
	Columns   []column
	Rows      []row
	Deadline  bool // some Calls have one
	Decidable int
	CanReject bool
	CanAccept bool
	HasSums   bool
	Reason    string // as it was entered
	// NeedsReason means that a rejection of these was refused because it gave no reason.
	NeedsReason bool
}

type labelledCell struct {
	Name, Full, Text string
	Number           bool
}

// Class is how a cell of the table is laid out.
func (l labelledCell) Class() string {
	switch {
	case l.Number:
		return "number"
	case utf8.RuneCountInString(l.Text) > longCellChars:
		return "long" // a minimum width, beside long words in other cells
	}
	return ""
}

type column struct {
	Name, Full string
	Number     bool
	Sum        string // of money
}

// row is one Call.
type row struct {
	client.Approval
	Pick   string // what its box sends: the Call, the digest of what is shown, and what the Call is about
	Name   string // the instance's name for people; empty: it has none
	Beside string // the instance's token or the step, if another row reads the same
	Ticked bool
	Cells  []labelledCell
	Denied string // why this person may not decide on it; empty: they may
}

// IsNarrow reports whether a phone shows a row as a card, each cell with the name of its column.
func (g callGroup) IsNarrow() bool { return len(g.Columns) <= maxCardColumns }

// maxCardColumns is the maximum number of columns of a table whose rows are cards on a phone.
const maxCardColumns = 50

// groupKey is the same for Calls that share a table: with the same Tool, parameters and decisions.
func groupKey(a client.Approval) string {
	return fmt.Sprintf("%q", []any{a.Tool, jsonval.SortedKeys(a.Params), a.AllowedDecisions})
}

func groupsOf(list []client.Approval, person *access.Person) (groups []callGroup) {
	for len(list) > 0 {
		n, key := 1, groupKey(list[0])
		for n < len(list) && groupKey(list[n]) == key {
			n++
		}
		g := groupOf(list[:n], person)
		g.ID = "g" + strconv.Itoa(len(groups)+1)
		groups = append(groups, g)
		list = list[n:]
	}
	return groups
}

// omittedFields are fields that are shown elsewhere: in the table, or on the page of the Call, for operators.
var omittedFields = []string{bulk.FieldTool, bulk.FieldWritesTo, bulk.FieldDeadline, bulk.FieldTimeout,
	bulk.FieldAllowed}

const (
	maxCellChars  = 160
	longCellChars = 40
	maxAlikeChars = 600
)

func groupOf(list []client.Approval, person *access.Person) callGroup {
	table := bulk.TableOf(list)
	g := callGroup{
		Tool: list[0].ToolTitle, Count: len(list), CanAccept: slices.Contains(list[0].AllowedDecisions, client.Approve),
		CanReject: slices.Contains(list[0].AllowedDecisions, client.Reject),
	}
	processes := map[string]bool{}
	for _, a := range list {
		processes[blobs.RootOf(a.Process)] = true
		g.Deadline = g.Deadline || a.Deadline != nil
	}
	if g.Processes = len(processes); g.Processes == 1 {
		g.Process = blobs.RootOf(list[0].Process)
	}
	titleByField := fieldTitles(table, list)
	sum := func(name string) string {
		fields := jsonval.Map(list, func(a client.Approval) *shown.Field { return a.Field(name) })
		return shown.SumText(fields, list[0].Language)
	}
	isLeftOut := func(name string) bool {
		return slices.Contains(omittedFields, name) ||
			slices.ContainsFunc(list[0].HiddenNames, func(hidden string) bool {
				return name == hidden || strings.HasPrefix(name, hidden+".")
			})
	}
	for _, f := range table.SharedFields {
		if sum(f.Name) != "" {
			table.Columns = append(table.Columns, f.Name) // even if all amounts are alike, the column shows their sum
		} else if !isLeftOut(f.Name) {
			text, isNumeric := cellText(list[0], f.Name, f.Value, maxAlikeChars)
			if p := list[0].Field(f.Name); len(list) > 1 && p != nil && p.Format.Display == shown.Letter {
				text = shortText(f.Value, maxAlikeChars) // the template, since what fills it differs
			}
			g.Alike = append(g.Alike, labelledCell{titleByField[f.Name], f.Name, text, isNumeric})
		}
	}
	for _, name := range sortColumns(table.Columns, list[0].Fields) {
		if !isLeftOut(name) {
			c := column{Name: titleByField[name], Full: name, Number: true, Sum: sum(name)}
			g.HasSums = g.HasSums || c.Sum != ""
			g.Columns = append(g.Columns, c)
		}
	}
	for _, a := range list {
		g.addRow(a, person)
	}
	g.disambiguateRows()
	return g
}

// disambiguateRows adds to rows that read the same what they differ in: the instance, or the step.
func (g *callGroup) disambiguateRows() {
	label := func(r row) string { return blobs.RootOf(r.Process) + "\n" + cmp.Or(r.Name, r.Sentence) }
	rowCount, instanceCount := map[string]int{}, map[string]int{}
	for _, r := range g.Rows {
		rowCount[label(r)]++
		instanceCount[label(r)+"\n"+r.Instance]++
	}
	for n := range g.Rows {
		r := &g.Rows[n]
		switch {
		case rowCount[label(*r)] == 1:
		case r.Instance != "" && instanceCount[label(*r)+"\n"+r.Instance] == 1:
			r.Beside = r.Instance
		default:
			key, _ := ideafile.ParseCallKey(r.CallID)
			r.Beside = "step " + key.ID("")
			if of := spelling.WithoutParts(r.Process); of != blobs.RootOf(r.Process) {
				r.Beside += " of " + of
			}
		}
	}
}

func (g *callGroup) addRow(a client.Approval, person *access.Person) {
	ownTable := bulk.TableOf([]client.Approval{a})
	values := jsonval.Object{}
	for _, f := range ownTable.SharedFields {
		values[f.Name] = f.Value
	}
	r := row{Approval: a, Pick: jsonval.EncodeToString([]any{a.Process, a.CallID, a.Digest, describeCase(a)}),
		Name: caseName(a), Denied: denialReason(person, a)}
	for n := range g.Columns {
		c := &g.Columns[n]
		cell := labelledCell{Full: c.Full}
		if v, has := values[c.Full]; has {
			cell.Text, cell.Number = cellText(a, c.Full, v, maxCellChars)
			c.Number = c.Number && cell.Number
		}
		r.Cells = append(r.Cells, cell)
	}
	if r.Denied != "" && mayDecideByPasskey(person, a) {
		r.Denied = "Open it: you sign it with your passkey."
	}
	if r.Denied == "" {
		g.Decidable++
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
	return client.Decided{Sentence: sentence, InstanceName: name}.About()
}

// cellText formats one value of a Call; number reports whether it is aligned to the right.
func cellText(a client.Approval, name string, v any, length int) (text string, isNumeric bool) {
	f := a.Field(name)
	if f == nil {
		return shortText(v, length), isNumber(v)
	}
	return shortText(f.Shown, length), isNumber(v) || f.Format.Display == shown.Money
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
	names := shortNames(t)
	for _, a := range list {
		for _, f := range a.Fields {
			if name := names[f.Name]; name != "" && (f.Format.Title != "" || !strings.Contains(name, ".")) {
				names[f.Name] = clipName(f.Title)
			}
		}
	}
	return names
}

// shortNames shortens the name of a member to its last part, if no other member has the same last part.
func shortNames(t bulk.Table) map[string]string {
	lastPart := func(name string) string { return name[strings.LastIndex(name, ".")+1:] }
	countByPart := map[string]int{}
	var all []string
	for _, f := range t.SharedFields {
		all = append(all, f.Name)
	}
	all = append(all, t.Columns...)
	for _, name := range all {
		countByPart[lastPart(name)]++
	}
	names := map[string]string{}
	for _, name := range all {
		names[name] = visibleText(name)
		if short := lastPart(name); countByPart[short] == 1 && short != "" && !strings.Contains(name, `"`) {
			names[name] = visibleText(short)
		}
	}
	return names
}

func callHref(process, call string) string {
	return "/desk/calls/" + url.PathEscape(process) + "/" + url.PathEscape(call)
}

// onTimeoutText describes what happens at the deadline.
func onTimeoutText(a client.Approval) string {
	effects := map[string]string{client.Reject: "it is rejected", client.Approve: "it is approved",
		"pause": "the process pauses"}
	return cmp.Or(effects[a.OnTimeout], a.OnTimeout)
}
