package people

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"processidea/client"
	"processidea/client/bulk"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/starter/internal/print"
)

// batchOutcome says what became of many decisions. --json prints it.
type batchOutcome struct {
	Process       string            `json:"process"`
	Signal        string            `json:"signal"`
	DecisionKind  string            `json:"decision"`
	MatchCount    int               `json:"fitting"` // matching Calls; at most 1,000 of them are decided at once
	AcceptedCount int               `json:"taken"`
	RefusedCount  int               `json:"refused"`
	Decisions     []decisionOutcome `json:"decisions"` // empty: nothing was sent
	Table         bulk.Table        `json:"table"`
}

type decisionOutcome struct {
	Call          string            `json:"call"`
	Digest        string            `json:"digest"`
	IsAccepted    bool              `json:"accepted"`
	RefusalReason string            `json:"reason,omitempty"` // why it was refused
	Votes         *client.VoteCount `json:"count,omitempty"`  // where several people must decide
}

func (d *batchOutcome) add(outcomes []client.DecisionOutcome) {
	for _, o := range outcomes {
		one := decisionOutcome{Call: o.CallID, Digest: o.ApprovalDigest, IsAccepted: o.RefusalReason == "",
			RefusalReason: o.RefusalReason,
			Votes:         votesIfSeveralNeeded(o.Votes)}
		if one.IsAccepted {
			d.AcceptedCount++
		} else {
			d.RefusedCount++
		}
		d.Decisions = append(d.Decisions, one)
	}
}

// votesIfSeveralNeeded returns a count to show. It is nil if one person decides.
func votesIfSeveralNeeded(c client.VoteCount) *client.VoteCount {
	if c.Want < 2 {
		return nil
	}
	return &c
}

// text summarises what was accepted, and says for each refused decision why.
func (d *batchOutcome) text() string {
	var b strings.Builder
	print.Fprintf(&b, "%s: %s taken on %s%s", d.Process, d.DecisionKind, print.Plural(d.AcceptedCount, "Call"),
		d.votesText())
	if d.RefusedCount > 0 {
		fmt.Fprintf(&b, ", refused on %d", d.RefusedCount)
	}
	b.WriteString("\n")
	for _, one := range d.Decisions {
		if !one.IsAccepted {
			print.Fprintf(&b, "  %s refused: %s\n", one.Call, print.OneLine(one.RefusalReason))
		}
	}
	if undecidedCount := d.MatchCount - len(d.Decisions); undecidedCount > 0 {
		fmt.Fprintf(&b, "%s more fit: run it again\n", print.Plural(undecidedCount, "Call"))
	}
	return b.String()
}

// votesText says how many people have decided, if several must: "1 of 2", or with the number of Calls if counts differ.
func (d *batchOutcome) votesText() string {
	callCountByVotes, distinctVotes := map[client.VoteCount]int{}, []client.VoteCount(nil)
	for _, one := range d.Decisions {
		if one.IsAccepted && one.Votes != nil {
			if callCountByVotes[*one.Votes] == 0 {
				distinctVotes = append(distinctVotes, *one.Votes)
			}
			callCountByVotes[*one.Votes]++
		}
	}
	var parts []string
	for _, c := range distinctVotes {
		part := fmt.Sprintf("%d of %d", c.Have, c.Want)
		if callCountByVotes[c] < d.AcceptedCount {
			part += fmt.Sprintf(" on %d", callCountByVotes[c])
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

const (
	maxRows               = 100  // without --all
	maxInstanceNamesWidth = 60   // characters of the names of a row's instances
	maxSharedValueLength  = 2000 // characters of a value that is the same in all rows
	maxCellWidth          = 44
)

// callTable shows the Calls to decide on, with the titles and formats of their Tools.
type callTable struct {
	bulk.Table
	approvals      []client.Approval
	approvalByCall map[string]client.Approval
	titleByField   map[string]string // of fields, by name
}

func newCallTable(t bulk.Table, approvals []client.Approval) callTable {
	table := callTable{t, approvals, map[string]client.Approval{}, map[string]string{}}
	namesByTitle := map[string][]string{} // by title
	for _, a := range approvals {
		table.approvalByCall[a.CallID] = a
		for _, f := range a.Fields {
			if f.Format.Title != "" && !slices.Contains(namesByTitle[f.Title], f.Name) {
				namesByTitle[f.Title] = append(namesByTitle[f.Title], f.Name)
			}
		}
	}
	for title, fieldNames := range namesByTitle {
		if len(fieldNames) == 1 { // if several fields share a title, their names tell them apart
			table.titleByField[fieldNames[0]] = title
		}
	}
	return table
}

// approvalOf returns a row's Call. If a row stands for several, it returns the first: they differ only in their
// instances.
func (t callTable) approvalOf(r bulk.Row) client.Approval {
	key, _ := ideafile.ParseCallKey(r.CallID)
	return t.approvalByCall[key.ID(r.Instances[0])]
}

func (t callTable) title(name string) string { return cmp.Or(t.titleByField[name], name) }

// isHidden reports whether the table leaves a field out because only operators need it. --json shows it.
func (t callTable) isHidden(name string) bool {
	return slices.ContainsFunc(t.approvals[0].HiddenNames, func(hidden string) bool {
		return name == hidden || strings.HasPrefix(name, hidden+".")
	})
}

// moneySum adds up a field that holds money. It is "" if the field holds none.
func (t callTable) moneySum(name string) string {
	fields := jsonval.Map(t.approvals, func(a client.Approval) *shown.Field { return a.Field(name) })
	return shown.SumText(fields, t.approvals[0].Language)
}

// text shows the table.
func (t callTable) text(processID string, matchCount, width int, showAll bool) string {
	var b strings.Builder
	print.Fprintf(&b, "%s: %s", processID, print.Plural(t.CallCount, "Call"))
	if matchCount > t.CallCount {
		fmt.Fprintf(&b, " of %d that fit", matchCount)
	}
	b.WriteString("\n")
	t.writeSharedFields(&b, width)
	b.WriteString("\n")
	rows := t.Rows
	if !showAll {
		rows = rows[:min(len(rows), maxRows)]
	}
	print.WriteSplitTable(&b, t.columns(rows), width)
	if hiddenRowCount := len(t.Rows) - len(rows); hiddenRowCount > 0 {
		fmt.Fprintf(&b, "and %s more: --all shows them\n", print.Plural(hiddenRowCount, "row"))
	}
	return b.String()
}

// writeSharedFields lists what is the same in all rows, each value on as many lines as needed, and the sums of money.
func (t callTable) writeSharedFields(b *strings.Builder, width int) {
	var names, values []string
	var sharedFields []bulk.Field
	for _, f := range t.SharedFields {
		if !t.isHidden(f.Name) {
			value := formatValue(t.approvals[0], f.Name, f.Value, maxSharedValueLength)
			sharedFields = append(sharedFields, bulk.Field{Name: t.title(f.Name), Value: value})
		}
	}
	for _, name := range append(jsonval.Map(t.SharedFields, func(f bulk.Field) string {
		return f.Name
	}), t.ColumnNames...) {
		if sum := t.moneySum(name); sum != "" && !t.isHidden(name) {
			sharedFields = append(sharedFields, bulk.Field{Name: t.title(name) + ", in all", Value: sum})
		}
	}
	nameWidth := 0
	for _, f := range sharedFields {
		nameWidth = max(nameWidth, utf8.RuneCountInString(f.Name))
	}
	nameWidth = min(nameWidth, maxCellWidth)
	for _, f := range sharedFields {
		name := "  " + print.Compact(f.Name, nameWidth)
		value := []rune(jsonval.AsText(f.Value))
		for line := range slices.Chunk(value, max(width-nameWidth-4, maxCellWidth/2)) {
			names, values = append(names, name), append(values, string(line))
			name = ""
		}
	}
	if len(names) > 0 {
		print.WriteColumns(b, [][]string{names, values})
	}
}

// formatValue formats a value of a Call on one line. An empty text is "", to differ from a missing one.
func formatValue(a client.Approval, name string, v any, maxWidth int) string {
	if f := a.Field(name); f != nil {
		v = f.DisplayText
	}
	if v == "" {
		return `""`
	}
	return print.Compact(v, maxWidth)
}

// columns are the Call, the instance's name, the instances if a row stands for several, and the fields that differ.
func (t callTable) columns(rows []bulk.Row) [][]string {
	callColumn, caseColumn, instanceColumn := []string{"Call"}, []string{"Case"}, []string{"Instances"}
	hasNames, hasGroupedRows := false, false
	for _, r := range rows {
		callColumn = append(callColumn, print.Compact(r.CallID, maxCellWidth))
		key, _ := ideafile.ParseCallKey(r.CallID)
		names := jsonval.Map(r.Instances, func(token string) string {
			return cmp.Or(t.approvalByCall[key.ID(token)].InstanceName, token)
		})
		caseName, allNames := "", ""
		if len(names) > 1 {
			hasGroupedRows = true
			allNames = print.FitWidth(fmt.Sprintf("%d: %s", len(names), print.Printable(strings.Join(names, ", "))),
				maxInstanceNamesWidth)
		} else if names[0] != r.Instances[0] {
			hasNames, caseName = true, print.Compact(names[0], maxCellWidth)
		}
		caseColumn, instanceColumn = append(caseColumn, caseName), append(instanceColumn, allNames)
	}
	columns := [][]string{callColumn}
	if hasNames {
		columns = append(columns, caseColumn)
	}
	if hasGroupedRows {
		columns = append(columns, instanceColumn)
	}
	for _, name := range t.ColumnNames {
		if t.isHidden(name) {
			continue
		}
		c := []string{print.Compact(t.title(name), maxCellWidth)}
		for _, r := range rows {
			text := ""
			if v, hasValue := r.Values[name]; hasValue {
				text = formatValue(t.approvalOf(r), name, v, maxCellWidth)
			}
			c = append(c, text)
		}
		columns = append(columns, c)
	}
	return columns
}
