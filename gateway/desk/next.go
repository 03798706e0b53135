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

// nextTimeout bounds how long a page about a decision waits for the next case, beyond the patience of a page.
const nextTimeout = time.Second

// findNext returns the next case of an inbox, without those that are decided. It returns nil if that takes too
// long, or the person decides nothing.
func (v *visit) findNext(back string, decidedOutcomes ...outcome) *nextCase {
	inbox, err := url.Parse(back)
	if err != nil || !v.user.May(access.Decide) {
		return nil
	}
	ctx := withPageStart(v.Context(), time.Now().Add(nextTimeout))
	waitingItems, err := queryWorker(ctx, v.Desk, "inbox", v.AllWaitingForPeople)
	if err != nil {
		return nil
	}
	f := readFilter(inbox.Query())
	f.DeciderScope = "" // "all" lists what others decide, too
	p := inboxPage{frame: v.frame(""), Filter: f, ToolTitleByName: map[string]string{}}
	left := slices.DeleteFunc(p.selectMatchingCalls(v, waitingItems.Approvals, v.caller()),
		func(a client.Approval) bool {
			return slices.ContainsFunc(decidedOutcomes, func(o outcome) bool { return o.isOn(a) })
		})
	next := &nextCase{LeftCount: len(left), IsFiltered: f.isNarrowed()}
	if len(left) > 0 {
		a := left[0]
		next.Href = callHrefFrom(back, a.Process, a.CallID)
		next.About = client.RecordedDecision{Sentence: clip(a.Sentence, maxCellChars),
			InstanceName: caseName(a)}.About()
	}
	return next
}

// callHrefFrom is callHref for a link in an inbox. The page of the Call leads back to the same filter.
func callHrefFrom(back, processID, call string) string {
	if back = safePath(back); back == "/" {
		return callHref(processID, call)
	}
	return callHref(processID, call) + "?" + url.Values{"back": {back}}.Encode()
}
