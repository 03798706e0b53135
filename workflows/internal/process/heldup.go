package process

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
	"processidea/workflows/internal/mailbox"
)

// This file collects what holds a process up. Activities report it by signals, since a workflow does not see the failed
// attempts of an activity.

func (c *processCore) registerHoldUpHandlers(ctx workflow.Context) {
	mailbox.OnSignal(c.inbox, ctx, protocol.SignalRequestHoldUp,
		"From an activity: what it waits for that nobody in the process can mend.", c.onRequestHoldUp)
	c.listenForHoldUps(ctx)
}

// onRequestHoldUp records what the Request in flight waits for. It ignores signals about a Request that has ended.
func (c *processCore) onRequestHoldUp(_ workflow.Context, s protocol.RequestHoldUpSignal) {
	if s.RequestNumber != c.requestNumberInFlight {
		return
	}
	if s.HoldUp != nil && c.requestHoldUp != nil {
		s.HoldUp.Since = c.requestHoldUp.Since
	}
	c.requestHoldUp = s.HoldUp
}

// listenForHoldUps receives the signals of workers in its own coroutine, since the main loop may wait for an activity
// that is held up itself.
func (c *processCore) listenForHoldUps(ctx workflow.Context) {
	signalChannel := workflow.GetSignalChannel(ctx, protocol.SignalWorkerHoldUp)
	// The main loop waits only for sources that were registered before: this one wakes it.
	wakeChannel := workflow.NewBufferedChannel(ctx, 1)
	c.inbox.OnChannelReceive(wakeChannel, func(wakeChannel workflow.ReceiveChannel) { wakeChannel.ReceiveAsync(nil) })
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var s protocol.WorkerHoldUpSignal
			if isOpen := signalChannel.Receive(ctx, &s); !isOpen {
				return
			}
			c.recordHoldUp(ctx, s)
			if c.phase != phaseOver && c.lastLoggedStatus == loop.StatusRunning {
				status := statusAttributeValue(loop.StatusRunning, c.ownHoldUps(false))
				display.SearchAttributes{AreRegistered: c.start.CanSetSearchAttributes}.SetStatus(ctx, status)
			}
			wakeChannel.SendAsync(true)
		}
	})
}

// ReportedHoldUp is the last report of a worker on a cause. If the cause is not reported again, it counts as gone at
// Ends.
type ReportedHoldUp struct {
	turn.HoldUp
	ExpiresAt time.Time `json:"ends"`
}

// holdUpTTL is how long a cause counts after its last report: a killed worker never withdraws it. It is longer than two
// of the intervals at which package holdups repeats its reports.
const holdUpTTL = 11 * time.Minute

// recordHoldUp records a report. A wait with a known end counts a minute longer than that, and then is dropped: if the
// Call fails on another worker, nobody withdraws the wait.
func (c *processCore) recordHoldUp(ctx workflow.Context, s protocol.WorkerHoldUpSignal) {
	causeAndWorker := strings.TrimSpace(s.Cause + " " + s.WorkerID)
	if s.HoldUp == nil {
		delete(c.ReportedHoldUps, causeAndWorker)
		return
	}
	if c.ReportedHoldUps == nil {
		c.ReportedHoldUps = map[string]ReportedHoldUp{}
	}
	h := ReportedHoldUp{*s.HoldUp, workflow.Now(ctx).Add(holdUpTTL)}
	if retryExpiry := h.NextAttempt.Add(time.Minute); !h.NextAttempt.IsZero() {
		h.ExpiresAt = retryExpiry
	}
	if previous, known := c.ReportedHoldUps[causeAndWorker]; known {
		h.Since = previous.Since
	}
	c.ReportedHoldUps[causeAndWorker] = h
}

// forgetCallHoldUps drops what Calls wait for once no instance is at work, since an instance that is ended from outside
// reports nothing. It drops nothing while a Request is in flight, which may wait for the same causes.
func (p *unsplitProcess) forgetCallHoldUps() {
	awaitsLLM := p.loop.RequestInFlight() != nil || p.loop.HasRechecksInFlight()
	if p.phase != phaseRunning || awaitsLLM || p.loop.HasBusyInstance() {
		return
	}
	//workflowcheck:ignore -- each by itself
	maps.DeleteFunc(p.ReportedHoldUps, func(_ string, h ReportedHoldUp) bool {
		return h.CauseCode == turn.CodeToolBusy || h.CauseCode == turn.CodeRateLimited
	})
}

// dropExpiredHoldUps drops causes that no worker reports any more. It returns when the next one expires; zero: none is
// left.
func (c *processCore) dropExpiredHoldUps(now time.Time) (nextExpiry time.Time) {
	for _, key := range jsonval.SortedKeys(c.ReportedHoldUps) {
		expiresAt := c.ReportedHoldUps[key].ExpiresAt
		switch {
		case !expiresAt.After(now):
			delete(c.ReportedHoldUps, key)
		case nextExpiry.IsZero() || expiresAt.Before(nextExpiry):
			nextExpiry = expiresAt
		}
	}
	return nextExpiry
}

// wakeAt is inbox.WakeAt. It also wakes the process when the next reported cause expires.
func (c *processCore) wakeAt(ctx workflow.Context, t time.Time, summary string) {
	if nextExpiry := c.dropExpiredHoldUps(workflow.Now(ctx)); !nextExpiry.IsZero() &&
		(t.IsZero() || nextExpiry.Before(t)) {
		t, summary = nextExpiry, "until nobody tells any more what holds the process up"
	}
	c.inbox.WakeAt(ctx, t, summary)
}

// ownHoldUps lists what holds up the process itself: first what its Request waits for, then each cause once. If several
// workers report a cause, the longest wait is listed. llmNeverAnswered: no Request has been answered yet.
func (c *processCore) ownHoldUps(llmNeverAnswered bool) (list []turn.HoldUp) {
	if c.requestHoldUp != nil {
		own := *c.requestHoldUp
		own.HasNeverWorked = llmNeverAnswered
		list = append(list, own)
	}
	ownCount, previousCause := len(list), ""
	for _, h := range jsonval.Sorted(c.ReportedHoldUps) {
		switch lastIndex := len(list) - 1; {
		case lastIndex < ownCount || h.CauseCode != previousCause:
			list = append(list, h.HoldUp)
		case h.NextAttempt.After(list[lastIndex].NextAttempt):
			list[lastIndex] = h.HoldUp
		}
		previousCause = h.CauseCode
	}
	return list
}

// setRequestNumberInFlight notes which Request is in flight; 0: none.
func (c *processCore) setRequestNumberInFlight(requestNumber int) {
	c.requestNumberInFlight, c.requestHoldUp = requestNumber, nil
}

// maxListedHoldUps bounds the reports of parts and delegates, which mostly wait for the same cause.
const maxListedHoldUps = 20

// listHoldUps lists what holds up the process itself, and then its delegates, up to maxListedHoldUps.
func (c *processCore) listHoldUps(llmNeverAnswered bool, delegates []turn.DelegateView) (holdUps []turn.HoldUp) {
	holdUps = c.ownHoldUps(llmNeverAnswered)
	for _, d := range delegates {
		holdUps = append(holdUps, turn.HoldUpsWithProcessID(d.ProcessID, d.HoldUps)...)
	}
	return holdUps[:min(len(holdUps), maxListedHoldUps)]
}

// statusAttributeValue is the search attribute of a status.
func statusAttributeValue(status loop.Status, holdUps []turn.HoldUp) string {
	if status == loop.StatusRunning && len(holdUps) > 0 {
		return protocol.StatusHeldUp
	}
	return string(status)
}

func (p *unsplitProcess) allHoldUps() []turn.HoldUp {
	llmNeverAnswered := p.requestHoldUp != nil && p.result(loop.StatusRunning, false).RequestCount <= 1
	return p.listHoldUps(llmNeverAnswered, p.delegateViews())
}

// allHoldUps lists what holds up the process itself, and its parts.
func (p *splitProcess) allHoldUps() []turn.HoldUp {
	list := p.listHoldUps(false, nil)
	for _, part := range p.splitState.Parts {
		if !part.Report.IsFinished() {
			list = append(list, turn.HoldUpsWithProcessID(protocol.PartID(p.processID, part.Number),
				part.Report.HoldUps)...)
		}
	}
	return list[:min(len(list), maxListedHoldUps)]
}

// holdUpLines are the first cause, and the number of the others.
func holdUpLines(list []turn.HoldUp) (lines []string) {
	if len(list) > 0 {
		lines = append(lines, list[0].String())
	}
	if moreCount := len(list) - 1; moreCount > 0 {
		lines = append(lines, fmt.Sprintf("%s in %d more places", turn.HeldUpPrefix, moreCount))
	}
	return lines
}
