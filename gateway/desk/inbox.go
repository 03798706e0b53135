package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/planpage"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// inboxFilter selects the waiting Calls to show. It is the query of the page.
type inboxFilter struct {
	Tool, Process, Text, Age, Due, DeciderScope string
	Sort                                        string // the column by which rows are sorted; empty: as usual
	PageNumber                                  int
	PageSize                                    int
}

const (
	defaultPageSize = 100
	maxPageSize     = client.MaxDecisionsPerSignal
)

// filterPeriods are the spans that a filter offers, in their order.
var filterPeriods = []string{"1h", "4h", "1d", "3d", "7d"}

// durationByPeriod are the ages and times to a deadline that a filter can ask for.
var durationByPeriod = map[string]time.Duration{"1h": time.Hour, "4h": 4 * time.Hour, "1d": 24 * time.Hour,
	"3d": 72 * time.Hour, "7d": 168 * time.Hour}

func readFilter(q url.Values) inboxFilter {
	f := inboxFilter{}
	for key, target := range f.textFields() {
		*target = strings.TrimSpace(q.Get(key))
	}
	f.PageNumber, _ = strconv.Atoi(q.Get("page"))
	f.PageNumber = max(f.PageNumber, 1)
	f.PageSize, _ = strconv.Atoi(q.Get("size"))
	if f.PageSize <= 0 {
		f.PageSize = defaultPageSize
	}
	f.PageSize = min(f.PageSize, maxPageSize)
	return f
}

// textFields returns pointers to the texts of the filter, by their keys in a query.
func (f *inboxFilter) textFields() map[string]*string {
	return map[string]*string{"tool": &f.Tool, "process": &f.Process, "text": &f.Text, "age": &f.Age, "due": &f.Due,
		"who": &f.DeciderScope, "sort": &f.Sort}
}

// href returns the address of the inbox with this filter.
func (f inboxFilter) href() string {
	q := url.Values{}
	for key, text := range f.textFields() {
		if *text != "" {
			q.Set(key, *text)
		}
	}
	if f.PageNumber > 1 {
		q.Set("page", strconv.Itoa(f.PageNumber))
	}
	if f.PageSize != defaultPageSize {
		q.Set("size", strconv.Itoa(f.PageSize))
	}
	if len(q) == 0 {
		return "/"
	}
	return "/?" + q.Encode()
}

func (f inboxFilter) pageHref(page int) string { f.PageNumber = page; return f.href() }

// isNarrowed reports whether a person has restricted the list by more than DeciderScope.
func (f inboxFilter) isNarrowed() bool {
	return f.Tool+f.Process+f.Text+f.Age+f.Due != ""
}

func (f inboxFilter) fits(a client.Approval, now time.Time) bool {
	age, hasAge := durationByPeriod[f.Age]
	due, hasDue := durationByPeriod[f.Due]
	switch {
	case f.Tool != "" && a.Tool != f.Tool:
		return false
	case f.Process != "" && a.Process != f.Process && !strings.HasPrefix(a.Process, f.Process+"/"):
		return false
	case hasAge && now.Sub(a.Since) < age:
		return false
	case hasDue && (a.Deadline == nil || a.Deadline.Sub(now) > due):
		return false
	}
	return f.Text == "" || matchesText(a, strings.ToLower(f.Text))
}

// matchesText reports whether a text in lower case occurs in anything that is shown of a Call.
func matchesText(a client.Approval, text string) bool {
	for _, s := range []string{a.Process, a.CallID, a.Tool, a.ReviewReason, a.Sentence, a.InstanceName, a.Reasoning} {
		if strings.Contains(strings.ToLower(s), text) {
			return true
		}
	}
	for _, f := range a.Fields {
		if strings.Contains(strings.ToLower(f.DisplayText), text) {
			return true
		}
	}
	return valueContains(a.Params, text) || valueContains(a.Input, text) || valueContains(a.State, text)
}

func valueContains(v any, text string) bool {
	containsText := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	return jsonval.ContainsAny(v, func(one any) bool {
		switch one := one.(type) {
		case string:
			return containsText(one)
		case json.Number:
			return containsText(one.String())
		case jsonval.Object:
			return slices.ContainsFunc(jsonval.SortedKeys(one), containsText)
		}
		return false
	})
}

// denialReason returns why a person for whom the gateway vouches may not decide on a Call, or "" if they may. The
// process may still refuse the decision.
func denialReason(person *access.Person, a client.Approval) string {
	return denialReasonAs(person, a, policy.Person{Name: person.Name, Groups: person.Groups, Account: person.Account,
		HasVerifiedProof: person.Signer != nil})
}

// denialReasonAs is denial for a person as a proof describes them.
func denialReasonAs(person *access.Person, a client.Approval, decider policy.Person) string {
	if !person.May(access.Decide) {
		return "You may look, and not decide."
	}
	d := approval.Decision{DecidedBy: person.Name, Account: person.Account, Groups: person.Groups}
	if decider.HasVerifiedProof {
		d.Signature = &proof.SignatureInfo{Name: decider.AlternateName}
	}
	reason := ""
	for _, one := range a.AsSelfAndAsDeputy(d, time.Now()) {
		if one.OnBehalfOf != nil {
			decider = one.Decider()
		}
		if reason = decisionDenialReason(a, one, decider); reason == "" {
			return ""
		}
	}
	return reason
}

// alreadyDecidedDenial is the denial of a further decision by whoever has decided already, while others still must.
const alreadyDecidedDenial = "You have decided; others must too."

// decisionDenialReason is denial for one capacity: the person's own, or that of a deputy.
func decisionDenialReason(a client.Approval, d approval.Decision, decider policy.Person) string {
	for _, v := range a.VotesSoFar {
		if policy.AnySamePerson(v.Identities(), d.Identities()) {
			return alreadyDecidedDenial
		}
	}
	if err := a.CheckHandOverRecipient(d); err != nil && !a.IsHandOverLapsed(d) {
		return err.Error()
	}
	return a.Exclusions.DenialReason(decider, a.CallID, a.Deciders)
}

type inboxPage struct {
	frame
	Filter              inboxFilter
	IsNarrowed          bool
	ToolTitleByName     map[string]string // titles, by name
	Groups              []callGroup
	Plans               []planRow
	pagination                   // of the Calls that fit the filter
	DueCount            int      // Calls of these that are decided automatically today, or should have been
	OtherCallCount      int      // Calls that match, and are for others to decide
	OtherPlanCount      int      // Plans for others to decide
	AlreadyDecidedCount int      // Calls on which this person has decided, and another person must too
	UnansweredProcesses []string // processes whose Calls and Plans are missing
	TitleByUnanswered   map[string]string
	HeldUpCount         int // processes, up to a thousand
	OrderApprovals      []orderApprovals
	AllHref             string // the page with the Calls for others too
	MineHref            string
	BackHref            string // this page
	LargerPageHref      string // the page with more Calls
	MaxDecisions        int
	FormError           string // the error in what was sent
}

// maxTitledUnanswered bounds the processes without an answer whose titles the inbox reads.
const maxTitledUnanswered = 20

func (v *visit) showInbox() error {
	waitingItems, err := queryWorker(v.Context(), v.Desk, "inbox", v.AllWaitingForPeople)
	if err != nil {
		return err
	}
	return v.show("inbox", v.newInboxPage(waitingItems, v.URL.Query()))
}

// showInboxAgain shows the inbox again after a form that decided nothing, with its entries and what is wrong.
func (v *visit) showInboxAgain(formErr error, tickedPickValues []string) error {
	waitingItems, err := v.AllWaitingForPeople(v.Context())
	if err != nil {
		return err
	}
	back, err := url.Parse(deskPathOrRoot(v.PostForm.Get("back")))
	if err != nil {
		return err
	}
	problem := &api.Problem{Status: http.StatusOK}
	if formErr != nil {
		problem = v.ExplainAndLog(v.Context(), v.Pattern, formErr)
	}
	p := v.newInboxPage(waitingItems, back.Query())
	p.ReloadsItself, p.FormError = false, problem.Detail // a page that reloads would lose the entries
	for n := range p.Groups {
		g := &p.Groups[n]
		for k := range g.Rows {
			if r := &g.Rows[k]; slices.Contains(v.PostForm["shown"], r.PickValue) {
				g.Reason, r.IsTicked = v.formValue("reason"), slices.Contains(tickedPickValues, r.PickValue)
				g.NeedsReason = p.FormError == planpage.ReasonMissingText
			}
		}
	}
	return v.render(problem.Status, "inbox", p)
}

func (v *visit) newInboxPage(waitingItems client.WaitingItems, query url.Values) inboxPage {
	f, person := readFilter(query), v.userWithPasskeys()
	p := inboxPage{frame: v.frame("Inbox"), Filter: f, IsNarrowed: f.isNarrowed(), MaxDecisions: maxPageSize,
		UnansweredProcesses: waitingItems.UnansweredProcessIDs}
	p.ReloadsItself = true
	if f.Process != "" {
		p.ProcessTitle = v.processTitleNow(f.Process)
	}
	p.TitleByUnanswered = map[string]string{}
	for _, id := range p.UnansweredProcesses[:min(len(p.UnansweredProcesses), maxTitledUnanswered)] {
		p.TitleByUnanswered[id] = v.processTitleNow(id)
	}
	// If held-up processes cannot be counted, for example without the search attributes, the page omits them.
	p.HeldUpCount, _ = queryWorker(v.Context(), v.Desk, "held up", v.API.CountHeldUpProcesses)
	p.ToolTitleByName = map[string]string{}
	matching := p.selectMatchingCalls(v, waitingItems.Approvals, person)
	for _, plan := range waitingItems.Plans {
		presenter := v.Client.Process(plan.Process).Presenter(v.Context())
		for _, c := range plan.Calls {
			p.ToolTitleByName[c.WrittenCall.Tool] = presenter.ToolTitle(c.WrittenCall.Tool)
		}
		row := planRow{plan, planDenialReason(person, plan), presenter.ProcessTitle}
		switch {
		case !f.fitsPlan(plan, p.Now):
		case f.DeciderScope != "all" && row.DenialReason != "":
			p.OtherPlanCount++
		case f.PageNumber == 1:
			p.Plans = append(p.Plans, row)
		}
	}
	p.pagination = paginate(len(matching), f.PageSize, f.PageNumber, f.pageHref)
	f.PageNumber = (p.First + f.PageSize - 1) / f.PageSize
	p.Groups = groupsOf(matching[p.First-1:p.Last], person)
	for n := range p.Groups {
		p.Groups[n].addSortLinks(f)
	}
	p.BackHref = f.href()
	p.setLinks(f)
	p.OrderApprovals = v.recentOrderApprovals(f)
	return p
}

// orderApprovals is what standing orders of one person approved, so that nobody else is asked.
type orderApprovals struct {
	client.OrderApprovals
	ToolTitle, ProcessTitle string
}

const (
	// orderApprovalsPeriod is how far back an inbox says what standing orders took over.
	orderApprovalsPeriod = 7 * 24 * time.Hour
	maxOrderApprovals    = 10
	orderApprovalsKey    = "orders"
)

// keptOrderApprovals is what was found last. Finding it asks the store about every process, and inboxes are looked at
// all the time: it is kept a hundred times as long as it took to find.
type keptOrderApprovals struct {
	list      []client.OrderApprovals
	expiresAt time.Time
}

// findOrderApprovals lists what standing orders took over lately; as it was found before, or nil, if that takes long.
func (v *visit) findOrderApprovals() []client.OrderApprovals {
	previous, _ := v.previousResults.Get(orderApprovalsKey)
	kept, _ := previous.(keptOrderApprovals)
	if time.Now().Before(kept.expiresAt) {
		return kept.list
	}
	list, err := findWithinPageTime(v.Context(), v.storeTasks, orderApprovalsKey,
		func(ctx context.Context, _ *task) ([]client.OrderApprovals, error) {
			start := time.Now()
			list, err := v.Client.OrderApprovals(ctx, start.Add(-orderApprovalsPeriod))
			if err == nil {
				expiresAt := time.Now().Add(100 * time.Since(start))
				v.previousResults.Add(orderApprovalsKey, keptOrderApprovals{list, expiresAt})
			}
			return list, err
		})
	if err != nil {
		return kept.list
	}
	return list
}

// recentOrderApprovals are the rows of an inbox of what standing orders took over lately. It is not known which of
// these cases a filter by text, age or deadline would show.
func (v *visit) recentOrderApprovals(f inboxFilter) (rows []orderApprovals) {
	if f.Text+f.Age+f.Due != "" {
		return nil
	}
	for _, one := range v.findOrderApprovals() {
		if f.Process != "" && one.ProcessID != f.Process || f.Tool != "" && one.Tool != f.Tool {
			continue
		}
		if len(rows) == maxOrderApprovals {
			break
		}
		presenter := v.Client.Process(one.ProcessID).Presenter(v.Context())
		rows = append(rows, orderApprovals{one, presenter.ToolTitle(one.Tool),
			processTitle(one.ProcessID, presenter.ProcessTitle)})
	}
	return rows
}

// selectMatchingCalls returns the Calls that fit the filter, in the order of the tables. It counts those that it leaves
// out.
func (p *inboxPage) selectMatchingCalls(v *visit, list []client.Approval,
	person *access.Person) (matching []client.Approval) {
	for _, a := range list {
		p.ToolTitleByName[a.Tool] = a.ToolTitle
		if !p.Filter.fits(a, p.Now) {
			continue
		}
		if why := denialReason(person, a); p.Filter.DeciderScope != "all" && why != "" &&
			!mayDecideByPasskey(person, a) {
			if why == alreadyDecidedDenial {
				p.AlreadyDecidedCount++
			} else {
				p.OtherCallCount++
			}
			continue
		}
		if dueText(p.Now, a.Deadline) != "" {
			p.DueCount++
		}
		matching = append(matching, v.withDisagreementText(a))
	}
	sortByUrgency(matching)
	return groupByTable(matching, p.Filter.Sort)
}

func (p *inboxPage) setLinks(f inboxFilter) {
	selectedScope := f.DeciderScope
	f.DeciderScope, f.PageNumber = "all", 1
	p.AllHref = f.href()
	f.DeciderScope = ""
	p.MineHref = f.href()
	if p.Total > f.PageSize && f.PageSize < maxPageSize {
		f.DeciderScope, f.PageSize = selectedScope, maxPageSize
		p.LargerPageHref = f.href()
	}
}

// compareAmountsDescending orders by the amount of money, largest first, one currency after the other.
func compareAmountsDescending(a, b client.Approval) int {
	x, y := cmp.Or(a.Amount(), &shown.Field{}), cmp.Or(b.Amount(), &shown.Field{})
	return cmp.Or(cmp.Compare(y.Format.Currency, x.Format.Currency), shown.CompareAmounts(*y, *x))
}

// deadlineOrFarFuture returns when a Call is decided automatically, or a distant time if it never is.
func deadlineOrFarFuture(a client.Approval) time.Time {
	if a.Deadline == nil {
		return time.Unix(1<<40, 0)
	}
	return *a.Deadline
}

// sortByUrgency orders by the time of the automatic decision, and then by the time of waiting, longest first.
func sortByUrgency(list []client.Approval) {
	slices.SortStableFunc(list, func(a, b client.Approval) int {
		return cmp.Or(deadlineOrFarFuture(a).Compare(deadlineOrFarFuture(b)), a.Since.Compare(b.Since),
			cmp.Compare(a.Process, b.Process),
			cmp.Compare(a.CallID, b.CallID))
	})
}

// groupByTable puts the Calls of each table together. Tables are in the order of their first Calls; the Calls of a
// table are ordered by the column of sortKey, then by deadline, and then by amount.
func groupByTable(list []client.Approval, sortKey string) []client.Approval {
	var keys []string
	callsByTable := map[string][]client.Approval{}
	for _, a := range list {
		key := callGroupKey(a)
		if callsByTable[key] == nil {
			keys = append(keys, key)
		}
		callsByTable[key] = append(callsByTable[key], a)
	}
	ordered := make([]client.Approval, 0, len(list))
	for _, key := range keys {
		ordered = append(ordered, sortedByColumn(callsByTable[key], sortKey, func(a, b client.Approval) int {
			x, y := deadlineOrFarFuture(a), deadlineOrFarFuture(b)
			// deadlines of Calls planned together differ by moments
			return cmp.Or(x.Truncate(time.Hour).Compare(y.Truncate(time.Hour)), compareAmountsDescending(a, b),
				x.Compare(y))
		})...)
	}
	return ordered
}
