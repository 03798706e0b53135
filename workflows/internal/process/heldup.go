package process

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file says what holds a process up. Who finds it out tells by a signal: an activity that is tried again and
// again is not heard of otherwise.

func (c *processCore) registerHeldUp(ctx workflow.Context) {
	mailbox.OnSignal(c.inbox, ctx, protocol.SignalHeldUp,
		"From an activity: what it waits for that nobody in the process can mend.", c.onHeldUp)
}

// onHeldUp takes what the Request in flight waits for. Of one that has ended nothing is heard any more.
func (c *processCore) onHeldUp(_ workflow.Context, s protocol.HeldUpSignal) {
	if s.Request != c.askedRequest {
		return
	}
	if s.HeldUp != nil && c.heldUp != nil {
		s.HeldUp.Since = c.heldUp.Since
	}
	c.heldUp = s.HeldUp
}

// beginRequest notes which Request is in flight; 0: none.
func (c *processCore) beginRequest(number int) { c.askedRequest, c.heldUp = number, nil }

// maxHeldUp bounds what is told of parts and delegates, which mostly wait for the same.
const maxHeldUp = 20

// heldUpList lists what holds the process up itself, and then some delegates. untried: no Request has been answered
// yet.
func (c *processCore) heldUpList(untried bool, delegates []turn.DelegateView) (list []turn.HeldUp) {
	if c.heldUp != nil {
		own := *c.heldUp
		own.Untried = untried
		list = append(list, own)
	}
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

// heldUpLines say it in lines: that of the first part, and how many more there are.
func heldUpLines(list []turn.HeldUp) (lines []string) {
	if len(list) > 0 {
		lines = append(lines, list[0].String())
	}
	if more := len(list) - 1; more > 0 {
		lines = append(lines, fmt.Sprintf("%s in %d more places", turn.HeldUpPrefix, more))
	}
	return lines
}
