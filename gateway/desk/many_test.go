package desk

import (
	"net/url"
	"strconv"
	"testing"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
)

// However many Calls wait, the inbox shows a page of them, and asks neither the store nor a worker about any: this desk
// has no client to ask.
func TestTheInboxOfTenThousandCallsAsksAboutNone(t *testing.T) {
	t.Parallel()
	const total = 10_000
	list := make([]client.Approval, total)
	for n := range list {
		list[n] = waitingPayment(t, "case "+strconv.Itoa(n), strconv.Itoa(n), n%60, n%50)
	}
	person := &access.Person{Name: "ann", Rights: []access.Right{access.Decide}}
	v := &visit{Desk: &Desk{Options: Options{API: &api.API{}}}}
	for query, want := range map[string]int{"": 100, "size=1000": 1000, "size=10000": 1000, "page=100": 100} {
		q, _ := url.ParseQuery(query)
		p := inboxPage{Filter: readFilter(q), ToolTitleByName: map[string]string{}}
		matching := p.selectMatchingCalls(v, list, person)
		p.pagination = paginate(len(matching), p.Filter.PageSize, p.Filter.PageNumber, p.Filter.pageHref)
		p.Groups = groupsOf(matching[p.First-1:p.Last], person)
		if len(p.Groups) != 1 || len(p.Groups[0].Rows) != want || p.Total != total {
			t.Errorf("%q: %d tables of %d rows, of %d", query, len(p.Groups), len(p.Groups[0].Rows), p.Total)
		}
	}
}
