package process

import (
	"cmp"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
	"processidea/workflows/internal/mailbox"
)

// core is what an ordinary process and one that is split into parts have in common.
type core struct {
	id, firstRunID string

	start protocol.Start
	idea  *ideafile.Idea        // with every correction
	setup protocol.RequestSetup // what all Requests share

	inbox  *mailbox.Inbox
	outbox *mailbox.Outbox

	phase    phase
	outcome  loop.ProcessStatus // how it ended; set when the phase becomes over
	orphaned bool               // a process that it belongs to is gone: it ends as if it were cancelled

	last     protocol.Sealed     // the latest Idea of the chain
	accepted []protocol.Accepted // the last signals by which people steered it
	passes   int                 // of the main loop, in this run of the workflow

	notifiesPeople bool // the worker knows whom to tell what waits for people
	adapts         bool // the LLM may be asked to fit values to schemas
}

// phase is where a process is in its life; see the package doc.
type phase int

const (
	opening phase = iota // its Tools are being looked up; no instance and no part has started
	running              // instances or parts work
	over                 // outcome tells how it ended
)

// readIdea reads the Idea that a process starts from. What is wrong with delegates is known from its first run.
func readIdea(start protocol.Start, first bool) (*ideafile.Idea, error) {
	idea, problems := ideafile.ReadIdea(start.Idea)
	if first && idea != nil && start.Delegation.Depth == 0 {
		problems = append(problems, ideafile.CheckDelegates(idea, start.Delegation.File, start.Delegation.Files)...)
	}
	return idea, errInvalidIdea(problems)
}

// errInvalidIdea fails a process whose Idea has errors; nil if it has none.
func errInvalidIdea(problems diag.Problems) error {
	if errs := problems.Errors(); len(errs) > 0 {
		return temporal.NewNonRetryableApplicationError(errs.Error(), turn.CodeInvalidIdea, nil, errs)
	}
	return nil
}

func newCore(ctx workflow.Context, start protocol.Start, idea *ideafile.Idea) *core {
	info, inbox := workflow.GetInfo(ctx), mailbox.NewInbox(ctx)
	c := &core{
		id: info.WorkflowExecution.ID, firstRunID: info.FirstRunID, start: start,
		setup: protocol.RequestSetup{Replies: start.Replies}, inbox: inbox, outbox: mailbox.NewOutbox(inbox),
	}
	c.setIdea(idea)
	return c
}

// setIdea makes an Idea the one that counts from now on.
func (c *core) setIdea(idea *ideafile.Idea) { c.idea, c.setup.Idea = idea, idea.Source }

// processRef identifies the process across its runs.
func (c *core) processRef() protocol.ProcessRef {
	return protocol.ProcessRef{ID: c.id, FirstRunID: c.firstRunID}
}

// markOver notes that the process is over.
func (c *core) markOver(outcome loop.ProcessStatus) { c.phase, c.outcome = over, outcome }

// status is the process's status, given why it is paused; nil: it is not.
func (c *core) status(paused *diag.Fault) loop.ProcessStatus {
	if c.phase != over && paused != nil {
		return loop.StatusPaused
	}
	return cmp.Or(c.outcome, loop.StatusRunning)
}

// title is what the Temporal UI calls the process.
func (c *core) title() string {
	title := cmp.Or(c.idea.Path, c.id)
	if c.idea.Simulated != nil {
		title += " (simulated)"
	}
	return title
}

// setAttributes keeps the search attributes up to date.
func (c *core) setAttributes(ctx workflow.Context, status string, awaiting int) {
	a := display.Attributes{Registered: c.start.Attributes}
	a.SetAwaiting(ctx, awaiting)
	a.SetStatus(ctx, status)
}

const maxAccepted = 100

// recordAccepted keeps a signal that has taken effect, for who asks.
func (c *core) recordAccepted(ctx workflow.Context, kind string, s loop.Steering) {
	c.accepted = append(c.accepted, protocol.Accepted{ID: s.ID, Signal: kind, By: s.By, Reason: s.Reason, At: workflow.Now(ctx)})
	if len(c.accepted) > maxAccepted {
		c.accepted = c.accepted[1:]
	}
}
