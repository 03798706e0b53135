package desk

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"processidea/client"
	"processidea/model/jsonval"
)

// The keys of columns that are no fields, in inboxFilter.Sort. A key with descendingPrefix sorts the other way round.
const (
	sortByCase       = "@case"
	sortByArrival    = "@since"
	sortByDeadline   = "@deadline"
	descendingPrefix = "-"
)

// sortLink is the head of a column by which the rows of a table can be sorted.
type sortLink struct {
	Href     string // with the next order of this column; empty: it cannot be sorted by
	Action   string // what it does, in the words before the column's name
	AriaSort string // the present order by this column; empty: the rows are sorted otherwise
}

// sortLink leads on from the present order: by a column of texts upwards, then downwards, then as usual. Numbers begin
// with the largest.
func (f inboxFilter) sortLink(key string, beginsDescending bool, groupID string) (link sortLink) {
	orders := []string{key, descendingPrefix + key}
	if beginsDescending {
		slices.Reverse(orders)
	}
	next := 0
	if orders = append(orders, ""); f.Sort != "" {
		link.AriaSort = map[string]string{key: "ascending", descendingPrefix + key: "descending"}[f.Sort]
		next = slices.Index(orders, f.Sort) + 1
	}
	f.Sort, link.Action = orders[next], []string{"sort by", "sort in the reverse order by", "no longer sort by"}[next]
	link.Href = f.pageHref(1) + "#" + groupID
	return link
}

// addSortLinks makes the heads of a table's columns links. A table of one row has nothing to sort.
func (g *callGroup) addSortLinks(f inboxFilter) {
	if g.Count < 2 {
		return
	}
	for n := range g.Columns {
		c := &g.Columns[n]
		if g.Rows[0].Field(c.FullName) != nil {
			c.Sort = f.sortLink(c.FullName, c.IsNumber, g.ID)
		}
	}
	g.CaseSort, g.ArrivalSort = f.sortLink(sortByCase, false, g.ID), f.sortLink(sortByArrival, false, g.ID)
	g.DeadlineSort = f.sortLink(sortByDeadline, false, g.ID)
}

// sortableRow is a Call with what it is sorted by.
type sortableRow struct {
	client.Approval
	isMissing bool // it has no value
	time      time.Time
	number    *big.Rat // nil: it is none
	text      []byte   // in the order of the reader's language
}

// sortedByColumn returns the Calls of a table in the order of a column, as inboxFilter.Sort names it, and then in the
// order of then. What has no value comes last, whichever way the column is sorted.
func sortedByColumn(list []client.Approval, sortKey string, then func(a, b client.Approval) int) []client.Approval {
	column, isDescending := strings.CutPrefix(sortKey, descendingPrefix)
	collator := collate.New(language.Make(string(list[0].Language)), collate.Numeric, collate.IgnoreCase)
	rows := jsonval.Map(list, func(a client.Approval) *sortableRow {
		r := &sortableRow{Approval: a}
		if text := r.readColumn(column); text != "" {
			r.text = collator.KeyFromString(&collate.Buffer{}, clip(text, maxCellChars))
		}
		return r
	})
	slices.SortStableFunc(rows, func(a, b *sortableRow) int {
		order := a.compare(b)
		if isDescending {
			order = -order
		}
		return cmp.Or(cmp.Compare(boolRank(a.isMissing), boolRank(b.isMissing)), order, then(a.Approval, b.Approval))
	})
	return jsonval.Map(rows, func(r *sortableRow) client.Approval { return r.Approval })
}

// readColumn reads what a row is sorted by in a column. It returns the text that is shown, if it is sorted by that.
func (r *sortableRow) readColumn(column string) (text string) {
	switch column {
	case sortByCase:
		return cmp.Or(caseName(r.Approval), r.Sentence)
	case sortByArrival:
		r.time = r.Since
		return ""
	case sortByDeadline:
		if r.isMissing = r.Deadline == nil; !r.isMissing {
			r.time = *r.Deadline
		}
		return ""
	}
	f := r.Field(column)
	if r.isMissing = f == nil || f.Value == nil; r.isMissing {
		return ""
	}
	if r.number = f.Number(); r.number != nil {
		return ""
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, jsonval.AsText(f.Value)); err == nil {
			r.time = t
			return ""
		}
	}
	return f.DisplayText
}

func (r *sortableRow) compare(other *sortableRow) int {
	if r.number != nil && other.number != nil {
		return r.number.Cmp(other.number)
	}
	return cmp.Or(cmp.Compare(boolRank(r.number != nil), boolRank(other.number != nil)), r.time.Compare(other.time),
		bytes.Compare(r.text, other.text))
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}
