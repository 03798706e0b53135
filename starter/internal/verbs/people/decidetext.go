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

// decideManyOutcome says what became of many decisions. --json prints it.
type decideManyOutcome struct {
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

func (d *decideManyOutcome) add(outcomes []client.DecisionOutcome) {
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
func (d *decideManyOutcome) text() string {
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
func (d *decideManyOutcome) votesText() string {
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
	maxShownRows          = 100  // without --all
	maxInstanceNamesWidth = 60   // characters of the names of a row's instances
	maxSharedValueLength  = 2000 // characters of a value that is the same in all rows
	maxCellWidth          = 44
)

// callTable shows the Calls to decide on, with the titles and formats of their Tools.
type callTable struct {
	bulk.Table
	approvals        []client.Approval
	approvalByCallID map[string]client.Approval
	titleByFieldName map[string]string // of fields, by name
}

func newCallTable(t bulk.Table, approvals []client.Approval) callTable {
	table := callTable{t, approvals, map[string]client.Approval{}, map[string]string{}}
	fieldNamesByTitle := map[string][]string{} // by title
	for _, a := range approvals {
		table.approvalByCallID[a.CallID] = a
		for _, f := range a.Fields {
			if f.Format.Title != "" && !slices.Contains(fieldNamesByTitle[f.Title], f.Name) {
				fieldNamesByTitle[f.Title] = append(fieldNamesByTitle[f.Title], f.Name)
			}
		}
	}
	for title, fieldNames := range fieldNamesByTitle {
		if len(fieldNames) == 1 { // if several fields share a title, their names tell them apart
			table.titleByFieldName[fieldNames[0]] = title
		}
	}
	return table
}

// approvalOf returns a row's Call. If a row stands for several, it returns the first: they differ only in their
// instances.
func (t callTable) approvalOf(r bulk.Row) client.Approval {
	key, _ := ideafile.ParseCallKey(r.CallID)
	return t.approvalByCallID[key.ID(r.InstanceTokens[0])]
}

func (t callTable) fieldTitle(fieldName string) string {
	return cmp.Or(t.titleByFieldName[fieldName], fieldName)
}

// isFieldHidden reports whether the table leaves a field out because only operators need it. --json shows it.
func (t callTable) isFieldHidden(fieldName string) bool {
	return slices.ContainsFunc(t.approvals[0].HiddenParamNames, func(hidden string) bool {
		return fieldName == hidden || strings.HasPrefix(fieldName, hidden+".")
	})
}

// moneySum adds up a field that holds money. It is "" if the field holds none.
func (t callTable) moneySum(fieldName string) string {
	fields := jsonval.Map(t.approvals, func(a client.Approval) *shown.Field { return a.Field(fieldName) })
	return shown.SumText(fields, t.approvals[0].Language)
}

// text shows the table.
func (t callTable) text(processID string, matchCount, width int, showAllRows bool) string {
	var b strings.Builder
	print.Fprintf(&b, "%s: %s", processID, print.Plural(t.CallCount, "Call"))
	if matchCount > t.CallCount {
		fmt.Fprintf(&b, " of %d that fit", matchCount)
	}
	b.WriteString("\n")
	t.writeSharedFields(&b, width)
	b.WriteString("\n")
	rows := t.Rows
	if !showAllRows {
		rows = rows[:min(len(rows), maxShownRows)]
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
		if !t.isFieldHidden(f.Name) {
			value := formatFieldValue(t.approvals[0], f.Name, f.Value, maxSharedValueLength)
			sharedFields = append(sharedFields, bulk.Field{Name: t.fieldTitle(f.Name), Value: value})
		}
	}
	for _, name := range append(jsonval.Map(t.SharedFields, func(f bulk.Field) string {
		return f.Name
	}), t.ColumnNames...) {
		if sum := t.moneySum(name); sum != "" && !t.isFieldHidden(name) {
			sharedFields = append(sharedFields, bulk.Field{Name: t.fieldTitle(name) + ", in all", Value: sum})
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

// formatFieldValue formats a value of a Call on one line. An empty text is "", to differ from a missing one.
func formatFieldValue(a client.Approval, fieldName string, v any, maxWidth int) string {
	if f := a.Field(fieldName); f != nil {
		v = f.DisplayText
	}
	if v == "" {
		return `""`
	}
	return print.Compact(v, maxWidth)
}

// columns are the Call, the instance's name, the instances if a row stands for several, and the fields that differ.
func (t callTable) columns(rows []bulk.Row) [][]string {
	callColumn, instanceNameColumn, groupedInstancesColumn := []string{"Call"}, []string{"Case"}, []string{"Instances"}
	hasInstanceNames, hasGroupedRows := false, false
	for _, r := range rows {
		callColumn = append(callColumn, print.Compact(r.CallID, maxCellWidth))
		key, _ := ideafile.ParseCallKey(r.CallID)
		instanceNames := jsonval.Map(r.InstanceTokens, func(token string) string {
			return cmp.Or(t.approvalByCallID[key.ID(token)].InstanceName, token)
		})
		instanceName, groupedNamesText := "", ""
		if len(instanceNames) > 1 {
			hasGroupedRows = true
			groupedNamesText = print.FitWidth(fmt.Sprintf("%d: %s", len(instanceNames),
				print.Printable(strings.Join(instanceNames, ", "))),
				maxInstanceNamesWidth)
		} else if instanceNames[0] != r.InstanceTokens[0] {
			hasInstanceNames, instanceName = true, print.Compact(instanceNames[0], maxCellWidth)
		}
		instanceNameColumn, groupedInstancesColumn = append(instanceNameColumn, instanceName),
			append(groupedInstancesColumn, groupedNamesText)
	}
	columns := [][]string{callColumn}
	if hasInstanceNames {
		columns = append(columns, instanceNameColumn)
	}
	if hasGroupedRows {
		columns = append(columns, groupedInstancesColumn)
	}
	for _, name := range t.ColumnNames {
		if t.isFieldHidden(name) {
			continue
		}
		c := []string{print.Compact(t.fieldTitle(name), maxCellWidth)}
		for _, r := range rows {
			text := ""
			if v, hasValue := r.Values[name]; hasValue {
				text = formatFieldValue(t.approvalOf(r), name, v, maxCellWidth)
			}
			c = append(c, text)
		}
		columns = append(columns, c)
	}
	return columns
}
