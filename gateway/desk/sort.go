package desk

import (
	"cmp"
	"slices"
	"strings"

	"processidea/client"
	"processidea/model/ideafile/shown"
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
	AriaSort string // the present order by this column; empty: the rows are sorted otherwise
}

// sortLink leads on from the present order: by a column of texts upwards, then downwards, then as usual. Numbers begin
// with the largest.
func (f inboxFilter) sortLink(key string, beginsDescending bool, groupID string) (link sortLink) {
	orders := []string{key, descendingPrefix + key}
	if beginsDescending {
		slices.Reverse(orders)
	}
	if orders = append(orders, ""); f.Sort != "" {
		link.AriaSort = map[string]string{key: "ascending", descendingPrefix + key: "descending"}[f.Sort]
		f.Sort = orders[slices.Index(orders, f.Sort)+1]
	} else {
		f.Sort = orders[0]
	}
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

// compareBy orders two Calls of a table by a column, as inboxFilter.Sort names it. What has no value comes last.
func compareBy(sortKey string, a, b client.Approval) int {
	key, isDescending := strings.CutPrefix(sortKey, descendingPrefix)
	order := 0
	switch key {
	case sortByCase:
		name := func(a client.Approval) string { return strings.ToLower(cmp.Or(caseName(a), a.Sentence)) }
		order = strings.Compare(name(a), name(b))
	case sortByArrival:
		order = a.Since.Compare(b.Since)
	case sortByDeadline:
		order = deadlineOrFarFuture(a).Compare(deadlineOrFarFuture(b))
	default:
		x, y := a.Field(key), b.Field(key)
		if x == nil || y == nil || x.Value == nil || y.Value == nil {
			hasValue := func(f *shown.Field) bool { return f != nil && f.Value != nil }
			return cmp.Compare(boolRank(hasValue(y)), boolRank(hasValue(x)))
		}
		order = compareValues(x.Value, y.Value)
	}
	if isDescending {
		return -order
	}
	return order
}

// compareValues orders numbers by what they are worth, to the last digit, and anything else by its text.
func compareValues(x, y any) int {
	asAmount := func(v any) shown.Field { return shown.Field{Value: v, Format: shown.Format{Display: shown.Money}} }
	return cmp.Or(shown.CompareAmounts(asAmount(x), asAmount(y)),
		strings.Compare(strings.ToLower(jsonval.AsText(x)), strings.ToLower(jsonval.AsText(y))))
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}
