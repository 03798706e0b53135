package process

import (
	"fmt"
	"slices"
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

func (c *processCore) registerHeldUp(ctx workflow.Context) {
	mailbox.OnSignal(c.inbox, ctx, protocol.SignalRequestHeldUp,
		"From an activity: what it waits for that nobody in the process can mend.", c.onHeldUp)
	c.listenForHoldUps(ctx)
}

// onHeldUp records what the Request in flight waits for. It ignores signals about a Request that has ended.
func (c *processCore) onHeldUp(_ workflow.Context, s protocol.RequestHeldUpSignal) {
	if s.Request != c.askedRequest {
		return
	}
	if s.HeldUp != nil && c.heldUp != nil {
		s.HeldUp.Since = c.heldUp.Since
	}
	c.heldUp = s.HeldUp
}

// listenForHoldUps receives the signals of workers in its own coroutine, since the main loop may wait for an activity
// that is held up itself.
func (c *processCore) listenForHoldUps(ctx workflow.Context) {
	signals := workflow.GetSignalChannel(ctx, protocol.SignalWorkerHoldUp)
	// The main loop waits only for sources that were registered before: this one wakes it.
	wake := workflow.NewBufferedChannel(ctx, 1)
	c.inbox.OnChannelReceive(wake, func(wake workflow.ReceiveChannel) { wake.ReceiveAsync(nil) })
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var s protocol.WorkerHoldUpSignal
			if more := signals.Receive(ctx, &s); !more {
				return
			}
			c.noteHoldUp(ctx, s)
			if c.phase != over && c.journaled == loop.StatusRunning {
				status := heldUpAttribute(loop.StatusRunning, c.ownHeldUps(false))
				display.SearchAttributes{Registered: c.start.Attributes}.SetStatus(ctx, status)
			}
			wake.SendAsync(true)
		}
	})
}

// HoldUp is the last report of a worker on a cause. If the cause is not reported again, it counts as gone at Ends.
type HoldUp struct {
	turn.HeldUp
	Ends time.Time `json:"ends"`
}

// holdUpTTL is how long a cause counts after its last report: a killed worker never withdraws it. It is longer than two
// of the intervals at which package holdups repeats its reports.
const holdUpTTL = 11 * time.Minute

// noteHoldUp records a report. A wait with a known end counts a minute longer than that, and then is dropped: if the
// Call fails on another worker, nobody withdraws the wait.
func (c *processCore) noteHoldUp(ctx workflow.Context, s protocol.WorkerHoldUpSignal) {
	key := strings.TrimSpace(s.Cause + " " + s.Worker)
	if s.HeldUp == nil {
		delete(c.HoldUps, key)
		return
	}
	if c.HoldUps == nil {
		c.HoldUps = map[string]HoldUp{}
	}
	h := HoldUp{*s.HeldUp, workflow.Now(ctx).Add(holdUpTTL)}
	if next := h.Next.Add(time.Minute); next.After(h.Ends) ||
		!h.Next.IsZero() && mailbox.KnowsChange(ctx, "waits with an end end then") {
		h.Ends = next
	}
	if before, known := c.HoldUps[key]; known {
		h.Since = before.Since
	}
	c.HoldUps[key] = h
}

// callWaitsChange names the rule that Calls that are gone wait for nothing.
const callWaitsChange = "Calls that are gone wait for nothing"

// forgetCallWaits drops what Calls wait for once no instance is at work, since an instance that is ended from outside
// reports nothing. It drops nothing while a Request is in flight, which may wait for the same causes.
func (p *unsplitProcess) forgetCallWaits(ctx workflow.Context) {
	asks := p.loop.RequestInFlight() != nil || p.loop.RechecksInFlight()
	if p.phase != running || asks || p.loop.HasBusyInstance() {
		return
	}
	for _, key := range jsonval.SortedKeys(p.HoldUps) {
		ofCalls := []string{turn.CodeToolWaits, turn.CodeRateLimited}
		if slices.Contains(ofCalls, p.HoldUps[key].Cause) && mailbox.KnowsChange(ctx, callWaitsChange) {
			delete(p.HoldUps, key)
		}
	}
}

// forgetHoldUps drops causes that no worker reports any more. It returns when the next one expires; zero: none is left.
func (c *processCore) forgetHoldUps(now time.Time) (again time.Time) {
	for _, key := range jsonval.SortedKeys(c.HoldUps) {
		end := c.HoldUps[key].Ends
		switch {
		case !end.After(now):
			delete(c.HoldUps, key)
		case again.IsZero() || end.Before(again):
			again = end
		}
	}
	return again
}

// wakeAt is inbox.WakeAt. It also wakes the process when the next reported cause expires.
func (c *processCore) wakeAt(ctx workflow.Context, t time.Time, summary string) {
	if again := c.forgetHoldUps(workflow.Now(ctx)); !again.IsZero() && (t.IsZero() || again.Before(t)) {
		t, summary = again, "until nobody tells any more what holds the process up"
	}
	c.inbox.WakeAt(ctx, t, summary)
}

// ownHeldUps lists what holds up the process itself: first what its Request waits for, then each cause once. If several
// workers report a cause, the longest wait is listed. untried: no Request has been answered yet.
func (c *processCore) ownHeldUps(untried bool) (list []turn.HeldUp) {
	if c.heldUp != nil {
		own := *c.heldUp
		own.Untried = untried
		list = append(list, own)
	}
	own, before := len(list), ""
	for _, h := range jsonval.Sorted(c.HoldUps) {
		switch last := len(list) - 1; {
		case last < own || h.Cause != before:
			list = append(list, h.HeldUp)
		case h.Next.After(list[last].Next):
			list[last] = h.HeldUp
		}
		before = h.Cause
	}
	return list
}

// beginRequest notes which Request is in flight; 0: none.
func (c *processCore) beginRequest(number int) { c.askedRequest, c.heldUp = number, nil }

// maxHeldUp bounds the reports of parts and delegates, which mostly wait for the same cause.
const maxHeldUp = 20

// heldUpList lists what holds up the process itself, and then its delegates, up to maxHeldUp.
func (c *processCore) heldUpList(untried bool, delegates []turn.DelegateView) (list []turn.HeldUp) {
	list = c.ownHeldUps(untried)
	for _, d := range delegates {
		list = append(list, turn.HeldUpIn(d.ProcessID, d.HeldUp)...)
	}
	return list[:min(len(list), maxHeldUp)]
}

// heldUpAttribute is the search attribute of a status.
func heldUpAttribute(status loop.Status, list []turn.HeldUp) string {
	if status == loop.StatusRunning && len(list) > 0 {
		return protocol.StatusHeldUp
	}
	return string(status)
}

func (p *unsplitProcess) heldUps() []turn.HeldUp {
	untried := p.heldUp != nil && p.result(loop.StatusRunning, false).Requests <= 1
	return p.heldUpList(untried, p.delegateViews())
}

// heldUps lists what holds up the process itself, and its parts.
func (p *splitProcess) heldUps() []turn.HeldUp {
	list := p.heldUpList(false, nil)
	for _, part := range p.parts.All {
		if !part.Report.IsFinished() {
			list = append(list, turn.HeldUpIn(protocol.PartID(p.processID, part.Number), part.Report.HeldUp)...)
		}
	}
	return list[:min(len(list), maxHeldUp)]
}

// heldUpLines are the first cause, and the number of the others.
func heldUpLines(list []turn.HeldUp) (lines []string) {
	if len(list) > 0 {
		lines = append(lines, list[0].String())
	}
	if more := len(list) - 1; more > 0 {
		lines = append(lines, fmt.Sprintf("%s in %d more places", turn.HeldUpPrefix, more))
	}
	return lines
}
