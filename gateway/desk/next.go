package desk

import (
	"net/url"
	"slices"
	"time"

	"processidea/client"
	"processidea/gateway/access"
)

// nextCase leads on from a decision to what waits for the same person.
type nextCase struct {
	Href, About string // of the first case in the inbox's order; empty: none is left
	LeftCount   int    // cases that wait for the person, the first among them
	IsFiltered  bool   // cases that do not fit the inbox's filter are not counted
}

// nextCaseTimeout bounds how long a page about a decision waits for the next case, beyond the patience of a page.
const nextCaseTimeout = time.Second

// findNextCase returns the next case of an inbox, without those that are decided. It returns nil if that takes too
// long, or the person decides nothing.
func (v *visit) findNextCase(backHref string, decidedOutcomes ...outcome) *nextCase {
	inboxURL, err := url.Parse(backHref)
	if err != nil || !v.user.May(access.Decide) {
		return nil
	}
	ctx := withPageStart(v.Context(), time.Now().Add(nextCaseTimeout))
	waitingItems, err := queryWorker(ctx, v.Desk, "inbox", v.AllWaitingForPeople)
	if err != nil {
		return nil
	}
	f := readFilter(inboxURL.Query())
	f.DeciderScope = "" // "all" lists what others decide, too
	p := inboxPage{frame: v.frame(""), Filter: f, ToolTitleByName: map[string]string{}}
	remainingCalls := slices.DeleteFunc(p.selectMatchingCalls(v, waitingItems.Approvals, v.userWithPasskeys()),
		func(a client.Approval) bool {
			return slices.ContainsFunc(decidedOutcomes, func(o outcome) bool { return o.isAboutCall(a) })
		})
	next := &nextCase{LeftCount: len(remainingCalls), IsFiltered: f.isNarrowed()}
	if len(remainingCalls) > 0 {
		a := remainingCalls[0]
		next.Href = callHrefFrom(backHref, a.Process, a.CallID)
		next.About = client.RecordedDecision{Sentence: clip(a.Sentence, maxCellChars),
			InstanceName: caseName(a)}.About()
	}
	return next
}

// callHrefFrom is callHref for a link in an inbox. The page of the Call leads back to the same filter.
func callHrefFrom(backHref, processID, callID string) string {
	if backHref = deskPathOrRoot(backHref); backHref == "/" {
		return callHref(processID, callID)
	}
	return callHref(processID, callID) + "?" + url.Values{"back": {backHref}}.Encode()
}
