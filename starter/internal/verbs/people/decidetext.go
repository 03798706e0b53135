package people

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"processidea/client"
	"processidea/client/bulk"
	"processidea/starter/internal/print"
)

// decidedMany is what became of many decisions, as --json prints it.
type decidedMany struct {
	Process   string       `json:"process"`
	Signal    string       `json:"signal"`
	Decision  string       `json:"decision"`
	Fitting   int          `json:"fitting"` // Calls; at most 1,000 of them are decided on at once
	Accepted  int          `json:"taken"`
	Refused   int          `json:"refused"`
	Decisions []decidedOne `json:"decisions"` // empty: nothing was sent
	Table     bulk.Table   `json:"table"`
}

type decidedOne struct {
	Call     string        `json:"call"`
	Digest   string        `json:"digest"`
	Accepted bool          `json:"accepted"`
	Reason   string        `json:"reason,omitempty"` // why it was refused
	Count    *client.Count `json:"count,omitempty"`  // where several people must decide
}

func (d *decidedMany) add(outcomes []client.Outcome) {
	for _, o := range outcomes {
		one := decidedOne{Call: o.Call, Digest: o.Digest, Accepted: o.Refused == "", Reason: o.Refused,
			Count: countOf(o.Count)}
		if one.Accepted {
			d.Accepted++
		} else {
			d.Refused++
		}
		d.Decisions = append(d.Decisions, one)
	}
}

// countOf is a count that is worth telling: nil where one person decides.
func countOf(c client.Count) *client.Count {
	if c.Want < 2 {
		return nil
	}
	return &c
}

// text says in summary what was taken, and of each that was not why.
func (d *decidedMany) text() string {
	var b strings.Builder
	print.Fprintf(&b, "%s: %s taken on %s%s", d.Process, d.Decision, print.Plural(d.Accepted, "Call"),
		d.countText())
	if d.Refused > 0 {
		fmt.Fprintf(&b, ", refused on %d", d.Refused)
	}
	b.WriteString("\n")
	for _, one := range d.Decisions {
		if !one.Accepted {
			print.Fprintf(&b, "  %s refused: %s\n", one.Call, print.OneLine(one.Reason))
		}
	}
	if more := d.Fitting - len(d.Decisions); more > 0 {
		fmt.Fprintf(&b, "%s more fit: run it again\n", print.Plural(more, "Call"))
	}
	return b.String()
}

// countText tells how many have decided, where several must: "1 of 2" of most, or how many Calls have which.
func (d *decidedMany) countText() string {
	counts, order := map[client.Count]int{}, []client.Count(nil)
	for _, one := range d.Decisions {
		if one.Accepted && one.Count != nil {
			if counts[*one.Count] == 0 {
				order = append(order, *one.Count)
			}
			counts[*one.Count]++
		}
	}
	var parts []string
	for _, c := range order {
		part := fmt.Sprintf("%d of %d", c.Have, c.Want)
		if counts[c] < d.Accepted {
			part += fmt.Sprintf(" on %d", counts[c])
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

const (
	maxRows               = 100  // unless all are wanted
	maxInstanceNamesWidth = 60   // characters of the names of a row's instances
	maxAlikeLength        = 2000 // characters of a value that is the same in all
	maxCellWidth          = 44
)

// tableText shows what is to be decided on.
func tableText(process string, t bulk.Table, fitting, width int, all bool) string {
	var b strings.Builder
	print.Fprintf(&b, "%s: %s", process, print.Plural(t.Calls, "Call"))
	if fitting > t.Calls {
		fmt.Fprintf(&b, " of %d that fit", fitting)
	}
	b.WriteString("\n")
	writeAlike(&b, t.Alike, width)
	b.WriteString("\n")
	rows := t.Rows
	if !all {
		rows = rows[:min(len(rows), maxRows)]
	}
	print.Blocks(&b, tableColumns(t, rows), width)
	if more := len(t.Rows) - len(rows); more > 0 {
		fmt.Fprintf(&b, "and %s more: --all shows them\n", print.Plural(more, "row"))
	}
	return b.String()
}

// writeAlike says what is the same in all, each value on as many lines as it takes.
func writeAlike(b *strings.Builder, alike []bulk.Field, width int) {
	var names, values []string
	widest := 0
	for _, f := range alike {
		widest = max(widest, utf8.RuneCountInString(f.Name))
	}
	widest = min(widest, maxCellWidth)
	for _, f := range alike {
		name := "  " + print.Compact(f.Name, widest)
		value := []rune(shownValue(f.Value, maxAlikeLength))
		for line := range slices.Chunk(value, max(width-widest-4, maxCellWidth/2)) {
			names, values = append(names, name), append(values, string(line))
			name = ""
		}
	}
	if len(names) > 0 {
		print.Columns(b, [][]string{names, values})
	}
}

// shownValue is a value on one line; an empty text differs from a missing one.
func shownValue(v any, maxWidth int) string {
	if v == "" {
		return `""`
	}
	return print.Compact(v, maxWidth)
}

// tableColumns returns the table's columns: the Call, the instances if a row stands for several, and what differs.
func tableColumns(t bulk.Table, rows []bulk.Row) [][]string {
	calls, instances, several := []string{"Call"}, []string{"Instances"}, false
	for _, r := range rows {
		calls = append(calls, print.Compact(r.Call, maxCellWidth))
		names := ""
		if len(r.Instances) > 1 {
			several = true
			names = print.FitWidth(fmt.Sprintf("%d: %s", len(r.Instances),
				print.Printable(strings.Join(r.Instances, ", "))), maxInstanceNamesWidth)
		}
		instances = append(instances, names)
	}
	columns := [][]string{calls}
	if several {
		columns = append(columns, instances)
	}
	for _, name := range t.Columns {
		c := []string{print.Compact(name, maxCellWidth)}
		for _, r := range rows {
			text := ""
			if v, has := r.Values[name]; has {
				text = shownValue(v, maxCellWidth)
			}
			c = append(c, text)
		}
		columns = append(columns, c)
	}
	return columns
}
